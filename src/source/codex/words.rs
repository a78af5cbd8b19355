//! What a message says, and whose words they are.

use super::injected;
use super::record::{Block, Content, Marked};
use crate::text::Text;

/// A message of a person or the model; `W` is what it says.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Message<W> {
    /// Unix milliseconds.
    pub(super) time: Option<i64>,
    /// Whether it is the answer to a compaction.
    pub(super) is_output: bool,
    pub(super) words: W,
}

/// What a message is made of, as far as it is wanted.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Parts {
    pub(super) role: Role,
    pub(super) content: Content,
    /// What the tool says of each part.
    pub(super) kinds: Option<Vec<Marked>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    User,
    Assistant,
}

impl Role {
    /// `None` for the role of one whose words are never cited.
    pub(super) fn of(word: &str) -> Option<Self> {
        match word {
            "user" => Some(Self::User),
            "assistant" => Some(Self::Assistant),
            _ => None,
        }
    }
}

impl Message<Parts> {
    /// What it says, once its texts can be read.
    pub(super) fn said(self) -> Message<Words> {
        let Parts {
            role,
            content,
            kinds,
        } = &self.words;
        Message {
            time: self.time,
            is_output: self.is_output,
            words: Words::of(*role, content, kinds.as_deref(), None),
        }
    }
}

/// What a message says.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Words {
    /// It has no text, and nothing of no known form.
    Nothing,
    /// Nothing of it is of a known form.
    Unread,
    Model(Text),
    /// A summary of what came before.
    Summary(Text),
    User {
        /// What software put into the person's mouth.
        injected: Option<Text>,
        person: Option<Text>,
        /// The directory that the environment tells.
        directory: Option<String>,
    },
}

impl Words {
    /// `summary` is that of the compaction which the message was left by.
    pub(super) fn of(
        role: Role,
        content: &Content,
        kinds: Option<&[Marked]>,
        summary: Option<&str>,
    ) -> Self {
        let texts = texts(content);
        if texts.is_empty() {
            // Texts that are not among these only frame an image.
            let is_other = matches!(content, Content::Blocks(blocks)
                if blocks.iter().all(|block| block.is_other() || block.as_text().is_some()));
            return if is_other {
                Self::Nothing
            } else {
                Self::Unread
            };
        }
        let all = join(texts.iter().map(|(_, text)| *text));
        if role == Role::Assistant {
            return Self::Model(all);
        }
        let kinds = kinds.and_then(|kinds| of_all(kinds, content));
        let kind = |at: usize| kinds.and_then(|kinds| kinds.get(at).copied());
        let is_marked = texts
            .iter()
            .any(|(at, _)| kind(*at) == Some(Marked::Summary));
        let is_left = summary.is_some_and(|summary| !summary.is_empty() && *summary == *all);
        if is_marked || is_left || (kinds.is_none() && injected::is_summary(&all)) {
            return Self::Summary(all);
        }
        let (mut persons, mut others) = (Vec::new(), Vec::new());
        for (n, (at, text)) in texts.iter().enumerate() {
            let is_person = match kind(*at) {
                Some(Marked::Untold) | None => {
                    let next = texts.get(n + 1).map(|(_, text)| &***text);
                    !injected::is_injected(text, next)
                }
                Some(marked) => marked == Marked::Person,
            };
            if is_person {
                persons.push(*text);
            } else {
                others.push(*text);
            }
        }
        let told = |texts: &[&Text]| (!texts.is_empty()).then(|| join(texts.iter().copied()));
        let mut directories = others.iter().filter_map(|text| injected::directory(text));
        Self::User {
            directory: directories.next().map(str::to_owned),
            injected: told(&others),
            person: told(&persons),
        }
    }
}

/// What the tool says of each part of a message, if it says it of all.
fn of_all<'a>(kinds: &'a [Marked], content: &Content) -> Option<&'a [Marked]> {
    let parts = match content {
        Content::Blocks(blocks) => blocks.len(),
        Content::Text(_) => 1,
        Content::Missing => 0,
    };
    (kinds.len() == parts).then_some(kinds)
}

/// The texts of a message and where in it they stand, without those that only
/// frame an image.
fn texts(content: &Content) -> Vec<(usize, &Text)> {
    let blocks = match content {
        Content::Missing => return Vec::new(),
        Content::Text(text) => return vec![(0, text)],
        Content::Blocks(blocks) => blocks,
    };
    let is_other = |at: Option<usize>| {
        at.and_then(|at| blocks.get(at))
            .is_some_and(Block::is_other)
    };
    let texts = blocks
        .iter()
        .enumerate()
        .filter_map(|(at, block)| Some((at, block.as_text()?)));
    texts
        .filter(|(at, text)| {
            let frames = is_other(at.checked_sub(1)) || is_other(Some(at + 1));
            !(frames && injected::is_image_tag(text))
        })
        .collect()
}

/// Texts on lines of their own, without a copy where there is but one.
fn join<'a>(mut texts: impl Iterator<Item = &'a Text> + Clone) -> Text {
    let mut rest = texts.clone();
    match (rest.next(), rest.next()) {
        (None, _) => Text::default(),
        (Some(only), None) => only.clone(),
        _ => {
            let texts: Vec<&str> = texts.by_ref().map(|text| &**text).collect();
            texts.join("\n").into()
        }
    }
}
