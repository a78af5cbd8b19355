//! `ibid sources`: where each tool's sessions are looked for, and what was
//! found there.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::{CliError, Output};
use crate::config::Config;
use crate::figures::counted;
use crate::library::{Library, Standing};
use crate::source::{Environment, adapters};
use crate::store::Home;
use crate::tool::Tool;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// As JSON
    #[arg(long)]
    json: bool,
}

/// What there is to say of one tool.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Source {
    tool: &'static str,
    /// Whether the settings list it.
    enabled: bool,
    places: Vec<Place>,
    /// Sessions that lists show.
    sessions: usize,
    /// Sessions of other sessions' agents.
    subagents: usize,
    /// Files without a message.
    stubs: usize,
    /// Further files of sessions that are counted already.
    duplicates: usize,
    /// Sessions that could not be read for search the last time.
    unsearchable: usize,
    pub(super) notices: Vec<Trouble>,
}

#[derive(Debug, Serialize)]
struct Place {
    path: PathBuf,
    found: bool,
}

/// What could not be read, and where.
#[derive(Debug, Serialize)]
pub(super) struct Trouble {
    pub(super) file: String,
    pub(super) notice: String,
}

pub(super) fn run(out: &mut Output) -> Result<(), CliError> {
    let (home, config) = super::home()?;
    let library = super::library(&home, &config, out)?;
    let sources = gather(&home, &config, &library);
    if out.is_json() {
        return out.json(&sources);
    }
    for source in sources {
        out.line(&heading(&source))?;
        for place in &source.places {
            let found = if place.found { "" } else { "  (not there)" };
            out.line(&format!("  {}{found}", place.path.display()))?;
        }
        if source.unsearchable > 0 {
            let sessions = counted(source.unsearchable, "session");
            out.line(&format!(
                "  {sessions} could not be read for search: see `ibid doctor`"
            ))?;
        }
        if !source.notices.is_empty() {
            let troubles = counted(source.notices.len(), "file");
            out.line(&format!(
                "  {troubles} with something to say: see `ibid doctor`"
            ))?;
        }
    }
    Ok(())
}

pub(super) fn heading(source: &Source) -> String {
    if !source.enabled {
        return format!("{}: left out by the settings", source.tool);
    }
    let hidden: Vec<String> = [
        (source.subagents, "subagent"),
        (source.stubs, "stub"),
        (source.duplicates, "duplicate"),
    ]
    .into_iter()
    .filter(|(count, _)| *count > 0)
    .map(|(count, what)| counted(count, what))
    .collect();
    let sessions = counted(source.sessions, "session");
    if hidden.is_empty() {
        format!("{}: {sessions}", source.tool)
    } else {
        format!("{}: {sessions} ({} beside)", source.tool, hidden.join(", "))
    }
}

/// What is known of every tool.
pub(super) fn gather(home: &Home, config: &Config, library: &Library) -> Vec<Source> {
    let environment = Environment::of_process();
    let places_of = |tool: Tool| match tool {
        Tool::Ibid => vec![home.sessions_dir()],
        other => adapters()
            .find(|adapter| adapter.tool() == other)
            .map(|adapter| adapter.places(&environment))
            .unwrap_or_default(),
    };
    // Why the index can't be used is what a search says, and the doctor.
    let unread = library.texts_standing().unwrap_or_default().unread;
    let unsearchable = |of: Tool| {
        let tools = unread
            .iter()
            .map(|(id, _)| Tool::foreign(id).map_or(Tool::Ibid, |(tool, _)| tool));
        tools.filter(|tool| *tool == of).count()
    };
    let one = |tool: Tool| {
        let Standing {
            shown,
            hidden,
            notices,
        } = library.standing(tool);
        Source {
            tool: tool.name(),
            enabled: tool == Tool::Ibid || config.sources.tools.contains(&tool),
            places: places_of(tool).into_iter().map(place).collect(),
            sessions: shown,
            subagents: hidden.subagents,
            stubs: hidden.stubs,
            duplicates: hidden.doubles,
            unsearchable: unsearchable(tool),
            notices: notices
                .into_iter()
                .map(|(file, notice)| Trouble { file, notice })
                .collect(),
        }
    };
    Tool::ALL.into_iter().map(one).collect()
}

fn place(path: PathBuf) -> Place {
    Place {
        found: Path::exists(&path),
        path,
    }
}
