//! Which files there are, and what a list shows of one.

use std::ffi::OsString;
use std::fs;
use std::time::{Duration, SystemTime};

use super::*;
use crate::session::{Millis, Title};
use crate::source::{Kind, Listed, SourceNotice};

const ID: &str = "0a1b2c3d-4e5f-4061-8071-2a3b4c5d6e7f";
const OTHER: &str = "1a1b2c3d-4e5f-4061-8071-2a3b4c5d6e7f";

fn look_at(name: &str, text: &str) -> Listed {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, text).unwrap();
    let Look::Sessions(mut listed) = ClaudeCode.look(&path, &Round::default()).unwrap() else {
        panic!("no session");
    };
    assert_eq!(listed.len(), 1);
    listed.remove(0)
}

fn listed(lines: &[String]) -> Listed {
    look_at("s.jsonl", &lines.join("\n"))
}

fn title(listed: &Listed) -> Option<&str> {
    listed.title.as_ref().map(|title| title.text.as_str())
}

/// Lines of the conversation, of so many bytes and more.
fn long(bytes: usize) -> Vec<String> {
    let text = "x".repeat(1000);
    (0..=bytes / 1000)
        .map(|n| model(&format!("l{n}"), "u", &text))
        .collect()
}

fn at_second(line: &str, second: u32) -> String {
    line.replace("00:00:00Z", &format!("00:00:{second:02}Z"))
}

#[test]
fn sessions_lie_in_the_folder_of_the_environment_or_in_two_of_home() {
    let home = || Some(PathBuf::from("/h"));
    let places = |environment| ClaudeCode.places(&environment);
    assert_eq!(
        places(Environment::new(home(), [])),
        [
            PathBuf::from("/h/.claude/projects"),
            PathBuf::from("/h/.config/claude/projects")
        ]
    );
    let with = |folder: &str| [("CLAUDE_CONFIG_DIR", OsString::from(folder))];
    assert_eq!(
        places(Environment::new(home(), with("/c, d"))),
        [PathBuf::from("/c, d/projects")]
    );
    let here = std::env::current_dir().unwrap();
    assert_eq!(
        places(Environment::new(home(), with("kept/c"))),
        [here.join("kept/c/projects")],
        "another program begins elsewhere"
    );
    assert_eq!(places(Environment::new(home(), with(""))).len(), 2);
    assert!(places(Environment::default()).is_empty());
}

/// A folder of projects with these files in it, each of one byte.
fn projects(files: &[&str]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for file in files {
        let path = dir.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "x").unwrap();
    }
    dir
}

/// What a scan finds, by its path in the place.
fn found(dir: &Path) -> Vec<(String, Option<String>)> {
    let mut walk = Walk::default();
    ClaudeCode.scan(dir, &mut walk);
    assert!(walk.obstacles.is_empty(), "{:?}", walk.obstacles);
    for file in &walk.files {
        assert_eq!(ClaudeCode.find(dir, &file.path).as_ref(), Some(file));
    }
    let relative = |path: &Path| path.strip_prefix(dir).unwrap().to_str().unwrap().to_owned();
    let mut found: Vec<_> = walk
        .files
        .iter()
        .map(|file| (relative(&file.path), file.native_id.clone()))
        .collect();
    found.sort();
    found
}

#[test]
fn a_scan_finds_sessions_and_subagents_by_their_names() {
    let session = format!("-p/{ID}.jsonl");
    let agent = format!("-p/{ID}/subagents/agent-a1.jsonl");
    let workflow = format!("-p/{ID}/subagents/workflows/wf_1/agent-a2.jsonl");
    let others = [
        format!("-p/{ID}/subagents/agent-a1.meta.json"),
        format!("-p/{ID}/subagents/workflows/wf_1/journal.jsonl"),
        format!("-p/{ID}/subagents/1/2/3/4/agent-deep.jsonl"),
        format!("-p/{ID}/tool-results/agent-x.jsonl"),
        "-p/notes.jsonl".to_owned(),
        "-p/memory/agent-m.jsonl".to_owned(),
        format!("{ID}.jsonl"),
    ];
    let mut files = vec![&session, &agent, &workflow];
    files.extend(&others);
    let old = "-p/agent-old.jsonl".to_owned();
    files.push(&old);
    let files: Vec<&str> = files.into_iter().map(String::as_str).collect();
    let dir = projects(&files);
    fs::write(dir.path().join("-p").join(format!("{OTHER}.jsonl")), "").unwrap();
    let id = |id: &str| Some(id.to_owned());
    assert_eq!(
        found(dir.path()),
        [
            (session, id(ID)),
            (agent, id("agent-a1")),
            (workflow, id("agent-a2")),
            (old, id("agent-old")),
        ]
    );
    for other in &others {
        let path = dir.path().join(other);
        assert_eq!(ClaudeCode.find(dir.path(), &path), None, "{other}");
    }
    assert_eq!(found(&dir.path().join("gone")), []);
}

#[cfg(unix)]
#[test]
fn a_scan_follows_no_link_and_names_what_it_can_not_enter() {
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::symlink;

    let dir = projects(&[&format!("-p/{ID}.jsonl")]);
    let root = dir.path();
    symlink(root.join("-p"), root.join("linked")).unwrap();
    symlink(
        root.join("-p").join(format!("{ID}.jsonl")),
        root.join("-p").join(format!("{OTHER}.jsonl")),
    )
    .unwrap();
    let mut walk = Walk::default();
    ClaudeCode.scan(root, &mut walk);
    assert_eq!((walk.files.len(), walk.obstacles.len()), (1, 2));

    let nameless = root.join(std::ffi::OsStr::from_bytes(b"-\xff"));
    // Not every disk takes such a name.
    if fs::create_dir(&nameless).is_ok() {
        fs::write(nameless.join(format!("{OTHER}.jsonl")), "x").unwrap();
        let mut walk = Walk::default();
        ClaudeCode.scan(root, &mut walk);
        let obstacles: Vec<_> = walk.obstacles.iter().map(|o| &o.path).collect();
        assert!(obstacles.contains(&&nameless), "{obstacles:?}");
        assert_eq!(walk.files.len(), 1);
    }
}

#[test]
fn a_session_is_located_by_its_files_name() {
    let files = [
        format!("-p/{ID}.jsonl"),
        format!("-q/{OTHER}/subagents/agent-a.jsonl"),
    ];
    let dir = projects(&[&files[0], &files[1]]);
    let locate = |id: &str| ClaudeCode.locate(dir.path(), id);
    assert_eq!(locate(ID), Some(dir.path().join(&files[0])));
    assert_eq!(locate("agent-a"), Some(dir.path().join(&files[1])));
    for id in [OTHER, "", "../x", "agent-", &format!("-p/{ID}")] {
        assert_eq!(locate(id), None, "{id}");
    }
}

#[test]
fn of_two_files_of_one_name_the_one_written_last_is_located() {
    let files = [format!("-p/{ID}.jsonl"), format!("-q/{ID}.jsonl")];
    let dir = projects(&[&files[0], &files[1]]);
    let write = |file: &str, second: u64| {
        let path = dir.path().join(file);
        let handle = fs::File::options().append(true).open(&path).unwrap();
        let moment = SystemTime::UNIX_EPOCH + Duration::from_secs(second);
        handle.set_modified(moment).unwrap();
        path
    };
    write(&files[0], 1);
    let last = write(&files[1], 2);
    assert_eq!(ClaudeCode.locate(dir.path(), ID), Some(last));
    let last = write(&files[0], 3);
    assert_eq!(ClaudeCode.locate(dir.path(), ID), Some(last));
}

#[test]
fn the_first_records_and_the_last_tell_what_is_listed() {
    let mut lines = vec![user("u", "", "fix the parser of dates please now")];
    lines.extend(long(300_000));
    lines.push(at_second(&model("z", "u", "done"), 9));
    lines.push(r#"{"type":"mode","mode":"normal","sessionId":"s"}"#.to_owned());
    assert_eq!(
        listed(&lines),
        Listed {
            native_id: "s".to_owned(),
            cwd: Some("/w".to_owned()),
            title: Some(Title {
                text: "fix the parser of dates".to_owned(),
                pinned: false
            }),
            created_at: Millis(1_767_225_600_000),
            updated_at: Some(Millis(1_767_225_609_000)),
            ..Listed::default()
        }
    );
}

#[test]
fn the_title_is_the_tools_own_wherever_it_stands() {
    let given = |kind: &str, key: &str, text: &str| {
        format!(r#"{{"type":"{kind}","{key}":"{text}","leafUuid":"u","sessionId":"s"}}"#)
    };
    for size in [0, 40_000, 300_000] {
        let mut lines = vec![user("u", "", "q")];
        let mut add = |line: String| {
            let mut all = lines.clone();
            all.extend(long(size));
            lines.push(line.clone());
            all.push(line);
            listed(&all).title.unwrap()
        };
        let mut last = |kind: &str, key: &str, text: &str| add(given(kind, key, text));
        assert_eq!(last("summary", "summary", "A").text, "A", "{size}");
        assert_eq!(last("ai-title", "aiTitle", "B").text, "B", "{size}");
        let named = last("agent-name", "agentName", "C");
        assert!(named.text == "C" && named.pinned);
        assert_eq!(last("custom-title", "customTitle", "D").text, "D", "{size}");
        assert_eq!(last("ai-title", "aiTitle", "E").text, "D", "{size}");
        assert_eq!(last("custom-title", "customTitle", " ").text, "C", "{size}");
    }
    let foreign = given("summary", "summary", "A").replace("\"u\"", "\"gone\"");
    assert_eq!(title(&listed(&[foreign, user("u", "", "q")])), Some("q"));
}

#[test]
fn no_title_is_made_of_what_software_said() {
    let meta = user("m", "", "not typed").replace("\"type\"", "\"isMeta\":true,\"type\"");
    let side =
        user("s1", "", "of an agent").replace(r#""isSidechain":false"#, r#""isSidechain":true"#);
    let lines = [
        meta,
        side,
        user("c", "", "<command-name>/x</command-name>"),
        result("r", "c"),
        summary("k", "r", "in short"),
        model("a", "r", "said"),
    ];
    let without = listed(&lines);
    assert_eq!((title(&without), without.kind), (None, Kind::Session));
    let mut with = lines.to_vec();
    with.push(user("u", "a", "<system-reminder>x</system-reminder>typed"));
    assert_eq!(title(&listed(&with)), Some("typed"));
}

#[test]
fn a_prompt_behind_much_else_is_found() {
    let noise = result("r", "u").replace("out", &"o".repeat(100_000));
    let lines = [noise, user("u", "", "at last")];
    assert_eq!(title(&listed(&lines)), Some("at last"));
}

#[test]
fn a_file_without_a_message_is_a_stub_and_one_that_is_not_seen_whole_is_none() {
    let command = user("c", "", "<command-name>/exit</command-name>");
    let stub = listed(&[summary("k", "", ""), command.clone()]);
    assert_eq!((stub.kind, stub.messages), (Kind::Stub, Some(0)));
    let noise = result("r", "u").replace("out", &"o".repeat(100_000));
    let mut lines = vec![command.clone()];
    lines.extend(vec![noise; 5]);
    assert_eq!(listed(&lines).kind, Kind::Session);
    assert_eq!(listed(&[command, "garbage".to_owned()]).kind, Kind::Session);
    assert_eq!(listed(&[model("a", "", "said")]).kind, Kind::Session);
}

#[test]
fn a_subagents_file_names_its_parent() {
    let line = user("u", "", "task").replace(
        r#""isSidechain":false"#,
        r#""isSidechain":true,"agentId":"x1""#,
    );
    for name in [
        "p/s/subagents/agent-x1.jsonl",
        "p/s/subagents/workflows/wf_1/agent-x1.jsonl",
        "p/agent-x1.jsonl",
    ] {
        let agent = look_at(name, &line);
        assert_eq!(agent.kind, Kind::Subagent, "{name}");
        assert_eq!(agent.native_id, "agent-x1");
        assert_eq!(agent.parent.as_deref(), Some("s"));
        assert_eq!(title(&agent), Some("task"));
    }
}

#[test]
fn a_fork_names_what_it_is_of_though_its_prompt_comes_before() {
    for key in [
        r#""requestSessionId":"p""#,
        r#""forkedFrom":{"sessionId":"p"}"#,
    ] {
        let copied = record(
            "assistant",
            "a",
            "u",
            &format!(r#"{key},"message":{{"content":"r"}}"#),
        );
        let fork = listed(&[user("u", "", "q"), copied]);
        assert_eq!(fork.parent.as_deref(), Some("p"));
    }
}

#[test]
fn the_id_is_the_files_name_and_what_its_records_say_is_what_it_is_a_copy_of() {
    let name = format!("{ID}.jsonl");
    let copy = look_at(&name, &user("u", "", "q"));
    assert_eq!(
        (copy.native_id.as_str(), copy.parent.as_deref()),
        (ID, Some("s"))
    );
    let own = user("u", "", "q").replace(r#""sessionId":"s""#, &format!(r#""sessionId":"{ID}""#));
    let own = look_at(&name, &own);
    assert_eq!((own.native_id.as_str(), own.parent), (ID, None));
}

#[test]
fn a_first_record_of_many_megabytes_is_listed_by_what_else_is_known() {
    let image = "A".repeat(20_000_000);
    let content = format!(
        r#""message":{{"content":[{{"type":"text","text":"see this"}},{{"type":"image","source":"{image}"}}]}}"#
    );
    let first = record("user", "u", "", "").replace(
        r#""type":"user","uuid":"u""#,
        &format!(r#""type":"user",{content},"uuid":"u""#),
    );
    let moved = first.find(r#""sessionId""#).unwrap();
    assert!(moved > 20_000_000, "the id stands behind the image");
    let torn = look_at(&format!("{ID}.jsonl"), &first);
    assert_eq!(torn.native_id, ID);
    assert_eq!(title(&torn), Some("see this"));
    assert_eq!((torn.kind, torn.notices.len()), (Kind::Session, 1));

    let told = listed(&[first, user("v", "u", "more")]);
    assert_eq!(
        (told.native_id.as_str(), told.cwd.as_deref()),
        ("s", Some("/w"))
    );
    assert_eq!(told.created_at, Millis(0), "the end does not tell it");
    assert!(told.updated_at.is_some());
    assert!(told.notices[0].to_string().contains("too long"));
}

#[test]
fn a_file_that_is_one_endless_line_is_listed_by_its_name() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(format!("{ID}.jsonl"));
    // Two gigabytes of NULs that take no room on the disk.
    let file = fs::File::create(&path).unwrap();
    file.set_len(2 << 30).unwrap();
    let Look::Sessions(listed) = ClaudeCode.look(&path, &Round::default()).unwrap() else {
        panic!("no session");
    };
    assert_eq!(listed[0].native_id, ID);
    assert_eq!(listed[0].kind, Kind::Session);
    assert_eq!(listed[0].notices.len(), 1);
}

#[test]
fn marks_nul_runs_and_torn_lines_are_survived_and_said() {
    let text = format!(
        "\u{feff}{}\r\n\0\0{}\ngarbage\n{}",
        model("a", "", "r"),
        user("u", "a", "q"),
        &user("v", "u", "torn")[..90]
    );
    let listed = look_at("s.jsonl", &text);
    assert_eq!(
        (listed.native_id.as_str(), title(&listed)),
        ("s", Some("q"))
    );
    assert_eq!(listed.notices, [SourceNotice::Skipped { records: 1 }]);
    assert!(listed.updated_at.is_some());
}

#[test]
fn a_file_cut_or_damaged_anywhere_can_be_looked_at() {
    let lines = [
        user("u1", "", "q1"),
        model("a1", "u1", "é"),
        r#"{"type":"custom-title","customTitle":"A"}"#.to_owned(),
    ];
    let bytes = lines.join("\n").into_bytes();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.jsonl");
    for at in (0..bytes.len()).step_by(7) {
        for damaged in [&bytes[..at], &bytes[at..]] {
            fs::write(&path, damaged).unwrap();
            assert!(ClaudeCode.look(&path, &Round::default()).is_ok());
        }
    }
}

#[test]
fn a_file_that_is_gone_is_an_error() {
    let error = ClaudeCode
        .look(Path::new("/nowhere/s.jsonl"), &Round::default())
        .unwrap_err();
    assert_eq!(error.code(), "SOURCE_UNREADABLE");
}

#[test]
fn another_session_than_the_one_asked_for_is_not_given() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.jsonl");
    fs::write(&path, user("u", "", "q")).unwrap();
    assert!(ClaudeCode.read(&path, Some("s")).is_ok());
    assert!(ClaudeCode.read(&path, None).is_ok());
    let error = ClaudeCode.read(&path, Some("other")).unwrap_err();
    assert_eq!(error.code(), "SOURCE_NO_SESSION");
}
