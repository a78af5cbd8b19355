//! Brings the library up to date with the files: what the cache may be
//! believed, what has to be read again, and what is gone.

use std::path::{Path, PathBuf};

use rayon::prelude::*;
use thiserror::Error;
use tokio_util::sync::CancellationToken;

use super::cache::{self, ReadFile};
use super::digest::Digest;
use super::error::bounded;
use super::files::{Found, Stamp};
use super::planning::Listing;
use super::texts::TextsError;
use super::{Library, LogFile, LogFiles, Notice, Place, Standing, check_name};
use crate::reference::Cause;
use crate::session::{Millis, SessionId};
use crate::source::Round;
use crate::threads::{beside_background, lock};
use crate::tool::Tool;

/// How many logs are read before the first new rows are shown; each further
/// batch is twice as long, because showing rows costs the same for many.
const FIRST_BATCH: usize = 64;
pub(super) const LAST_BATCH: usize = 2048;
/// Which part of what was read before it a longer batch may be: showing more
/// rows copies all that are shown, and of a million that takes a while.
const PART_OF_ALL: usize = 32;

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

/// Why the cache can't be begun anew.
#[derive(Clone, Debug, Error)]
pub enum StartOverError {
    /// The list of sessions can't.
    #[error("{0}; nothing was made anew: see that a file can be made and written there")]
    Cache(Notice),
    /// The texts can't.
    #[error("{0}")]
    Texts(TextsError),
}

impl StartOverError {
    /// The stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Cache(notice) => notice.code(),
            Self::Texts(error) => error.code(),
        }
    }
}

impl From<Notice> for StartOverError {
    fn from(notice: Notice) -> Self {
        Self::Cache(notice)
    }
}

impl From<TextsError> for StartOverError {
    fn from(error: TextsError) -> Self {
        Self::Texts(error)
    }
}

/// A file by its name, and what is known of it without opening it.
pub(super) struct Named {
    pub(super) tool: Tool,
    pub(super) file: String,
    /// The id that the name stands for.
    pub(super) id: Option<SessionId>,
    /// The state in which it was just seen, if it was.
    pub(super) seen: Option<Stamp>,
}

/// A file, and what a look into it gave.
type LookedAt<'a> = (&'a Named, Result<Option<ReadFile>, Cause>);

impl From<LogFile> for Named {
    fn from(log: LogFile) -> Self {
        Self {
            tool: log.tool,
            file: log.file,
            id: log.id,
            seen: Some(log.stamp),
        }
    }
}

impl Library {
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
        let is_known = {
            let mut stored = lock(&self.shared.stored);
            // What is known is so as long as the cache is.
            stored.come_back(self.shared.cache_path.as_ref());
            stored.known == Some(Digest::of(&listing.logs))
        };
        let Listing { tools, .. } = &listing;
        if is_known {
            lock(&self.shared.stored).is_complete = true;
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
        if tools.len() == self.all().count() && !cancel.is_cancelled() {
            lock(&self.shared.stored).is_complete = true;
        }
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
        // Several tools can have been told to use the same folder.
        let held = paths.into_iter().flat_map(|path| {
            let holders = self.all().filter(move |logs| logs.holds(path));
            holders.map(move |logs| (path, logs))
        });
        for (path, logs) in held {
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
    pub fn places(&self) -> Vec<Place> {
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
            seen: None,
        };
        let read = self.read(&[named], &CancellationToken::new(), &mut |_| {});
        lock(&self.shared.stored).notices.extend(read.notices);
    }

    /// Forgets what is known of every file and all that was said, so that the
    /// next refresh reads all of them. A cache that is damaged, or that belongs
    /// to a newer program, makes way for a new one, which the notice says; when
    /// the sessions that are gone were last seen stays known as far as it can be
    /// read. Blocks.
    ///
    /// # Errors
    /// When the cache can't be written.
    pub fn start_over(&self) -> Result<Option<Notice>, StartOverError> {
        let mut stored = lock(&self.shared.stored);
        let path = self.shared.cache_path.as_ref();
        // One that is not used is about to be made anew: why is no news then.
        let told = stored.notices.len();
        stored.cache(path);
        let opened = stored.notices.split_off(told);
        let mut rebuilt = opened
            .into_iter()
            .find(|notice| matches!(notice, Notice::CacheRebuilt { .. }));
        stored.known = None;
        stored.is_complete = false;
        stored.own.clear();
        let texts = &self.shared.texts;
        // First, because what is left is looked through.
        let mut cleared = texts.clear();
        if let Err(error @ TextsError::Locked { .. }) = cleared {
            return Err(error.into());
        }
        let cache = stored.cache(path);
        if let Some(notice) = cache.start_over(path.map(PathBuf::as_path))? {
            rebuilt = Some(notice);
            cleared = texts.clear();
        }
        if let (Err(error), Some(path)) = (&cleared, path) {
            // Tables that can't be dropped go with their file.
            rebuilt = Some(cache.start_anew(path, &error.to_string())?);
            cleared = texts.clear();
        }
        cleared?;
        Ok(rebuilt)
    }

    /// What is known of the sessions of one tool. Blocks.
    #[must_use]
    pub fn standing(&self, tool: Tool) -> Standing {
        self.ask(|connection| cache::standing(connection, tool).map(Some))
            .unwrap_or_default()
    }

    pub(super) fn outcome(&self, changed: usize, mut notices: Vec<Notice>) -> Refreshed {
        notices.append(&mut lock(&self.shared.stored).notices);
        Refreshed {
            changed,
            notices: bounded(notices),
        }
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &dyn LogFiles> {
        let own = std::iter::once(&self.shared.own);
        own.chain(&self.shared.others).map(|logs| &**logs)
    }

    pub(super) fn logs_of(&self, tool: Tool) -> Option<&dyn LogFiles> {
        self.all().find(|logs| logs.tool() == tool)
    }

    fn note_scan(&self, tools: &[Tool]) {
        let mut stored = lock(&self.shared.stored);
        let cache = stored.cache(self.shared.cache_path.as_ref());
        let noted = cache.scanned(tools, Millis::now());
        stored.notices.extend(noted.err());
    }

    /// Looks into these files side by side, keeps what they say, and shows it:
    /// of one batch while the next one is looked at.
    pub(super) fn read(
        &self,
        logs: &[Named],
        cancel: &CancellationToken,
        on_progress: &mut dyn FnMut(Progress),
    ) -> Refreshed {
        let mut outcome = Refreshed::default();
        let mut progress = Progress {
            done: 0,
            total: logs.len(),
        };
        let mut rest = logs;
        let mut size = FIRST_BATCH;
        let mut looked: Vec<LookedAt<'_>> = Vec::new();
        let round = Round::default();
        loop {
            let (batch, later) = match rest.split_at_checked(size) {
                _ if cancel.is_cancelled() => (&[][..], &[][..]),
                Some(halves) => halves,
                None => (rest, &[][..]),
            };
            let last = std::mem::take(&mut looked);
            (looked, ()) = beside_background(
                || {
                    let going_on = batch.par_iter().filter(|_| !cancel.is_cancelled());
                    going_on.map(|log| (log, self.look(log, &round))).collect()
                },
                || {
                    if !last.is_empty() {
                        progress.done += last.len();
                        self.take(last, &mut outcome);
                        on_progress(progress);
                    }
                },
            );
            if looked.is_empty() {
                return outcome;
            }
            rest = later;
            size = (size * 2).min(LAST_BATCH.max(progress.done / PART_OF_ALL));
        }
    }

    /// Keeps and shows what a look into some files gave.
    fn take(&self, looked: Vec<LookedAt<'_>>, outcome: &mut Refreshed) {
        let mut found = Vec::with_capacity(looked.len());
        let mut gone = Vec::new();
        for (named, result) in looked {
            match result {
                Ok(Some(read)) => {
                    outcome.changed += 1;
                    found.push(read);
                }
                // It went away since its folder was listed.
                Ok(None) => gone.push((named.tool, named.file.clone())),
                Err(cause) => {
                    // What is known of another tool's sessions stays, for
                    // the time being; its state gets it tried again.
                    if named.tool == Tool::Ibid || !self.is_known(named) {
                        found.push(unreadable(named, &cause));
                    }
                    outcome.notices.push(Notice::Unreadable {
                        file: named.file.clone(),
                        cause,
                    });
                }
            }
        }
        self.keep(&found, &gone);
    }

    fn is_known(&self, named: &Named) -> bool {
        let (tool, file) = (named.tool, &named.file);
        let stamp = self.ask(|connection| cache::stamp(connection, tool, file));
        stamp.is_some_and(|stamp| stamp != Stamp::default())
    }

    fn look(&self, named: &Named, round: &Round) -> Result<Option<ReadFile>, Cause> {
        let Some(logs) = self.logs_of(named.tool) else {
            return Ok(None);
        };
        let Some(looked) = logs.look(&named.file, named.seen, round)? else {
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
