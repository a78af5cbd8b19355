//! Logs of random sessions, whole and damaged.

use proptest::prelude::*;

use super::*;

/// An event for a random session.
#[derive(Clone, Debug)]
enum Step {
    Say(MessageKind, Source, Vec<Block>),
    Log(String, Value),
    Title(String),
    Replace(prop::sample::Index, prop::sample::Index, bool),
}

fn step() -> impl Strategy<Value = Step> {
    let kind = prop::sample::select(vec![
        MessageKind::User,
        MessageKind::User,
        MessageKind::Assistant,
        MessageKind::System,
        MessageKind::ToolResult,
    ]);
    let source = prop::sample::select(vec![
        Source::person(),
        Source::model("p", "m"),
        Source::tool("call"),
        Source::plugin("compact"),
        Source::checkpoint("c"),
    ]);
    let text = "[a\"\\\\\n\u{1b}é世😀]{0,12}";
    let block = prop_oneof![
        4 => text.prop_map(Block::text),
        1 => text.prop_map(Block::reasoning),
        1 => Just(Block::Other(json!(null))),
        1 => Just(Block::Other(json!({"type": "text", "text": 1.5}))),
        1 => Just(Block::Other(json!({"type": "image", "data": [1, {"text": "x"}]}))),
    ];
    prop_oneof![
        6 => (kind, source, prop::collection::vec(block, 0..4))
            .prop_map(|(kind, source, blocks)| Step::Say(kind, source, blocks)),
        4 => ("[a-z]{1,4}/[a-z]{1,4}", text).prop_map(|(kind, text)| Step::Log(kind, json!({"delta": text}))),
        1 => text.prop_map(Step::Title),
        2 => any::<(prop::sample::Index, prop::sample::Index, bool)>()
            .prop_map(|(a, b, checkpoint)| Step::Replace(a, b, checkpoint)),
    ]
}

fn session(steps: Vec<Step>) -> Session {
    let mut session = Session::new(Header::new("s", Millis(5), None));
    for step in steps {
        let event = match step {
            Step::Say(MessageKind::User, source, blocks) => {
                let message = Message::new(Role::User, source, blocks);
                NewEvent::plain(Millis(1), Payload::user(message))
            }
            Step::Say(kind, source, blocks) => {
                let message = Message::new(Role::Assistant, source, blocks);
                NewEvent::plain(Millis(1), Payload::step(kind, message, 1, 2))
            }
            Step::Log(kind, data) => NewEvent::plain(Millis(-1), Payload::log_only(kind, data)),
            Step::Title(text) => {
                let title = crate::session::Title::event(&text, TitleSource::Fallback);
                NewEvent::plain(Millis(1), title)
            }
            Step::Replace(a, b, checkpoint) => {
                let surface: Vec<Seq> = session.surface().map(|e| e.seq).collect();
                if surface.is_empty() {
                    continue;
                }
                let (a, b) = (a.index(surface.len()), b.index(surface.len()));
                let range = &surface[a.min(b)..=a.max(b)];
                let source = if checkpoint {
                    Source::checkpoint("c")
                } else {
                    Source::person()
                };
                let message = Message::new(Role::User, source, vec![Block::text("sum")]);
                let ends = (range[0], range[range.len() - 1]);
                NewEvent::replacing(Millis(1), Payload::user(message), ends, range.to_vec())
            }
        };
        session.append(event).unwrap();
    }
    session
}

fn bytes_of(session: &Session) -> Vec<u8> {
    let mut bytes = encode_header(session.header()).unwrap();
    for event in session.events() {
        serde_json::to_writer(&mut bytes, event).unwrap();
        bytes.push(b'\n');
    }
    bytes
}

proptest! {
    #[test]
    fn a_log_gives_its_session_and_its_capture(steps in prop::collection::vec(step(), 0..40)) {
        let session = session(steps);
        let dir = Dir::new();
        let path = dir.file(bytes_of(&session));
        let whole = read_session(&path).unwrap();
        prop_assert_eq!(whole.session.events(), session.events());
        prop_assert_eq!(whole.session.title(), session.title());
        let brief = read_capture(&path).unwrap();
        prop_assert_eq!(brief.capture, projection::capture(&session));
        prop_assert_eq!(brief.title.as_ref(), session.title());
        prop_assert_eq!(brief.notices, []);
    }

    #[test]
    fn all_that_was_said_is_read_once_with_its_place_in_what_is_cited(
        steps in prop::collection::vec(step(), 0..40),
    ) {
        let session = session(steps);
        let dir = Dir::new();
        let said = read_said(&dir.file(bytes_of(&session))).unwrap();
        let conversation = projection::capture(&session).conversation;
        let mut cited: Vec<_> = said.iter().filter(|s| s.cited.is_some()).collect();
        cited.sort_by_key(|said| said.cited);
        let places: Vec<_> = cited.iter().filter_map(|said| said.cited).collect();
        let items: Vec<_> = cited.iter().map(|said| said.item.clone()).collect();
        prop_assert_eq!(places, (0..).take(conversation.len()).collect::<Vec<u32>>());
        prop_assert_eq!(items, conversation);
        let all = session.events().iter().filter_map(|event| match &event.payload {
            Payload::Message { kind, message, .. } => {
                projection::item(event.time, *kind, message)
            }
            Payload::LogOnly { .. } => None,
        });
        let words = |item: &projection::Item| (item.role, item.text.to_string());
        let all: std::collections::HashSet<_> = all.map(|item| words(&item)).collect();
        let found: std::collections::HashSet<_> = said.iter().map(|s| words(&s.item)).collect();
        prop_assert_eq!(found, all);
    }

    #[test]
    fn a_damaged_log_gives_the_same_both_ways(
        steps in prop::collection::vec(step(), 0..30),
        cut in any::<prop::sample::Index>(),
        is_cut in any::<bool>(),
        at in any::<prop::sample::Index>(),
        with in prop_oneof![any::<u8>(), prop::sample::select(b"\n\"{}:,\\0".to_vec())],
    ) {
        let mut bytes = bytes_of(&session(steps));
        let place = at.index(bytes.len());
        bytes[place] = with;
        if is_cut {
            bytes.truncate(cut.index(bytes.len() + 1));
        }
        let dir = Dir::new();
        let path = dir.file(&bytes);
        match (read_session(&path), read_capture(&path)) {
            (Ok(whole), Ok(brief)) => {
                // Damage inside log-only lines may go without a notice.
                let damage = damage(&brief.notices);
                let expected = Capture { damage, ..capture_of(&whole) };
                prop_assert_eq!(brief.capture, expected);
                prop_assert_eq!(brief.title.as_ref(), whole.session.title());
            }
            (Err(whole), Err(brief)) => prop_assert_eq!(whole.code(), brief.code()),
            (whole, brief) => prop_assert!(false, "{whole:?} and {brief:?}"),
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200), headed in any::<bool>()) {
        let dir = Dir::new();
        let mut log = if headed { log(&[]).into_bytes() } else { Vec::new() };
        log.extend(bytes);
        let path = dir.file(&log);
        prop_assert_eq!(read_session(&path).is_ok(), read_capture(&path).is_ok());
        prop_assert!(!headed || read_session(&path).is_ok());
    }
}
