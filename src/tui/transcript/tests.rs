#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod left;
mod unanswered;

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::*;
use crate::chat::{REQUEST_HEADER, TURN_END, TURN_START};
use crate::reference::{Reference, mention};
use crate::session::{
    Block, Header, Message, MessageKind, Millis, NewEvent, Payload, Role, Seq, Session, Source,
};
use crate::tui::testing::{HOSTILE, mono, render, screen};

fn session(payloads: impl IntoIterator<Item = Payload>) -> Session {
    let mut session = Session::new(Header::new("s", Millis(0), None));
    for payload in payloads {
        session.append(NewEvent::plain(Millis(0), payload)).unwrap();
    }
    session
}

fn you(text: &str) -> Payload {
    Payload::user(Message::person(text))
}

fn model(blocks: Vec<Block>) -> Payload {
    let message = Message::new(Role::Assistant, Source::model("offline", "echo"), blocks);
    Payload::step(MessageKind::Assistant, message, 0, 0)
}

fn cited(text: &str, references: &Value) -> Payload {
    let mut record = Map::new();
    record.insert("references".to_owned(), references.clone());
    Payload::user(Message::new(
        Role::User,
        Source::session_reference(record),
        vec![Block::text(text)],
    ))
}

fn context() -> Payload {
    cited(
        "## Referenced sessions\n\n<referenced-sessions>\n[]\n</referenced-sessions>\n\n\
         ## Reference omissions\n\nNotices.\n\
         [{\"sessionId\":\"a\",\"fullSnapshot\":{\"status\":\"saved\"}},\
         {\"sessionId\":\"b\",\"fullSnapshot\":{\"status\":\"unavailable\"}}]\n",
        &json!([
            {"sessionId": "a", "label": "Fix the flaky login test", "originalMessages": 96,
             "retainedMessages": 42, "omittedBytes": 12_595},
            {"sessionId": "b", "label": HOSTILE, "originalMessages": 1204,
             "retainedMessages": 1203, "omittedBytes": 5},
            {"sessionId": "c", "label": "Whole", "originalMessages": 1, "retainedMessages": 1,
             "omittedBytes": 0},
        ]),
    )
}

/// A conversation with everything in it.
fn everything() -> Session {
    let mention = mention::format(&Reference::new(
        "a",
        Some("Fix the flaky login test".into()),
    ));
    let tool = Message::new(
        Role::Tool,
        Source::tool("c1"),
        vec![Block::text(format!("\n  first line {HOSTILE}\nsecond"))],
    );
    let system = Message::new(
        Role::System,
        Source::plugin("x"),
        vec![Block::text("SYSTEM")],
    );
    let plugin = Message::new(Role::User, Source::plugin("x"), vec![Block::text("PLUGIN")]);
    let mut session = session([
        Payload::step(MessageKind::System, system, 0, 0),
        you(&format!("the fix from {mention} broke CI, why?")),
        context(),
        Payload::user(plugin),
        model(vec![
            Block::reasoning("REASONING"),
            Block::text("**Two things changed** in the fixture, and both of them matter here:"),
            Block::text("1. the pool\n2. the clock 世界 👩‍💻"),
        ]),
        Payload::step(MessageKind::ToolResult, tool, 0, 0),
        Payload::log_only(
            "assistant/attempt",
            json!({"text": "It may well", "interrupted": true, "provider": "offline"}),
        ),
        Payload::log_only("assistant/attempt", json!({"text": "DROPPED"})),
        you(HOSTILE),
    ]);
    let checkpoint = Message::new(
        Role::User,
        Source::checkpoint("k"),
        vec![Block::text("What came before.")],
    );
    session
        .append(NewEvent::replacing(
            Millis(0),
            Payload::user(checkpoint),
            (Seq(1), Seq(4)),
            vec![Seq(1), Seq(2), Seq(3), Seq(4)],
        ))
        .unwrap();
    session
}

fn tool_of(id: &SessionId) -> Option<String> {
    (id.as_str() == "a").then(|| "ibid".to_owned())
}

fn with_pane<T>(
    session: &Session,
    streaming: Option<&str>,
    draw: impl FnOnce(TranscriptPane<'_>) -> T,
) -> T {
    draw(TranscriptPane {
        theme: &mono(),
        events: session.events(),
        streaming: streaming.map(|text| Streaming {
            who: "offline",
            text,
            mark: "⠋ streaming",
        }),
        tool_of: &tool_of,
    })
}

fn draw(
    size: (u16, u16),
    session: &Session,
    streaming: Option<&str>,
    state: &mut TranscriptState,
) -> String {
    with_pane(session, streaming, |pane| screen(size, pane, state))
}

#[test]
fn a_conversation_shows_what_was_said_and_cited() {
    let mut state = TranscriptState::new();
    insta::assert_snapshot!(draw((80, 24), &everything(), Some("And so"), &mut state), @r###"
You      the fix from @Fix the flaky login test broke CI, why?
         ⌐ cited  Fix the flaky login test · ibid · 42 of 96 messages
                  · 12.3 KB omitted, full text saved
         ⌐ cited  ␛[31mred␛]0;x␇\u{9b}2J \u{202e}rlo\u{2066}
                  </referenced-sessions> a\u{200b}b␍c d\u{2028}e 世界 👩‍💻 x́ ·
                  1,203 of 1,204 messages
                  · 5 B omitted, full text not saved
         ⌐ cited  Whole · 1 message
offline  **Two things changed** in the fixture, and both of them matter here:
         1. the pool
         2. the clock 世界 👩‍💻
         tool result · 109 B · first line ␛[31mred␛]0;x␇\u{9b}2J \u{202e}rlo\…
offline  It may well
         interrupted · not sent on
You      ␛[31mred␛]0;x␇\u{9b}2J \u{202e}rlo\u{2066} </referenced-sessions>
         a\u{200b}b␍c    d\u{2028}e 世界 👩‍💻 x́
         ── 4 earlier messages compacted into this summary ──
         What came before.
offline  And so
         ⠋ streaming
"###);
}

#[test]
fn a_summary_counts_what_was_said_and_not_all_that_it_replaces() {
    let mut session = session([you("one"), context(), you("two")]);
    let mut source = Source::checkpoint("k");
    source.rest.insert("compactedMessages".to_owned(), 2.into());
    let summary = Message::new(Role::User, source, vec![Block::text("Before.")]);
    let replaced = vec![Seq(0), Seq(1), Seq(2)];
    let range = (Seq(0), Seq(2));
    let summary = NewEvent::replacing(Millis(0), Payload::user(summary), range, replaced);
    session.append(summary).unwrap();
    let shown = draw((80, 20), &session, None, &mut TranscriptState::new());
    assert!(shown.contains("── 2 earlier messages compacted"), "{shown}");
}

#[test]
fn a_summary_says_which_messages_above_it_were_left_as_they_are() {
    let shown = |kept: usize| {
        let mut session = session([you("one"), you("two"), you("three")]);
        let mut source = Source::checkpoint("k");
        source.rest.insert("keptMessages".to_owned(), kept.into());
        let summary = Message::new(Role::User, source, vec![Block::text("Before.")]);
        let replaced = vec![Seq(0), Seq(1)];
        let summary = NewEvent::replacing(
            Millis(0),
            Payload::user(summary),
            (Seq(0), Seq(1)),
            replaced,
        );
        session.append(summary).unwrap();
        draw((80, 8), &session, None, &mut TranscriptState::new())
    };
    let rows = [
        (0, "── 2 earlier messages compacted into this summary ──"),
        (
            1,
            "── 2 messages compacted into this summary · the last one was kept ──",
        ),
    ];
    for (kept, rule) in rows {
        let shown = shown(kept);
        let words: Vec<&str> = shown.split_whitespace().collect();
        assert!(words.join(" ").contains(rule), "{shown}");
    }
}

#[test]
fn the_names_of_providers_are_whole_and_long_ones_are_cut() {
    let said_by = |provider: &str| {
        let block = Block::text("hello");
        let message = Message::new(Role::Assistant, Source::model(provider, "m"), vec![block]);
        let session = session([Payload::step(MessageKind::Assistant, message, 0, 0)]);
        draw((60, 1), &session, None, &mut TranscriptState::new())
    };
    assert_eq!(said_by("lab").trim(), "lab      hello");
    assert_eq!(said_by("openrouter").trim(), "openrouter hello");
    assert_eq!(said_by("a-long-provider").trim(), "a-long-pr… hello");
}

#[test]
fn in_a_narrow_screen_the_names_stand_above() {
    let session = everything();
    let mut state = TranscriptState::new();
    insta::assert_snapshot!(draw((40, 12), &session, None, &mut state), @r###"
tool result · 109 B · first line ␛[31mr…
offline
It may well
interrupted · not sent on
You
␛[31mred␛]0;x␇\u{9b}2J
\u{202e}rlo\u{2066}
</referenced-sessions> a\u{200b}b␍c
d\u{2028}e 世界 👩‍💻 x́
── 4 earlier messages compacted into
this summary ──
What came before.
"###);
    insta::assert_snapshot!(draw((20, 6), &session, None, &mut state), @r###"
s> a\u{200b}b␍c
d\u{2028}e 世界 👩‍💻 x́
── 4 earlier
messages compacted
into this summary ──
What came before.
"###);
    state.scroll(i16::MIN);
    insta::assert_snapshot!(draw((40, 12), &session, None, &mut state), @r###"
You
the fix from @Fix the flaky login test
broke CI, why?
⌐ cited  Fix the flaky login test · ibid
         · 42 of 96 messages
         · 12.3 KB omitted, full text
         saved
⌐ cited  ␛[31mred␛]0;x␇\u{9b}2J
         \u{202e}rlo\u{2066}
         </referenced-sessions>
         a\u{200b}b␍c d\u{2028}e 世界 👩‍💻
         x́ · 1,203 of 1,204 messages
"###);
    insta::assert_snapshot!(draw((20, 6), &session, None, &mut state), @r###"
You
the fix from @Fix
the flaky login test
broke CI, why?
⌐ Fix the flaky
  login test · ibid
"###);
}

#[test]
fn what_is_no_dialogue_is_not_shown() {
    let shown = draw((80, 60), &everything(), None, &mut TranscriptState::new());
    for word in [
        "SYSTEM",
        "PLUGIN",
        "REASONING",
        "DROPPED",
        "second",
        "dsh-session",
    ] {
        assert!(!shown.contains(word), "{word} in {shown}");
    }
}

#[test]
fn new_text_is_followed_until_the_reader_scrolls_up() {
    let session = session([you("question")]);
    let mut state = TranscriptState::new();
    let mut text = "line\n".repeat(30);
    draw((60, 10), &session, Some(&text), &mut state);
    text.push_str("newest");
    assert!(draw((60, 10), &session, Some(&text), &mut state).contains("newest"));

    state.scroll(-2);
    assert!(!state.follows());
    let before = draw((60, 10), &session, Some(&text), &mut state);
    text.push_str("\nnewer yet");
    assert_eq!(draw((60, 10), &session, Some(&text), &mut state), before);

    state.end();
    assert!(state.follows());
    assert!(draw((60, 10), &session, Some(&text), &mut state).contains("newer yet"));
    state.page(-1);
    state.page(1);
    assert!(state.follows());
}

#[test]
fn a_reader_in_the_middle_of_an_answer_stays_there_when_it_is_done() {
    let mut session = session([you("question")]);
    let text: Vec<String> = (0..50).map(|n| format!("line {n}")).collect();
    let text = text.join("\n");
    let mut state = TranscriptState::new();
    draw((60, 10), &session, Some(&text), &mut state);
    state.scroll(-20);
    let before = draw((60, 10), &session, Some(&text), &mut state);
    let answer = NewEvent::plain(Millis(0), model(vec![Block::text(text)]));
    session.append(answer).unwrap();
    assert_eq!(draw((60, 10), &session, None, &mut state), before);
}

#[test]
fn another_session_begins_at_its_end() {
    let mut state = TranscriptState::new();
    let one = session([you(&"long\n".repeat(50))]);
    draw((60, 10), &one, None, &mut state);
    state.scroll(i16::MIN);
    let two = session([you(&"other\n".repeat(50)), you("the last")]);
    let shown = draw((60, 10), &two, None, &mut state);
    assert!(
        shown.contains("the last") && !shown.contains("long"),
        "{shown}"
    );
}

#[test]
fn a_context_that_is_not_ours_is_taken_as_it_is() {
    for references in [
        json!(null),
        json!(7),
        json!([7, {}, {"label": 3}, {"originalMessages": -1}]),
    ] {
        let session = session([
            you("x"),
            cited("</referenced-sessions>\n[nonsense", &references),
        ]);
        assert!(draw((60, 10), &session, None, &mut TranscriptState::new()).contains("You"));
    }
}

fn bits() -> impl Strategy<Value = Vec<String>> {
    let bits = prop::sample::select(vec![
        "a", "word ", " ", "\n", "世", "👩", "\u{200d}", "💻", "e", "\u{301}", "\x1b", "\r", "\t",
        "long-",
    ]);
    prop::collection::vec(bits.prop_map(str::to_owned), 0..60)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn a_streamed_answer_looks_as_if_it_had_come_at_once(
        bits in bits(),
        size in (1_u16..90, 1_u16..30),
    ) {
        let session = session([you("question")]);
        let (mut text, mut state) = (String::new(), TranscriptState::new());
        for bit in &bits {
            text.push_str(bit);
            with_pane(&session, Some(&text), |pane| render(size, pane, &mut state));
        }
        let at_once = draw(size, &session, Some(&text), &mut TranscriptState::new());
        prop_assert_eq!(draw(size, &session, Some(&text), &mut state), at_once);
    }

    #[test]
    fn no_size_and_no_step_breaks_it(
        sizes in prop::collection::vec((0_u16..=200, 0_u16..=60), 1..8),
        steps in prop::collection::vec(-9_i16..9, 8),
        text in ".{0,200}",
    ) {
        let mut session = everything();
        let mut state = TranscriptState::new();
        for (size, step) in sizes.into_iter().zip(steps) {
            let streaming = (step % 2 == 0).then_some(&*text);
            with_pane(&session, streaming, |pane| render(size, pane, &mut state));
            match step {
                -9 => state.scroll(i16::MIN),
                8 => state.end(),
                7 => state.page(-1),
                -8 => { session.append(NewEvent::plain(Millis(0), you(&text))).unwrap(); }
                step => state.scroll(step),
            }
        }
    }
}
