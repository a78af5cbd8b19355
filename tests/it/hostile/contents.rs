//! Files whose contents are meant to do harm.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use serde_json::Value;

use super::{Person, claude};

const UUID: &str = "11111111-2222-4333-8444-555555555555";

/// A session's file of each tool that keeps text files, with its first
/// records and so much more that the file has a line of 2 GB.
fn endless(person: &Person) -> Vec<String> {
    let rollout = format!(".codex/sessions/2026/12/01/rollout-2026-12-01T00-00-00-{UUID}.jsonl");
    let files = [
        (
            format!(".claude/projects/-p/{UUID}.jsonl"),
            claude("before the long line"),
        ),
        (rollout, codex("before the long line")),
        (
            ".dsh/sessions/--p--/session-x/session.jsonl".to_owned(),
            dsh("before the long line"),
        ),
        (
            ".gemini/tmp/gmproj/chats/session-2026-12-01T00-00-11111111.jsonl".to_owned(),
            gemini("before the long line"),
        ),
    ];
    for (name, start) in &files {
        let path = person.write(name, format!("{start}{{\"type\":\"user\",\"x\":\""));
        File::options()
            .append(true)
            .open(path)
            .unwrap()
            .set_len(2 << 30)
            .unwrap();
    }
    files.into_iter().map(|(name, _)| name).collect()
}

fn codex(text: &str) -> String {
    format!(
        r#"{{"timestamp":"2026-12-01T00:00:00.000Z","type":"session_meta","payload":{{"id":"{UUID}","timestamp":"2026-12-01T00:00:00.000Z","cwd":"/w","cli_version":"0.171.0","source":"cli"}}}}
{{"timestamp":"2026-12-01T00:00:01.000Z","type":"response_item","payload":{{"type":"message","role":"user","content":[{{"type":"input_text","text":"{text}"}}]}}}}
"#
    )
}

fn dsh(text: &str) -> String {
    format!(
        r#"{{"type":"session","version":1,"id":"session-x","createdAt":1796150000000,"cwd":"/w","delegationDepth":0}}
{{"type":"user/message","seq":1,"time":1796150000001,"data":{{"source":{{"kind":"user"}},"content":[{{"type":"text","text":"{text}"}}]}},"surfaceOp":"append"}}
"#
    )
}

fn gemini(text: &str) -> String {
    format!(
        r#"{{"sessionId":"{UUID}","projectHash":"x","startTime":"2026-12-01T00:00:00.000Z","lastUpdated":"2026-12-01T00:00:00.000Z","kind":"main"}}
{{"id":"m","timestamp":"2026-12-01T00:00:01.000Z","type":"user","content":"{text}"}}
"#
    )
}

#[cfg(unix)]
#[test]
fn a_line_of_two_gigabytes_hides_nothing_else() {
    let person = Person::new();
    let files = endless(&person);
    let listed = person.listed();
    for id in ["codex", "claude", "gemini"] {
        assert!(listed.contains(&format!("{id}:{UUID}")), "{id}: {listed:?}");
    }
    assert!(listed.contains("dsh:session-x"), "{listed:?}");
    let (library, refreshed) = listing(&person);
    assert!(refreshed.is_empty(), "{refreshed:?}");
    assert!(library.index().find(&"dsh:session-x".into()).is_some());
    assert_eq!(files.len(), 4);
    let id = format!("claude:{UUID}");
    let prepared = person.run(&["prepare", "--session", &id]);
    assert!(
        prepared.out.contains("before the long line"),
        "{}",
        prepared.out
    );
}

/// The library without its texts, whose reading takes every byte of a file.
fn listing(person: &Person) -> (ibid::library::Library, Vec<ibid::library::Notice>) {
    let environment = ibid::source::Environment::new(Some(person.home()), []);
    let own = ibid::library::StoredLogs::new(ibid::store::Home::at(person.ibid()));
    let others = ibid::library::ToolLogs::of(&ibid::tool::Tool::OTHERS, &environment);
    let library = ibid::library::Library::over(std::sync::Arc::new(own), others, false, None);
    let never = tokio_util::sync::CancellationToken::new();
    let refreshed = library.refresh(&never, &mut |_| {}).unwrap();
    (library, refreshed.notices)
}

#[test]
fn a_file_that_grows_out_of_proportion_is_given_up_and_told() {
    let person = Person::new();
    let rollout =
        format!(".codex/sessions/2026/12/01/rollout-2026-12-01T00-00-00-{UUID}.jsonl.zst");
    // One frame of a gigabyte, and many of a megabyte each.
    let frame = zrip::compress(&vec![b' '; 1 << 20], 1).unwrap();
    let start = zrip::compress(codex("before the bomb").as_bytes(), 1).unwrap();
    let many = [start, frame.repeat(1100)].concat();
    assert!(many.len() < 1 << 20, "{}", many.len());
    let path = person.write(&rollout, &many);
    let start = zrip::compress(dsh("before the bomb").as_bytes(), 1).unwrap();
    let one = [start, runs(1 << 30)].concat();
    person.write(".dsh/sessions/--p--/session-x/session.jsonl.zstd", one);
    let doctor = person.survives();
    assert!(doctor.contains("codex: "), "{doctor}");
    let told = person
        .command(&["prepare", "--file"])
        .arg(&path)
        .output()
        .unwrap();
    let error = String::from_utf8(told.stderr).unwrap();
    assert!(error.contains("when decompressed"), "{error}");
    for id in [format!("codex:{UUID}"), "dsh:session-x".to_owned()] {
        let told = person
            .command(&["prepare", "--session", &id])
            .output()
            .unwrap();
        let error = String::from_utf8(told.stderr).unwrap();
        assert!(error.contains("when decompressed"), "{id}: {error}");
    }
}

/// A frame of blocks that each repeat one byte.
fn runs(bytes: usize) -> Vec<u8> {
    const BLOCK: usize = 128 << 10;
    // No size, no checksum, a window of 128 KiB.
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x38];
    for left in (0..bytes / BLOCK).rev() {
        let header = (BLOCK << 3) | (1 << 1) | usize::from(left == 0);
        frame.extend(&header.to_le_bytes()[..3]);
        frame.push(b' ');
    }
    frame
}

/// Ids that would be paths, words of a shell, or commands of a terminal.
const IDS: [&str; 8] = [
    "../../../../etc/passwd",
    "/etc/passwd",
    "..",
    "a/b",
    "a\\b",
    "\u{1b}]0;evil\u{7}",
    "a\nb\tc\r",
    "$(touch owned) --json ' \" ;",
];

#[test]
fn ids_inside_files_are_ids_and_nothing_else() {
    let person = Person::new();
    for (n, id) in IDS.iter().enumerate() {
        let id = serde_json::to_string(id).unwrap();
        let id = &id[1..id.len() - 1];
        let with_id = |text: String, old: &str| text.replace(old, id);
        let name = format!(".dsh/sessions/--p--/session-{n}/session.jsonl");
        person.write(&name, with_id(dsh("an id from inside"), "session-x"));
        let name = format!(".gemini/tmp/gmproj/chats/session-2026-12-01T00-00-1111111{n}.jsonl");
        person.write(&name, with_id(gemini("an id from inside"), UUID));
        let name = format!(".codex/sessions/2026/12/01/rollout-odd-{n}.jsonl");
        person.write(&name, with_id(codex("an id from inside"), UUID));
        let name = format!(".claude/projects/-p/agent-{n}.jsonl");
        let odd = claude("an id from inside")
            .replace("\"sessionId\":\"s\"", &format!("\"sessionId\":\"{id}\""));
        person.write(&name, odd);
        let name = format!(".local/share/opencode/storage/session/p/ses_{n}.json");
        let odd = format!(
            r#"{{"id":"{id}","projectID":"{id}","directory":"/w","title":"t","time":{{"created":1,"updated":2}}}}"#
        );
        person.write(&name, odd);
    }
    let database = person.database(".local/share/opencode/opencode-odd.db");
    for id in IDS {
        let copy = "INSERT INTO session SELECT ?1, NULL, directory, title, version, revert, time_created, time_updated FROM session LIMIT 1";
        database.execute(copy, [id]).unwrap();
    }
    drop(database);
    let before = names(person.dir.path());
    person.survives();
    let told = person.run(&["sessions", "list", "--json"]);
    let rows: Vec<Value> = serde_json::from_str(&told.out).unwrap();
    let odd = |row: &&Value| {
        IDS.iter()
            .any(|id| row["sessionId"].as_str().unwrap().ends_with(id))
    };
    let odd: Vec<&Value> = rows.iter().filter(odd).collect();
    assert!(odd.len() >= 2 * IDS.len(), "{}", odd.len());
    for row in odd {
        let id = row["sessionId"].as_str().unwrap();
        person.run(&["prepare", "--session", id, "--max-reference-bytes", "600"]);
        person.run(&["sessions", "show", id]);
    }
    let own = |name: &String| !name.contains("/ibid/") && !name.contains("screen.sqlite3");
    let after: Vec<String> = names(person.dir.path()).into_iter().filter(own).collect();
    assert_eq!(after, before.into_iter().filter(own).collect::<Vec<_>>());
}

/// Every path below a folder.
fn names(folder: &Path) -> Vec<String> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        all.push(path.to_str().unwrap().to_owned());
        if path.is_dir() {
            all.extend(names(&path));
        }
    }
    all.sort();
    all
}

#[test]
fn records_of_no_known_kind_are_counted_and_the_session_stays() {
    let person = Person::new();
    let path = person.write(&format!(".claude/projects/-p/{UUID}.jsonl"), claude("kept"));
    let mut file = File::options().append(true).open(path).unwrap();
    let nested = format!("{}{}\n", "[".repeat(100_000), "]".repeat(100_000));
    for line in [
        "\0\0\0\0\n",
        "\u{feff}\n",
        "{\"type\":\"hologram\"}\n",
        &nested,
        "{\"type\":",
    ] {
        file.write_all(line.as_bytes()).unwrap();
    }
    drop(file);
    person.survives();
    let id = format!("claude:{UUID}");
    let told = person.run(&["sessions", "show", &id]);
    assert!(told.out.contains("kept"), "{}", told.out);
    assert!(told.err.contains("4 records skipped"), "{}", told.err);
}
