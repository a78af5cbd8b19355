//! The library over stand-in logs: what is listed, what is believed, and what
//! is opened.

mod cache;
mod elsewhere;
mod held;
mod live;
mod mending;
mod recall;
mod unwritten;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};

use ibid::library::{
    CapturedLog, Facts, Library, LogFile, LogFiles, Notice, Progress, Refreshed, Scanned, Stamp,
};
use ibid::reference::Cause;
use ibid::reference::discovery::Candidate;
use ibid::reference::ports::{SessionDirectory, SurfaceReader};
use ibid::reference::projection::{Capture, Item};
use ibid::session::{Header, Millis, Role, Seq, SessionId, Title};
use ibid::tool::Tool;
use tokio_util::sync::CancellationToken;

/// Logs that are made up, and counted when opened.
#[derive(Default)]
pub(crate) struct Logs {
    files: Mutex<BTreeMap<String, CapturedLog>>,
    /// Logs whose reading fails.
    broken: Mutex<Vec<String>>,
    /// Called off as soon as a log is read.
    cancel: Mutex<Option<CancellationToken>>,
    pub(crate) captures: AtomicUsize,
    headers: AtomicUsize,
    scans: AtomicUsize,
    gate: Gate,
    /// Holds up the reading of logs.
    pub(crate) reading: Gate,
    pub(crate) listing_fails: AtomicBool,
}

/// Holds a call up until it is told to go on.
#[derive(Default)]
pub(crate) struct Gate {
    state: Mutex<(bool, bool)>,
    changed: Condvar,
}

impl Gate {
    pub(crate) fn close(&self) {
        *self.state.lock().unwrap() = (true, false);
    }

    pub(crate) fn open(&self) {
        self.state.lock().unwrap().0 = false;
        self.changed.notify_all();
    }

    pub(crate) fn wait_until_reached(&self) {
        let state = self.state.lock().unwrap();
        drop(self.changed.wait_while(state, |(_, reached)| !*reached));
    }

    fn pass(&self) {
        let mut state = self.state.lock().unwrap();
        state.1 = true;
        self.changed.notify_all();
        drop(self.changed.wait_while(state, |(closed, _)| *closed));
    }
}

impl Logs {
    pub(crate) fn with(logs: impl IntoIterator<Item = CapturedLog>) -> Arc<Self> {
        let this = Arc::new(Self::default());
        for log in logs {
            this.put(log);
        }
        this
    }

    pub(crate) fn put(&self, log: CapturedLog) {
        let file = file_name(&log.capture.header.id);
        self.files.lock().unwrap().insert(file, log);
    }

    fn remove(&self, id: &str) {
        self.files.lock().unwrap().remove(&file_name(&id.into()));
    }

    fn opened(&self) -> usize {
        self.captures.load(Ordering::SeqCst) + self.headers.load(Ordering::SeqCst)
    }
}

fn file_name(id: &SessionId) -> String {
    format!("{id}.jsonl")
}

fn log_file(file: &str, log: &CapturedLog) -> LogFile {
    LogFile {
        tool: Tool::Ibid,
        id: file.strip_suffix(".jsonl").map(SessionId::from),
        file: file.to_owned(),
        stamp: log.stamp,
    }
}

impl LogFiles for Logs {
    fn file_name(&self, id: &SessionId) -> Option<String> {
        Some(file_name(id))
    }

    fn scan(&self, _: &CancellationToken) -> Result<Scanned, Cause> {
        self.scans.fetch_add(1, Ordering::SeqCst);
        self.gate.pass();
        if self.listing_fails.load(Ordering::SeqCst) {
            return Err(Arc::new(std::io::Error::other("the disk is gone")));
        }
        let logs = self.files.lock().unwrap();
        Ok(Scanned {
            logs: logs.iter().map(|(file, log)| log_file(file, log)).collect(),
            notices: Vec::new(),
        })
    }

    fn find(&self, file: &str) -> Option<LogFile> {
        let logs = self.files.lock().unwrap();
        Some(log_file(file, logs.get(file)?))
    }

    fn header(&self, file: &str) -> Result<Header, Cause> {
        self.headers.fetch_add(1, Ordering::SeqCst);
        let logs = self.files.lock().unwrap();
        Ok(logs[file].capture.header.clone())
    }

    fn capture(&self, file: &str, _: Option<&SessionId>) -> Result<Option<CapturedLog>, Cause> {
        self.captures.fetch_add(1, Ordering::SeqCst);
        self.reading.pass();
        if let Some(cancel) = &*self.cancel.lock().unwrap() {
            cancel.cancel();
        }
        if self.broken.lock().unwrap().iter().any(|f| f == file) {
            return Err(Arc::new(std::io::Error::other("damaged")));
        }
        Ok(self.files.lock().unwrap().get(file).cloned())
    }
}

/// A log begun in `/work`, with a title and one message.
pub(crate) fn log(id: &str, title: &str, created_at: i64) -> CapturedLog {
    let header = Header::new(id, Millis(created_at), Some("/work".to_owned()));
    CapturedLog {
        stamp: Stamp {
            size: 100,
            mtime_ns: created_at * 1_000_000 + 5,
            inode: 7,
        },
        capture: Capture {
            header,
            captured_through: Some(Seq(1)),
            damage: None,
            conversation: vec![Item {
                time: Millis(0),
                role: Role::User,
                checkpoint: false,
                text: "Please find the bug in this long program".into(),
            }],
        },
        title: Some(Title {
            text: title.to_owned(),
            pinned: false,
        }),
    }
}

pub(crate) fn seeded(mut log: CapturedLog) -> CapturedLog {
    log.capture.header.is_seeded = Some(true);
    log
}

pub(crate) fn open(logs: &Arc<Logs>, cache: Option<&Path>) -> Library {
    Library::open(
        Arc::clone(logs) as Arc<dyn LogFiles>,
        cache.map(Path::to_path_buf),
    )
}

pub(crate) fn refresh(library: &Library) -> Refreshed {
    library
        .refresh(&CancellationToken::new(), &mut |_| {})
        .unwrap()
}

pub(crate) fn verify(library: &Library) -> Refreshed {
    library
        .verify(&CancellationToken::new(), &mut |_| {})
        .unwrap()
}

/// What the index shows, newest first.
pub(crate) fn shown(library: &Library) -> Vec<String> {
    let index = library.index();
    index.iter().map(|entry| entry.label.to_owned()).collect()
}

/// What discovery calls every session, newest first.
pub(crate) fn labels(library: &Library) -> Vec<String> {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let listed = runtime.block_on(library.list_sessions()).unwrap();
    let mut candidates: Vec<_> = listed
        .into_iter()
        .map(|session| Candidate::new(session, None))
        .collect();
    candidates.sort_by_key(|candidate| std::cmp::Reverse(candidate.created_at));
    candidates.into_iter().map(|c| c.label).collect()
}

fn read(library: &Library, id: &str) -> Result<Capture, Cause> {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(library.read_surface(&id.into()))
}

#[test]
fn unknown_sessions_are_listed_by_id_without_opening_a_log() {
    let logs = Logs::with([log("a", "One", 1), log("b", "Two", 2)]);
    let library = open(&logs, None);
    assert_eq!(labels(&library), ["b", "a"]);
    let index = library.index();
    assert!(index.iter().all(|entry| entry.is_unread));
    assert_eq!(logs.opened(), 0);
}

#[test]
fn a_refresh_reads_what_is_unknown_once() {
    let mut second = log("b", "Two", 2);
    second.stamp.mtime_ns = 7_999_999;
    let logs = Logs::with([log("a", "One", 1), second]);
    let library = open(&logs, None);
    let mut progress = Vec::new();
    let refreshed = library
        .refresh(&CancellationToken::new(), &mut |p| progress.push(p))
        .unwrap();
    assert_eq!(refreshed.changed, 2);
    assert_eq!(progress, [Progress { done: 2, total: 2 }]);
    assert_eq!(shown(&library), ["Two", "One"]);
    assert_eq!(labels(&library), ["Two", "One"]);
    assert_eq!(refresh(&library).changed, 0);
    assert_eq!(logs.opened(), 2);
    let index = library.index();
    let entry = index.get(0).unwrap();
    assert_eq!(entry.updated_at, Millis(7));
    assert_eq!(entry.messages, Some(1));
    assert_eq!(entry.cwd, Some("/work"));
}

#[test]
fn a_refresh_finds_new_changed_and_vanished_logs() {
    let logs = Logs::with([log("a", "One", 1), log("b", "Two", 2), log("c", "Three", 3)]);
    let library = open(&logs, None);
    refresh(&library);
    logs.remove("a");
    logs.put(log("d", "Four", 4));
    let mut longer = log("b", "Two, renamed", 2);
    longer.stamp.size += 1;
    logs.put(longer);
    assert_eq!(labels(&library), ["d", "Three", "b"], "not read yet");
    assert_eq!(refresh(&library).changed, 3);
    assert_eq!(shown(&library), ["Four", "Three", "Two, renamed"]);
}

#[test]
fn any_change_of_a_file_makes_its_row_worthless() {
    type Change = fn(&mut Stamp);
    let changes: [Change; 3] = [
        |stamp| stamp.size += 1,
        |stamp| stamp.mtime_ns += 1,
        |stamp| stamp.inode += 1,
    ];
    for alter in changes {
        let logs = Logs::with([log("a", "One", 1)]);
        let library = open(&logs, None);
        refresh(&library);
        let mut other = log("a", "Other", 1);
        alter(&mut other.stamp);
        logs.put(other);
        assert_eq!(labels(&library), ["a"]);
    }
}

#[test]
fn the_cached_title_of_a_seeded_session_is_not_believed() {
    let logs = Logs::with([seeded(log("a", "Copied", 1)), log("b", "Own", 2)]);
    let library = open(&logs, None);
    refresh(&library);
    assert_eq!(shown(&library), ["Own", "a"]);
    assert_eq!(labels(&library), ["Own", "a"]);
}

#[test]
fn a_log_that_never_set_a_title_goes_by_its_first_words() {
    let mut untitled = log("a", "", 1);
    untitled.title = None;
    let mut compacted = log("b", "", 2);
    compacted.title = None;
    compacted.capture.conversation.insert(
        0,
        Item {
            time: Millis(0),
            role: Role::User,
            checkpoint: true,
            text: "What was said before".into(),
        },
    );
    let library = open(&Logs::with([untitled, compacted]), None);
    refresh(&library);
    assert_eq!(shown(&library), ["b", "Please find the bug in"]);
}

#[test]
fn a_log_that_cannot_be_read_is_told_and_stays_listed() {
    let logs = Logs::with([log("a", "One", 1), log("b", "Two", 2)]);
    logs.broken.lock().unwrap().push("a.jsonl".to_owned());
    let library = open(&logs, None);
    let refreshed = refresh(&library);
    assert_eq!(refreshed.changed, 1);
    assert!(
        matches!(&*refreshed.notices, [Notice::Unreadable { file, .. }] if file == "a.jsonl"),
        "{refreshed:?}"
    );
    assert_eq!(shown(&library), ["Two", "a"]);
}

#[test]
fn a_cancelled_refresh_keeps_what_it_read() {
    let logs = Logs::with((0..200).map(|at| log(&format!("{at:03}"), "Title", at)));
    let library = open(&logs, None);
    let cancel = CancellationToken::new();
    *logs.cancel.lock().unwrap() = Some(cancel.clone());
    library.refresh(&cancel, &mut |_| {}).unwrap();
    let read = logs.opened();
    assert!((1..=64).contains(&read), "{read}");
    let titled = shown(&library).iter().filter(|l| *l == "Title").count();
    assert_eq!(titled, read);
    *logs.cancel.lock().unwrap() = None;
    refresh(&library);
    assert_eq!(logs.opened(), 200);
}

#[test]
fn a_surface_is_read_anew_each_time() {
    let logs = Logs::with([log("a", "One", 1)]);
    let library = open(&logs, None);
    assert_eq!(read(&library, "a").unwrap(), log("a", "One", 1).capture);
    let mut grown = log("a", "One", 1);
    grown.capture.captured_through = Some(Seq(9));
    logs.put(grown.clone());
    assert_eq!(read(&library, "a").unwrap(), grown.capture);
}

#[test]
fn reading_a_log_mends_its_row() {
    let logs = Logs::with([log("a", "One", 1), log("b", "Two", 2)]);
    let library = open(&logs, None);
    read(&library, "b").unwrap();
    assert_eq!(shown(&library), ["Two"]);
    assert_eq!(labels(&library), ["Two", "a"]);
    assert_eq!(logs.opened(), 1);
}

#[test]
fn an_unknown_session_is_named_with_the_remedy() {
    let library = open(&Logs::with([]), None);
    let error = read(&library, "no\u{1b}pe").unwrap_err();
    let error = error.downcast_ref::<ibid::library::LibraryError>().unwrap();
    assert_eq!(error.code(), "SESSION_NOT_FOUND");
    assert_eq!(
        error.to_string(),
        r#"there is no session "no\u{1b}pe"; `ibid sessions list` shows those there are"#
    );
}

#[test]
fn a_log_under_another_sessions_name_is_neither_read_nor_believed() {
    let logs = Logs::with([]);
    let stray = log("b", "Stray", 1);
    logs.files
        .lock()
        .unwrap()
        .insert("a.jsonl".to_owned(), stray);
    let library = open(&logs, None);
    let error = read(&library, "a").unwrap_err();
    let error = error.downcast_ref::<ibid::library::LibraryError>().unwrap();
    assert_eq!(error.code(), "SESSION_RENAMED");
    assert_eq!(refresh(&library).notices.len(), 1);
    assert_eq!(shown(&library), ["a"]);
}

#[test]
fn what_this_process_wrote_is_listed_without_reading_it() {
    let logs = Logs::with([log("a", "Old", 1)]);
    let library = open(&logs, None);
    refresh(&library);
    let mut renamed = log("a", "New", 1);
    renamed.stamp.size += 40;
    let written = LogFile {
        tool: ibid::tool::Tool::Ibid,
        file: "a.jsonl".to_owned(),
        id: Some("a".into()),
        stamp: renamed.stamp,
    };
    library.record(&written, &Facts::from(renamed.clone()));
    assert_eq!(shown(&library), ["New"]);
    // Also where the folder was listed before the write.
    assert_eq!(labels(&library), ["New"]);
    logs.put(renamed);
    assert_eq!(labels(&library), ["New"]);
    assert_eq!(logs.opened(), 1);
}
