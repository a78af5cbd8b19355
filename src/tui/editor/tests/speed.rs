//! A key in a text of a megabyte must not be felt. The bounds leave room for slow machines and unoptimised builds.

use std::time::{Duration, Instant};

use super::super::{Draft, Editor};

fn key_and_draw(editor: &mut Editor, key: char) -> Duration {
    let started = Instant::now();
    editor.insert_char(key);
    let query = editor.mention_query();
    let rows = editor.layout(80);
    let row = rows.row(rows.caret().row);
    let elapsed = started.elapsed();
    assert!(query.is_none() && row.width <= 80);
    elapsed
}

/// The time of a key in the middle of a text, the fastest of several: the first one also lays the text out.
fn key_in(text: String, key: char) -> Duration {
    let mut editor = Editor::new();
    editor.set(Draft::from_text(text));
    editor.move_to(500_000);
    (0..10)
        .map(|_| key_and_draw(&mut editor, key))
        .min()
        .unwrap_or_default()
}

#[test]
fn a_key_in_a_megabyte_of_text_is_fast() {
    let cases = [
        (
            "prose on one line",
            "some words of prose and more, ".repeat(35_000),
            'x',
            5,
        ),
        ("short lines", "a line of text\n".repeat(70_000), 'x', 5),
        ("no break at all", "x".repeat(1_000_000), 'x', 20),
        (
            "wide characters without a break",
            "世界你好".repeat(45_000),
            '世',
            2_000,
        ),
    ];
    for (name, text, key, limit) in cases {
        let took = key_in(text, key);
        eprintln!("{name}: {took:?}");
        assert!(took < Duration::from_millis(limit), "{name}: {took:?}");
    }
}
