//! The fold against a plain list: valid appends replay to the same surface,
//! and a refused one changes nothing.

use std::sync::Arc;

use ibid::session::{
    Event, Message, MessageKind, Millis, NewEvent, Payload, Role, Seq, Session, Source, SurfaceOp,
};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::Value;

use crate::support::sessions::session;

/// One attempt to append, right or wrong.
#[derive(Clone, Debug)]
struct Attempt {
    kind: Option<MessageKind>,
    op: Op,
    sources: Sources,
}

/// Seqs are picked by a number that is taken modulo what there is.
#[derive(Clone, Debug)]
enum Op {
    None,
    Append,
    /// A range of places on the surface, in order.
    Range(usize, usize),
    /// Any two seqs.
    Seqs(u64, u64),
}

#[derive(Clone, Debug)]
enum Sources {
    None,
    Empty,
    /// All that is shadowed, and perhaps earlier ones.
    Shadowed(Vec<u64>),
    Any(Vec<u64>),
}

fn attempt() -> impl Strategy<Value = Attempt> {
    let kind = proptest::option::weighted(
        0.8,
        prop::sample::select(vec![
            MessageKind::User,
            MessageKind::Assistant,
            MessageKind::System,
            MessageKind::ToolResult,
        ]),
    );
    let op = prop_oneof![
        1 => Just(Op::None),
        4 => Just(Op::Append),
        4 => any::<(usize, usize)>().prop_map(|(a, b)| Op::Range(a, b)),
        1 => (0_u64..20, 0_u64..20).prop_map(|(a, b)| Op::Seqs(a, b)),
    ];
    let sources = prop_oneof![
        2 => Just(Sources::None),
        1 => Just(Sources::Empty),
        5 => vec(0_u64..20, 0..2).prop_map(Sources::Shadowed),
        1 => vec(0_u64..20, 0..4).prop_map(Sources::Any),
    ];
    (kind, op, sources).prop_map(|(kind, op, sources)| Attempt { kind, op, sources })
}

impl Attempt {
    fn event(&self, next: u64, surface: &[u64]) -> NewEvent {
        let surface_op = match self.op {
            Op::None => None,
            Op::Append => Some(SurfaceOp::Append),
            Op::Seqs(start, end) => Some(SurfaceOp::Replace {
                start: Seq(start),
                end: Seq(end),
            }),
            Op::Range(a, b) => {
                let place = |i: usize| surface.get(i % surface.len().max(1)).copied();
                let ends = [place(a.min(b)), place(a.max(b))].map(|seq| Seq(seq.unwrap_or(0)));
                Some(SurfaceOp::Replace {
                    start: ends[0],
                    end: ends[1],
                })
            }
        };
        let source_event_seqs = match &self.sources {
            Sources::None => None,
            Sources::Empty => Some(Vec::new()),
            Sources::Any(seqs) => Some(seqs.iter().copied().map(Seq).collect()),
            Sources::Shadowed(more) => {
                let mut named = match &surface_op {
                    Some(SurfaceOp::Replace { start, end }) => {
                        range(surface, start.0, end.0).unwrap_or_default().to_vec()
                    }
                    _ => Vec::new(),
                };
                for seq in more {
                    if *seq < next && !named.contains(seq) {
                        named.push(*seq);
                    }
                }
                (!named.is_empty()).then(|| named.into_iter().map(Seq).collect())
            }
        };
        let payload = match self.kind {
            None => Payload::log_only("turn/start", Value::Null),
            Some(MessageKind::User) => Payload::user(Message::person("x")),
            Some(kind) => {
                let message = Message::new(Role::Assistant, Source::plugin("x"), Vec::new());
                Payload::step(kind, message, 1, 1)
            }
        };
        NewEvent {
            time: Millis(1),
            payload,
            surface_op,
            source_event_seqs,
        }
    }
}

/// The part of a surface from one seq to another.
fn range(surface: &[u64], start: u64, end: u64) -> Option<&[u64]> {
    let from = surface.iter().position(|seq| *seq == start)?;
    let to = surface.iter().position(|seq| *seq == end)?;
    surface.get(from..=to)
}

/// The rules as the contract words them, on a plain list. `None` refuses.
fn model(surface: &[u64], seq: u64, event: &NewEvent) -> Option<Vec<u64>> {
    let kind = match &event.payload {
        Payload::Message { kind, .. } => Some(*kind),
        Payload::LogOnly { .. } => None,
    };
    let sources = event.source_event_seqs.as_deref();
    if let Some(sources) = sources {
        if sources.is_empty() && kind != Some(MessageKind::Assistant) {
            return None;
        }
        for (place, source) in sources.iter().enumerate() {
            if source.0 >= seq || sources[..place].contains(source) {
                return None;
            }
        }
    }
    let mut surface = surface.to_vec();
    match (kind, &event.surface_op) {
        (None, None) => {}
        (Some(_), Some(SurfaceOp::Append)) => surface.push(seq),
        (Some(_), Some(SurfaceOp::Replace { start, end })) => {
            let shadowed = range(&surface, start.0, end.0)
                .filter(|r| !r.is_empty())?
                .to_vec();
            let named = |seq: &u64| sources.is_some_and(|s| s.contains(&Seq(*seq)));
            if !shadowed.iter().all(named) {
                return None;
            }
            let from = surface.iter().position(|seq| *seq == start.0)?;
            surface.splice(from..from + shadowed.len(), [seq]);
        }
        (None, Some(_)) | (Some(_), None) => return None,
    }
    Some(surface)
}

fn seqs(session: &Session) -> Vec<u64> {
    session.surface().map(|event| event.seq.0).collect()
}

proptest! {
    #[test]
    fn the_fold_is_that_of_a_plain_list(attempts in vec(attempt(), 0..40)) {
        let mut session = session("s");
        let mut surface = Vec::new();
        let mut log: Vec<Arc<Event>> = Vec::new();
        for attempt in attempts {
            let next = session.next_seq();
            prop_assert_eq!(next, Seq(log.len() as u64));
            let event = attempt.event(next.0, &surface);
            match model(&surface, next.0, &event) {
                Some(after) => {
                    surface = after;
                    log.push(session.append(event).unwrap());
                }
                None => prop_assert!(session.append(event).is_err()),
            }
            prop_assert_eq!(seqs(&session), surface.clone());
            prop_assert_eq!(session.events(), &*log);
        }
        prop_assert_eq!(session.captured_through(), log.last().map(|event| event.seq));

        let replayed = Session::replay(session.header().clone(), log).unwrap();
        prop_assert_eq!(seqs(&replayed), surface);
        prop_assert!(replayed.derive_messages().eq(session.derive_messages()));
    }
}
