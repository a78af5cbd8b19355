//! How reading grows with what there is to read, in the shapes that are worst
//! for each reader.
//!
//! `cargo bench --bench growth [-- FILTER]` makes each shape in two sizes, the
//! one ten times the other, looks at it and reads it whole, and prints how many
//! times as much processor time the larger takes. Work in proportion gives
//! about 10, work with the square gives 100.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    reason = "a benchmark"
)]

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ibid::source::{Round, adapters, detect};
use ibid::tool::Tool;
use rustix::time::{ClockId, clock_gettime};

/// How many times as large the second size is.
const TIMES: usize = 10;
/// How many times as much work it may be: in proportion, with room for caches
/// that are outgrown and for a noisy machine.
const MOST: f64 = 25.0;
/// Less than this is not compared.
const LEAST: Duration = Duration::from_millis(4);
/// How often each size is read; the quickest counts.
const ROUNDS: usize = 3;

/// A shape: the files of one session, the first of which is read.
struct Shape {
    name: &'static str,
    tool: Tool,
    /// How many records the smaller size has.
    records: usize,
    make: fn(usize) -> Vec<(PathBuf, String)>,
}

const fn shape(
    name: &'static str,
    tool: Tool,
    records: usize,
    make: fn(usize) -> Vec<(PathBuf, String)>,
) -> Shape {
    Shape {
        name,
        tool,
        records,
        make,
    }
}

const SHAPES: [Shape; 25] = [
    shape("chain of parents", Tool::ClaudeCode, 20_000, |n| {
        claude(n, |at| node(at, at.checked_sub(1)))
    }),
    shape("parents that follow", Tool::ClaudeCode, 20_000, |n| {
        claude(n, |at| node(at, Some(at + 1)))
    }),
    shape("ring of parents", Tool::ClaudeCode, 20_000, |n| {
        claude(n, |at| node(at, Some((at + 1) % 20_000)))
    }),
    shape("one id for all records", Tool::ClaudeCode, 20_000, |n| {
        claude(n, |_| node(7, Some(7)))
    }),
    shape("siblings of rewinds", Tool::ClaudeCode, 20_000, |n| {
        claude(n, |at| node(at, (at > 0).then_some(0)))
    }),
    shape("parts of one message", Tool::ClaudeCode, 20_000, |n| {
        claude(n, |at| {
            node(at, at.checked_sub(1))
                .replace("\"user\"", "\"assistant\"")
                .replace("\"role\"", "\"id\":\"m\",\"role\"")
        })
    }),
    shape("summaries of strangers", Tool::ClaudeCode, 10_000, |n| {
        claude(n, |at| {
            let summary = format!(r#"{{"type":"summary","summary":"s","leafUuid":"x{at}"}}"#);
            format!("{}\n{summary}", node(at, at.checked_sub(1)))
        })
    }),
    shape("segments that overlap", Tool::ClaudeCode, 5_000, |n| {
        claude(n, |at| {
            let before = at.saturating_sub(1);
            let kept = format!(
                r#"{{"type":"system","subtype":"compact_boundary","uuid":"b{at}","parentUuid":null,"logicalParentUuid":"u{at}","compactMetadata":{{"preservedSegment":{{"headUuid":"u0","tailUuid":"u{before}"}}}}}}"#
            );
            format!("{}\n{kept}", node(at, at.checked_sub(1)))
        })
    }),
    shape("the same kept by all", Tool::ClaudeCode, 5_000, |n| {
        claude(n, |at| {
            let kept = format!(
                r#"{{"type":"system","subtype":"compact_boundary","uuid":"b{at}","parentUuid":null,"compactMetadata":{{"preservedMessages":{{"uuids":["u0","u1","u2"]}}}}}}"#
            );
            format!("{}\n{kept}", node(at, at.checked_sub(1)))
        })
    }),
    shape("turns and rollbacks", Tool::Codex, 10_000, |n| {
        codex(n, |at| {
            let back = event("thread_rolled_back", ",\"num_turns\":1");
            format!("{}\n{}\n{back}", said("user", at), said("user", at))
        })
    }),
    shape("rollbacks of all", Tool::Codex, 10_000, |n| {
        codex(n, |at| {
            let back = event("thread_rolled_back", ",\"num_turns\":18446744073709551615");
            format!("{}\n{back}", said("user", at))
        })
    }),
    shape("compactions", Tool::Codex, 10_000, |n| {
        codex(n, |at| {
            format!(
                "{}\n{}",
                said("user", at),
                compacted(
                    r#""message":"sum","replacement_history":[{"type":"message","role":"user","content":[{"type":"input_text","text":"sum"}]}]"#
                )
            )
        })
    }),
    shape("compactions without a history", Tool::Codex, 10_000, |n| {
        codex(n, |at| {
            format!("{}\n{}", said("user", at), compacted(r#""message":"sum""#))
        })
    }),
    shape("names and turns", Tool::Codex, 10_000, |n| {
        codex(n, |at| {
            let name = format!(",\"thread_id\":\"{ID}\",\"thread_name\":\"n{at}\"");
            let start = event("task_started", "");
            format!(
                "{}\n{start}\n{}",
                event("thread_name_updated", &name),
                said("assistant", at)
            )
        })
    }),
    shape("one id for all messages", Tool::Gemini, 20_000, |n| {
        gemini(n, |at| message(7, at))
    }),
    shape("rewinds to the middle", Tool::Gemini, 20_000, |n| {
        gemini(n, |at| {
            if at % 3 == 2 {
                format!(r#"{{"$rewindTo":"m{}"}}"#, at - 1)
            } else {
                message(at, at)
            }
        })
    }),
    shape("all messages replaced", Tool::Gemini, 10_000, |n| {
        gemini(n, |at| {
            let two = [message(at, at), message(at + 1, at)].join(",");
            format!(r#"{{"$set":{{"messages":[{two}]}}}}"#)
        })
    }),
    shape("a torn document", Tool::Gemini, 20_000, |n| {
        let messages: String = (0..n).map(|at| message(at, at) + ",").collect();
        one(
            ".gemini/tmp/p/chats/session-2026-12-01T00-00-a90858a3.json",
            format!(
                "{{\n\"sessionId\":\"a90858a3\",\"projectHash\":\"x\",\"messages\":[{messages}{{\"id"
            ),
        )
    }),
    shape("replaced ranges", Tool::Dsh, 10_000, |n| {
        dsh(n, |at| {
            let op = format!(
                r#"{{"op":"replace","start":{},"end":{}}}"#,
                3 * at,
                3 * at + 1
            );
            [
                row(3 * at, "\"append\""),
                row(3 * at + 1, "\"append\""),
                row(3 * at + 2, &op),
            ]
            .join("\n")
        })
    }),
    shape("ranges the wrong way round", Tool::Dsh, 10_000, |n| {
        dsh(n, |at| {
            let op = format!(r#"{{"op":"replace","start":{},"end":0}}"#, at / 2);
            row(at, if at % 2 == 0 { "\"append\"" } else { &op })
        })
    }),
    shape("everything replaced again", Tool::Dsh, 10_000, |n| {
        dsh(n, |at| {
            let op = format!(
                r#"{{"op":"replace","start":{},"end":{}}}"#,
                at - at % 2,
                at - at % 2
            );
            row(at, if at % 2 == 0 { "\"append\"" } else { &op })
        })
    }),
    shape("one seq for all rows", Tool::Dsh, 20_000, |n| {
        dsh(n, |_| row(7, "\"append\""))
    }),
    shape("one id and its parts", Tool::Opencode, 200, documents),
    shape("glued records", Tool::ClaudeCode, 20_000, |n| {
        claude(1, |_| {
            format!("{}\n{}", node(0, None), "{\"a\":{\"b\"".repeat(n))
        })
    }),
    shape("a line of open strings", Tool::Codex, 100_000, |n| {
        codex(1, |at| format!("{}\n{}", said("user", at), "{\"".repeat(n)))
    }),
];

const ID: &str = "01a23366-407e-7953-bf07-7558970eea43";

fn one(path: &str, text: String) -> Vec<(PathBuf, String)> {
    vec![(path.into(), text)]
}

fn lines(n: usize, line: impl Fn(usize) -> String) -> String {
    (0..n).fold(String::new(), |mut all, at| {
        let _ = writeln!(all, "{}", line(at));
        all
    })
}

fn claude(n: usize, line: impl Fn(usize) -> String) -> Vec<(PathBuf, String)> {
    let path = format!(".claude/projects/-p/{ID}.jsonl");
    one(&path, lines(n, line))
}

fn node(at: usize, parent: Option<usize>) -> String {
    let parent = parent.map_or("null".to_owned(), |parent| format!("\"u{parent}\""));
    format!(
        r#"{{"parentUuid":{parent},"isSidechain":false,"type":"user","message":{{"role":"user","content":"text {at}"}},"uuid":"u{at}","sessionId":"{ID}","timestamp":"2026-12-01T00:00:00.000Z","cwd":"/w","version":"2.1.0"}}"#
    )
}

fn codex(n: usize, line: impl Fn(usize) -> String) -> Vec<(PathBuf, String)> {
    let meta = format!(
        r#"{{"timestamp":"2026-12-01T00:00:00.000Z","type":"session_meta","payload":{{"id":"{ID}","timestamp":"2026-12-01T00:00:00.000Z","cwd":"/w","cli_version":"0.120.0"}}}}"#
    );
    let path = format!(".codex/sessions/2026/12/01/rollout-2026-12-01T00-00-00-{ID}.jsonl");
    one(&path, format!("{meta}\n{}", lines(n, line)))
}

fn said(role: &str, at: usize) -> String {
    format!(
        r#"{{"timestamp":"2026-12-01T00:00:00.000Z","type":"response_item","payload":{{"type":"message","role":"{role}","content":[{{"type":"input_text","text":"text {at}"}}]}}}}"#
    )
}

fn event(kind: &str, more: &str) -> String {
    format!(
        r#"{{"timestamp":"2026-12-01T00:00:00.000Z","type":"event_msg","payload":{{"type":"{kind}"{more}}}}}"#
    )
}

fn compacted(inside: &str) -> String {
    format!(
        r#"{{"timestamp":"2026-12-01T00:00:00.000Z","type":"compacted","payload":{{{inside}}}}}"#
    )
}

fn gemini(n: usize, line: impl Fn(usize) -> String) -> Vec<(PathBuf, String)> {
    let header = r#"{"sessionId":"a90858a3-0000","projectHash":"x","startTime":"2026-12-01T00:00:00.000Z","kind":"main"}"#;
    one(
        ".gemini/tmp/p/chats/session-2026-12-01T00-00-a90858a3.jsonl",
        format!("{header}\n{}", lines(n, line)),
    )
}

fn message(id: usize, at: usize) -> String {
    format!(
        r#"{{"id":"m{id}","timestamp":"2026-12-01T00:00:00.000Z","type":"user","content":"text {at}"}}"#
    )
}

fn dsh(n: usize, line: impl Fn(usize) -> String) -> Vec<(PathBuf, String)> {
    let header = r#"{"type":"session","version":1,"id":"session-x","createdAt":1796150000000,"cwd":"/w","delegationDepth":0}"#;
    one(
        ".dsh/sessions/--p--/session-x/session.jsonl",
        format!("{header}\n{}", lines(n, line)),
    )
}

fn row(seq: usize, op: &str) -> String {
    format!(
        r#"{{"type":"user/message","seq":{seq},"time":1796150000001,"data":{{"source":{{"kind":"user"}},"content":[{{"type":"text","text":"text {seq}"}}]}},"surfaceOp":{op}}}"#
    )
}

/// As many messages of one id as there are parts in its folder.
fn documents(n: usize) -> Vec<(PathBuf, String)> {
    let storage = Path::new(".local/share/opencode/storage");
    let session = r#"{"id":"ses_x","projectID":"p","directory":"/w","title":"t","time":{"created":1,"updated":2}}"#;
    let mut files = vec![(storage.join("session/p/ses_x.json"), session.to_owned())];
    for at in 0..n {
        let message = r#"{"id":"msg_x","sessionID":"ses_x","role":"user","time":{"created":1}}"#;
        let path = format!("message/ses_x/msg_{at}.json");
        files.push((storage.join(path), message.to_owned()));
        let part = format!(
            r#"{{"id":"prt_{at}","messageID":"msg_x","sessionID":"ses_x","type":"text","text":"text {at}"}}"#
        );
        files.push((storage.join(format!("part/msg_x/prt_{at}.json")), part));
    }
    files
}

/// The processor time that looking and reading takes, at the least.
fn spent(shape: &Shape, records: usize) -> (Duration, usize) {
    let home = tempfile::tempdir().unwrap();
    let files = (shape.make)(records);
    let bytes = files.iter().map(|(_, text)| text.len()).sum();
    for (path, text) in &files {
        let path = home.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let first = home.path().join(&files.first().unwrap().0);
    let adapter = adapters().find(|adapter| adapter.tool() == shape.tool);
    let adapter = adapter.unwrap();
    let round = || {
        let before = clock();
        let looked = adapter.look(&first, &Round::default());
        let read = detect::read_as(adapter, &first, None);
        let spent = clock().saturating_sub(before);
        assert!(looked.is_ok() && read.is_ok(), "{}: {read:?}", shape.name);
        spent
    };
    ((0..ROUNDS).map(|_| round()).min().unwrap(), bytes)
}

/// The processor time of all threads.
fn clock() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(
        time.tv_sec.unsigned_abs(),
        u32::try_from(time.tv_nsec).unwrap(),
    )
}

fn main() {
    let filter = std::env::args().nth(1).filter(|arg| !arg.starts_with("--"));
    let mut worst: f64 = 0.0;
    println!(
        "{:<32} {:>8} {:>9} {:>10} {:>10} {:>7}",
        "shape", "records", "MB", "1x", "10x", "ratio"
    );
    for shape in &SHAPES {
        if filter
            .as_ref()
            .is_some_and(|filter| !shape.name.contains(filter))
        {
            continue;
        }
        let (less, _) = spent(shape, shape.records);
        let (more, bytes) = spent(shape, shape.records * TIMES);
        let ratio = more.as_secs_f64() / less.max(LEAST).as_secs_f64();
        worst = worst.max(ratio);
        let name = format!("{}: {}", shape.tool.name(), shape.name);
        println!(
            "{name:<32} {:>8} {:>9.1} {:>10.1?} {:>10.1?} {ratio:>7.1}",
            shape.records * TIMES,
            bytes as f64 / 1e6,
            less,
            more,
        );
    }
    println!("10 times as much takes {worst:.1} times as long at the worst; the bound is {MOST}");
    assert!(
        worst <= MOST,
        "the work grows faster than what there is to read"
    );
}
