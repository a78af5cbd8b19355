//! What goes to stdout and stderr.

use std::fmt::Display;
use std::io::{self, BufWriter, IsTerminal, Stdout, Write};
use std::process::ExitCode;

use serde::Serialize;
use serde_json::json;
use unicode_segmentation::UnicodeSegmentation as _;

use super::CliError;
use crate::sanitize;

/// Something to know that no result tells, on stderr.
pub(super) fn tell(message: impl Display) {
    let message = message.to_string();
    let safe = sanitize::block(&message);
    // With stderr gone there is nobody left to tell.
    let _ = writeln!(io::stderr(), "ibid: {safe}");
}

/// Where a command's results go.
pub(super) struct Output {
    json: bool,
    terminal: bool,
    out: BufWriter<Stdout>,
    streamed: Streamed,
}

/// Text that comes in pieces.
#[derive(Default)]
struct Streamed {
    /// What may be cut within a character as people see it: the next piece
    /// tells what it is.
    held: String,
    /// What was written last ended no line.
    in_line: bool,
}

/// The longest text that is held back for the sake of the next piece, in bytes.
const MAX_HELD: usize = 128;

impl Output {
    pub(super) fn new(json: bool) -> Self {
        let out = io::stdout();
        Self {
            json,
            terminal: out.is_terminal(),
            out: BufWriter::new(out),
            streamed: Streamed::default(),
        }
    }

    /// Whether JSON was asked for.
    pub(super) fn is_json(&self) -> bool {
        self.json
    }

    /// Whether results and errors are JSON from now on.
    pub(super) fn set_json(&mut self, json: bool) {
        self.json = json;
    }

    /// One line of JSON.
    pub(super) fn json(&mut self, value: &impl Serialize) -> Result<(), CliError> {
        let line = serde_json::to_string(value)
            .map_err(|error| CliError::new("NOT_JSON", format!("no JSON: {error}")))?;
        self.json_line(&line)
    }

    /// A line that is JSON already.
    pub(super) fn json_line(&mut self, line: &str) -> Result<(), CliError> {
        // Other than JSON's own, control characters may stand in it raw.
        let safe = if self.terminal {
            sanitize::json(line)
        } else {
            line.into()
        };
        writeln!(self.out, "{safe}").map_err(CliError::stdout)
    }

    /// A piece of a text that comes bit by bit, written out at once: as it is
    /// for a program, and safe to show for a terminal.
    pub(super) fn stream(&mut self, piece: &str) -> Result<(), CliError> {
        let mut text = std::mem::take(&mut self.streamed.held);
        text.push_str(piece);
        if self.terminal {
            self.streamed.held = text.split_off(settled(&text));
        }
        self.stream_whole(&text)?;
        self.flush()
    }

    /// The end of such a text, and of its line.
    pub(super) fn end_stream(&mut self) -> Result<(), CliError> {
        let rest = std::mem::take(&mut self.streamed.held);
        self.stream_whole(&rest)?;
        if std::mem::take(&mut self.streamed.in_line) {
            self.text("\n")?;
        }
        self.flush()
    }

    fn stream_whole(&mut self, text: &str) -> Result<(), CliError> {
        if let Some(last) = text.chars().next_back() {
            self.streamed.in_line = last != '\n';
        }
        self.text(text)
    }

    /// Writes out what was written so far.
    pub(super) fn flush(&mut self) -> Result<(), CliError> {
        self.out.flush().map_err(CliError::stdout)
    }

    /// Text as it is for a program, and safe to show for a terminal.
    pub(super) fn text(&mut self, text: &str) -> Result<(), CliError> {
        let safe = if self.terminal {
            sanitize::block(text)
        } else {
            text.into()
        };
        self.out
            .write_all(safe.as_bytes())
            .map_err(CliError::stdout)
    }

    /// A line that people read. Text from outside can't break it.
    pub(super) fn line(&mut self, text: &str) -> Result<(), CliError> {
        let safe = sanitize::line(text);
        writeln!(self.out, "{safe}").map_err(CliError::stdout)
    }

    /// A row of a list: one line whatever is in it, and in a pipe a tab
    /// between the columns and nowhere else, for `cut` and the like.
    pub(super) fn row(&mut self, columns: &[&str]) -> Result<(), CliError> {
        let safe: Vec<_> = columns
            .iter()
            .map(|column| sanitize::line(column))
            .collect();
        let between = if self.terminal { "  " } else { "\t" };
        writeln!(self.out, "{}", safe.join(between)).map_err(CliError::stdout)
    }

    /// Something to know that stopped nothing. It goes to people alone: the
    /// JSON of a command holds what programs need.
    pub(super) fn warn(&self, message: impl Display) {
        if !self.json {
            tell(message);
        }
    }

    /// Something that could not be looked at, with its code: for programs on
    /// stderr too, where it is no part of any result.
    pub(super) fn warn_with(&self, code: &str, message: impl Display) {
        if self.json {
            say_json("warning", code, &message.to_string());
        } else {
            tell(message);
        }
    }

    /// Writes out what is left and gives the exit code.
    pub(super) fn finish(mut self, outcome: Result<(), CliError>) -> ExitCode {
        let flushed = self.out.flush().map_err(CliError::stdout);
        // What a closed stdout still holds is nobody's any more.
        let (_, _unwritten) = self.out.into_parts();
        match outcome.and(flushed) {
            Ok(()) | Err(CliError::Closed) => ExitCode::SUCCESS,
            Err(CliError::Failed {
                code,
                message,
                exit,
            }) => {
                complain(self.json, &code, &message);
                ExitCode::from(exit)
            }
        }
    }

    /// Help, version, or what is wrong with the arguments.
    pub(super) fn usage(self, error: &clap::Error) -> ExitCode {
        if !error.use_stderr() {
            // A closed stdout ends it quietly here too.
            let _ = error.print();
            return ExitCode::SUCCESS;
        }
        if self.json {
            complain(true, "USAGE", &in_one_line(error));
        } else {
            // It repeats what was given, whatever that holds.
            let text = error.render().to_string();
            let safe = sanitize::block(&text);
            // With stderr gone there is nobody left to tell.
            let _ = write!(io::stderr(), "{safe}");
        }
        ExitCode::from(2)
    }
}

/// How much of a text means the same whatever follows, in bytes.
fn settled(text: &str) -> usize {
    let last = text.grapheme_indices(true).next_back();
    match last {
        Some((_, "\n")) | None => text.len(),
        Some((_, cluster)) if cluster.len() > MAX_HELD => text.len(),
        Some((at, _)) => at,
    }
}

/// What is wrong with the arguments, without the layout for a screen.
fn in_one_line(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let paragraphs: Vec<String> = text
        .trim_start_matches("error: ")
        .split("\n\n")
        .map(|paragraph| paragraph.split_whitespace().collect::<Vec<_>>().join(" "))
        .filter(|paragraph| !paragraph.is_empty())
        .collect();
    paragraphs.join("; ")
}

fn complain(as_json: bool, code: &str, message: &str) {
    if as_json {
        return say_json("error", code, message);
    }
    let safe = sanitize::block(message);
    // With stderr gone there is nobody left to tell.
    let _ = writeln!(io::stderr(), "ibid: {safe} [{code}]");
}

/// One line of JSON on stderr.
fn say_json(what: &str, code: &str, message: &str) {
    let mut err = io::stderr().lock();
    let line = json!({what: {"code": code, "message": message}}).to_string();
    let safe = if err.is_terminal() {
        sanitize::json(&line)
    } else {
        line.as_str().into()
    };
    // With stderr gone there is nobody left to tell.
    let _ = writeln!(err, "{safe}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_that_may_go_on_is_held_back_and_no_more_than_that() {
        for (text, settled_text) in [
            ("", ""),
            ("ab", "a"),
            ("ab\n", "ab\n"),
            ("a\r", "a"),
            ("x\u{1f469}\u{200d}", "x"),
            ("x\u{1f469}\u{200d}\u{1f4bb}", "x"),
        ] {
            assert_eq!(text.get(..settled(text)), Some(settled_text), "{text:?}");
        }
        let endless = "e".to_owned() + &"\u{301}".repeat(1000);
        assert_eq!(settled(&endless), endless.len());
    }
}
