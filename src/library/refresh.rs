//! Brings the library up to date with the files: what the cache may be
//! believed, what has to be read again, and what is gone.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use tokio_util::sync::CancellationToken;

use super::cache::{self, CachedRow, ReadFile};
use super::digest::Digest;
use super::files::{Found, Stamp};
use super::gathering::Gathering;
use super::{Library, LogFile, LogFiles, Notice, Standing, belongs, check_name};
use crate::reference::Cause;
use crate::session::{Header, Millis, SessionId};
use crate::threads::{in_background, lock};
use crate::tool::Tool;

/// How many logs are read before the first new rows are shown; each further
/// batch is twice as long, because showing rows costs the same for many.
const FIRST_BATCH: usize = 64;
const LAST_BATCH: usize = 4096;
/// How many rows are shown before the cache is read to its end.
const FIRST_ROWS: usize = 2048;

/// How far a refresh is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// How many files were read.
    pub done: usize,
    /// How many have to be.
    pub total: usize,
}

/// What a refresh did.
#[derive(Clone, Debug, Default)]
pub struct Refreshed {
    /// How many files are new, changed, mended or gone.
    pub changed: usize,
    /// What went wrong on the way.
    pub notices: Vec<Notice>,
}

/// What the folders of some tools hold.
#[derive(Default)]
struct Listing {
    tools: Vec<Tool>,
    logs: Vec<LogFile>,
    notices: Vec<Notice>,
}

/// What the cache can't say.
#[derive(Default)]
struct Plan {
    /// Files that have to be read.
    stale: Vec<LogFile>,
    /// Files that are known and gone.
    gone: Vec<(Tool, String)>,
}

/// A file by its name, and the id that the name stands for.
struct Named {
    tool: Tool,
    file: String,
    id: Option<SessionId>,
}

impl From<LogFile> for Named {
    fn from(log: LogFile) -> Self {
        Self {
            tool: log.tool,
            file: log.file,
            id: log.id,
        }
    }
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
                for file in files {
                    known.add(file.tool, &file.file, file.stamp);
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
        lock(&self.shared.stored).notices.extend(listing.notices);
        Ok(())
    }

    /// Does what [`load`](Self::load) does, then looks into every file that
    /// the cache knows nothing of, and shows new rows in batches. Folders that
    /// are as they were cost no more than listing them. Blocks; stops early
    /// when cancelled, with what was read so far kept.
    ///
    /// # Errors
    /// When ibid's own folder can't be listed. Other folders, and a file that
    /// can't be read, are notices.
    pub fn refresh(
        &self,
        cancel: &CancellationToken,
        on_progress: &mut dyn FnMut(Progress),
    ) -> Result<Refreshed, Cause> {
        self.refresh_of(|_| true, cancel, on_progress)
    }

    /// [`refresh`](Self::refresh) of some tools alone; the rows of the others
    /// stay as they are.
    fn refresh_of(
        &self,
        wanted: impl Fn(Tool) -> bool,
        cancel: &CancellationToken,
        on_progress: &mut dyn FnMut(Progress),
    ) -> Result<Refreshed, Cause> {
        let listing = self.list(wanted, cancel)?;
        // What was not listed to its end does not tell what is gone.
        if cancel.is_cancelled() {
            return Ok(self.outcome(0, listing.notices));
        }
        let is_known = lock(&self.shared.stored).known == Some(Digest::of(&listing.logs));
        let Listing { tools, .. } = &listing;
        if is_known {
            self.note_scan(tools);
            return Ok(self.outcome(0, listing.notices));
        }
        let plan = self.plan(&listing);
        let Listing {
            tools, mut notices, ..
        } = listing;
        self.keep(&[], &plan.gone);
        self.note_scan(&tools);
        let stale: Vec<Named> = plan.stale.into_iter().map(Named::from).collect();
        let read = self.read(&stale, cancel, on_progress);
        notices.extend(read.notices);
        Ok(self.outcome(plan.gone.len() + read.changed, notices))
    }

    /// Takes note of files that changed, came or went, by their paths; only
    /// these are opened. Blocks.
    ///
    /// # Errors
    /// When ibid's own folder has to be listed and can't be.
    pub fn touch<'a>(
        &self,
        paths: impl IntoIterator<Item = &'a Path>,
        cancel: &CancellationToken,
    ) -> Result<Refreshed, Cause> {
        let mut changed = Vec::new();
        let mut unsure: Vec<Tool> = Vec::new();
        for path in paths {
            let Some(logs) = self.all().find(|logs| logs.holds(path)) else {
                continue;
            };
            let tool = logs.tool();
            let found = logs.at(path);
            let known = found.as_ref().and_then(|log| self.known_stamp(log));
            match (found, known) {
                // This process wrote it, or it was looked at meanwhile.
                (Some(log), Some(stamp)) if stamp == log.stamp => {}
                (Some(log), Some(_)) => changed.push(Named::from(log)),
                // New, gone, or nothing that is ever listed.
                _ if unsure.contains(&tool) => {}
                _ => unsure.push(tool),
            }
        }
        let read = self.read(&changed, cancel, &mut |_| {});
        if unsure.is_empty() {
            return Ok(self.outcome(read.changed, read.notices));
        }
        let mut listed = self.refresh_of(|tool| unsure.contains(&tool), cancel, &mut |_| {})?;
        listed.changed += read.changed;
        listed.notices.extend(read.notices);
        Ok(listed)
    }

    /// The folders and files that sessions lie in, whether or not they are
    /// there.
    #[must_use]
    pub fn places(&self) -> Vec<PathBuf> {
        self.all().flat_map(LogFiles::places).collect()
    }

    /// The state in which the cache knows a file.
    fn known_stamp(&self, log: &LogFile) -> Option<Stamp> {
        self.ask(|connection| cache::stamp(connection, log.tool, &log.file))
    }

    /// Looks into one file again.
    pub(super) fn touch_file(&self, logs: &dyn LogFiles, file: &str) {
        let named = Named {
            tool: logs.tool(),
            file: file.to_owned(),
            id: None,
        };
        let read = self.read(&[named], &CancellationToken::new(), &mut |_| {});
        lock(&self.shared.stored).notices.extend(read.notices);
    }

    /// Forgets what is known of every file, so that the next refresh reads
    /// all of them. Blocks.
    ///
    /// # Errors
    /// When the cache can't be written.
    pub fn forget(&self) -> Result<(), Notice> {
        let mut stored = lock(&self.shared.stored);
        stored.known = None;
        stored.own.clear();
        stored.cache(self.shared.cache_path.as_ref()).clear()
    }

    /// What is known of the sessions of one tool. Blocks.
    #[must_use]
    pub fn standing(&self, tool: Tool) -> Standing {
        self.ask(|connection| cache::standing(connection, tool).map(Some))
            .unwrap_or_default()
    }

    /// Compares each row of ibid's own sessions in the cache with the header
    /// of its log, and reads those logs again that say something else. Blocks;
    /// stops early when cancelled.
    ///
    /// # Errors
    /// When something is wrong and the folder can't be listed.
    pub fn verify(
        &self,
        cancel: &CancellationToken,
        on_progress: &mut dyn FnMut(Progress),
    ) -> Result<Refreshed, Cause> {
        self.compare(&self.remembered(), cancel, on_progress)
    }

    /// Does for these sessions alone what [`verify`](Self::verify) does, as
    /// far as they are shown and stored. Blocks.
    ///
    /// # Errors
    /// Those of [`verify`](Self::verify).
    pub fn verify_only<'a>(
        &self,
        ids: impl IntoIterator<Item = &'a SessionId>,
    ) -> Result<Refreshed, Cause> {
        let index = self.index();
        let shown: Vec<_> = ids
            .into_iter()
            .filter_map(|id| {
                let entry = index.get(index.find(id)?)?;
                let header = entry.listed().header;
                let is_compared = entry.tool == Tool::Ibid && !entry.is_live && !entry.is_unread;
                let file = self.shared.own.file_name(id).filter(|_| is_compared)?;
                Some((file, header))
            })
            .collect();
        self.compare(&shown, &CancellationToken::new(), &mut |_| {})
    }

    fn compare(
        &self,
        believed: &[(String, Header)],
        cancel: &CancellationToken,
        on_progress: &mut dyn FnMut(Progress),
    ) -> Result<Refreshed, Cause> {
        let total = believed.len();
        let mut wrong: Vec<Named> = Vec::new();
        for (batch, done) in believed.chunks(LAST_BATCH).zip((0..).step_by(LAST_BATCH)) {
            if cancel.is_cancelled() {
                break;
            }
            on_progress(Progress { done, total });
            let found: Vec<Named> = in_background(|| {
                let wrong = batch.par_iter().filter(|(file, header)| {
                    let real = self.shared.own.header(file);
                    !cancel.is_cancelled() && !real.is_ok_and(|real| same_facts(header, &real))
                });
                wrong
                    .map(|(file, header)| Named {
                        tool: Tool::Ibid,
                        file: file.clone(),
                        id: Some(header.id.clone()),
                    })
                    .collect()
            });
            wrong.extend(found);
        }
        let read = self.read(&wrong, cancel, on_progress);
        if !wrong.is_empty() {
            // One that can't be read is still there, under its id.
            self.load()?;
        }
        Ok(self.outcome(read.changed, read.notices))
    }

    fn outcome(&self, changed: usize, mut notices: Vec<Notice>) -> Refreshed {
        notices.append(&mut lock(&self.shared.stored).notices);
        Refreshed { changed, notices }
    }

    fn all(&self) -> impl Iterator<Item = &dyn LogFiles> {
        let own = std::iter::once(&self.shared.own);
        own.chain(&self.shared.others).map(|logs| &**logs)
    }

    pub(super) fn logs_of(&self, tool: Tool) -> Option<&dyn LogFiles> {
        self.all().find(|logs| logs.tool() == tool)
    }

    /// Lists the files of these tools, side by side. A tool whose files can't
    /// be listed is left out, with a notice.
    fn list(
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
                    listing.notices.extend(scanned.notices);
                }
                Err(cause) if tool == Tool::Ibid => return Err(cause),
                Err(cause) => listing.notices.push(Notice::NotListed { tool, cause }),
            }
        }
        Ok(listing)
    }

    fn note_scan(&self, tools: &[Tool]) {
        let others: Vec<Tool> = tools
            .iter()
            .copied()
            .filter(|tool| *tool != Tool::Ibid)
            .collect();
        if others.is_empty() {
            return;
        }
        let mut stored = lock(&self.shared.stored);
        let cache = stored.cache(self.shared.cache_path.as_ref());
        let noted = cache.scanned(&others, Millis::now());
        stored.notices.extend(noted.err());
    }

    /// Whether a row stands under another id than that of its own log.
    fn is_stray(&self, row: &CachedRow<'_>) -> bool {
        row.tool == Tool::Ibid && !belongs(&*self.shared.own, row.file, row.id)
    }

    /// Shows what the cache may be believed, and says what it can't tell.
    /// Rows of tools that were not listed stay as they are.
    fn plan(&self, listing: &Listing) -> Plan {
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
        let own = std::mem::take(&mut stored.own);
        // Whether the state that the cache knows is that of the file now.
        let is_current = |log: &LogFile, stamp: Stamp| {
            stamp == log.stamp || (log.tool == Tool::Ibid && own.get(&log.file) == Some(&stamp))
        };
        let read = stored.cache(self.shared.cache_path.as_ref()).read(|row| {
            if !listing.tools.contains(&row.tool) {
                gathering.cached(&row);
                return;
            }
            let Some(at) = by_name.get(&(row.tool, row.file)) else {
                if row.is_first {
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
                        continue;
                    }
                    let at = by_name.get(&(file.tool, &*file.file));
                    match at.and_then(|at| Some((files.get(*at)?, known.get_mut(*at)?))) {
                        Some((log, known)) => *known |= is_current(log, file.stamp),
                        None => gone.push((file.tool, file.file)),
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
        for log in stale.iter().filter(|log| log.tool == Tool::Ibid) {
            gathering.unread(log);
        }
        // What a person looks for is mostly new.
        stale.sort_by_key(|log| std::cmp::Reverse(log.stamp.mtime_ns));
        self.replace(gathering.finish());
        let is_all = listing.tools.len() == self.all().count();
        stored.known = (is_all && stale.is_empty() && gone.is_empty()).then(|| Digest::of(files));
        Plan { stale, gone }
    }

    /// The rows of ibid's own sessions that stand under their own id, each
    /// with the header that it claims.
    fn remembered(&self) -> Vec<(String, Header)> {
        let mut remembered = Vec::new();
        let mut stored = lock(&self.shared.stored);
        let read = stored.cache(self.shared.cache_path.as_ref()).read(|row| {
            if row.tool == Tool::Ibid && !self.is_stray(&row) {
                let mut header = Header::new(row.id, row.created_at, row.cwd.map(str::to_owned));
                header.version = row.version;
                header.parent_session = row.parent.map(SessionId::from);
                header.is_seeded = row.is_seeded.then_some(true);
                remembered.push((row.file.to_owned(), header));
            }
        });
        if let Err(notice) = read {
            stored.notices.push(notice);
            remembered.clear();
        }
        remembered
    }

    /// Looks into these files side by side, keeps what they say, and shows it.
    fn read(
        &self,
        logs: &[Named],
        cancel: &CancellationToken,
        on_progress: &mut dyn FnMut(Progress),
    ) -> Refreshed {
        let mut outcome = Refreshed::default();
        let mut rest = logs;
        let mut size = FIRST_BATCH;
        while !rest.is_empty() && !cancel.is_cancelled() {
            let (batch, later) = rest.split_at_checked(size).unwrap_or((rest, &[]));
            let read: Vec<_> = in_background(|| {
                let going_on = batch.par_iter().filter(|_| !cancel.is_cancelled());
                going_on.map(|log| (log, self.look(log))).collect()
            });
            let mut found = Vec::with_capacity(read.len());
            let mut gone = Vec::new();
            for (named, result) in read {
                match result {
                    Ok(Some(read)) => {
                        outcome.changed += 1;
                        found.push(read);
                    }
                    // It went away since its folder was listed.
                    Ok(None) => gone.push((named.tool, named.file.clone())),
                    Err(cause) => {
                        found.push(unreadable(named, &cause));
                        outcome.notices.push(Notice::Unreadable {
                            file: named.file.clone(),
                            cause,
                        });
                    }
                }
            }
            self.keep(&found, &gone);
            rest = later;
            size = (size * 2).min(LAST_BATCH);
            on_progress(Progress {
                done: logs.len() - rest.len(),
                total: logs.len(),
            });
        }
        outcome
    }

    fn look(&self, named: &Named) -> Result<Option<ReadFile>, Cause> {
        let Some(logs) = self.logs_of(named.tool) else {
            return Ok(None);
        };
        let Some(looked) = logs.look(&named.file)? else {
            return Ok(None);
        };
        if let (Tool::Ibid, Found::Sessions(sessions)) = (named.tool, &looked.found) {
            for facts in sessions {
                check_name(&named.file, named.id.as_ref(), &facts.header.id)?;
            }
        }
        Ok(Some(ReadFile {
            log: LogFile {
                tool: named.tool,
                file: named.file.clone(),
                id: named.id.clone(),
                stamp: looked.stamp,
            },
            found: looked.found,
        }))
    }
}

/// What is kept of a file that could not be read: why, under a state that no
/// file has, so that it is tried again.
fn unreadable(named: &Named, cause: &Cause) -> ReadFile {
    ReadFile {
        log: LogFile {
            tool: named.tool,
            file: named.file.clone(),
            id: None,
            stamp: Stamp::default(),
        },
        found: Found::Nothing(cause.to_string()),
    }
}

/// Whether two headers agree on all that the cache keeps.
fn same_facts(cached: &Header, real: &Header) -> bool {
    cached.id == real.id
        && cached.version == real.version
        && cached.created_at == real.created_at
        && cached.cwd == real.cwd
        && cached.parent_session == real.parent_session
        && (cached.is_seeded == Some(true)) == (real.is_seeded == Some(true))
}
