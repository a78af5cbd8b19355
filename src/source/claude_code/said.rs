//! What each record says, and whose words they are.

use super::chain::{Current, Node};
use super::id::Id;
use super::marks::Kind;
use super::record::{Block, Record};
use super::words;
use crate::source::build::{Builder, Sink};
use crate::source::loose::{Content, Piece};
use crate::text::Text;

/// What one record says.
#[derive(Debug, Default)]
pub(super) struct Said {
    time: i64,
    // Most records say one thing.
    first: Option<What>,
    rest: Vec<What>,
}

#[derive(Debug)]
enum What {
    Person(Text),
    Injected(Text),
    Checkpoint(Text),
    Model { model: Box<str>, text: Text },
    Result { call: Box<str>, text: Text },
}

/// What is seen of a record whose texts can't be read yet.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) speaker: Speaker,
    /// `None` when it has no content of a known form.
    pub(super) parts: Option<Parts>,
}

/// Who speaks in a record.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Speaker {
    Model(Box<str>),
    /// The program in the model's place.
    Nobody,
    /// What stands for all that came before.
    Summary,
    Person {
        /// Whether software wrote it.
        is_software: bool,
    },
}

/// What a message is made of.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Parts {
    pub(super) texts: Vec<Text>,
    pub(super) results: Vec<Outcome>,
    /// Whether something in it is not known.
    pub(super) is_strange: bool,
}

/// What a tool gave.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Outcome {
    pub(super) call: Box<str>,
    pub(super) text: Text,
}

/// Kinds of blocks that hold no words of the dialogue, and are known.
pub(super) const SILENT: &[&str] = &[
    "document",
    "fallback",
    "image",
    "redacted_thinking",
    "server_tool_use",
    "thinking",
    "tool_reference",
    "tool_use",
];

/// What the program puts in the place of an answer without words.
const NO_CONTENT: &str = "(no content)";

/// The model that the program names where it speaks itself.
pub(super) const SYNTHETIC: &str = "<synthetic>";

impl Seen {
    /// What is seen of a user's or the model's record.
    pub(super) fn of(record: &Record) -> Self {
        let body = &record.message.0;
        Self {
            speaker: if record.kind.is("assistant") {
                if body.model.is(SYNTHETIC) || record.is_api_error_message.0 {
                    Speaker::Nobody
                } else {
                    Speaker::Model(body.model.0.clone().unwrap_or_default())
                }
            } else if record.is_compact_summary.0 {
                Speaker::Summary
            } else {
                Speaker::Person {
                    is_software: record.is_meta.0
                        || record.is_visible_in_transcript_only.0
                        || record.origin.0.is_software(),
                }
            },
            parts: Parts::of(&body.content),
        }
    }
}

impl Seen {
    /// Whether these may be the words of what is of this kind by its marks.
    pub(super) fn is_like(&self, kind: Kind) -> bool {
        let results = match kind {
            Kind::Attachment => return false,
            Kind::Result => 1,
            Kind::Silent => 0,
        };
        let parts = self.parts.as_ref();
        parts.is_some_and(|parts| parts.texts.is_empty() && parts.results.len() == results)
    }
}

impl Parts {
    fn of(content: &Content<Block>) -> Option<Self> {
        let pieces = content.0.as_ref()?;
        let mut parts = Self::default();
        for piece in pieces {
            match piece {
                Piece::Text(text) => parts.add(text.clone()),
                Piece::Block(block) => match (block.kind.get(), &block.text.0) {
                    (Some("text"), Some(text)) => parts.add(text.clone()),
                    (Some(kind), _) if kind == "tool_result" || kind.ends_with("_tool_result") => {
                        parts.results.push(Outcome {
                            call: block.tool_use_id.0.clone().unwrap_or_default(),
                            text: block.content.0.as_str().into(),
                        });
                    }
                    (Some(kind), _) if SILENT.contains(&kind) => {}
                    _ => parts.is_strange = true,
                },
                Piece::Other => parts.is_strange = true,
            }
        }
        Some(parts)
    }

    pub(super) fn add(&mut self, text: Text) {
        if !text.is_empty() {
            self.texts.push(text);
        }
    }

    /// Whether it holds only what is not known.
    fn is_unknown(&self) -> bool {
        self.is_strange && self.texts.is_empty() && self.results.is_empty()
    }
}

impl Said {
    /// What a user's or the model's record says; `None` when it holds only what
    /// is not known.
    pub(super) fn of(time: i64, seen: Seen) -> Option<Self> {
        let mut parts = seen.parts.filter(|parts| !parts.is_unknown())?;
        // A model begins with empty lines before it calls a tool; the program
        // drops what is nothing but space.
        let texts = &mut parts.texts;
        texts.retain(|text| !text.chars().all(char::is_whitespace));
        let own = match seen.speaker {
            Speaker::Model(model) => {
                let text = Some(join(texts)).filter(|text| **text != *NO_CONTENT);
                let text = text.unwrap_or_default();
                [Some(What::Model { model, text }), None]
            }
            Speaker::Nobody => [None, None],
            Speaker::Summary => [Some(What::Checkpoint(join(&parts.texts))), None],
            Speaker::Person { is_software } => user(&parts.texts, is_software),
        };
        let results = parts.results.into_iter();
        let results = results.map(|Outcome { call, text }| What::Result { call, text });
        Some(Self::new(time, results.chain(own.into_iter().flatten())))
    }

    /// What is said by a record that is of this kind by its marks, without the
    /// words of tools and the names of models.
    pub(super) fn bare(time: i64, kind: Kind) -> Self {
        let (call, model, text) = (Box::default(), Box::default(), Text::default());
        let what = match kind {
            Kind::Attachment => None,
            Kind::Result => Some(What::Result { call, text }),
            Kind::Silent => Some(What::Model { model, text }),
        };
        Self {
            time,
            first: what,
            rest: Vec::new(),
        }
    }

    fn new(time: i64, mut what: impl Iterator<Item = What>) -> Self {
        Self {
            time,
            first: what.next(),
            rest: what.collect(),
        }
    }

    fn what(&self) -> impl Iterator<Item = &What> {
        self.first.iter().chain(&self.rest)
    }

    /// What a person typed while the model was at work, which is kept as an
    /// attachment.
    pub(super) fn queued(record: &Record) -> Self {
        let attachment = &record.attachment.0;
        // Older versions tell no mode.
        let mode = attachment.command_mode.get();
        if !attachment.kind.is("queued_command") || mode.is_some_and(|mode| mode != "prompt") {
            return Self::default();
        }
        let is_software =
            record.is_meta.0 || attachment.is_meta.0 || attachment.origin.0.is_software();
        let parts = Parts::of(&attachment.prompt);
        let parts = parts.filter(|parts| !parts.is_unknown());
        let what = user(&parts.unwrap_or_default().texts, is_software);
        Self::new(record.timestamp.millis(), what.into_iter().flatten())
    }

    /// What a person typed.
    pub(super) fn prompt(&self) -> Option<&str> {
        self.what().find_map(|what| match what {
            What::Person(text) => Some(&**text),
            _ => None,
        })
    }

    /// Whether a person or the model says anything, or a checkpoint does.
    pub(super) fn is_message(&self) -> bool {
        self.what().any(|what| match what {
            What::Person(text) | What::Checkpoint(text) | What::Model { text, .. } => {
                !text.is_empty()
            }
            What::Injected(_) | What::Result { .. } => false,
        })
    }
}

/// A user message's texts as the person's one message and what software put
/// beside it.
fn user(texts: &[Text], is_software: bool) -> [Option<What>; 2] {
    // Most messages are one text, and all of it is the person's.
    if let [text] = texts
        && !is_software
        && words::of_person(text).is_some_and(|words| words.len() == text.len())
    {
        return [Some(What::Person(text.clone())), None];
    }
    let mut typed = Vec::new();
    let mut injected = Vec::new();
    for text in texts {
        match words::of_person(text).filter(|_| !is_software) {
            Some(words) => typed.push(words),
            None => injected.push(&**text),
        }
    }
    let joined = |texts: &[&str]| (!texts.is_empty()).then(|| texts.join("\n").into());
    [
        joined(&injected).map(What::Injected),
        joined(&typed).map(What::Person),
    ]
}

/// Texts on lines of their own, without a copy where there is but one.
fn join(texts: &[Text]) -> Text {
    match texts {
        [] => Text::default(),
        [text] => text.clone(),
        _ => {
            let texts: Vec<&str> = texts.iter().map(|text| &**text).collect();
            texts.join("\n").into()
        }
    }
}

/// A message of the model that is put together from its lines.
struct Open<'a> {
    time: i64,
    id: Option<&'a Id>,
    model: &'a str,
    texts: Vec<&'a Text>,
    /// What software said between its lines.
    between: Vec<(i64, &'a What)>,
}

impl<'a> Open<'a> {
    fn add(&mut self, text: &'a Text) {
        if !text.is_empty() {
            self.texts.push(text);
        }
    }

    fn close<S: Sink>(self, builder: &mut Builder<S>) {
        let text = match self.texts[..] {
            [] => Text::default(),
            [text] => text.clone(),
            _ => {
                let texts: Vec<&str> = self.texts.iter().map(|text| &***text).collect();
                texts.join("\n").into()
            }
        };
        builder.model(self.time, self.model, text);
        for (time, what) in self.between {
            what.emit(builder, time, None, false);
        }
    }
}

impl What {
    /// `id` is that of the record, `is_cut` whether the conversation begins at
    /// its compaction, which was not yet emitted.
    fn emit<S: Sink>(&self, builder: &mut Builder<S>, time: i64, id: Option<&Id>, is_cut: bool) {
        match self {
            Self::Person(text) => builder.person(time, text.clone()),
            Self::Injected(text) => builder.injected(time, "claude-code", text.clone()),
            Self::Checkpoint(text) => {
                let id = id.map(Id::to_string).unwrap_or_default();
                if is_cut {
                    builder.checkpoint_in_place(time, &id, text.clone());
                } else {
                    builder.checkpoint(time, &id, text.clone());
                }
            }
            Self::Result { call, text } => builder.tool_result(time, call, text.clone()),
            Self::Model { model, text } => builder.model(time, model, text.clone()),
        }
    }
}

/// Emits what these records say. The model's lines of one id are one message,
/// also where software speaks between them. Of a conversation that is cut at
/// its compaction nothing is left that the first checkpoint stands for.
pub(super) fn emit<S: Sink>(
    builder: &mut Builder<S>,
    current: &Current,
    nodes: &[Node],
    said: &[Said],
) {
    let mut is_cut = current.is_cut;
    let mut open: Option<Open<'_>> = None;
    let records = current.order.iter();
    for (node, record) in records.filter_map(|at| nodes.get(*at).zip(said.get(*at))) {
        let time = record.time;
        for what in record.what() {
            if let Some(open) = &mut open {
                match what {
                    What::Model { text, .. }
                        if node.message_id.is_some() && node.message_id.as_ref() == open.id =>
                    {
                        open.add(text);
                        continue;
                    }
                    What::Result { .. } | What::Injected(_) => {
                        open.between.push((time, what));
                        continue;
                    }
                    _ => {}
                }
            }
            if let Some(open) = open.take() {
                open.close(builder);
            }
            if let What::Model { model, text } = what {
                let mut message = Open {
                    time,
                    id: node.message_id.as_ref(),
                    model,
                    texts: Vec::new(),
                    between: Vec::new(),
                };
                message.add(text);
                open = Some(message);
            } else {
                what.emit(builder, time, node.uuid.as_ref(), is_cut);
                is_cut &= !matches!(what, What::Checkpoint(_));
            }
        }
    }
    if let Some(open) = open {
        open.close(builder);
    }
}
