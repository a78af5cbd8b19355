//! `ibid sessions`: every session, and one of them whole.

use std::sync::Arc;

use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::{CliError, Output};
use crate::chat::ATTEMPT;
use crate::session::{Event, MessageKind, Payload, SessionId};
use crate::store::{StoreError, log};

#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// List every session, newest first
    List {
        /// As JSON; a session whose log can't be read is `"unread": true`
        #[arg(long)]
        json: bool,
    },
    /// Print a session's conversation
    Show {
        /// The session's id
        #[arg(allow_hyphen_values = true)]
        id: String,
        /// Every event as JSON
        #[arg(long)]
        json: bool,
    },
}

pub(super) fn run(command: &Command, out: &mut Output) -> Result<(), CliError> {
    match command {
        Command::List { .. } => list(out),
        Command::Show { id, .. } => show(&SessionId::from(id.as_str()), out),
    }
}

fn list(out: &mut Output) -> Result<(), CliError> {
    let (home, _) = super::home()?;
    let library = super::library(&home, out)?;
    // What is printed is taken as it is: no row may be wrong.
    let never = CancellationToken::new();
    super::warn_of(&library.verify(&never, &mut |_| {})?, out);
    let index = library.index();
    let mut entries: Vec<_> = index.iter().collect();
    entries.sort_by(|a, b| (b.updated_at, a.id).cmp(&(a.updated_at, b.id)));
    if out.is_json() {
        let rows: Vec<_> = entries
            .iter()
            .map(|entry| {
                if entry.is_unread {
                    return json!({
                        "sessionId": entry.id,
                        "updatedAt": entry.updated_at,
                        "tool": entry.tool.name(),
                        "unread": true,
                    });
                }
                json!({
                    "sessionId": entry.id,
                    "title": entry.is_titled.then_some(entry.label),
                    "cwd": entry.cwd,
                    "createdAt": entry.created_at,
                    "updatedAt": entry.updated_at,
                    "messages": entry.messages,
                    "tool": entry.tool.name(),
                })
            })
            .collect();
        return out.json(&rows);
    }
    let zone = jiff::tz::TimeZone::system();
    for entry in entries {
        let cwd = entry.cwd.unwrap_or_default();
        let when = jiff::Timestamp::from_millisecond(entry.updated_at.0)
            .map(|moment| {
                let here = moment.to_zoned_datetime(zone.clone());
                here.strftime("%Y-%m-%d %H:%M").to_string()
            })
            .unwrap_or_default();
        out.row(&[entry.id, &when, entry.display, cwd])?;
    }
    Ok(())
}

fn show(id: &SessionId, out: &mut Output) -> Result<(), CliError> {
    let (home, _) = super::home()?;
    let path = home.session_file(id);
    if !path.exists() {
        let id = id.clone();
        return Err(StoreError::UnknownSession { id, path }.into());
    }
    let read = log::read_session(&path)?;
    if out.is_json() {
        return out.json(&json!({
            "header": read.session.header(),
            "events": read.session.events().iter().map(|e| &**e).collect::<Vec<_>>(),
            "notices": read.notices.iter().map(ToString::to_string).collect::<Vec<_>>(),
        }));
    }
    for event in read.session.events() {
        if let Some((heading, text)) = readable(event) {
            out.text(&format!("## {heading}\n\n{text}\n\n"))?;
        }
    }
    for notice in read.notices {
        out.warn(notice);
    }
    Ok(())
}

/// A message as people read it; `None` for what is no part of the dialogue.
fn readable(event: &Arc<Event>) -> Option<(String, String)> {
    match &event.payload {
        Payload::Message { kind, message, .. } => {
            let heading = match kind {
                MessageKind::User if message.source.is_person() => "user".to_owned(),
                MessageKind::User if message.source.is_checkpoint() => "checkpoint".to_owned(),
                MessageKind::User => format!("context ({})", message.source.kind),
                MessageKind::Assistant => "assistant".to_owned(),
                MessageKind::System | MessageKind::ToolResult => return None,
            };
            Some((heading, message.text())).filter(|(_, text)| !text.is_empty())
        }
        Payload::LogOnly { kind, data } if kind == ATTEMPT => {
            let text = data.get("text")?.as_str()?;
            Some(("assistant (interrupted)".to_owned(), text.to_owned()))
        }
        Payload::LogOnly { .. } => None,
    }
}
