//! The list of sessions, and going on in another one.

use super::*;
use crate::chat::Failure;
use crate::reference::Reference;
use crate::runtime::Destination;
use crate::tui::keymap::Layer;
use crate::tui::listed::Listed;

fn opens(bench: &mut Bench) -> Vec<String> {
    std::mem::take(&mut bench.cmds)
        .into_iter()
        .filter_map(|cmd| match cmd {
            Cmd::Job(Job::Open(Destination::Stored(id))) => Some(id.as_str().to_owned()),
            _ => None,
        })
        .collect()
}

/// Wants to go on in the session `flaky`.
fn open(bench: &mut Bench) {
    bench.press("Ctrl-T");
    bench.find(&THREE);
    bench.press("Enter");
    assert_eq!(opens(bench), ["flaky"]);
}

/// The session `flaky`, opened in a home of its own.
pub(super) fn opened(home: &tempfile::TempDir) -> Done {
    let id = SessionId::from("flaky");
    let home = crate::store::Home::at(home.path());
    let header = crate::session::Header::new(id.clone(), Millis(NOW), None);
    crate::store::SessionWriter::create(&home, header, Vec::new()).unwrap();
    let opened = crate::runtime::open_session(&home, &id).unwrap();
    Done::Opened(Destination::Stored(id), Ok(Box::new(opened)))
}

#[test]
fn nothing_is_written_or_sent_while_another_session_is_being_opened() {
    let mut bench = Bench::new();
    bench.type_text("draft");
    open(&mut bench);
    let hints = bench.hints();
    assert!(hints.contains("Esc cancel"), "{hints}");
    assert!(hints.contains("opening"), "{hints}");
    bench.type_text("lost?");
    bench.paste("lost?");
    bench.press("Enter");
    assert!(bench.effects().is_empty());
    assert_eq!(bench.text(), "draft");
    assert!(bench.notice().contains("Esc cancels"));
    let home = tempfile::tempdir().unwrap();
    bench.update(Msg::Done(opened(&home)));
    assert_eq!(bench.app.session().id().as_str(), "flaky");
    bench.type_text("now");
    assert_eq!(bench.text(), "now");
}

#[test]
fn an_opening_that_is_given_up_changes_nothing_when_it_is_done() {
    let mut bench = Bench::new();
    open(&mut bench);
    bench.press("Esc");
    bench.type_text("draft");
    let home = tempfile::tempdir().unwrap();
    bench.update(Msg::Done(opened(&home)));
    assert_eq!(bench.app.session().id().as_str(), "target");
    assert_eq!(bench.text(), "draft");
}

#[test]
fn the_list_searches_as_it_is_typed() {
    let mut bench = Bench::new();
    bench.type_text("a draft");
    bench.press("Ctrl-T");
    bench.type_text("lo👩‍💻");
    bench.press("Backspace");
    bench.paste("gin\nand more");
    let queries = bench.queries();
    assert_eq!(queries.last().unwrap().text, "login");
    assert_eq!(
        queries.last().unwrap().target,
        None,
        "this session is listed too"
    );
    bench.find_for(
        queries.last().unwrap().clone(),
        &[THREE[1], ("target", "This login session", "~/work/api")],
    );
    insta::assert_snapshot!(bench.screen_at(60, 12), @r###"
 ibid · new session                    offline · 0% of 128k
────────────────────────────────────────────────────────────
 Sessions: login                                    2/1,204
▌Login page redesign                   ibid  ~/work/web  2 h
 This login session                    ibid  open now    2 h




────────────────────────────────────────────────────────────
 > a draft
 Enter resume · Esc close · Ctrl-O look             F1 help
"###);
    assert_eq!(bench.caret(), Position::new(16, 2));
    insta::assert_snapshot!(bench.screen_at(20, 6), @r###"
…ons: login 2/1,204
▌Login page redesign
 This login session

 > a draft
            F1 help
"###);
    assert_eq!(bench.text(), "a draft");
}

#[test]
fn enter_resumes_the_selected_session() {
    let mut bench = Bench::new();
    bench.press("Ctrl-T");
    bench.find(&THREE);
    bench.press_all(&["Down", "Enter"]);
    assert_eq!(opens(&mut bench), ["page"]);
    assert_eq!(bench.app.layer(), Layer::Composer);
}

#[test]
fn the_session_that_is_open_needs_no_opening() {
    let mut bench = Bench::new();
    bench.press("Ctrl-T");
    bench.find(&[("target", "This one", "")]);
    bench.press("Enter");
    assert_eq!(opens(&mut bench), [""; 0]);
    assert_eq!(bench.app.layer(), Layer::Composer);
}

#[test]
fn enter_before_the_answer_is_in_resumes_from_the_right_answer() {
    let mut bench = Bench::new();
    bench.press("Ctrl-T");
    bench.find(&THREE);
    bench.type_text("arm");
    bench.press("Enter");
    assert_eq!(opens(&mut bench), [""; 0]);
    let Some(Listed::Sessions(picker)) = bench.app.listed() else {
        panic!("the list is open");
    };
    let query = picker.query().clone();
    bench.find_for(query, &[THREE[2]]);
    assert_eq!(opens(&mut bench), ["arm"]);
}

#[test]
fn no_other_session_is_opened_while_an_answer_is_under_way() {
    let mut bench = Bench::new();
    bench.type_text("hello");
    bench.press("Enter");
    bench.log();
    bench.press("Ctrl-T");
    bench.find(&THREE);
    bench.press("Enter");
    assert_eq!(opens(&mut bench), [""; 0]);
    assert!(bench.notice().contains("Esc stops it"));
}

#[test]
fn a_session_looked_at_from_the_list_is_the_one_resumed() {
    let mut bench = Bench::new();
    bench.press("Ctrl-T");
    bench.find(&THREE);
    bench.press("Ctrl-O");
    assert!(bench.hints().contains("Enter resume"));
    bench.update(Msg::Done(Done::LibraryChanged));
    bench.find(&[THREE[1]]);
    bench.press("Enter");
    assert_eq!(opens(&mut bench), ["flaky"]);
}

#[test]
fn a_session_that_cannot_be_opened_says_why_and_changes_nothing() {
    let mut bench = Bench::new();
    bench.type_text("draft");
    let failure = Failure {
        code: "SESSION_OPEN_ELSEWHERE".to_owned(),
        message: "it is open elsewhere".to_owned(),
    };
    open(&mut bench);
    bench.update(Msg::Done(Done::Opened(
        Destination::Stored("flaky".into()),
        Err(failure),
    )));
    let notice = bench.notice();
    assert!(notice.contains("it is open elsewhere [SESSION_OPEN_ELSEWHERE]"));
    assert_eq!(bench.text(), "draft");
}

/// Looks at a session of another tool from the list.
fn read_only(bench: &mut Bench) {
    bench.world.sources.put("codex:a", &["hello codex"]);
    bench.press("Ctrl-T");
    bench.find(&[("codex:a", "Arm builds", "~/work/api"), THREE[1]]);
    let hints = bench.hints();
    assert!(hints.starts_with(" Enter read · Esc close"), "{hints}");
    bench.press("Enter");
    assert_eq!(bench.app.layer(), Layer::Pane);
    let read = looked("codex:a", &bench.world);
    bench.update(read);
}

fn begins(bench: &mut Bench) -> Vec<Reference> {
    std::mem::take(&mut bench.cmds)
        .into_iter()
        .filter_map(|cmd| match cmd {
            Cmd::Job(Job::Open(Destination::Citing(cited))) => Some(cited),
            _ => None,
        })
        .collect()
}

#[test]
fn a_session_of_another_tool_opens_to_be_read() {
    let mut bench = Bench::new();
    read_only(&mut bench);
    assert!(begins(&mut bench).is_empty());
    let screen = bench.screen_at(70, 20);
    insta::assert_snapshot!(screen, @r###"
 ibid · new session                              offline · 0% of 128k
──────────────────────────────────────────────────────────────────────
Session of another tool — read-only
Arm builds
codex · /work/api · captured 16:00:00 through seq 0
1 message · 11 B of text
──────────────────────────────────────────────────────────────────────
You
hello codex







                                                                  100%
──────────────────────────────────────────────────────────────────────
 >
 Enter go on in a new session · Esc return · / search         F1 help
"###);
    bench.press("Esc");
    assert_eq!(bench.app.layer(), Layer::Sessions);
    bench.press("Down");
    assert!(bench.hints().starts_with(" Enter resume"));
    bench.press("Ctrl-O");
    let read = looked("page", &bench.world);
    bench.update(read);
    assert!(!bench.screen().contains("read-only"));
}

#[test]
fn a_session_of_another_tool_is_carried_on_by_a_new_one_that_cites_it() {
    let mut bench = Bench::new();
    bench.type_text("draft");
    read_only(&mut bench);
    bench.press("Enter");
    let cited = Reference {
        session_id: "codex:a".into(),
        label: "Arm builds".to_owned(),
    };
    assert_eq!(begins(&mut bench), std::slice::from_ref(&cited));
    assert!(bench.hints().contains("Esc cancel"));
    assert_eq!(bench.text(), "draft", "until the new one is there");

    let home = tempfile::tempdir().unwrap();
    let store = crate::store::Home::at(home.path());
    let cwd = Some("/work/api".to_owned());
    let begun = crate::runtime::begun_with(&store, cwd, Some(cited.clone())).unwrap();
    let begun = Done::Opened(Destination::Citing(cited), Ok(Box::new(begun)));
    bench.update(Msg::Done(begun));
    assert_eq!(bench.text(), "<codex:a> ");
    assert_ne!(bench.app.session().id().as_str(), "target");
    let kept = bench.cmds.iter().find_map(|cmd| match cmd {
        Cmd::Job(Job::KeepDraft(id, draft)) => Some((id.as_str(), draft.typed.to_text())),
        _ => None,
    });
    assert_eq!(kept, Some(("target", "draft".to_owned())));
    let (cited, _) = bench.sent();
    assert_eq!(cited, ["codex:a"]);
}

#[test]
fn nothing_is_begun_while_an_answer_is_under_way() {
    let mut bench = Bench::new();
    bench.type_text("hello");
    bench.press("Enter");
    bench.log();
    read_only(&mut bench);
    bench.press("Enter");
    assert!(begins(&mut bench).is_empty());
    assert!(bench.notice().contains("Esc stops it"));
}

#[test]
fn the_list_takes_the_place_of_the_popup_and_gives_it_back() {
    let mut bench = Bench::new();
    bench.type_text("@fl");
    bench.press("Ctrl-T");
    assert_eq!(bench.app.layer(), Layer::Sessions);
    bench.cmds.clear();
    bench.press("Esc");
    assert_eq!(bench.app.layer(), Layer::Popup);
    bench.find(&THREE);
    bench.press("Enter");
    assert_eq!(bench.text(), "<flaky> ");
}
