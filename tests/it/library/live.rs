//! Sessions that are open here: their own word counts.

use std::sync::{Arc, Mutex};

use ibid::library::LiveSession;
use ibid::reference::ports::SurfaceReader;
use ibid::reference::projection::Capture;
use ibid::session::{Header, SessionId};

use super::{Logs, labels, log, open, read, refresh, seeded, shown};

pub(super) struct Live {
    header: Header,
    title: Mutex<Option<String>>,
}

impl Live {
    pub(super) fn of(log: &ibid::library::CapturedLog, title: Option<&str>) -> Arc<Self> {
        Arc::new(Self {
            header: log.capture.header.clone(),
            title: Mutex::new(title.map(str::to_owned)),
        })
    }
}

impl LiveSession for Live {
    fn header(&self) -> Header {
        self.header.clone()
    }

    fn title(&self) -> Option<String> {
        self.title.lock().unwrap().clone()
    }

    fn capture(&self) -> Capture {
        Capture {
            header: self.header.clone(),
            captured_through: None,
            damage: None,
            conversation: Vec::new(),
        }
    }
}

#[test]
fn the_title_of_a_live_session_counts_before_the_cached_one() {
    let stored = log("a", "Cached", 1);
    let library = open(&Logs::with([stored.clone()]), None);
    refresh(&library);
    let live = Live::of(&stored, Some("Live"));
    library.attach(live.clone());
    assert_eq!(shown(&library), ["Live"]);
    assert_eq!(labels(&library), ["Live"]);
    *live.title.lock().unwrap() = Some("Renamed".to_owned());
    assert_eq!(labels(&library), ["Renamed"]);
    assert_eq!(shown(&library), ["Renamed"]);
    // Nor does a cached one stand in where the live session has none.
    *live.title.lock().unwrap() = None;
    assert_eq!(labels(&library), ["a"]);
    let index = library.index();
    assert_eq!(index.get(0).unwrap().messages, Some(1));
}

#[test]
fn the_live_title_of_a_seeded_session_is_trusted_while_it_is_open() {
    let stored = seeded(log("a", "Copied", 1));
    let library = open(&Logs::with([stored.clone()]), None);
    library.attach(Live::of(&stored, Some("Own")));
    assert_eq!(labels(&library), ["Own"]);
    library.detach(&"a".into());
    assert_eq!(shown(&library), ["a"]);
    refresh(&library);
    assert_eq!(labels(&library), ["a"]);
}

#[test]
fn a_live_session_without_a_log_is_listed_while_it_is_open() {
    let library = open(&Logs::with([]), None);
    library.attach(Live::of(&log("a", "", 1), Some("New")));
    assert_eq!(shown(&library), ["New"]);
    assert_eq!(labels(&library), ["New"]);
    library.detach(&"a".into());
    assert!(shown(&library).is_empty());
}

#[test]
fn a_stored_session_stays_listed_when_it_is_closed() {
    let stored = log("a", "Title", 1);
    let library = open(&Logs::with([stored.clone()]), None);
    refresh(&library);
    library.attach(Live::of(&stored, Some("Title")));
    library.detach(&"a".into());
    assert_eq!(shown(&library), ["Title"]);
    let index = library.index();
    assert!(!index.get(0).unwrap().is_live);
}

#[test]
fn a_live_session_is_read_from_memory() {
    let logs = Logs::with([log("a", "Title", 1)]);
    let library = open(&logs, None);
    library.attach(Live::of(&log("a", "", 1), None));
    assert!(read(&library, "a").unwrap().conversation.is_empty());
    assert_eq!(logs.opened(), 0);
}

#[test]
fn a_folder_that_hangs_holds_nobody_up() {
    let logs = Logs::with([log("a", "Stored", 1)]);
    let library = open(&logs, None);
    logs.gate.close();
    let listing = std::thread::spawn({
        let library = library.clone();
        move || library.load().unwrap()
    });
    logs.gate.wait_until_reached();
    library.attach(Live::of(&log("b", "", 2), Some("Live")));
    assert_eq!(shown(&library), ["Live"]);
    logs.gate.open();
    listing.join().unwrap();
    assert_eq!(shown(&library), ["Live", "a"]);
}

#[test]
fn a_listing_that_hangs_can_be_given_up() {
    let logs = Logs::with([log("a", "Stored", 1)]);
    let library = open(&logs, None);
    logs.gate.close();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let id = SessionId::from("a");
    runtime.block_on(async {
        let hanging = ibid::reference::ports::SessionDirectory::list_sessions(&library);
        tokio::select! {
            biased;
            _ = hanging => panic!("it hangs"),
            capture = library.read_surface(&id) => assert!(capture.is_ok()),
        }
    });
    logs.gate.open();
}

/// A session that is closed while it is asked for its title.
struct Leaving(ibid::library::Library, SessionId);

impl LiveSession for Leaving {
    fn header(&self) -> Header {
        log(self.1.as_str(), "", 1).capture.header
    }

    fn title(&self) -> Option<String> {
        self.0.detach(&self.1);
        None
    }

    fn capture(&self) -> Capture {
        unreachable!("nobody cites it")
    }
}

#[test]
fn a_session_that_is_closed_while_it_is_shown_is_not_left_open() {
    let stored = log("a", "Title", 1);
    let logs = Logs::with([stored.clone()]);
    let library = open(&logs, None);
    refresh(&library);
    let is_live = || library.index().get(0).unwrap().is_live;
    library.attach(Arc::new(Leaving(library.clone(), "a".into())));
    assert!(!is_live());
    // As one that is written to.
    let log = ibid::library::LogFile {
        tool: ibid::tool::Tool::Ibid,
        file: "a".to_owned(),
        id: Some("a".into()),
        stamp: stored.stamp,
    };
    library.record(&log, &stored.into());
    assert!(!is_live());
    assert_eq!(library.index().iter().count(), 1);
}
