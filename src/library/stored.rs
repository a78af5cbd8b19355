//! The logs of a home, and several places of logs as one.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::files::{CapturedLog, LogFile, LogFiles, Place, Round, Scanned};
use crate::reference::Cause;
use crate::reference::projection::Said;
use crate::session::{Header, SessionId};
use crate::store::{self, Home, SessionFile, file_name, log};
use crate::tool::Tool;

/// The logs of a home.
#[derive(Clone, Debug)]
pub struct StoredLogs {
    home: Home,
}

impl StoredLogs {
    /// The logs of `home`; touches no disk.
    #[must_use]
    pub fn new(home: Home) -> Self {
        Self { home }
    }

    fn path(&self, file: &str) -> PathBuf {
        self.home.sessions_dir().join(file)
    }
}

/// What a folder knows of a log, as the library keeps it.
fn log_file(file: SessionFile) -> LogFile {
    LogFile {
        tool: Tool::Ibid,
        file: file
            .path
            .file_name()
            .map(|name| name.to_string_lossy().into_owned())
            .unwrap_or_default(),
        stamp: file.stamp,
        id: file.id,
    }
}

impl StoredLogs {
    /// The log of a session as its folder knows it now; `None` when there is
    /// none.
    #[must_use]
    pub fn log_file(&self, id: &SessionId) -> Option<LogFile> {
        store::session_file(&self.home.session_file(id)).map(log_file)
    }
}

impl LogFiles for StoredLogs {
    fn file_name(&self, id: &SessionId) -> Option<String> {
        Some(file_name::encode(id) + file_name::LOG_SUFFIX)
    }

    fn scan(&self, _: &CancellationToken) -> Result<Scanned, Cause> {
        let files = store::list_files(&self.home).map_err(|e| Arc::new(e) as Cause)?;
        Ok(Scanned {
            logs: files.into_iter().map(log_file).collect(),
            notices: Vec::new(),
        })
    }

    fn find(&self, file: &str) -> Option<LogFile> {
        store::session_file(&self.path(file)).map(log_file)
    }

    fn places(&self) -> Vec<Place> {
        vec![Place {
            path: self.home.sessions_dir(),
            is_tree: false,
        }]
    }

    fn at(&self, path: &Path) -> Option<LogFile> {
        self.find(path.file_name()?.to_str()?)
    }

    fn header(&self, file: &str) -> Result<Header, Cause> {
        log::read_header(&self.path(file)).map_err(|e| Arc::new(e) as Cause)
    }

    fn capture(&self, file: &str, _: Option<&SessionId>) -> Result<Option<CapturedLog>, Cause> {
        // The state is taken first: what is written meanwhile makes the next
        // look find another one.
        let Some(LogFile { stamp, .. }) = self.find(file) else {
            return Ok(None);
        };
        let path = self.path(file);
        let read = log::read_capture(&path).map_err(|e| Arc::new(e) as Cause)?;
        Ok(Some(CapturedLog {
            stamp,
            capture: read.capture,
            title: read.title,
        }))
    }

    fn said(
        &self,
        file: &str,
        ids: &[SessionId],
        _: &Round,
    ) -> Vec<Result<Option<Vec<Said>>, Cause>> {
        let read = |_| {
            if self.find(file).is_none() {
                return Ok(None);
            }
            let said = log::read_said(&self.path(file));
            said.map(Some).map_err(|e| Arc::new(e) as Cause)
        };
        ids.iter().map(read).collect()
    }
}

/// Several places of logs as one. A log that is in two of them is read from
/// the first.
pub struct Layered(Vec<Arc<dyn LogFiles>>);

impl Layered {
    /// These places, the first before the others.
    #[must_use]
    pub fn new(layers: Vec<Arc<dyn LogFiles>>) -> Self {
        Self(layers)
    }
}

impl LogFiles for Layered {
    fn file_name(&self, id: &SessionId) -> Option<String> {
        self.0.first()?.file_name(id)
    }

    fn scan(&self, cancel: &CancellationToken) -> Result<Scanned, Cause> {
        let mut seen = std::collections::HashSet::new();
        let mut all = Scanned::default();
        for layer in &self.0 {
            let scanned = layer.scan(cancel)?;
            let logs = scanned.logs.into_iter();
            all.logs
                .extend(logs.filter(|log| seen.insert(log.file.clone())));
            all.notices.extend(scanned.notices);
        }
        Ok(all)
    }

    fn find(&self, file: &str) -> Option<LogFile> {
        self.0.iter().find_map(|layer| layer.find(file))
    }

    fn places(&self) -> Vec<Place> {
        self.0.iter().flat_map(|layer| layer.places()).collect()
    }

    fn at(&self, path: &Path) -> Option<LogFile> {
        self.0.iter().find_map(|layer| layer.at(path))
    }

    fn header(&self, file: &str) -> Result<Header, Cause> {
        let mut outcome =
            Err(Arc::new(std::io::Error::from(std::io::ErrorKind::NotFound)) as Cause);
        for layer in &self.0 {
            outcome = layer.header(file);
            if outcome.is_ok() {
                break;
            }
        }
        outcome
    }

    fn capture(&self, file: &str, id: Option<&SessionId>) -> Result<Option<CapturedLog>, Cause> {
        for layer in &self.0 {
            if let Some(log) = layer.capture(file, id)? {
                return Ok(Some(log));
            }
        }
        Ok(None)
    }

    fn said(
        &self,
        file: &str,
        ids: &[SessionId],
        round: &Round,
    ) -> Vec<Result<Option<Vec<Said>>, Cause>> {
        let layer = self.0.iter().find(|layer| layer.find(file).is_some());
        match layer {
            Some(layer) => layer.said(file, ids, round),
            None => ids.iter().map(|_| Ok(None)).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio_util::sync::CancellationToken;

    use super::*;
    use crate::library::Library;
    use crate::session::{Message, Millis, NewEvent, Payload};
    use crate::store::SessionWriter;

    fn store(home: &Home, id: &str, text: &str) {
        let header = Header::new(id, Millis(1), Some("/work".to_owned()));
        let message = Payload::user(Message::person(text));
        let first = vec![NewEvent::plain(Millis(2), message)];
        SessionWriter::create(home, header, first).unwrap();
    }

    fn labels(library: &Library) -> Vec<String> {
        let never = CancellationToken::new();
        let refreshed = library.refresh(&never, &mut |_| {}).unwrap();
        assert!(refreshed.notices.is_empty(), "{:?}", refreshed.notices);
        let index = library.index();
        let mut labels: Vec<_> = index.iter().map(|entry| entry.label.to_owned()).collect();
        labels.sort();
        labels
    }

    #[test]
    fn a_stored_session_is_listed_by_its_first_words() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path());
        store(&home, "../odd", "the first words of it all and more");
        let library = Library::open(Arc::new(StoredLogs::new(home)), None);
        assert_eq!(labels(&library), ["the first words of it"]);
    }

    #[test]
    fn a_log_in_two_places_is_read_from_the_first() {
        let dir = tempfile::tempdir().unwrap();
        let homes = ["own", "samples"].map(|name| Home::at(dir.path().join(name)));
        let [own, samples] = &homes;
        store(own, "both", "own");
        store(samples, "both", "sample");
        store(samples, "other", "other sample");
        let layers = homes
            .clone()
            .map(|home| Arc::new(StoredLogs::new(home)) as Arc<dyn LogFiles>);
        let library = Library::open(Arc::new(Layered::new(layers.to_vec())), None);
        assert_eq!(labels(&library), ["other sample", "own"]);
    }

    #[test]
    fn what_was_written_is_known_without_reading_it() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path());
        let logs = StoredLogs::new(home.clone());
        assert_eq!(logs.log_file(&"a".into()), None);
        store(&home, "a", "text");
        let log = logs.log_file(&"a".into()).unwrap();
        assert_eq!(logs.scan(&CancellationToken::new()).unwrap().logs, [log]);
    }
}
