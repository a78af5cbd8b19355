//! Folders with something in them that is no session, or is out of reach.

use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use ibid::tool::Tool;
use tokio_util::sync::CancellationToken;

use super::{Person, SESSIONS, claude};

const PROJECT: &str = ".claude/projects/-home-u-ccproj";
const DAY: &str = ".codex/sessions/2026/12/01";
const UUID: &str = "11111111-2222-4333-8444-555555555555";

/// Where each tool's sessions lie, and the name that one of them would have.
fn places() -> [(PathBuf, String); 5] {
    let chats = PathBuf::from(".gemini/tmp/gmproj/chats");
    let storage = PathBuf::from(".local/share/opencode/storage/session");
    [
        (PROJECT.into(), format!("{UUID}.jsonl")),
        (
            DAY.into(),
            format!("rollout-2026-12-01T00-00-00-{UUID}.jsonl"),
        ),
        (chats, "session-2026-12-01T00-00-11111111.json".to_owned()),
        (
            ".dsh/sessions/--home-u-proj--/session-x".into(),
            "session.jsonl".to_owned(),
        ),
        (storage.join("p"), "ses_x.json".to_owned()),
    ]
}

#[test]
fn links_in_a_circle_and_to_elsewhere_are_passed_over_and_told() {
    let person = Person::new();
    let elsewhere = person.write("elsewhere/x.jsonl", claude("secret words from elsewhere"));
    for (folder, name) in places() {
        let folder = person.path(folder.to_str().unwrap());
        fs::create_dir_all(&folder).unwrap();
        symlink(&elsewhere, folder.join(name)).unwrap();
        symlink("..", folder.join("circle")).unwrap();
        symlink("self", folder.join("self")).unwrap();
    }
    symlink(".", person.path(".claude/projects/again")).unwrap();
    symlink(".", person.path(".codex/sessions/again")).unwrap();
    symlink(
        person.path("elsewhere"),
        person.path(".claude/projects/linked"),
    )
    .unwrap();
    let doctor = person.survives();
    for (folder, name) in places() {
        let told = folder.join(name).to_str().unwrap().to_owned();
        assert!(doctor.contains(&told), "{told} is not in {doctor}");
    }
    assert!(doctor.contains("it is a link"), "{doctor}");
    assert!(doctor.contains("projects/linked"), "{doctor}");
    assert!(!doctor.contains("secret"));
    let found = person.run(&["search", "secret words from elsewhere", "--json"]);
    assert!(!found.out.contains("secret"), "{}", found.out);
}

#[test]
fn pipes_and_devices_are_not_opened_and_told() {
    let person = Person::new();
    for (folder, name) in places() {
        let folder = person.path(folder.to_str().unwrap());
        fs::create_dir_all(&folder).unwrap();
        make_node(&folder.join(name), &["p"]);
    }
    for name in [".codex/session_index.jsonl", ".codex/state_99.sqlite"] {
        let _ = fs::remove_file(person.path(name));
        make_node(&person.path(name), &["p"]);
    }
    let zero = person
        .path(PROJECT)
        .join("22222222-2222-4333-8444-555555555555.jsonl");
    let is_root = make_node(&zero, &["c", "1", "5"]);
    // A document's parts, which are found when it is read.
    for part in [
        "message/ses_dcc9f00f7ffeIMJkelrTYu1smA/msg_x.json",
        "part/x.json",
    ] {
        let path = person.path(".local/share/opencode/storage").join(part);
        make_node(&path, &["p"]);
    }
    let doctor = person.survives();
    for (folder, name) in places() {
        let told = folder.join(name).to_str().unwrap().to_owned();
        assert!(doctor.contains(&told), "{told} is not in {doctor}");
    }
    assert!(doctor.contains("it is no regular file"), "{doctor}");
    assert!(!is_root || doctor.contains("22222222-"), "{doctor}");
    let id = "opencode:ses_dcc9f00f7ffeIMJkelrTYu1smA";
    person.run(&["sessions", "show", id]);
}

/// Makes a pipe or a device; whether that is allowed.
fn make_node(path: &Path, kind: &[&str]) -> bool {
    let made = Command::new("mknod").arg(path).args(kind).output().unwrap();
    made.status.success()
}

#[test]
fn what_nobody_may_read_is_told_and_the_rest_is_listed() {
    let mut person = Person::new();
    let codex = person.path(".codex/sessions");
    let file = person
        .path(PROJECT)
        .join("720ba929-4265-47f7-8de8-2fd1083a871e.jsonl");
    for path in [&codex, &file] {
        fs::set_permissions(path, Permissions::from_mode(0o000)).unwrap();
    }
    if fs::read_dir(&codex).is_ok() {
        // The superuser may read all, but not of files that a namespace has
        // no user for.
        person.wrapper = vec!["unshare", "--user"];
        let probe = Command::new("unshare").args(["--user", "true"]).output();
        if !probe.is_ok_and(|probe| probe.status.success()) {
            println!("there are no user namespaces: nothing is out of reach here");
            return;
        }
    }
    let told = person.run(&["sessions", "list"]);
    let left = |id: &&&str| !id.starts_with("codex:01a2335") && !id.contains("720ba929");
    for id in SESSIONS.iter().filter(left) {
        let is_elsewhere = id.starts_with("codex:01a23366");
        assert!(is_elsewhere || told.out.contains(*id), "{id}: {}", told.out);
    }
    assert!(told.err.contains("2 warnings"), "{}", told.err);
    for args in [&["sources"][..], &["search", "the"], &["sources", "--json"]] {
        person.run(args);
    }
    let doctor = person.run(&["doctor"]).out;
    for path in [&codex, &file] {
        assert!(doctor.contains(path.to_str().unwrap()), "{doctor}");
    }
    fs::set_permissions(&codex, Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn a_folder_that_vanishes_while_it_is_read_is_gone_and_nothing_else() {
    let person = Person::new();
    for n in 0..300 {
        let name = format!(".claude/projects/-v/00000000-0000-4000-8000-{n:012}.jsonl");
        person.write(&name, claude("here for a moment"));
    }
    let (library, _) = person.library();
    library.start_over().unwrap();
    let folder = person.path(".claude/projects/-v");
    let refreshed = library.refresh(&CancellationToken::new(), &mut |_| {
        let _ = fs::remove_dir_all(&folder);
    });
    assert!(refreshed.unwrap().notices.is_empty());
    assert_eq!(library.standing(Tool::ClaudeCode).notices, []);
    let doctor = person.survives();
    assert!(!doctor.contains("-v/"), "{doctor}");
}

#[test]
fn names_that_are_no_utf_8_are_told_and_passed_over() {
    let person = Person::new();
    let name = |text: &[u8]| OsStr::from_bytes(text).to_owned();
    let project = person.path(".claude/projects").join(name(b"-p\xff"));
    fs::create_dir(&project).unwrap();
    fs::write(project.join(format!("{UUID}.jsonl")), claude("x")).unwrap();
    let rollout = [b"rollout-\xfe-".as_slice(), UUID.as_bytes(), b".jsonl"].concat();
    fs::write(person.path(DAY).join(name(&rollout)), "{}\n").unwrap();
    let chat = person.path(".gemini/tmp/gmproj/chats");
    fs::write(chat.join(name(b"session-\xfe.json")), "{}").unwrap();
    let doctor = person.survives();
    assert_eq!(
        doctor.matches("its name is not UTF-8").count(),
        3,
        "{doctor}"
    );
}

#[test]
fn names_with_line_feeds_and_escapes_reach_no_terminal() {
    let person = Person::new();
    let name = format!(".claude/projects/-a\n\u{1b}]0;evil\u{7}/{UUID}.jsonl");
    person.write(&name, claude("found in a strange folder"));
    let bad = ".claude/projects/-a\n\u{1b}]0;evil\u{7}/22222222-2222-4333-8444-555555555555.jsonl";
    person.write(bad, "\u{1b}[31mno record\n");
    let bad = format!("{DAY}/rollout-\u{1b}[31m\n-{UUID}.jsonl");
    person.write(&bad, "{\"torn");
    person.survives();
    let id = format!("claude:{UUID}");
    assert!(person.listed().contains(&id));
    person.run(&["sessions", "list"]);
    person.run(&["sessions", "show", &id]);
    person.run(&["prepare", "--session", &id]);
}

#[test]
fn a_hundred_thousand_empty_files_are_nothing() {
    let person = Person::new();
    let folder = person.path(".claude/projects/-many");
    fs::create_dir(&folder).unwrap();
    for n in 0..100_000 {
        let name = format!("00000000-0000-4000-8000-{n:012}.jsonl");
        fs::File::create(folder.join(name)).unwrap();
    }
    let listed = person.listed();
    assert_eq!(
        listed.iter().filter(|id| id.starts_with("claude:")).count(),
        2
    );
    assert!(!person.run(&["doctor"]).out.contains("-many"));
    let (library, refreshed) = person.library();
    assert!(refreshed.notices.is_empty());
    assert_eq!(library.standing(Tool::ClaudeCode).hidden.stubs, 0);
}

#[test]
fn one_folder_for_all_tools_is_read_once_by_each() {
    let mut person = Person::new();
    let all = person.path("all");
    for folder in [".claude", ".codex", ".dsh"] {
        super::copy(&person.path(folder), &all);
        fs::remove_dir_all(person.path(folder)).unwrap();
    }
    for name in [
        "CLAUDE_CONFIG_DIR",
        "CODEX_HOME",
        "CODEX_SQLITE_HOME",
        "DSH_HOME",
    ] {
        person.variables.push((name, all.clone()));
    }
    let doctor = person.survives();
    let told = "everything that was found can be read\n";
    assert!(doctor.ends_with(told), "{doctor}");
    let (library, _) = person.library();
    assert_eq!(library.standing(Tool::ClaudeCode).hidden.doubles, 0);
    // A change is noticed by the tool whose it is.
    let new = all.join(format!("projects/-new/{UUID}.jsonl"));
    fs::create_dir(new.parent().unwrap()).unwrap();
    fs::write(&new, claude("written a moment ago")).unwrap();
    let touched = library.touch([&*new], &CancellationToken::new()).unwrap();
    assert_eq!(touched.changed, 1);
    let id = format!("claude:{UUID}");
    assert!(library.index().find(&id.as_str().into()).is_some());
}

#[test]
fn without_a_home_there_are_ibids_own_sessions() {
    let person = Person::new();
    for args in [
        &["sources"][..],
        &["doctor"],
        &["sessions", "list"],
        &["search", "x"],
    ] {
        let mut command = person.command(args);
        let output = command.env_remove("HOME").output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{args:?}: {error}");
        let mut command = person.command(args);
        let output = command.env("HOME", "").output().unwrap();
        assert!(output.status.success(), "{args:?} with an empty HOME");
    }
}

#[test]
fn very_many_links_are_counted_and_told_up_to_a_number() {
    let person = Person::new();
    let folder = person.path(".claude/projects/-v");
    fs::create_dir_all(&folder).unwrap();
    for n in 0..3000 {
        let name = format!("00000000-0000-4000-8000-{n:012}.jsonl");
        symlink("elsewhere", folder.join(name)).unwrap();
    }
    let told = person.run(&["sessions", "list"]);
    assert_eq!(
        told.err,
        "ibid: 3,000 warnings: `ibid doctor` tells what and where\n"
    );
    let told = person.run(&["sessions", "list", "--json"]);
    assert_eq!(told.err.lines().count(), 101);
    let doctor = person.survives();
    assert!(
        doctor.contains("there are 2,900 more like these"),
        "{doctor}"
    );
    assert!(doctor.lines().count() < 300);
}

#[test]
fn files_of_nothing_are_told_and_are_no_sessions() {
    let person = Person::new();
    let id = "01a23366-0000-7953-bf07-7558970eea43";
    let names = [
        format!(".claude/projects/-v/{id}.jsonl"),
        format!(".codex/sessions/2026/12/01/rollout-2026-12-01T20-57-48-{id}.jsonl"),
        format!(".dsh/sessions/--v--/{id}/session.jsonl"),
        ".gemini/tmp/v/chats/session-x.jsonl".to_owned(),
        ".local/share/opencode/storage/session/v/ses_x.json".to_owned(),
    ];
    let before = person.listed();
    for text in [
        "a shopping list\nmilk\n",
        "\u{1}\u{2}\n",
        "{\"a\":1}\n{\"b\":[]}\n",
    ] {
        for name in &names {
            person.write(name, text);
        }
        assert_eq!(person.listed(), before, "{text:?}");
        let doctor = person.survives();
        for name in &names {
            let path = person.path(name);
            assert!(
                doctor.contains(path.to_str().unwrap()),
                "{text:?}: {doctor}"
            );
        }
    }
}

#[test]
fn what_a_link_leads_to_is_neither_listed_nor_found_by_its_id() {
    let person = Person::new();
    let id = "session-197a4bc1-3a1b-4d11-a985-62047a636ed3";
    let mut sessions = Vec::new();
    for project in fs::read_dir(person.path(".dsh/sessions")).unwrap() {
        sessions.push(project.unwrap().path().join(id));
    }
    let session = sessions.into_iter().find(|path| path.is_dir()).unwrap();
    let database = person.path(".local/share/opencode/opencode.db");
    for (n, path) in [&session, &database].into_iter().enumerate() {
        let away = person.path(&format!("away-{n}"));
        fs::rename(path, &away).unwrap();
        symlink(&away, path).unwrap();
    }
    let dsh = format!("dsh:{id}");
    assert!(!person.listed().contains(&dsh));
    let (library, _) = person.library();
    assert_eq!(library.path_of(&dsh.as_str().into()), None);
    for args in [
        &["sessions", "show", &dsh][..],
        &["prepare", "--session", &dsh],
    ] {
        let ended = person.command(args).output().unwrap();
        assert!(!ended.status.success(), "{args:?}");
    }
    let doctor = person.run(&["doctor"]).out;
    assert!(doctor.contains(database.to_str().unwrap()), "{doctor}");
}
