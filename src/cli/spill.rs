//! `ibid spill show`: a saved full text, readable again.

use std::io::Read;

use super::{CliError, Output};
use crate::reference::transcript;
use crate::store::{Home, SpillFiles};

#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// Print the conversation that a locator stands for
    Show {
        /// The locator from an omission notice
        #[arg(allow_hyphen_values = true)]
        locator: String,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
}

pub(super) fn run(command: &Command, out: &mut Output) -> Result<(), CliError> {
    let Command::Show { locator, .. } = command;
    let mut text = String::new();
    SpillFiles::new(Home::locate()?)
        .open(locator)?
        .read_to_string(&mut text)
        .map_err(|error| damaged(format!("the full text {locator} can't be read: {error}")))?;
    let decoded = transcript::decode(&text).map_err(|line| {
        damaged(format!(
            "the full text {locator} was changed at line {line}; it can only be made anew, \
             by citing its session again"
        ))
    })?;
    if out.is_json() {
        return out.json(&decoded.to_json());
    }
    for (index, message) in decoded.messages.iter().enumerate() {
        if index > 0 {
            out.text("\n")?;
        }
        out.text(&format!("## {}\n\n{}\n", message.role, message.text))?;
    }
    Ok(())
}

fn damaged(message: String) -> CliError {
    CliError::new("SPILL_DAMAGED", message)
}
