//! What each record says, and whose words they are.

use super::chain::Current;
use super::record::{Block, Record};
use super::words;
use crate::source::build::Builder;
use crate::source::loose::{Content, Piece};
use crate::text::Text;

/// What one record says.
#[derive(Debug, Default)]
pub(super) struct Said {
    time: i64,
    what: Vec<What>,
}

#[derive(Debug)]
enum What {
    Person(Text),
    Injected(Text),
    Checkpoint {
        id: Box<str>,
        text: Text,
    },
    Model {
        id: Option<Box<str>>,
        model: Box<str>,
        text: Text,
    },
    Result {
        call: Box<str>,
        text: Text,
    },
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

impl Said {
    /// What a user's or the model's record says; `None` when it holds only what
    /// is not known.
    pub(super) fn of(record: &Record) -> Option<Self> {
        let body = &record.message.0;
        let (texts, results) = parts(&body.content)?;
        let time = record.timestamp.millis();
        let mut what: Vec<What> = results;
        if record.kind.is("assistant") {
            if !body.model.is("<synthetic>") && !record.is_api_error_message.0 {
                what.push(What::Model {
                    id: body.id.0.clone(),
                    model: body.model.0.clone().unwrap_or_default(),
                    text: join(&texts),
                });
            }
        } else if record.is_compact_summary.0 {
            what.push(What::Checkpoint {
                id: record.uuid.0.clone().unwrap_or_default(),
                text: join(&texts),
            });
        } else {
            let is_software = record.is_meta.0
                || record.is_visible_in_transcript_only.0
                || record.origin.0.is_software();
            what.extend(user(&texts, is_software));
        }
        Some(Self { time, what })
    }

    /// What a person typed while the model was at work, which is kept as an
    /// attachment.
    pub(super) fn queued(record: &Record) -> Self {
        let attachment = &record.attachment.0;
        if !attachment.kind.is("queued_command") || !attachment.command_mode.is("prompt") {
            return Self::default();
        }
        let is_software =
            record.is_meta.0 || attachment.is_meta.0 || attachment.origin.0.is_software();
        let parts = parts(&attachment.prompt);
        let texts = parts.map(|(texts, _)| texts);
        Self {
            time: record.timestamp.millis(),
            what: user(&texts.unwrap_or_default(), is_software),
        }
    }

    /// What a person typed.
    pub(super) fn prompt(&self) -> Option<&str> {
        self.what.iter().find_map(|what| match what {
            What::Person(text) => Some(&**text),
            _ => None,
        })
    }

    /// Whether a person or the model says anything, or a checkpoint does.
    pub(super) fn is_message(&self) -> bool {
        self.what.iter().any(|what| match what {
            What::Person(text) | What::Checkpoint { text, .. } | What::Model { text, .. } => {
                !text.is_empty()
            }
            What::Injected(_) | What::Result { .. } => false,
        })
    }
}

/// The texts and the tools' results of a message; `None` when it holds
/// something else that is not known.
fn parts(content: &Content<Block>) -> Option<(Vec<&Text>, Vec<What>)> {
    let pieces = content.0.as_ref()?;
    let mut texts = Vec::new();
    let mut results = Vec::new();
    let mut is_strange = false;
    for piece in pieces {
        match piece {
            Piece::Text(text) => texts.push(text),
            Piece::Block(block) => match (block.kind.get(), &block.text.0) {
                (Some("text"), Some(text)) => texts.push(text),
                (Some(kind), _) if kind == "tool_result" || kind.ends_with("_tool_result") => {
                    results.push(What::Result {
                        call: block.tool_use_id.0.clone().unwrap_or_default(),
                        text: block.content.0.as_str().into(),
                    });
                }
                (Some(kind), _) if SILENT.contains(&kind) => {}
                _ => is_strange = true,
            },
            Piece::Other => is_strange = true,
        }
    }
    texts.retain(|text| !text.is_empty());
    let holds_nothing = texts.is_empty() && results.is_empty();
    (!is_strange || !holds_nothing).then_some((texts, results))
}

/// A user message's texts as the person's one message and what software put
/// beside it.
fn user(texts: &[&Text], is_software: bool) -> Vec<What> {
    // Most messages are one text, and all of it is the person's.
    if let [text] = texts
        && !is_software
        && words::of_person(text).is_some_and(|words| words.len() == text.len())
    {
        return vec![What::Person((*text).clone())];
    }
    let mut typed = Vec::new();
    let mut injected = Vec::new();
    for text in texts {
        match words::of_person(text).filter(|_| !is_software) {
            Some(words) => typed.push(words),
            None => injected.push(&***text),
        }
    }
    let mut what = Vec::new();
    if !injected.is_empty() {
        what.push(What::Injected(injected.join("\n").into()));
    }
    if !typed.is_empty() {
        what.push(What::Person(typed.join("\n").into()));
    }
    what
}

/// Texts on lines of their own, without a copy where there is but one.
fn join(texts: &[&Text]) -> Text {
    match texts {
        [] => Text::default(),
        [text] => (*text).clone(),
        _ => {
            let texts: Vec<&str> = texts.iter().map(|text| &***text).collect();
            texts.join("\n").into()
        }
    }
}

/// A message of the model that is put together from its lines.
struct Open<'a> {
    time: i64,
    id: Option<&'a str>,
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

    fn close(self, builder: &mut Builder) {
        builder.model(self.time, self.model, join(&self.texts));
        for (time, what) in self.between {
            what.emit(builder, time, false);
        }
    }
}

impl What {
    fn emit(&self, builder: &mut Builder, time: i64, is_cut: bool) {
        match self {
            Self::Person(text) => builder.person(time, text.clone()),
            Self::Injected(text) => builder.injected(time, "claude-code", text.clone()),
            Self::Checkpoint { id, text } if is_cut => {
                builder.checkpoint_in_place(time, id, text.clone());
            }
            Self::Checkpoint { id, text } => builder.checkpoint(time, id, text.clone()),
            Self::Result { call, text } => builder.tool_result(time, call, text.clone()),
            Self::Model { model, text, .. } => builder.model(time, model, text.clone()),
        }
    }
}

/// Emits what these records say. The model's lines of one id are one message,
/// also where software speaks between them. Of a conversation that is cut at
/// its compaction nothing is left that the first checkpoint stands for.
pub(super) fn emit(builder: &mut Builder, current: &Current, said: &[Said]) {
    let mut is_cut = current.is_cut;
    let mut open: Option<Open<'_>> = None;
    for record in current.order.iter().filter_map(|index| said.get(*index)) {
        let time = record.time;
        for what in &record.what {
            if let Some(open) = &mut open {
                match what {
                    What::Model { id, text, .. } if id.is_some() && id.as_deref() == open.id => {
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
            if let What::Model { id, model, text } = what {
                let mut message = Open {
                    time,
                    id: id.as_deref(),
                    model,
                    texts: Vec::new(),
                    between: Vec::new(),
                };
                message.add(text);
                open = Some(message);
            } else {
                what.emit(builder, time, is_cut);
                is_cut &= !matches!(what, What::Checkpoint { .. });
            }
        }
    }
    if let Some(open) = open {
        open.close(builder);
    }
}
