//! What is asked: from the argument, from stdin, or from both.

use std::io::IsTerminal as _;

use crate::chat::{Draft, Element, Part};
use crate::cli::{CliError, exit, input};
use crate::reference::Reference;
use crate::reference::mention::{self, Piece};

/// Between the parts of a message.
const BETWEEN: &str = "\n\n";

/// A prompt, and what was piped in behind it.
#[derive(Debug)]
pub(super) struct Prompt {
    draft: Draft,
    piped: Option<String>,
}

impl Prompt {
    /// The prompt of the argument and of stdin. Reads stdin to its end where
    /// that is no terminal.
    pub(super) fn read(given: Option<&str>) -> Result<Self, CliError> {
        let is_terminal = std::io::stdin().is_terminal();
        let (prompt, piped) = match given {
            Some("-") => (input::stdin()?, None),
            Some(prompt) if is_terminal => (prompt.to_owned(), None),
            Some(prompt) => (prompt.to_owned(), Some(input::stdin()?)),
            None if is_terminal => {
                return Err(CliError::usage(
                    "there is no prompt: give one as argument, or - to type it here \
                     (Ctrl-D ends it); `ibid ask --help` shows how",
                ));
            }
            None => (input::stdin()?, None),
        };
        Self::of(&prompt, piped)
    }

    fn of(prompt: &str, piped: Option<String>) -> Result<Self, CliError> {
        let piped = piped.filter(|piped| !piped.trim().is_empty());
        let draft = Draft::parse(prompt.trim_end_matches(['\r', '\n']))?;
        if draft.is_blank() && piped.is_none() {
            return Err(CliError::usage(
                "the prompt is empty: give one as argument, or on stdin",
            ));
        }
        if let Some(piped) = &piped {
            refuse_mentions(piped)?;
        }
        Ok(Self { draft, piped })
    }

    /// The message: the prompt, what it cites, and what was piped in.
    pub(super) fn citing(self, cited: Vec<Reference>) -> Draft {
        let Self { mut draft, piped } = self;
        let mut between = BETWEEN;
        for reference in cited {
            let mention = Element::from(reference);
            if draft.elements().any(|element| is_same(element, &mention)) {
                continue;
            }
            push(&mut draft, between, Part::Element(mention));
            between = " ";
        }
        if let Some(text) = piped {
            let data = Part::Element(Element::Paste { text });
            push(&mut draft, BETWEEN, data);
        }
        draft
    }
}

fn push(draft: &mut Draft, between: &str, part: Part) {
    if !draft.is_blank() {
        draft.parts.push(Part::Text(between.to_owned()));
    }
    draft.parts.push(part);
}

fn is_same(one: &Element, other: &Element) -> bool {
    let id = |element: &Element| match element {
        Element::Mention { session_id, .. } => Some(session_id.clone()),
        Element::Paste { .. } => None,
    };
    id(one) == id(other)
}

/// What a program wrote must not decide what of a person's sessions is sent.
fn refuse_mentions(piped: &str) -> Result<(), CliError> {
    let cites = mention::pieces(piped).map_or(true, |pieces| {
        let mut pieces = pieces.iter();
        pieces.any(|piece| matches!(piece, Piece::Mention(_)))
    });
    if cites {
        return Err(CliError::new(
            exit::PIPED_MENTION,
            "the text on stdin mentions a session (dsh-session:…), and data behind a prompt \
             cites nothing; cite with --cite and take the mention out, or give the whole \
             message on stdin with -",
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(prompt: &str, piped: Option<&str>, cited: &[&str]) -> String {
        let prompt = Prompt::of(prompt, piped.map(str::to_owned)).unwrap();
        let cited = cited.iter().map(|id| Reference::new(*id, None));
        prompt.citing(cited.collect()).to_text()
    }

    #[test]
    fn a_message_is_the_prompt_then_citations_then_data() {
        let (a, b) = ("@[a](dsh-session:ImEi)", "@[b](dsh-session:ImIi)");
        let rows: [(&str, Option<&str>, &[&str], String); 7] = [
            ("hi\n", None, &[], "hi".to_owned()),
            ("hi", Some("data\n"), &[], "hi\n\ndata\n".to_owned()),
            ("hi", Some(" \n"), &[], "hi".to_owned()),
            ("hi", None, &["a", "b"], format!("hi\n\n{a} {b}")),
            ("hi", Some("d"), &["a"], format!("hi\n\n{a}\n\nd")),
            ("", Some("d"), &[], "d".to_owned()),
            ("see dsh-session:ImEi", None, &["a"], format!("see {a}")),
        ];
        for (prompt, piped, cited, expected) in rows {
            assert_eq!(message(prompt, piped, cited), expected, "{prompt}");
        }
    }

    #[test]
    fn nothing_to_ask_is_wrong_usage() {
        for (prompt, piped) in [("", None), (" \n", None), ("", Some("\n"))] {
            let refused = Prompt::of(prompt, piped.map(str::to_owned)).unwrap_err();
            let CliError::Failed { exit, .. } = refused else {
                panic!("it is refused");
            };
            assert_eq!(exit, exit::USAGE);
        }
    }

    #[test]
    fn data_cites_nothing_and_a_broken_mention_in_it_is_no_better() {
        for piped in [
            "x @[a](dsh-session:ImEi)",
            "dsh-session:ImEi",
            "dsh-session:!x dsh-session:a",
        ] {
            let refused = Prompt::of("hi", Some(piped.to_owned())).unwrap_err();
            let CliError::Failed { code, .. } = refused else {
                panic!("it is refused");
            };
            assert_eq!(code, exit::PIPED_MENTION, "{piped}");
        }
    }
}
