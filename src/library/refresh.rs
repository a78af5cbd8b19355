//! Brings the library up to date with the folder of logs: what the cache may
//! be believed, what has to be read again, and what is gone.

use std::collections::HashMap;

use rayon::prelude::*;
use tokio_util::sync::CancellationToken;

use super::digest::Digest;
use super::gathering::Gathering;
use super::{CapturedLog, Facts, Library, LogFile, Notice, belongs, check_name};
use crate::reference::Cause;
use crate::session::{Header, SessionId};
use crate::threads::{in_background, lock};

/// How many logs are read before the first new rows are shown; each further
/// batch is twice as long, because showing rows costs the same for many.
const FIRST_BATCH: usize = 64;
const LAST_BATCH: usize = 4096;
/// How many rows are shown before the cache is read to its end.
const FIRST_ROWS: usize = 2048;

/// How far a refresh is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// How many logs were read.
    pub done: usize,
    /// How many have to be.
    pub total: usize,
}

/// What a refresh did.
#[derive(Clone, Debug, Default)]
pub struct Refreshed {
    /// How many sessions are new, changed, mended or gone.
    pub changed: usize,
    /// What went wrong on the way.
    pub notices: Vec<Notice>,
}

/// What the cache can't say.
#[derive(Default)]
struct Plan {
    /// Logs that have to be read.
    stale: Vec<LogFile>,
    /// Rows whose log is gone.
    gone: Vec<String>,
}

/// A log by its name, and the id that the name stands for.
type Named = (String, Option<SessionId>);

impl Library {
    /// Shows all that the cache remembers, without looking at the folder: the
    /// first rows at once, then all of them. Calls `on_rows` whenever there
    /// are new ones; it must not wait for this library. Blocks.
    ///
    /// A log that changed or went away since it was last seen still has its
    /// old row until the next [`refresh`](Self::refresh).
    pub fn recall(&self, on_rows: &mut dyn FnMut()) {
        let (mut stored, live) = self.lock_with_live();
        let mut gathering = Gathering::new(0, live);
        let mut known = Digest::default();
        let mut strays = false;
        let mut rows = 0;
        let files = &self.shared.files;
        let read = stored.cache(self.shared.cache_path.as_ref()).read(|row| {
            if !belongs(&**files, row.file, row.id) {
                strays = true;
                return;
            }
            known.add(row.file, row.stamp);
            gathering.cached(&row);
            rows += 1;
            if rows == FIRST_ROWS {
                self.replace(gathering.so_far());
                on_rows();
            }
        });
        if let Err(notice) = read {
            stored.notices.push(notice);
            gathering.start_over();
        } else {
            stored.known = (!strays).then_some(known);
        }
        self.replace(gathering.finish());
        drop(stored);
        on_rows();
    }

    /// Lists the folder and shows what the cache knows of it, without opening
    /// a log. Blocks.
    ///
    /// # Errors
    /// When the folder can't be listed.
    pub fn load(&self) -> Result<(), Cause> {
        let files = self.shared.files.scan()?;
        self.plan(&files);
        Ok(())
    }

    /// Does what [`load`](Self::load) does, then reads every log that the
    /// cache knows nothing of, and shows new rows in batches. A folder that is
    /// as it was costs no more than listing it. Blocks; stops early when
    /// cancelled, with what was read so far kept.
    ///
    /// # Errors
    /// When the folder can't be listed. A log that can't be read is a notice.
    pub fn refresh(
        &self,
        cancel: &CancellationToken,
        on_progress: &mut dyn FnMut(Progress),
    ) -> Result<Refreshed, Cause> {
        let files = self.shared.files.scan()?;
        if lock(&self.shared.stored).known == Some(Digest::of(&files)) {
            return Ok(self.outcome(0, Vec::new()));
        }
        let plan = self.plan(&files);
        drop(files);
        self.keep(&[], &plan.gone);
        let stale = plan.stale.into_iter().map(|log| (log.file, log.id));
        let read = self.read(&stale.collect::<Vec<_>>(), cancel, on_progress);
        Ok(self.outcome(plan.gone.len() + read.changed, read.notices))
    }

    /// Compares each row of the cache with the header of its log, and reads
    /// those logs again that say something else. Blocks; stops early when
    /// cancelled.
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
                let file = self.shared.files.file_name(id);
                (!entry.is_live && !entry.is_unread).then_some((file, header))
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
                    let real = self.shared.files.header(file);
                    !cancel.is_cancelled() && !real.is_ok_and(|real| same_facts(header, &real))
                });
                wrong
                    .map(|(file, header)| (file.clone(), Some(header.id.clone())))
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

    /// Shows what the cache may be believed, and says what it can't tell.
    fn plan(&self, files: &[LogFile]) -> Plan {
        let (mut stored, live) = self.lock_with_live();
        let by_name: HashMap<&str, usize> = files
            .iter()
            .enumerate()
            .map(|(at, log)| (&*log.file, at))
            .collect();
        let mut gathering = Gathering::new(files.len(), live);
        let mut known = vec![false; files.len()];
        let mut gone = Vec::new();
        let own = std::mem::take(&mut stored.own);
        let read = stored.cache(self.shared.cache_path.as_ref()).read(|row| {
            let Some(at) = by_name.get(row.file) else {
                gone.push(row.file.to_owned());
                return;
            };
            let (Some(log), Some(known)) = (files.get(*at), known.get_mut(*at)) else {
                return;
            };
            let is_current = row.stamp == log.stamp || own.get(row.file) == Some(&row.stamp);
            if is_current && log.id.as_ref().is_none_or(|id| id.as_str() == row.id) {
                *known = true;
                gathering.cached(&row);
            }
        });
        stored.own = own;
        if let Err(notice) = read {
            stored.notices.push(notice);
            gathering.start_over();
            known.fill(false);
            gone.clear();
        }
        let unknown = files.iter().zip(&known).filter(|(_, known)| !**known);
        let stale: Vec<LogFile> = unknown.map(|(log, _)| log.clone()).collect();
        for log in &stale {
            gathering.unread(log);
        }
        self.replace(gathering.finish());
        stored.known = (stale.is_empty() && gone.is_empty()).then(|| Digest::of(files));
        Plan { stale, gone }
    }

    /// The rows of the cache that stand under their own id, each with the
    /// header that it claims.
    fn remembered(&self) -> Vec<(String, Header)> {
        let mut remembered = Vec::new();
        let mut stored = lock(&self.shared.stored);
        let read = stored.cache(self.shared.cache_path.as_ref()).read(|row| {
            if !belongs(&*self.shared.files, row.file, row.id) {
                return;
            }
            let mut header = Header::new(row.id, row.created_at, row.cwd.map(str::to_owned));
            header.version = row.version;
            header.parent_session = row.parent.map(SessionId::from);
            header.is_seeded = row.is_seeded.then_some(true);
            remembered.push((row.file.to_owned(), header));
        });
        if let Err(notice) = read {
            stored.notices.push(notice);
            remembered.clear();
        }
        remembered
    }

    /// Reads these logs side by side, keeps what they say, and shows it.
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
                going_on.map(|log| (log, self.read_log(log))).collect()
            });
            let mut good = Vec::with_capacity(read.len());
            let mut bad = Vec::new();
            for ((file, _), result) in read {
                match result {
                    Ok(Some(read)) => good.push(read),
                    // It went away since the folder was listed.
                    Ok(None) => bad.push(file.clone()),
                    Err(cause) => {
                        bad.push(file.clone());
                        outcome.notices.push(Notice::Unreadable {
                            file: file.clone(),
                            cause,
                        });
                    }
                }
            }
            self.keep(&good, &bad);
            outcome.changed += good.len();
            rest = later;
            size = (size * 2).min(LAST_BATCH);
            on_progress(Progress {
                done: logs.len() - rest.len(),
                total: logs.len(),
            });
        }
        outcome
    }

    fn read_log(&self, (file, id): &Named) -> Result<Option<(LogFile, Facts)>, Cause> {
        let Some(read): Option<CapturedLog> = self.shared.files.capture(file)? else {
            return Ok(None);
        };
        check_name(file, id.as_ref(), &read.capture.header.id)?;
        let log = LogFile {
            file: file.clone(),
            id: id.clone(),
            stamp: read.stamp,
        };
        Ok(Some((log, Facts::from(read))))
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
