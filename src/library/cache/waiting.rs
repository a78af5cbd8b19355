//! What is known while another program holds the cache file: it is kept in
//! memory till the file is free again, and written then.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use super::schema::BUSY_TIMEOUT;
use super::write::{self, ReadFile};
use super::{Cache, Notice};
use crate::tool::Tool;

/// How many files are written in one transaction: others wait for it.
const BATCH: usize = 2048;

/// A change of what the cache says.
#[derive(Clone, Copy)]
pub(super) enum Change<'a> {
    /// Of these files this was found.
    Write(&'a [ReadFile]),
    /// These files are gone.
    Remove(&'a [(Tool, String)]),
}

/// The file that is held, and what has to be written to it.
pub(super) struct Waiting {
    path: PathBuf,
    /// What was found in each file since; `None` in one that is gone.
    kept: BTreeMap<(Tool, String), Option<ReadFile>>,
}

impl Waiting {
    pub(super) fn of(path: PathBuf) -> Self {
        let kept = BTreeMap::new();
        Self { path, kept }
    }

    pub(super) fn keep(&mut self, change: Change<'_>) {
        match change {
            Change::Write(read) => self.kept.extend(read.iter().map(|file| {
                let key = (file.log.tool, file.log.file.clone());
                (key, Some(file.clone()))
            })),
            Change::Remove(files) => {
                self.kept
                    .extend(files.iter().map(|key| (key.clone(), None)));
            }
        }
    }
}

impl Cache {
    /// Goes back to the file that another program held, if it is free again,
    /// with all that was found meanwhile. Waits for nobody.
    pub(in crate::library) fn come_back(&mut self) -> Option<Notice> {
        let Waiting { path, kept } = self.waiting.as_ref()?;
        let (mut file, rebuilt) = Self::open_within(path, Duration::ZERO).ok()?;
        let connection = file.connection.as_mut()?;
        let gone = kept.iter().filter(|(_, found)| found.is_none());
        let gone: Vec<(Tool, String)> = gone.map(|(key, _)| key.clone()).collect();
        let found: Vec<ReadFile> = kept.values().flatten().cloned().collect();
        // Half of it written is none the worse: all is written once more then.
        write::remove(connection, &gone).ok()?;
        for batch in found.chunks(BATCH) {
            write::write(connection, batch).ok()?;
        }
        connection.busy_timeout(BUSY_TIMEOUT).ok()?;
        let path = path.clone();
        *self = file;
        Some(rebuilt.unwrap_or(Notice::CacheFree { path }))
    }
}
