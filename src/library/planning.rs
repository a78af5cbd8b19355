//! What the cache may be believed of the files that there are, and what it
//! can't say.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use tokio_util::sync::CancellationToken;

use super::cache::{CachedFile, CachedRow};
use super::digest::Digest;
use super::error::bounded;
use super::files::Stamp;
use super::gathering::Gathering;
use super::{Library, LogFile, LogFiles, Notice, belongs};
use crate::reference::Cause;
use crate::threads::{in_background, lock};
use crate::tool::Tool;

/// How many rows are shown before the cache is read to its end.
const FIRST_ROWS: usize = 2048;

/// What the folders of some tools hold.
#[derive(Default)]
pub(super) struct Listing {
    pub(super) tools: Vec<Tool>,
    pub(super) logs: Vec<LogFile>,
    pub(super) notices: Vec<Notice>,
    /// What could not be looked at.
    obstacles: HashMap<Tool, HashSet<PathBuf>>,
}

/// What the cache can't say.
#[derive(Default)]
pub(super) struct Plan {
    /// Files that have to be read.
    pub(super) stale: Vec<LogFile>,
    /// Files that are known and gone.
    pub(super) gone: Vec<(Tool, String)>,
}

impl Library {
    /// Shows all that the cache remembers, without looking at any folder: the
    /// first rows at once, then all of them. Calls `on_rows` whenever there
    /// are new ones; it must not wait for this library. Blocks.
    ///
    /// A log that changed or went away since it was last seen still has its
    /// old row until the next [`refresh`](Self::refresh).
    pub fn recall(&self, on_rows: &mut dyn FnMut()) {
        let (mut stored, live) = self.lock_with_live();
        let mut gathering = Gathering::new(0, live, self.shared.show_subagents);
        let mut known = Digest::default();
        let mut strays = false;
        let mut rows = 0;
        let read = stored.cache(self.shared.cache_path.as_ref()).read(|row| {
            if self.logs_of(row.tool).is_none() {
                return;
            }
            if self.is_stray(&row) {
                strays = true;
                return;
            }
            if row.is_first {
                known.add(row.tool, row.file, row.stamp);
            }
            gathering.cached(&row);
            rows += 1;
            if rows == FIRST_ROWS {
                self.replace(gathering.so_far());
                on_rows();
            }
        });
        match read {
            Ok(files) => {
                let listed = files.iter().filter(|f| self.logs_of(f.tool).is_some());
                for file in listed {
                    known.add(file.tool, &file.file, file.stamp);
                    self.show_unread(&mut gathering, file);
                }
                stored.known = (!strays).then_some(known);
            }
            Err(notice) => {
                stored.notices.push(notice);
                gathering.start_over();
            }
        }
        self.replace(gathering.finish());
        drop(stored);
        on_rows();
    }

    /// Lists the folders and shows what the cache knows of them, without
    /// opening a log. Blocks.
    ///
    /// # Errors
    /// When ibid's own folder can't be listed.
    pub fn load(&self) -> Result<(), Cause> {
        let listing = self.list(|_| true, &CancellationToken::new())?;
        self.plan(&listing);
        let mut stored = lock(&self.shared.stored);
        stored.notices.extend(listing.notices);
        // Nobody may ask for them for long.
        stored.notices = bounded(std::mem::take(&mut stored.notices));
        Ok(())
    }

    /// Lists the files of these tools, side by side. A tool whose files can't
    /// be listed is left out, with a notice.
    pub(super) fn list(
        &self,
        wanted: impl Fn(Tool) -> bool,
        cancel: &CancellationToken,
    ) -> Result<Listing, Cause> {
        let sources: Vec<&dyn LogFiles> = self.all().filter(|logs| wanted(logs.tool())).collect();
        let scanned: Vec<_> = in_background(|| {
            let sources = sources.par_iter();
            sources
                .map(|logs| (logs.tool(), logs.scan(cancel)))
                .collect()
        });
        let mut listing = Listing::default();
        for (tool, scanned) in scanned {
            match scanned {
                Ok(scanned) => {
                    listing.tools.push(tool);
                    listing.logs.extend(scanned.logs);
                    let obstacles = scanned.notices.iter().filter_map(|notice| match notice {
                        Notice::Obstacle { path, .. } => Some(path.clone()),
                        _ => None,
                    });
                    listing.obstacles.insert(tool, obstacles.collect());
                    listing.notices.extend(scanned.notices);
                }
                Err(cause) if tool == Tool::Ibid => return Err(cause),
                Err(cause) => listing.notices.push(Notice::NotListed { tool, cause }),
            }
        }
        Ok(listing)
    }

    /// Whether a file that was not listed is there no more: it may lie behind
    /// what could not be looked at, or be newer than the listing.
    fn is_gone(&self, listing: &Listing, tool: Tool, file: &str) -> bool {
        let path = Path::new(file);
        let is_hidden = listing.obstacles.get(&tool).is_some_and(|obstacles| {
            let mut above = path.ancestors();
            above.any(|above| obstacles.contains(above))
        });
        let logs = self.logs_of(tool);
        !is_hidden && logs.is_none_or(|logs| logs.find(file).is_none())
    }

    /// Shows one of ibid's own logs that could not be read the last time, as
    /// far as its name tells.
    fn show_unread(&self, gathering: &mut Gathering, file: &CachedFile) {
        if file.tool == Tool::Ibid
            && let Some(log) = self.shared.own.find(&file.file)
        {
            gathering.unread(&log);
        }
    }

    /// Whether a row stands under another id than that of its own log.
    pub(super) fn is_stray(&self, row: &CachedRow<'_>) -> bool {
        row.tool == Tool::Ibid && !belongs(&*self.shared.own, row.file, row.id)
    }

    /// Shows what the cache may be believed, and says what it can't tell.
    /// Rows of tools that were not listed stay as they are.
    pub(super) fn plan(&self, listing: &Listing) -> Plan {
        let (mut stored, live) = self.lock_with_live();
        let files = &listing.logs;
        let by_name: HashMap<(Tool, &str), usize> = files
            .iter()
            .enumerate()
            .map(|(at, log)| ((log.tool, &*log.file), at))
            .collect();
        let mut gathering = Gathering::new(files.len(), live, self.shared.show_subagents);
        let mut known = vec![false; files.len()];
        let mut gone = Vec::new();
        let mut is_sure = true;
        let own = std::mem::take(&mut stored.own);
        // Whether the state that the cache knows is that of the file now.
        let is_current = |log: &LogFile, stamp: Stamp| {
            stamp == log.stamp || (log.tool == Tool::Ibid && own.get(&log.file) == Some(&stamp))
        };
        let read = stored.cache(self.shared.cache_path.as_ref()).read(|row| {
            if !listing.tools.contains(&row.tool) {
                if self.logs_of(row.tool).is_some() {
                    gathering.cached(&row);
                }
                return;
            }
            let Some(at) = by_name.get(&(row.tool, row.file)) else {
                if !self.is_gone(listing, row.tool, row.file) {
                    is_sure = false;
                    gathering.cached(&row);
                } else if row.is_first {
                    gone.push((row.tool, row.file.to_owned()));
                }
                return;
            };
            let (Some(log), Some(known)) = (files.get(*at), known.get_mut(*at)) else {
                return;
            };
            let has_its_id =
                row.tool != Tool::Ibid || log.id.as_ref().is_none_or(|id| id.as_str() == row.id);
            if is_current(log, row.stamp) && has_its_id {
                *known = true;
                gathering.cached(&row);
            }
        });
        match read {
            Ok(others) => {
                for file in others {
                    if !listing.tools.contains(&file.tool) {
                        self.show_unread(&mut gathering, &file);
                        continue;
                    }
                    let at = by_name.get(&(file.tool, &*file.file));
                    match at.and_then(|at| Some((files.get(*at)?, known.get_mut(*at)?))) {
                        Some((log, known)) => *known |= is_current(log, file.stamp),
                        None if self.is_gone(listing, file.tool, &file.file) => {
                            gone.push((file.tool, file.file));
                        }
                        None => is_sure = false,
                    }
                }
            }
            Err(notice) => {
                stored.notices.push(notice);
                gathering.start_over();
                known.fill(false);
                gone.clear();
            }
        }
        stored.own = own;
        let unknown = files.iter().zip(&known).filter(|(_, known)| !**known);
        let mut stale: Vec<LogFile> = unknown.map(|(log, _)| log.clone()).collect();
        // What a person looks for is mostly new.
        stale.sort_by_key(|log| std::cmp::Reverse(log.stamp.mtime_ns));
        for log in stale.iter().filter(|log| log.tool == Tool::Ibid) {
            gathering.unread(log);
        }
        self.replace(gathering.finish());
        let is_all = is_sure && listing.tools.len() == self.all().count();
        stored.known = (is_all && stale.is_empty() && gone.is_empty()).then(|| Digest::of(files));
        Plan { stale, gone }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Sender, channel};
    use std::sync::{Arc, Barrier};

    use super::*;
    use crate::library::{Facts, Kind, StoredLogs};
    use crate::session::{Header, Millis, Title};
    use crate::store::Home;
    use crate::threads::beside_background;

    #[test]
    fn what_is_known_is_shown_while_the_background_is_busy() {
        let dir = tempfile::tempdir().unwrap();
        let logs = StoredLogs::new(Home::at(dir.path()));
        let library = Library::open(Arc::new(logs), None);
        let log = LogFile {
            tool: Tool::Ibid,
            file: "a.jsonl".to_owned(),
            id: Some("a".into()),
            stamp: Stamp::default(),
        };
        let text = "Written meanwhile".to_owned();
        let facts = Facts {
            header: Header::new("a", Millis(1), None),
            title: Some(Title {
                text,
                pinned: false,
            }),
            updated_at: Millis(1),
            messages: None,
            kind: Kind::Session,
            notices: Vec::new(),
        };
        let (tell, busy) = channel();
        let over = Barrier::new(3);
        let keep_busy = |tell: Sender<()>| {
            tell.send(()).unwrap();
            over.wait();
        };
        let also_tell = tell.clone();
        beside_background(
            || {
                rayon::join(|| keep_busy(tell), || keep_busy(also_tell));
            },
            || {
                assert_eq!(busy.iter().take(2).count(), 2);
                // None of these would come to its end if it waited.
                library.record(&log, &facts);
                library.recall(&mut || {});
                over.wait();
            },
        );
        let index = library.index();
        assert_eq!(index.get(0).unwrap().label, "Written meanwhile");
    }
}
