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
    /// The model's, with no text and nothing of no known form.
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
        /// Whether the tool counts it as the beginning of a turn.
        begins_turn: bool,
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
            return match (is_other, role) {
                (false, _) => Self::Unread,
                (true, Role::Assistant) => Self::Nothing,
                (true, Role::User) => Self::User {
                    injected: None,
                    person: None,
                    directory: None,
                    begins_turn: true,
                },
            };
        }
        let all = join(texts.iter().map(|(_, text)| *text));
        if role == Role::Assistant {
            return Self::Model(all);
        }
        let kinds = kinds.map_or(Kinds::Untold, |kinds| Kinds::of(kinds, content));
        let kind = |at: usize| kinds.at(at);
        let is_marked = texts
            .iter()
            .any(|(at, _)| kind(*at) == Some(Marked::Summary));
        let is_left = summary.is_some_and(|summary| !summary.is_empty() && *summary == *all);
        if is_marked || is_left || (kinds == Kinds::Untold && injected::is_summary(&all)) {
            return Self::Summary(all);
        }
        let next = |n: usize| texts.get(n + 1).map(|(_, text)| &***text);
        let (mut persons, mut others) = (Vec::new(), Vec::new());
        for (n, (at, text)) in texts.iter().enumerate() {
            let is_person = match kind(*at) {
                Some(Marked::Untold) | None => !injected::is_injected(text, next(n)),
                Some(marked) => marked == Marked::Person,
            };
            match injected::request(text) {
                _ if !is_person => others.push((*text).clone()),
                Some((around, request)) => {
                    others.push(around.into());
                    persons.push(request.into());
                }
                None => persons.push((*text).clone()),
            }
        }
        let is_context =
            |(n, (_, text)): (usize, &(usize, &Text))| injected::is_context(text, next(n));
        let told = |texts: &[Text]| (!texts.is_empty()).then(|| join(texts.iter()));
        let mut directories = others.iter().filter_map(|text| injected::directory(text));
        Self::User {
            directory: directories.next().map(str::to_owned),
            injected: told(&others),
            person: told(&persons),
            begins_turn: kinds.has_person() || !texts.iter().enumerate().any(is_context),
        }
    }

    /// Whose message it is, if that matters.
    pub(super) fn role(&self) -> Option<Role> {
        match self {
            Self::Nothing | Self::Unread => None,
            Self::Model(_) => Some(Role::Assistant),
            Self::Summary(_) | Self::User { .. } => Some(Role::User),
        }
    }

    /// Whether a turn begins with it, which a rollback counts. It need not be
    /// one of a person's words: Codex counts each message of the role that it
    /// can't tell to be context (`is_user_turn_boundary` of its history).
    pub(super) fn begins_turn(&self) -> bool {
        match self {
            Self::Nothing | Self::Unread | Self::Model(_) => false,
            Self::Summary(_) => true,
            Self::User { begins_turn, .. } => *begins_turn,
        }
    }
}

/// What the tool says of the parts of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kinds<'a> {
    /// Nothing that can be used.
    Untold,
    /// That of each.
    Each(&'a [Marked]),
    /// Of more or fewer parts than there are, and all of them are software's.
    AllSoftware,
}

impl<'a> Kinds<'a> {
    fn of(kinds: &'a [Marked], content: &Content) -> Self {
        let parts = match content {
            Content::Blocks(blocks) => blocks.len(),
            Content::Text(_) => 1,
            Content::Missing => 0,
        };
        if kinds.len() == parts {
            return Self::Each(kinds);
        }
        let all = !kinds.is_empty() && kinds.iter().all(|kind| *kind == Marked::Software);
        if all { Self::AllSoftware } else { Self::Untold }
    }

    /// That of one part.
    fn at(self, at: usize) -> Option<Marked> {
        match self {
            Self::Untold => None,
            Self::Each(kinds) => kinds.get(at).copied(),
            Self::AllSoftware => Some(Marked::Software),
        }
    }

    fn has_person(self) -> bool {
        matches!(self, Self::Each(kinds) if kinds.contains(&Marked::Person))
    }
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
