//! `ibid mention` and `ibid title`: the small conversions.

use serde_json::json;

use super::input::stdin;
use super::{CliError, Output};
use crate::reference::{Reference, mention, uri};
use crate::session::title;

#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// Find the mentions in a text on stdin; JSON on stdout
    Parse {
        /// Errors as JSON too, as they always are here
        #[arg(long)]
        json: bool,
    },
    /// Print the mention of a session
    Format {
        /// The session's id
        #[arg(long, allow_hyphen_values = true)]
        id: String,
        /// What the mention says (default: the id)
        #[arg(long, allow_hyphen_values = true)]
        label: Option<String>,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Print the id that a session URI names
    Decode {
        /// dsh-session:…
        #[arg(allow_hyphen_values = true)]
        uri: String,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, clap::Args)]
pub(super) struct TitleArgs {
    /// Errors as JSON too, as they always are here
    #[arg(long)]
    json: bool,
}

pub(super) fn run(command: Command, out: &mut Output) -> Result<(), CliError> {
    match command {
        Command::Parse { .. } => {
            out.set_json(true);
            out.json(&mention::parse(&stdin()?)?)
        }
        Command::Format { id, label, .. } => {
            let reference = Reference::new(id, label);
            let text = mention::format(&reference);
            if out.is_json() {
                let uri = uri::encode(&reference.session_id);
                return out.json(&json!({"mention": text, "uri": uri}));
            }
            out.text(&text)?;
            out.text("\n")
        }
        Command::Decode { uri, .. } => {
            let id = uri::decode(&uri)?;
            if out.is_json() {
                return out.json(&json!({"sessionId": id}));
            }
            out.text(id.as_str())?;
            out.text("\n")
        }
    }
}

pub(super) fn title(out: &mut Output) -> Result<(), CliError> {
    out.set_json(true);
    let text = stdin()?;
    out.json(&json!({
        "normalized": title::normalise(&text, title::MAX_TITLE_BYTES),
        "fallback": title::fallback(&text),
    }))
}
