//! `ibid sessions`: every session, and one of them whole.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::{CliError, Output};
use crate::chat::{ATTEMPT, Left, Page, Places, is_of_summary, requests};
use crate::library::Library;
use crate::session::{Event, MessageKind, Payload, Session, SessionId};
use crate::source::{adapters, detect};
use crate::store::{StoreError, log};
use crate::tool::Tool;

#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// List every session, newest first
    List {
        /// Sessions of this tool alone, or of these, with commas between; may be
        /// given more than once
        #[arg(long, value_name = "TOOL", value_parser = tool, value_delimiter = ',')]
        tool: Vec<Tool>,
        /// As JSON; a session whose log can't be read is `"unread": true`
        #[arg(long)]
        json: bool,
    },
    /// Print a session's conversation
    Show {
        /// The session's id, or the URI that a list shows in its place
        #[arg(allow_hyphen_values = true)]
        id: String,
        /// What was sent to models in it, made again from its log: each body
        /// on a line, byte for byte
        #[arg(long, conflicts_with = "json")]
        requests: bool,
        /// Every event as JSON
        #[arg(long)]
        json: bool,
    },
}

pub(super) fn run(command: &Command, out: &mut Output) -> Result<(), CliError> {
    match command {
        Command::List { tool, .. } => list(tool, out),
        Command::Show {
            id, requests: true, ..
        } => show_requests(&super::session_id(id), out),
        Command::Show { id, .. } => show(&super::session_id(id), out),
    }
}

/// A tool by its name.
fn tool(name: &str) -> Result<Tool, String> {
    let names = Tool::ALL.map(Tool::name).join(", ");
    Tool::named(name).ok_or_else(|| format!("there is no such tool; there are {names}"))
}

fn list(tools: &[Tool], out: &mut Output) -> Result<(), CliError> {
    let (home, config) = super::home()?;
    let library = super::open_library(&home, &config, super::cache_of(&home));
    let never = CancellationToken::new();
    let mut notices = library.refresh(&never, &mut |_| {})?.notices;
    // What is printed is taken as it is: no row may be wrong.
    notices.extend(library.verify(&never, &mut |_| {})?.notices);
    super::warn_of(&notices, out);
    let index = library.index();
    let is_wanted = |tool: Tool| tools.is_empty() || tools.contains(&tool);
    let mut entries: Vec<_> = index.iter().filter(|e| is_wanted(e.tool)).collect();
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
                    "parent": entry.parent,
                    "subagent": entry.is_subagent,
                    "tool": entry.tool.name(),
                })
            })
            .collect();
        return out.json(&rows);
    }
    let zone = jiff::tz::TimeZone::system();
    for entry in entries {
        let cwd = entry.cwd.unwrap_or_default();
        let when = super::moment(entry.updated_at, &zone);
        out.row(&[&super::shown_id(entry.id), &when, entry.display, cwd])?;
    }
    Ok(())
}

/// A session, and what is wrong with its log.
fn read(id: &SessionId) -> Result<(Session, Vec<String>), CliError> {
    let (home, config) = super::home()?;
    let path = home.session_file(id);
    if path.exists() {
        let read = log::read_session(&path)?;
        let notices = read.notices.iter().map(ToString::to_string).collect();
        return Ok((read.session, notices));
    }
    let library = super::open_library(&home, &config, super::cache_of(&home));
    foreign(id, &library, path)
}

/// What was sent to models, from the log alone. Only ibid's own logs tell.
fn show_requests(id: &SessionId, out: &mut Output) -> Result<(), CliError> {
    let (session, notices) = read(id)?;
    for request in requests(&session) {
        match request.body().map(String::from_utf8) {
            Some(Ok(body)) => out.json_line(&body)?,
            // A body is JSON, so it is text; what is not was never sent.
            Some(Err(error)) => return Err(CliError::new("NOT_UTF8", error)),
            None => out.json(&json!({
                "provider": request.config.provider,
                "model": request.config.model,
                "messages": request.messages.len(),
                "body": null,
                "why": "this provider has no wire format: nothing was sent over a network",
            }))?,
        }
    }
    for notice in notices {
        out.warn(notice);
    }
    Ok(())
}

fn show(id: &SessionId, out: &mut Output) -> Result<(), CliError> {
    let (session, notices) = read(id)?;
    if out.is_json() {
        return out.json(&json!({
            "header": session.header(),
            "events": session.events().iter().map(|e| &**e).collect::<Vec<_>>(),
            "notices": notices,
        }));
    }
    let mut shown = Shown::default();
    let mut places = Places::default();
    for event in session.events() {
        places.show(event, &mut shown);
    }
    for part in &shown.0 {
        match part {
            Part::Left(left) => out.text(&format!("[{left}]\n\n"))?,
            Part::Said(event) => {
                if let Some((heading, text)) = readable(event) {
                    out.text(&format!("## {heading}\n\n{text}\n\n"))?;
                }
            }
        }
    }
    for notice in notices {
        out.warn(notice);
    }
    Ok(())
}

/// What is printed of a conversation.
#[derive(Default)]
struct Shown(Vec<Part>);

enum Part {
    Said(Arc<Event>),
    Left(Left),
}

impl Page for Shown {
    fn end(&self) -> usize {
        self.0.len()
    }

    fn take_out(&mut self, gone: &[Range<usize>]) {
        for range in gone.iter().rev() {
            self.0.drain(range.clone());
        }
    }

    fn event(&mut self, event: &Arc<Event>) {
        self.0.push(Part::Said(Arc::clone(event)));
    }

    fn left(&mut self, left: Left) {
        self.0.push(Part::Left(left));
    }
}

/// A session of another tool, as its current conversation.
fn foreign(
    id: &SessionId,
    library: &Library,
    own_path: PathBuf,
) -> Result<(Session, Vec<String>), CliError> {
    let unknown = || StoreError::UnknownSession {
        id: id.clone(),
        path: own_path,
    };
    let Some((tool, native)) = Tool::foreign(id) else {
        return Err(unknown().into());
    };
    let adapter = adapters().find(|adapter| adapter.tool() == tool);
    let (Some(adapter), Some(path)) = (adapter, library.path_of(id)) else {
        return Err(library.missing(id).into());
    };
    let read = detect::read_as(adapter, &path, Some(native))?;
    let notices = read.notices.iter().map(ToString::to_string).collect();
    Ok((read.session, notices))
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
        Payload::LogOnly { kind, data } if kind == ATTEMPT && !is_of_summary(data) => {
            let text = data.get("text")?.as_str()?;
            Some(("assistant (interrupted)".to_owned(), text.to_owned()))
        }
        Payload::LogOnly { .. } => None,
    }
}
