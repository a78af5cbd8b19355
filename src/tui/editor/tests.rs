//! What the editor does, as examples and as properties.
//!
//! In the examples `|` is the caret and `<label:id>` a mention; a paste is `[its first characters…]`.

mod editing;
mod identity;
mod layout;
mod popup;
mod properties;
mod speed;

use super::{Draft, Editor, Element, Part};
use crate::session::SessionId;

/// An editor whose text was typed, with the caret at `|`.
fn typed(text: &str) -> Editor {
    let (before, behind) = text.split_once('|').unwrap();
    let mut editor = Editor::new();
    editor.insert_str(before);
    editor.insert_str(behind);
    editor.move_to(before.len());
    editor
}

/// Types `@`, and picks a session from the popup.
fn mention(editor: &mut Editor, label: &str, id: &str) {
    editor.insert_char('@');
    let start = editor.mention_query().unwrap().start;
    assert!(editor.accept_mention(start, id.into(), label));
}

/// The text that is sent, with a mention written by `write`.
fn sent(editor: &Editor, write: impl Fn(&SessionId, &str) -> String) -> String {
    let part = |part| match part {
        Part::Text(text) | Part::Element(Element::Paste { text }) => text,
        Part::Element(Element::Mention { session_id, label }) => write(&session_id, &label),
    };
    editor.draft().parts.into_iter().map(part).collect()
}

/// What is in the editor.
fn seen(editor: &Editor) -> String {
    let part = |range| describe(&editor.content.copy(range).to_draft());
    part(0..editor.caret) + "|" + &part(editor.caret..editor.content.len())
}

fn describe(draft: &Draft) -> String {
    let part = |part: &Part| match part {
        Part::Text(text) => text.clone(),
        Part::Element(Element::Mention { session_id, label }) => format!("<{label}:{session_id}>"),
        Part::Element(Element::Paste { text }) => {
            format!("[{}…]", text.chars().take(5).collect::<String>())
        }
    };
    draft.parts.iter().map(part).collect()
}

/// The visual rows as text.
fn rows(editor: &Editor, width: usize) -> Vec<String> {
    let rows = editor.layout(width);
    (0..rows.count())
        .map(|row| {
            rows.row(row)
                .spans
                .into_iter()
                .map(|span| span.text)
                .collect()
        })
        .collect()
}
