//! What retention costs: its growth with the conversation, and its price
//! beside one serialisation of the whole projection by `serde_json`.
//!
//! Each line names its limit. Both sides of a ratio are measured in turns, and
//! the best of all rounds counts.

use std::hint::black_box;
use std::time::{Duration, Instant};

use ibid::reference::projection::{Capture, Item};
use ibid::reference::retention::retain;
use ibid::session::{Header, Millis, Role, Seq};
use serde::Serialize;

const ROUNDS: usize = 15;
const BUDGET: u64 = 65_536;
const MESSAGE_BYTES: usize = 800;

/// The projection as the contract words it, written by `serde_json` alone.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Projection<'a> {
    session_id: &'a str,
    label: &'a str,
    cwd: Option<&'a str>,
    captured_through_seq: Option<Seq>,
    conversation: Vec<Turn<'a>>,
}

#[derive(Serialize)]
struct Turn<'a> {
    role: Role,
    text: &'a str,
}

fn serialise(capture: &Capture) -> Vec<u8> {
    let projection = Projection {
        session_id: capture.header.id.as_str(),
        label: "source",
        cwd: capture.header.cwd.as_deref(),
        captured_through_seq: capture.captured_through,
        conversation: capture
            .conversation
            .iter()
            .map(|item| Turn {
                role: item.role,
                text: &item.text,
            })
            .collect(),
    };
    serde_json::to_vec(&projection).unwrap_or_default()
}

/// Dialogue about code: mostly ASCII, some of it escaped, some of it not.
fn dialogue(bytes: usize) -> String {
    const PIECE: &str = "The test `login_expires` fails once in <20 runs: \"token\" is read before \
                         the clock moves.\n    let now = clock.now(); // 時計\n";
    let mut text = PIECE.repeat(bytes.div_ceil(PIECE.len()));
    text.truncate(text.floor_char_boundary(bytes));
    text
}

fn conversation(messages: usize, bytes: usize, checkpoint: bool) -> Capture {
    let text = dialogue(bytes);
    Capture {
        header: Header::new("source", Millis(1), Some("/work/project".to_owned())),
        captured_through: Some(Seq(1)),
        damage: None,
        conversation: (0..messages)
            .map(|i| Item {
                time: Millis(0),
                role: [Role::User, Role::Assistant][i % 2],
                checkpoint,
                text: text.as_str().into(),
            })
            .collect(),
    }
}

/// The best time of each side, measured in turns.
fn best<const N: usize>(mut sides: [&mut dyn FnMut(); N]) -> [Duration; N] {
    let mut best = [Duration::MAX; N];
    for _ in 0..ROUNDS {
        for (side, best) in sides.iter_mut().zip(&mut best) {
            let start = Instant::now();
            side();
            *best = start.elapsed().min(*best);
        }
    }
    best
}

fn report(what: &str, time: Duration, base: Duration, limit: f64) {
    let ratio = time.as_secs_f64() / base.as_secs_f64();
    let verdict = if ratio <= limit { "ok" } else { "MISSED" };
    println!("{what:<58} {time:>11.1?} / {base:>11.1?} = {ratio:>6.2}  (≤ {limit}) {verdict}");
}

fn keep(capture: &Capture, budget: u64) {
    black_box(retain(black_box(capture), "source", budget).ok());
}

fn growth() {
    let sizes = [1_000, 10_000, 100_000];
    let [small, middle, large] = sizes.map(|n| conversation(n, MESSAGE_BYTES, false));
    let times = best([
        &mut || keep(&small, BUDGET),
        &mut || keep(&middle, BUDGET),
        &mut || keep(&large, BUDGET),
    ]);
    for i in 1..3 {
        let name = format!("{} → {} messages", sizes[i - 1], sizes[i]);
        report(&name, times[i], times[i - 1], 12.0);
    }
}

fn price(what: &str, capture: &Capture, budget: u64) {
    let [kept, whole] = best([&mut || keep(capture, budget), &mut || {
        black_box(serialise(black_box(capture)));
    }]);
    report(what, kept, whole, 2.0);
}

fn main() {
    println!("growth at 64 KiB, a ten times longer conversation against the shorter one");
    growth();

    // What is linear stays as cheap beside a linear pass, however long it is.
    println!("\nprice, against one serde_json::to_vec of the whole projection");
    for n in [1_000, 10_000, 100_000] {
        let many = conversation(n, MESSAGE_BYTES, false);
        price(&format!("{n} messages, ample budget"), &many, u64::MAX);
        price(&format!("{n} messages, 64 KiB"), &many, BUDGET);
        drop(many);
        let pinned = conversation(n, MESSAGE_BYTES, true);
        let each_shortened = u64::try_from(n * 120).unwrap_or(u64::MAX);
        let name = format!("{n} checkpoints, each shortened");
        price(&name, &pinned, each_shortened);
        let name = format!("{n} checkpoints, 64 KiB");
        price(&name, &pinned, BUDGET);
    }
    let one = conversation(1, 50_000_000, false);
    price("one message of 50 MB, ample budget", &one, u64::MAX);
    price("one message of 50 MB, 64 KiB", &one, BUDGET);
}
