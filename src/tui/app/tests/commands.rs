//! Commands in place of a message.

use super::*;
use crate::chat::Failure;
use crate::chat::testing::{asked_to_log, disk_full};
use crate::config::ThemeName;
use crate::runtime::{Destination, Export};
use crate::session::Title;
use crate::tui::commands::COMMANDS;
use crate::tui::keymap::Layer;
use crate::tui::theme::Theme;

impl Bench {
    /// A message that is in the log, with its answer.
    pub(super) fn converse(&mut self) {
        self.type_text("hello");
        self.press("Enter");
        self.log();
        let effects = self.effects();
        let generation = crate::chat::testing::asked(&effects);
        self.chat(crate::chat::testing::text(generation, "hi"));
        self.chat(ChatEvent::AnswerEnded(generation, None));
        self.log();
        self.cmds.clear();
    }

    fn jobs(&mut self) -> Vec<Job> {
        let cmds = std::mem::take(&mut self.cmds).into_iter();
        cmds.filter_map(|cmd| match cmd {
            Cmd::Job(Job::KeepDraft(..)) => None,
            Cmd::Job(job) => Some(job),
            _ => None,
        })
        .collect()
    }

    fn title(&self) -> Option<Title> {
        self.app.session().title().cloned()
    }
}

#[test]
fn a_slash_at_the_start_lists_the_commands_and_what_they_do() {
    let mut bench = Bench::new();
    bench.type_text("/");
    assert_eq!(bench.app.layer(), Layer::Popup);
    insta::assert_snapshot!(bench.screen_at(72, 16), @r###"
 ibid · new session                                offline · 0% of 128k
────────────────────────────────────────────────────────────────────────


────────────────────────────────────────────────────────────────────────
▌/new              begin a new session
 /resume           go on in another session
 /rename TITLE     name this session
 /model [NAME]     choose who answers from now on
 /compact [HINT]   put a summary in place of what was said
 /export [PATH]    write Markdown to a file, or the log (.jsonl)
 /retry            ask once more for the last answer
 /edit             change an earlier message and go on from there
────────────────────────────────────────────────────────────────────────
 > /
 Enter accept · Tab complete · Esc close                 12/12  F1 help
"###);
    bench.type_text("re");
    insta::assert_snapshot!(bench.screen_at(40, 10), @r###"
 ibid · new sessi… offline · 0% of 128k
────────────────────────────────────────


────────────────────────────────────────
▌/resume           go on in another ses…
 /rename TITLE     name this session
────────────────────────────────────────
 > /re
 Enter accept             4/12  F1 help
"###);
    insta::assert_snapshot!(bench.screen_at(20, 6), @r###"

▌/resume
 /rename TITLE
 /retry
 > /re
      4/12  F1 help
"###);
}

#[test]
fn the_list_of_commands_opens_nowhere_else() {
    let mut bench = Bench::new();
    for text in ["a /", " /", "a\n/"] {
        bench.type_text(text);
        assert_eq!(bench.app.layer(), Layer::Composer, "{text:?}");
        bench.press_all(&["Ctrl-E", "Ctrl-U", "Ctrl-U", "Ctrl-U"]);
    }
    bench.type_text("/usr");
    assert_eq!(bench.app.layer(), Layer::Composer, "nothing fits");
    bench.press_all(&["Backspace", "Backspace", "Backspace"]);
    assert_eq!(bench.app.layer(), Layer::Popup);
    bench.press("Esc");
    bench.type_text("n");
    assert_eq!(bench.app.layer(), Layer::Composer, "it was closed");
}

#[test]
fn the_list_is_moved_in_and_picked_from() {
    let mut bench = Bench::new();
    bench.type_text("/");
    bench.press("Up");
    assert_eq!(bench.selected(), "/quit");
    bench.press("Down");
    bench.type_text("th");
    assert_eq!(bench.selected(), "/theme [NAME]");
    bench.press("Tab");
    assert_eq!(bench.text(), "/theme ", "Tab completes");
    bench.press_all(&["Ctrl-U"]);
    bench.type_text("/ren");
    bench.press("Enter");
    assert_eq!(
        bench.text(),
        "/rename ",
        "what needs an argument waits for it"
    );
    bench.press_all(&["Ctrl-U"]);
    bench.type_text("/q");
    assert!(bench.cmds.iter().all(|cmd| !matches!(cmd, Cmd::Quit)));
    bench.press("Enter");
    assert!(bench.cmds.iter().any(|cmd| matches!(cmd, Cmd::Quit)));
}

#[test]
fn a_click_picks_a_command() {
    let mut bench = Bench::new();
    bench.type_text("/h");
    let row = bench.row_of("/help");
    bench.click((2, row));
    assert_eq!(bench.app.layer(), Layer::Help);
    assert_eq!(bench.text(), "");
}

#[test]
fn a_message_that_begins_with_a_path_is_sent() {
    let mut bench = Bench::new();
    bench.type_text("/usr/bin is full");
    bench.press("Enter");
    assert!(!bench.effects().is_empty());
    assert_eq!(bench.text(), "");
}

#[test]
fn what_only_looks_like_a_command_is_sent_with_one_more_enter() {
    for text in ["/foo", "/tmp is full", "/new features, please"] {
        let mut bench = Bench::new();
        bench.type_text(text);
        bench.press("Enter");
        assert!(bench.effects().is_empty());
        assert!(bench.notice().contains("Enter again sends it"), "{text}");
        assert_eq!(bench.text(), text);
        bench.press("Enter");
        bench.log();
        let said = bench.app.session().derive_messages().next().unwrap().text();
        assert_eq!(said, text);
    }
}

#[test]
fn what_is_changed_after_the_question_is_asked_about_again() {
    let mut bench = Bench::new();
    bench.type_text("/foo");
    bench.press("Enter");
    bench.type_text("d");
    bench.press("Enter");
    assert!(bench.effects().is_empty());
    assert!(bench.notice().contains("/food"));
}

#[test]
fn a_paste_is_a_message_whatever_it_begins_with() {
    let mut bench = Bench::new();
    bench.paste("/quit");
    assert_eq!(bench.app.layer(), Layer::Composer);
    bench.press("Enter");
    assert!(bench.cmds.iter().all(|cmd| !matches!(cmd, Cmd::Quit)));
    bench.log();
    let said = bench.app.session().derive_messages().next().unwrap().text();
    assert_eq!(said, "/quit");
}

#[test]
fn a_message_that_comes_back_is_a_message_still() {
    let mut bench = Bench::new();
    bench.paste("/quit");
    bench.press("Enter");
    let effects = bench.effects();
    bench.chat(disk_full(&effects));
    assert_eq!(bench.text(), "/quit", "it could not be sent");
    bench.press("Enter");
    assert!(bench.cmds.iter().all(|cmd| !matches!(cmd, Cmd::Quit)));
    bench.log();
    bench.press("Up");
    assert_eq!(bench.text(), "/quit", "it was sent before");
    bench.press("Enter");
    assert!(bench.cmds.iter().all(|cmd| !matches!(cmd, Cmd::Quit)));
}

#[test]
fn new_begins_a_session_here() {
    let mut bench = Bench::new();
    bench.type_text("/new");
    bench.press("Enter");
    assert!(bench.jobs().is_empty());
    assert!(bench.notice().contains("new already"));
    assert_eq!(bench.text(), "");
    bench.converse();
    bench.type_text("/new");
    bench.press("Enter");
    assert!(matches!(bench.jobs()[..], [Job::Open(Destination::New)]));
    assert!(bench.hints().contains("opening"));
    let home = tempfile::tempdir().unwrap();
    let home = crate::store::Home::at(home.path());
    let begun = crate::runtime::begun_with(&home, None, None).unwrap();
    bench.update(Msg::Done(Done::Opened(
        Destination::New,
        Ok(Box::new(begun)),
    )));
    assert_ne!(bench.app.session().id().as_str(), "target");
    assert_eq!(bench.text(), "");
}

#[test]
fn a_command_that_cannot_be_done_is_not_in_the_way_of_the_next_one() {
    let mut bench = Bench::new();
    bench.converse();
    for refused in ["/compact", "/branches"] {
        bench.type_text(refused);
        bench.press("Enter");
        assert!(!bench.notice().is_empty(), "{refused}");
        assert_eq!(bench.text(), "", "{refused}");
        assert!(bench.effects().is_empty(), "{refused}");
    }
    bench.press("Ctrl-_");
    assert_eq!(bench.text(), "/branches", "it can be had back");
    bench.type_text("/help");
    bench.press("Enter");
    assert!(bench.effects().is_empty());
    assert!(bench.notice().contains("no command /branches/help"));
}

#[test]
fn a_command_that_an_answer_is_in_the_way_of_leaves_esc_to_stop_the_answer() {
    for refused in ["/new", "/compact", "/retry"] {
        let mut bench = Bench::new();
        bench.type_text("hello");
        bench.press("Enter");
        bench.log();
        bench.effects();
        bench.type_text(refused);
        bench.press("Enter");
        assert!(bench.notice().contains("Esc"), "{refused}");
        assert_eq!(bench.app.layer(), Layer::Composer, "{refused}");
        bench.press("Esc");
        assert!(
            matches!(bench.effects()[..], [Effect::Stop(_), ..]),
            "{refused}"
        );
    }
}

#[test]
fn the_hint_of_a_command_says_that_it_runs() {
    let mut bench = Bench::new();
    bench.type_text("/rename a title");
    assert!(bench.hints().contains("Enter run"), "{}", bench.hints());
    bench.press("Ctrl-U");
    bench.type_text("/usr/bin is full");
    assert!(bench.hints().contains("Enter send"), "{}", bench.hints());
}

#[test]
fn resume_lists_the_sessions() {
    let mut bench = Bench::new();
    bench.type_text("/resume");
    bench.press("Enter");
    assert_eq!(bench.app.layer(), Layer::Sessions);
    assert_eq!(bench.queries().last().unwrap().text, "");
    bench.press("Esc");
    assert_eq!(bench.text(), "");
}

#[test]
fn rename_writes_a_title_that_stays() {
    let mut bench = Bench::new();
    bench.converse();
    bench.type_text("/rename  Login, \u{1b}[31mpart two ");
    bench.press("Enter");
    assert_eq!(bench.text(), "");
    bench.log();
    let title = bench.title().unwrap();
    assert_eq!(
        (title.text.as_str(), title.pinned),
        ("Login, part two", true)
    );
    let screen = bench.screen();
    assert!(screen.starts_with(" ibid · Login, part two "), "{screen}");
}

#[test]
fn rename_is_refused_while_something_is_on_its_way_and_its_words_stay() {
    let mut bench = Bench::new();
    let refused = |bench: &mut Bench, why: &str| {
        bench.type_text("/rename a");
        bench.press("Enter");
        assert!(bench.notice().contains(why), "{}", bench.notice());
        assert_eq!(bench.text(), "/rename a");
        bench.press("Ctrl-U");
    };
    refused(&mut bench, "first message");
    bench.type_text("hello");
    bench.press("Enter");
    let effects = bench.effects();
    refused(&mut bench, "on its way");
    let logged = bench.world.log(&effects);
    bench.chat(logged);
    refused(&mut bench, "on its way");
}

#[test]
fn a_title_that_cannot_be_written_is_said_and_changes_nothing() {
    let mut bench = Bench::new();
    bench.converse();
    let before = bench.title();
    bench.type_text("/rename a");
    bench.press("Enter");
    let effects = bench.effects();
    bench.type_text("x");
    bench.press("Enter");
    assert!(bench.notice().contains("still being written"));
    bench.chat(disk_full(&effects));
    assert_eq!(bench.title(), before);
    assert!(!bench.notice().is_empty());
    bench.press("Enter");
    asked_to_log(&bench.effects());
}

#[test]
fn a_command_without_what_it_needs_says_so() {
    let mut bench = Bench::new();
    bench.type_text("/rename");
    bench.press("Esc");
    bench.press("Enter");
    assert!(bench.notice().contains("/rename TITLE"));
}

#[test]
fn export_names_the_session_and_the_place() {
    let mut bench = Bench::new();
    bench.type_text("/export");
    bench.press("Enter");
    assert!(bench.notice().contains("nothing to export"));
    bench.converse();
    let wanted = |path: Option<&str>| Export {
        id: "target".into(),
        title: "hello".to_owned(),
        path: path.map(str::to_owned),
        moment: "19700211-160000".to_owned(),
    };
    bench.type_text("/export ~/my talk.jsonl");
    bench.press("Enter");
    let jobs = bench.jobs();
    assert!(
        matches!(&jobs[..], [Job::Export(export)] if *export == wanted(Some("~/my talk.jsonl"))),
        "{jobs:?}"
    );
    bench.type_text("/export");
    bench.press("Enter");
    let jobs = bench.jobs();
    assert!(
        matches!(&jobs[..], [Job::Export(export)] if *export == wanted(None)),
        "{jobs:?}"
    );
}

#[test]
fn theme_applies_at_once() {
    let mut bench = Bench::new();
    bench.type_text("/theme light");
    bench.press("Enter");
    assert_eq!(bench.app.setup.theme, Theme::of(ThemeName::Light));
    assert!(bench.notice().contains("theme = \"light\""));
    bench.type_text("/theme");
    bench.press("Enter");
    assert!(
        bench
            .notice()
            .contains("the theme is light; there are terminal, dark, light, mono")
    );
    bench.type_text("/theme pink");
    bench.press("Enter");
    assert!(bench.notice().contains("there are terminal, dark"));
    assert_eq!(bench.text(), "/theme pink");
}

#[test]
fn a_session_of_the_list_is_renamed_and_exported() {
    let mut bench = Bench::new();
    bench.press("Ctrl-T");
    bench.find(&THREE);
    bench.press("Down");
    bench.press("Ctrl-R");
    assert_eq!(bench.app.layer(), Layer::Naming);
    insta::assert_snapshot!(bench.screen_at(60, 10), @r###"
 ibid · new session                    offline · 0% of 128k
────────────────────────────────────────────────────────────
 New title: Login page redesign
 Fix the flaky login test              ibid  ~/work/api  2 h
▌Login page redesign                   ibid  ~/work/web  2 h
 flaky CI on arm64                     ibid  ~/work/api  2 h

────────────────────────────────────────────────────────────
 >
 Enter rename · Esc keep the title                  F1 help
"###);
    insta::assert_snapshot!(bench.screen_at(20, 6), @r###"
…ogin page redesign
 Fix the flaky logi…
▌Login page redesign
 flaky CI on arm64
 >
            F1 help
"###);
    bench.press("Backspace");
    bench.paste("\u{202e}n\nx");
    bench.press("Enter");
    let jobs = bench.jobs();
    let renames = |job: &Job| matches!(job, Job::Rename(id, title) if id.as_str() == "page" && title == "Login page redesig\u{202e}n");
    assert!(matches!(&jobs[..], [job] if renames(job)), "{jobs:?}");
    assert_eq!(bench.app.layer(), Layer::Sessions);
    bench.press("Ctrl-R");
    bench.press("Esc");
    assert_eq!(bench.app.layer(), Layer::Sessions);
    bench.press("Ctrl-E");
    let jobs = bench.jobs();
    let exports = |job: &Job| matches!(job, Job::Export(export) if export.id.as_str() == "page" && export.path.is_none());
    assert!(matches!(&jobs[..], [job] if exports(job)), "{jobs:?}");
}

#[test]
fn the_open_session_is_renamed_from_the_list_too() {
    let mut bench = Bench::new();
    bench.converse();
    bench.press("Ctrl-T");
    bench.find(&[("target", "This one", ""), ("codex:a", "Arm builds", "")]);
    bench.press("Ctrl-R");
    bench.type_text("!");
    bench.press("Enter");
    bench.log();
    assert_eq!(bench.title().unwrap().text, "This one!");
    bench.press("Down");
    bench.press("Ctrl-R");
    assert!(bench.notice().contains("only ibid's own"));
    assert_eq!(bench.app.layer(), Layer::Sessions);
}

#[test]
fn what_failed_is_said_and_an_export_says_where() {
    let mut bench = Bench::new();
    let failure = Failure {
        code: "EXPORT_EXISTS".to_owned(),
        message: "there is a file already".to_owned(),
    };
    bench.update(Msg::Done(Done::Notice(crate::chat::Notice::Failed(
        failure,
    ))));
    assert!(bench.notice().contains("[EXPORT_EXISTS]"));
}

#[test]
fn every_command_is_in_the_help_and_in_the_readme() {
    let mut bench = Bench::new();
    bench.press("F1");
    let screen = bench.screen_at(100, 400);
    let readme = include_str!("../../../../README.md");
    for entry in COMMANDS {
        let row = format!("  {:<30} {}", entry.usage(), entry.what);
        assert!(screen.contains(&row), "{row}:\n{screen}");
        let named = format!("`{}`", entry.usage());
        assert!(readme.contains(&named), "{named} is not in README.md");
    }
}
