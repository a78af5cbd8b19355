//! Reading one session, wherever it lies.

use std::path::PathBuf;
use std::sync::Arc;

use super::cache::{Gone, Place, ReadFile};
use super::{
    CapturedLog, Facts, Found, Library, LibraryError, LogFile, LogFiles, cache, check_name,
};
use crate::reference::Cause;
use crate::reference::projection::{Capture, Said};
use crate::session::SessionId;
use crate::source::Round;
use crate::threads::lock;
use crate::tool::Tool;

impl Library {
    /// Reads a stored session from its file, opened anew each time, and mends
    /// what the cache says of it.
    pub(super) fn read_stored(&self, id: &SessionId) -> Result<Capture, Cause> {
        if let Some(capture) = self.read_own(id)? {
            return Ok(capture);
        }
        if let Some((tool, _)) = Tool::foreign(id)
            && let Some(logs) = self.others().find(|logs| logs.tool() == tool)
            && let Some(capture) = self.read_foreign(&**logs, id)?
        {
            return Ok(capture);
        }
        Err(Arc::new(self.missing(id)))
    }

    /// What was said in a stored session, read from its file: also what can't be
    /// cited any more, where its log tells. Blocks.
    ///
    /// # Errors
    /// When there is no such session, or it can't be read.
    pub fn said(&self, id: &SessionId) -> Result<Vec<Said>, Cause> {
        let own = &self.shared.own;
        let file = own.file_name(id).filter(|file| own.find(file).is_some());
        let ids = std::slice::from_ref(id);
        let of_log = file.and_then(|file| own.said(&file, ids, &Round::default()).pop());
        match of_log.transpose()?.flatten() {
            Some(said) => Ok(said),
            None => Ok(self.read_stored(id)?.said()),
        }
    }

    /// Why there is no such session: it is gone, or it never was.
    #[must_use]
    pub fn missing(&self, id: &SessionId) -> LibraryError {
        match self.ask(|connection| cache::gone(connection, id)) {
            Some(Gone {
                tool,
                file,
                title,
                last_seen,
            }) => LibraryError::Gone {
                id: id.clone(),
                title: title.unwrap_or_else(|| id.to_string()),
                tool,
                last_seen,
                file,
            },
            None => LibraryError::NotFound { id: id.clone() },
        }
    }

    /// The file of a session of another tool: where a listing found it, or
    /// else where its name says. Blocks.
    #[must_use]
    pub fn path_of(&self, id: &SessionId) -> Option<PathBuf> {
        let (tool, _) = Tool::foreign(id)?;
        let logs = self.others().find(|logs| logs.tool() == tool)?;
        let place = self.ask(|connection| cache::place(connection, id));
        let known = place.filter(|place| place.tool == tool && logs.find(&place.file).is_some());
        let file = known.map(|place| place.file);
        file.or_else(|| logs.file_name(id)).map(PathBuf::from)
    }

    fn read_own(&self, id: &SessionId) -> Result<Option<Capture>, Cause> {
        let own = &self.shared.own;
        let Some(file) = own.file_name(id) else {
            return Ok(None);
        };
        let Some(log) = own.capture(&file, Some(id))? else {
            return Ok(None);
        };
        check_name(&file, Some(id), &log.capture.header.id)?;
        let log_file = LogFile {
            tool: Tool::Ibid,
            id: Some(id.clone()),
            stamp: log.stamp,
            file,
        };
        let capture = log.capture.clone();
        let facts = Facts::from(log);
        let index = self.index();
        let known = index.find(id).and_then(|row| index.get(row));
        if !known.is_some_and(|entry| entry.is_live || facts.shown_by(&entry)) {
            let found = Found::Sessions(vec![facts]);
            let log = log_file;
            self.keep(&[ReadFile { log, found }], &[]);
        }
        Ok(Some(capture))
    }

    /// Where a listing found it, or else where its name says: an old mention
    /// holds also before anything was listed.
    fn read_foreign(&self, logs: &dyn LogFiles, id: &SessionId) -> Result<Option<Capture>, Cause> {
        let place = self.ask(|connection| cache::place(connection, id));
        if let Some(Place { file, stamp, .. }) = place.filter(|place| place.tool == logs.tool()) {
            match logs.capture(&file, Some(id)) {
                Ok(Some(log)) => {
                    if log.stamp != stamp {
                        self.touch_file(logs, &file);
                    }
                    return Ok(Some(log.capture));
                }
                // It may have been moved.
                Ok(None) => {}
                Err(cause) => {
                    return read_named(logs, id)?.map_or(Err(cause), |c| Ok(Some(c)));
                }
            }
        }
        read_named(logs, id)
    }

    pub(super) fn others(&self) -> impl Iterator<Item = &Arc<dyn LogFiles>> {
        self.shared.others.iter()
    }

    /// Asks the cache for one thing; what it can't tell is not known.
    pub(super) fn ask<T>(
        &self,
        ask: impl FnOnce(&rusqlite::Connection) -> rusqlite::Result<Option<T>>,
    ) -> Option<T> {
        let mut stored = lock(&self.shared.stored);
        stored
            .cache(self.shared.cache_path.as_ref())
            .ask(ask)
            .flatten()
    }
}

/// Reads a session where its name says that it lies.
fn read_named(logs: &dyn LogFiles, id: &SessionId) -> Result<Option<Capture>, Cause> {
    let Some(file) = logs.file_name(id) else {
        return Ok(None);
    };
    let log: Option<CapturedLog> = logs.capture(&file, Some(id))?;
    Ok(log.map(|log| log.capture))
}
