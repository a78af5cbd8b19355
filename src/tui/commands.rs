//! What can be typed in place of a message. The popup under a `/` and the help
//! are made from this table, so they can't disagree with it.

use crate::library::matcher::Few;

/// What a command does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Command {
    New,
    Resume,
    Rename,
    Model,
    Compact,
    Export,
    Retry,
    Edit,
    Branches,
    Theme,
    Help,
    Quit,
}

/// What stands behind the word of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Argument {
    /// Nothing.
    None,
    /// It may be left out.
    Optional(&'static str),
    /// Without it there is nothing to do.
    Needed(&'static str),
}

/// One line of the table.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// What it does.
    pub command: Command,
    /// The word behind the `/`.
    pub name: &'static str,
    /// What stands behind the word.
    pub argument: Argument,
    /// What it does, in words.
    pub what: &'static str,
}

impl Entry {
    /// The command as a person types it.
    #[must_use]
    pub fn usage(&self) -> String {
        match self.argument {
            Argument::None => format!("/{}", self.name),
            Argument::Optional(argument) => format!("/{} [{argument}]", self.name),
            Argument::Needed(argument) => format!("/{} {argument}", self.name),
        }
    }
}

const fn entry(
    command: Command,
    name: &'static str,
    argument: Argument,
    what: &'static str,
) -> Entry {
    Entry {
        command,
        name,
        argument,
        what,
    }
}

/// Every command there is.
#[rustfmt::skip]
pub const COMMANDS: &[Entry] = {
    use Argument::{Needed, None, Optional};
    use Command as C;
    &[
        entry(C::New, "new", None, "begin a new session"),
        entry(C::Resume, "resume", None, "go on in another session"),
        entry(C::Rename, "rename", Needed("TITLE"), "name this session"),
        entry(C::Model, "model", Optional("NAME"), "choose who answers from now on"),
        entry(C::Compact, "compact", Optional("HINT"), "put a summary in place of what was said"),
        entry(C::Export, "export", Optional("PATH"), "write Markdown to a file, or the log (.jsonl)"),
        entry(C::Retry, "retry", None, "ask once more for the last answer"),
        entry(C::Edit, "edit", None, "change an earlier message and go on from there"),
        entry(C::Branches, "branches", None, "go back to what was said before a change"),
        entry(C::Theme, "theme", Optional("NAME"), "other colours, until you quit"),
        entry(C::Help, "help", None, "every key and command"),
        entry(C::Quit, "quit", None, "quit"),
    ]
};

/// What a text that begins with `/` is.
#[derive(Clone, Copy, Debug)]
pub enum Reading<'t> {
    /// A message, such as one that begins with a path.
    Message,
    /// A command with what stands behind its word.
    Command(&'static Entry, &'t str),
    /// It looks like a command and is none.
    Unknown(&'t str),
    /// A command that takes nothing, with something behind it.
    Overfull(&'static Entry),
}

/// Reads a text as a command. A command's word ends with the text, or with
/// white space.
#[must_use]
pub fn read(text: &str) -> Reading<'_> {
    let Some(rest) = text.strip_prefix('/') else {
        return Reading::Message;
    };
    let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
    let (word, argument) = rest.split_at_checked(end).unwrap_or((rest, ""));
    let argument = argument.trim();
    let named = |name: &str| COMMANDS.iter().find(|entry| entry.name == name);
    let Some(entry) = named(word) else {
        // No path of a system begins so; what was typed behind a command that
        // stood there still does.
        let begins = word.split_once('/');
        if begins.is_some_and(|(first, _)| named(first).is_some()) {
            return Reading::Unknown(word);
        }
        let is_word = !word.is_empty() && word.chars().all(|c| c.is_ascii_alphabetic() || c == '-');
        return if is_word {
            Reading::Unknown(word)
        } else {
            Reading::Message
        };
    };
    if entry.argument == Argument::None && !argument.is_empty() {
        return Reading::Overfull(entry);
    }
    Reading::Command(entry, argument)
}

/// A command that fits what was typed of its word.
#[derive(Clone, Debug)]
pub struct Fitting {
    /// The command.
    pub entry: &'static Entry,
    /// Which characters of its name match.
    pub matched: Vec<u32>,
}

/// The commands that fit what was typed of a word: those that begin with it
/// first, each kind in the order of the table.
#[must_use]
pub fn fitting(typed: &str) -> Vec<Fitting> {
    let few = Few::new(typed);
    let places = COMMANDS.iter().filter_map(|entry| {
        let matched = few.rank(entry.name)?.places;
        Some(Fitting { entry, matched })
    });
    let mut fitting: Vec<_> = places.collect();
    fitting.sort_by_key(|fitting| !fitting.entry.name.starts_with(typed));
    fitting
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(typed: &str) -> Vec<&'static str> {
        let fitting = fitting(typed);
        fitting.iter().map(|fitting| fitting.entry.name).collect()
    }

    #[test]
    fn every_command_has_a_word_of_its_own_that_can_be_typed() {
        for entry in COMMANDS {
            let alike = COMMANDS.iter().filter(|other| other.name == entry.name);
            assert_eq!(alike.count(), 1, "{}", entry.name);
            let text = format!("/{}", entry.name);
            let read = read(&text);
            assert!(matches!(read, Reading::Command(read, "") if read.command == entry.command));
        }
    }

    #[test]
    fn a_command_ends_with_its_word_or_with_white_space() {
        assert!(matches!(
            read("/rename  a new title \n"),
            Reading::Command(entry, "a new title") if entry.command == Command::Rename
        ));
        assert!(matches!(read("/renamed"), Reading::Unknown("renamed")));
        assert!(matches!(read(" /new"), Reading::Message));
        assert!(matches!(read("new"), Reading::Message));
    }

    #[test]
    fn what_stands_behind_a_commands_word_makes_it_no_path() {
        for text in ["/compact/branches", "/new/", "/help//new and more"] {
            assert!(matches!(read(text), Reading::Unknown(_)), "{text}");
        }
        assert!(matches!(read("/home/new"), Reading::Message));
    }

    #[test]
    fn a_path_or_a_sign_is_a_message() {
        for text in [
            "/usr/bin is full",
            "/",
            "/ or \\?",
            "/* why? */",
            "/é",
            "//",
        ] {
            assert!(matches!(read(text), Reading::Message), "{text}");
        }
    }

    #[test]
    fn what_a_command_does_not_take_makes_it_doubtful() {
        assert!(matches!(
            read("/new features would be good"),
            Reading::Overfull(entry) if entry.command == Command::New
        ));
    }

    #[test]
    fn commands_that_begin_with_what_is_typed_come_first() {
        assert_eq!(names("re"), ["resume", "rename", "retry", "branches"]);
        assert_eq!(
            names("e"),
            [
                "export", "edit", "new", "resume", "rename", "model", "retry", "branches", "theme",
                "help"
            ]
        );
        assert_eq!(names("xyz"), [""; 0]);
        assert_eq!(names("").len(), COMMANDS.len());
    }
}
