//! Files of a tool that stand in memory.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use ibid::library::{
    CapturedLog, Facts, Found, Kind, LogFile, LogFiles, Looked, Place, Scanned, Stamp,
};
use ibid::reference::Cause;
use ibid::session::{Header, Millis, SessionId, Title};
use ibid::source::Round;
use ibid::tool::Tool;
use tokio_util::sync::CancellationToken;

use super::super::log;

/// A file's state, and what a look into it gives.
type Held = (Stamp, Result<Found, String>);

/// Files of one tool, made up.
pub(in super::super) struct Files {
    tool: Tool,
    held: Mutex<BTreeMap<String, Held>>,
    pub(super) listing_fails: AtomicBool,
    looks: AtomicUsize,
    scans: AtomicUsize,
}

impl Files {
    pub(in super::super) fn of(tool: Tool) -> Arc<Self> {
        Arc::new(Self {
            tool,
            held: Mutex::default(),
            listing_fails: AtomicBool::new(false),
            looks: AtomicUsize::new(0),
            scans: AtomicUsize::new(0),
        })
    }

    /// Puts a file there, as last written at `at`.
    pub(super) fn put(&self, name: &str, at: i64, found: Result<Found, &str>) {
        let stamp = Stamp {
            size: 10,
            mtime_ns: at * 1_000_000,
            inode: 1,
        };
        let mut files = self.held.lock().unwrap();
        files.insert(path(name), (stamp, found.map_err(str::to_owned)));
    }

    pub(in super::super) fn session(&self, name: &str, at: i64, id: &str, title: &str) {
        let facts = facts(self.tool, id, title, at);
        self.put(name, at, Ok(Found::Sessions(vec![facts])));
    }

    pub(in super::super) fn remove(&self, name: &str) {
        self.held.lock().unwrap().remove(&path(name));
    }

    pub(super) fn looks(&self) -> usize {
        self.looks.swap(0, Ordering::SeqCst)
    }

    pub(super) fn scans(&self) -> usize {
        self.scans.swap(0, Ordering::SeqCst)
    }

    fn log_file(&self, file: &str, stamp: Stamp) -> LogFile {
        LogFile {
            tool: self.tool,
            file: file.to_owned(),
            id: None,
            stamp,
        }
    }
}

pub(super) fn path(name: &str) -> String {
    format!("/tool/{name}")
}

pub(super) fn facts(tool: Tool, id: &str, title: &str, at: i64) -> Facts {
    Facts {
        header: Header::new(tool.session_id(id), Millis(at), Some("/work".to_owned())),
        title: Some(Title {
            text: title.to_owned(),
            pinned: false,
        }),
        updated_at: Millis(at),
        messages: None,
        kind: Kind::Session,
        notices: Vec::new(),
    }
}

impl LogFiles for Files {
    fn tool(&self) -> Tool {
        self.tool
    }

    /// By its name: the id and `.log`.
    fn file_name(&self, id: &SessionId) -> Option<String> {
        let (_, native) = Tool::foreign(id)?;
        let file = path(&format!("{native}.log"));
        let files = self.held.lock().unwrap();
        files.contains_key(&file).then_some(file)
    }

    fn scan(&self, _: &CancellationToken) -> Result<Scanned, Cause> {
        self.scans.fetch_add(1, Ordering::SeqCst);
        if self.listing_fails.load(Ordering::SeqCst) {
            return Err(Arc::new(std::io::Error::other("no right to look")));
        }
        let files = self.held.lock().unwrap();
        Ok(Scanned {
            logs: files
                .iter()
                .map(|(file, (stamp, _))| self.log_file(file, *stamp))
                .collect(),
            notices: Vec::new(),
        })
    }

    fn find(&self, file: &str) -> Option<LogFile> {
        let files = self.held.lock().unwrap();
        Some(self.log_file(file, files.get(file)?.0))
    }

    fn places(&self) -> Vec<Place> {
        vec![Place {
            path: PathBuf::from("/tool"),
            is_tree: true,
        }]
    }

    fn look(&self, file: &str, _: Option<Stamp>, _: &Round) -> Result<Option<Looked>, Cause> {
        self.looks.fetch_add(1, Ordering::SeqCst);
        match self.held.lock().unwrap().get(file).cloned() {
            Some((stamp, Ok(found))) => Ok(Some(Looked { stamp, found })),
            Some((_, Err(problem))) => Err(Arc::new(std::io::Error::other(problem))),
            None => Ok(None),
        }
    }

    fn header(&self, file: &str) -> Result<Header, Cause> {
        panic!("nobody compares {file}");
    }

    fn capture(&self, file: &str, id: Option<&SessionId>) -> Result<Option<CapturedLog>, Cause> {
        let files = self.held.lock().unwrap();
        let Some((stamp, Ok(Found::Sessions(sessions)))) = files.get(file) else {
            return Ok(None);
        };
        let facts = sessions.iter().find(|facts| Some(&facts.header.id) == id);
        Ok(facts.map(|facts| {
            let mut read = log("", "", 1);
            read.capture.header = facts.header.clone();
            read.title.clone_from(&facts.title);
            read.stamp = *stamp;
            read
        }))
    }
}
