//! Sessions of other tools beside ibid's own.

mod files;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use ibid::library::{Found, Kind, Library, LibraryError, LogFiles, Notice};
use ibid::reference::Cause;
use ibid::session::{Millis, Title};
use ibid::tool::Tool;
use tokio_util::sync::CancellationToken;

pub(super) use self::files::Files;
use self::files::{facts, path};
use super::{Logs, log, read, refresh, shown};

/// A library over these files, and no log of ibid's own.
fn library(files: &Arc<Files>) -> Library {
    over(&Logs::with([]), files, false, None)
}

pub(super) fn over(
    own: &Arc<Logs>,
    files: &Arc<Files>,
    subagents: bool,
    cache: Option<&Path>,
) -> Library {
    Library::over(
        Arc::clone(own) as Arc<dyn LogFiles>,
        vec![Arc::clone(files) as Arc<dyn LogFiles>],
        subagents,
        cache.map(Path::to_path_buf),
    )
}

fn code(error: &Cause) -> &'static str {
    error.downcast_ref::<LibraryError>().unwrap().code()
}

#[test]
fn sessions_of_other_tools_stand_among_ibids_own() {
    let files = Files::of(Tool::Codex);
    files.session("x", 2, "x", "Elsewhere");
    let own = Logs::with([log("a", "Own", 1), log("b", "Newer", 3)]);
    let library = over(&own, &files, false, None);
    refresh(&library);
    assert_eq!(shown(&library), ["Newer", "Elsewhere", "Own"]);
    let index = library.index();
    let entry = index.get(1).unwrap();
    assert_eq!((entry.id, entry.tool), ("codex:x", Tool::Codex));
    assert_eq!(entry.messages, None);
    assert_eq!(
        read(&library, "codex:x").unwrap().header.id.as_str(),
        "codex:x"
    );
}

#[test]
fn only_what_changed_is_looked_at_again() {
    let files = Files::of(Tool::Codex);
    files.session("x", 1, "x", "One");
    files.session("y", 2, "y", "Two");
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path().join("cache.sqlite3");
    let own = Logs::with([]);
    refresh(&over(&own, &files, false, Some(&cache)));
    assert_eq!(files.looks(), 2);
    let library = over(&own, &files, false, Some(&cache));
    assert_eq!(refresh(&library).changed, 0);
    assert_eq!(
        (files.looks(), shown(&library)),
        (0, vec!["Two".into(), "One".into()])
    );
    files.session("x", 3, "x", "One, renamed");
    assert_eq!(refresh(&library).changed, 1);
    assert_eq!(files.looks(), 1);
    assert_eq!(shown(&library), ["One, renamed", "Two"]);
}

#[test]
fn a_change_that_is_told_opens_that_file_alone() {
    let files = Files::of(Tool::Codex);
    files.session("x", 1, "x", "One");
    files.session("y", 2, "y", "Two");
    let library = library(&files);
    refresh(&library);
    files.looks();
    files.scans();
    let touch = |name: &str| {
        let path = path(name);
        let touched = library.touch([Path::new(&path)], &CancellationToken::new());
        touched.unwrap().changed
    };
    assert_eq!(touch("x"), 0, "it is as it was");
    assert_eq!((files.looks(), files.scans()), (0, 0));
    files.session("x", 3, "x", "One, renamed");
    assert_eq!(touch("x"), 1);
    assert_eq!((files.looks(), files.scans()), (1, 0));
    assert_eq!(shown(&library), ["One, renamed", "Two"]);
    files.session("z", 4, "z", "New");
    assert_eq!(touch("z"), 1);
    assert_eq!((files.looks(), files.scans()), (1, 1));
    files.remove("y");
    assert_eq!(touch("y"), 1);
    assert_eq!((files.looks(), files.scans()), (0, 1));
    assert_eq!(shown(&library), ["New", "One, renamed"]);
}

#[test]
fn a_session_in_several_files_is_shown_once_as_it_is_now() {
    let files = Files::of(Tool::Gemini);
    files.session("old", 1, "x", "Old");
    files.session("new", 2, "x", "New");
    let mut stub = facts(Tool::Gemini, "x", "Stub", 3);
    stub.kind = Kind::Stub;
    files.put("stub", 3, Ok(Found::Sessions(vec![stub])));
    let library = library(&files);
    refresh(&library);
    assert_eq!(shown(&library), ["New"]);
    assert_eq!(library.index().hidden().doubles, 2);
    files.remove("new");
    refresh(&library);
    assert_eq!(shown(&library), ["Old"]);
    assert_eq!(library.index().hidden().doubles, 1);
    assert_eq!(shown_again(&library), ["Old"]);
}

/// What the next run shows.
fn shown_again(library: &Library) -> Vec<String> {
    library.load().unwrap();
    shown(library)
}

#[test]
fn stubs_and_subagents_are_counted_and_not_shown() {
    let files = Files::of(Tool::ClaudeCode);
    files.session("x", 1, "x", "Shown");
    for (name, kind) in [("agent", Kind::Subagent), ("stub", Kind::Stub)] {
        let mut facts = facts(Tool::ClaudeCode, name, name, 2);
        facts.kind = kind;
        files.put(name, 2, Ok(Found::Sessions(vec![facts])));
    }
    for subagents in [false, true] {
        let library = over(&Logs::with([]), &files, subagents, None);
        refresh(&library);
        for again in [false, true] {
            let hidden = library.index().hidden();
            assert_eq!(hidden.stubs, 1, "{again}");
            assert_eq!(hidden.subagents, usize::from(!subagents), "{again}");
            let expected: &[&str] = if subagents {
                &["agent", "Shown"]
            } else {
                &["Shown"]
            };
            assert_eq!(shown(&library), expected, "{again}");
            library.load().unwrap();
        }
        assert!(read(&library, "claude:agent").is_ok(), "it can be cited");
    }
}

#[test]
fn a_name_that_is_kept_apart_goes_before_the_sessions_own() {
    let name = |title: &str| {
        let title = Title {
            text: title.to_owned(),
            pinned: true,
        };
        Found::Names(vec![(Tool::Codex.session_id("x"), title)])
    };
    let files = Files::of(Tool::Codex);
    files.put("names", 1, Ok(name("Named")));
    let library = library(&files);
    refresh(&library);
    files.session("x", 2, "x", "First words");
    refresh(&library);
    assert_eq!(shown(&library), ["Named"]);
    files.looks();
    files.put("names", 3, Ok(name("Renamed")));
    refresh(&library);
    assert_eq!(
        (shown(&library), files.looks()),
        (vec!["Renamed".into()], 1)
    );
    assert!(library.index().get(0).unwrap().is_pinned);
    files.remove("names");
    refresh(&library);
    assert_eq!(shown(&library), ["First words"]);
    assert_eq!(shown_again(&library), ["First words"]);
}

#[test]
fn a_file_of_several_sessions_is_one_file() {
    let files = Files::of(Tool::Opencode);
    let sessions = |titles: &[&str]| {
        let facts = titles
            .iter()
            .map(|title| facts(Tool::Opencode, title, title, 1));
        Ok(Found::Sessions(facts.collect()))
    };
    files.put("db", 1, sessions(&["a", "b", "c"]));
    let library = library(&files);
    refresh(&library);
    assert_eq!(shown(&library), ["a", "b", "c"]);
    library.load().unwrap();
    assert_eq!(refresh(&library).changed, 0);
    assert_eq!(files.looks(), 1);
    files.put("db", 2, sessions(&["b", "d"]));
    refresh(&library);
    assert_eq!(shown(&library), ["b", "d"]);
    assert_eq!(
        read(&library, "opencode:d").unwrap().header.id.as_str(),
        "opencode:d"
    );
    assert!(read(&library, "opencode:a").is_err());
}

#[test]
fn a_session_that_is_gone_says_when_it_was_last_seen() {
    let files = Files::of(Tool::Codex);
    files.session("x", 1, "x", "Was here");
    let library = library(&files);
    let before = Millis::now();
    refresh(&library);
    files.remove("x");
    assert_eq!(
        code(&read(&library, "codex:x").unwrap_err()),
        "SESSION_GONE"
    );
    refresh(&library);
    let gone = read(&library, "codex:x").unwrap_err();
    let Some(LibraryError::Gone {
        title,
        last_seen,
        file,
        ..
    }) = gone.downcast_ref()
    else {
        panic!("{gone}");
    };
    assert_eq!((title.as_str(), file.as_str()), ("Was here", "/tool/x"));
    assert!((before..=Millis::now()).contains(last_seen));
    let year = jiff::Timestamp::from_millisecond(before.0)
        .unwrap()
        .strftime("%Y")
        .to_string();
    assert!(gone.to_string().contains(&year), "{gone}");
    assert_eq!(
        code(&read(&library, "codex:never").unwrap_err()),
        "SESSION_NOT_FOUND"
    );
    files.session("moved", 1, "x", "Is back");
    refresh(&library);
    assert!(read(&library, "codex:x").is_ok());
}

#[test]
fn an_old_mention_holds_before_anything_was_listed_and_after_a_move() {
    let files = Files::of(Tool::Codex);
    files.session("x.log", 1, "x", "Named by its id");
    let library = library(&files);
    assert!(read(&library, "codex:x").is_ok());
    files.session("elsewhere", 1, "y", "Moves");
    refresh(&library);
    files.remove("elsewhere");
    files.session("y.log", 1, "y", "Moves");
    assert!(read(&library, "codex:y").is_ok());
}

#[test]
fn a_tool_that_cannot_be_listed_keeps_its_rows() {
    let files = Files::of(Tool::Codex);
    files.session("x", 1, "x", "Known");
    let own = Logs::with([log("a", "Own", 2)]);
    let library = over(&own, &files, false, None);
    refresh(&library);
    files.listing_fails.store(true, Ordering::SeqCst);
    own.put(log("b", "New", 3));
    let notices = refresh(&library).notices;
    assert!(
        matches!(
            &*notices,
            [Notice::NotListed {
                tool: Tool::Codex,
                ..
            }]
        ),
        "{notices:?}"
    );
    assert_eq!(shown(&library), ["New", "Own", "Known"]);
}

#[test]
fn what_holds_no_session_is_known_until_it_changes_and_what_fails_is_tried_again() {
    let files = Files::of(Tool::Codex);
    files.put("notes", 1, Ok(Found::Nothing("no session".into())));
    files.put("locked", 1, Err("locked"));
    let library = library(&files);
    let codes = |notices: Vec<Notice>| notices.iter().map(Notice::code).collect::<Vec<_>>();
    assert_eq!(codes(refresh(&library).notices), ["SESSION_UNREADABLE"]);
    assert_eq!(files.looks(), 2);
    assert_eq!(codes(refresh(&library).notices), ["SESSION_UNREADABLE"]);
    assert_eq!(files.looks(), 1);
    let problems = library.standing(Tool::Codex).notices;
    let expected = [("/tool/locked", "locked"), ("/tool/notes", "no session")];
    assert_eq!(
        problems,
        expected.map(|(file, why)| (file.to_owned(), why.to_owned()))
    );
    files.session("notes", 2, "x", "Now a session");
    files.session("locked", 2, "y", "Now open");
    assert!(refresh(&library).notices.is_empty());
    assert_eq!(shown(&library), ["Now a session", "Now open"]);
    assert!(library.standing(Tool::Codex).notices.is_empty());
}

#[test]
fn an_own_session_counts_before_another_tools_of_the_same_id() {
    let files = Files::of(Tool::Codex);
    files.session("x", 5, "x", "Theirs");
    let own = Logs::with([log("codex:x", "Own", 1)]);
    let library = over(&own, &files, false, None);
    refresh(&library);
    assert_eq!(shown(&library), ["Own"]);
    assert_eq!(shown_again(&library), ["Own"]);
}

#[test]
fn forgetting_everything_reads_everything_again() {
    let files = Files::of(Tool::Codex);
    files.session("x", 1, "x", "One");
    let library = library(&files);
    refresh(&library);
    files.looks();
    library.start_over().unwrap();
    assert_eq!(refresh(&library).changed, 1);
    assert_eq!((files.looks(), shown(&library)), (1, vec!["One".into()]));
}

#[test]
fn a_change_of_one_tool_hides_no_own_session_that_cannot_be_read() {
    let files = Files::of(Tool::Codex);
    let own = Logs::with([log("a", "Own", 1), log("bad", "Bad", 2)]);
    own.broken.lock().unwrap().push("bad.jsonl".to_owned());
    let library = over(&own, &files, false, None);
    refresh(&library);
    assert_eq!(shown(&library), ["bad", "Own"]);
    files.session("x", 3, "x", "New");
    let new = path("x");
    let never = CancellationToken::new();
    library.touch([Path::new(&new)], &never).unwrap();
    assert_eq!(shown(&library), ["New", "bad", "Own"]);
    library.recall(&mut || {});
    assert_eq!(shown(&library), ["New", "bad", "Own"]);
}
