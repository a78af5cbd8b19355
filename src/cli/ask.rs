//! `ibid ask`: one turn without a screen.

mod cite;
mod prompt;
mod seen;
mod turn;
mod voice;

use serde_json::json;

use super::{CliError, Output, exit, models, screen};
use crate::config::Config;
use crate::model::Models;
use crate::model::offline::Offline;
use crate::reference::Reference;
use crate::reference::ports::ModelRoute;
use crate::runtime::{Services, Slot, begun_with, its_model, open_session};
use crate::session::{Session, SessionId};
use crate::store::{DraftFile, Home};
use crate::tool::Tool;
use prompt::Prompt;
use turn::Turn;
use voice::Voice;

const EXAMPLES: &str = "\
Examples:
  ibid ask 'why is the sky blue?'
  ibid ask --model openai/gpt-5 --cite 'flaky login' 'what fixed it?'
  git diff | ibid ask 'review this change'
  ibid ask --session ID 'and then?'
  ibid ask --json - < prompt.txt

The prompt is the argument, or stdin: with -, or where stdin is no terminal and no
prompt is given. With both, what is on stdin follows the prompt after an empty line,
as data: mentions in it are refused. Give `< /dev/null` where stdin stays open.

Mentions in the prompt, @[label](dsh-session:…), cite as on the screen. --cite takes
an id, a mention, or a query as in the list of sessions: one that does not fit one
session clearly is an error that lists those it could be.

The answer goes to stdout while it comes; all else to stderr. The model is --model,
else that of the session's last turn, else the setting, else the offline one.";

#[derive(Debug, clap::Args)]
#[command(after_help = format!("{EXAMPLES}\n\n{}", exit::table()))]
pub(super) struct Args {
    /// What to ask; - takes it from stdin
    prompt: Option<String>,
    /// The model of this turn, as provider/model
    #[arg(long, value_name = "M", value_parser = route)]
    model: Option<ModelRoute>,
    /// A session to cite; may be given more than once
    #[arg(long, value_name = "ID|QUERY", allow_hyphen_values = true)]
    cite: Vec<String>,
    /// Go on in this session
    #[arg(long, value_name = "ID", allow_hyphen_values = true)]
    session: Option<String>,
    /// Begin a session, as without --session
    #[arg(long, conflicts_with = "session")]
    new: bool,
    /// Send also what is too long by an estimate of its tokens
    #[arg(long)]
    send_anyway: bool,
    /// What happens, as one JSON event a line
    #[arg(long)]
    json: bool,
}

fn route(written: &str) -> Result<ModelRoute, String> {
    ModelRoute::parse(written)
        .ok_or_else(|| "a model is written with its provider, as openai/gpt-5".to_owned())
}

pub(super) fn run(args: &Args, out: &mut Output) -> Result<(), CliError> {
    let outcome = ask(args, out);
    // Wrong arguments are no event: most of them are known before any event is.
    if let Err(CliError::Failed {
        code,
        message,
        exit,
    }) = &outcome
        && out.is_json()
        && *exit != exit::USAGE
    {
        out.json(&json!({"type": "error", "code": code, "message": message}))?;
    }
    outcome
}

fn ask(args: &Args, out: &mut Output) -> Result<(), CliError> {
    let (home, config) = super::home()?;
    let prompt = Prompt::read(args.prompt.as_deref())?;
    let id = args.session.as_deref().map(super::session_id);
    let (models, _) = models::assembled(&home, &config)?;
    if let Some(route) = &args.model {
        models.provider(&route.provider)?;
    }
    let cache = super::cache_of(&home);
    let library = super::open_library(&home, &config, cache);
    let cited: Vec<Reference> = if args.cite.is_empty() {
        Vec::new()
    } else {
        cite::find_all(&args.cite, id.as_ref(), &home, &library, out)?
    };
    let draft = prompt.citing(cited);
    let (slot, draft_file, mut notes) = place(&home, id.as_ref())?;
    let (route, gone) = chosen(args.model.as_ref(), &slot.session(), &models, &config);
    notes.extend(gone);
    let provider = models.provider(&route.provider)?;
    let services = Services::new(home, library, models, config.references.clone());
    let chosen = services.models.choose(&route);
    let mut voice = Voice::new(out);
    for note in notes {
        voice.notice(&note)?;
    }
    super::block_on(async {
        let turn = Turn::start(services, slot, draft_file, chosen, args.send_anyway, voice)?;
        turn.run(draft, &*provider).await
    })?
}

/// The session to write in, and what a person should know of its log.
fn place(home: &Home, id: Option<&SessionId>) -> Result<(Slot, DraftFile, Vec<String>), CliError> {
    if let Some((tool, _)) = id.and_then(Tool::foreign) {
        return Err(CliError::usage(format!(
            "a session of {tool} can only be read here; begin one that cites it, with --cite"
        )));
    }
    let opened = match id {
        Some(id) => open_session(home, id)?,
        None => begun_with(home, screen::current_dir(), None)?,
    };
    let (slot, draft_file) = opened.hold.into_parts();
    Ok((slot, draft_file, opened.note.into_iter().collect()))
}

/// The model that answers, and why it is not the one that answered last, where
/// nobody chose another.
fn chosen(
    given: Option<&ModelRoute>,
    session: &Session,
    models: &Models,
    config: &Config,
) -> (ModelRoute, Option<String>) {
    let (route, gone) = match (given, its_model(session, models)) {
        (Some(given), _) => (Some(given.clone()), None),
        (None, Some(Ok(route))) => (Some(route), None),
        (None, Some(Err(gone))) => (config.model.clone(), Some(gone)),
        (None, None) => (config.model.clone(), None),
    };
    (route.unwrap_or_else(Offline::route), gone)
}
