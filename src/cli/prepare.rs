//! `ibid prepare`: what a model would get of one or more sessions.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use clap::ArgMatches;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::{CliError, Output, output};
use crate::figures::counted;
use crate::library::Library;
use crate::reference::Cause;
use crate::reference::frame::{FullSnapshot, Notice, PreparedReference};
use crate::reference::ports::{ModelRoute, ModelWindows, SurfaceReader, WindowError};
use crate::reference::projection::Capture;
use crate::reference::{
    PreparedContext, Reference, ReferenceConfig, ReferenceSettings, Resolver, RouteChoice, Target,
};
use crate::session::SessionId;
use crate::source::{SourceError, detect};
use crate::store::{SpillFiles, StoreError, log};

const EXAMPLES: &str = "\
Examples:
  ibid prepare --session ID | some-program
  ibid prepare --session ID --label 'the login fix' --max-reference-bytes 8000
  ibid prepare --log a.jsonl --log b.jsonl --context-window 200000 --json
  ibid prepare --file ~/.claude/projects/-home-me-api/SESSION.jsonl

The budget of each source is --max-reference-bytes, or the part --fraction of
--context-window at four bytes a token and at least 65536 bytes, or what
config.toml says, or 65536 bytes. What does not fit is kept as a full text, which
`ibid spill show` prints; the context tells its place.";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, group(clap::ArgGroup::new("sources").required(true).multiple(true).args(["session", "log", "file"])))]
pub(super) struct Args {
    /// A session by its id; may be given more than once
    #[arg(long, value_name = "ID", allow_hyphen_values = true)]
    session: Vec<String>,
    /// A log in ibid's format, from anywhere; may be given more than once
    #[arg(long, value_name = "FILE")]
    log: Vec<PathBuf>,
    /// A session file of any tool that ibid can read, told by its content; may
    /// be given more than once
    #[arg(long, value_name = "PATH")]
    file: Vec<PathBuf>,
    /// What the message calls the source; the n-th label is the n-th source's
    #[arg(long, value_name = "L", allow_hyphen_values = true)]
    label: Vec<String>,
    /// The session that cites (default: a new one)
    #[arg(long, value_name = "ID", allow_hyphen_values = true)]
    target: Option<String>,
    /// A fixed budget a source, in bytes
    #[arg(long, value_name = "N", conflicts_with_all = ["context_window", "fraction"])]
    max_reference_bytes: Option<u64>,
    /// The model's context window in tokens, for a budget that follows it
    #[arg(long, value_name = "N")]
    context_window: Option<u64>,
    /// The part of the window that one source may fill, 0 to 1 (default: 0.2)
    #[arg(
        long,
        value_name = "F",
        requires = "context_window",
        allow_hyphen_values = true
    )]
    fraction: Option<f64>,
    /// Keep no full text of what is left out
    #[arg(long)]
    no_spill: bool,
    /// The context with its source, the data and the notices, as JSON
    #[arg(long)]
    json: bool,
}

/// One source of the command line.
enum Given {
    Session(String),
    Log(PathBuf),
    File(PathBuf),
}

pub(super) fn run(
    args: &Args,
    order: Option<&ArgMatches>,
    out: &mut Output,
) -> Result<(), CliError> {
    let given = in_order(args, order);
    if args.label.len() > given.len() {
        return Err(CliError::usage(format!(
            "too many labels: {} for {}",
            counted(args.label.len(), "label"),
            counted(given.len(), "source")
        )));
    }
    let (home, config) = super::home()?;
    let settings = ReferenceSettings {
        max_references: Some(config.references.max_references()),
        candidate_limit: None,
        max_reference_bytes: match args.context_window {
            Some(_) => None,
            None => args
                .max_reference_bytes
                .or(config.references.max_reference_bytes()),
        },
        context_fraction: args.fraction.or(Some(config.references.context_fraction())),
    };
    let library = super::open_library(&home, &config, super::cache_of(&home));
    let config = ReferenceConfig::new(settings)?;
    let mut sources = Sources {
        given: HashMap::new(),
        library,
    };
    let mut references = Vec::new();
    let mut warnings = Vec::new();
    for (place, given) in given.into_iter().enumerate() {
        let (id, source) = match given {
            Given::Session(id) => (super::session_id(&id), None),
            Given::Log(path) => {
                let id = log::read_header(&path)?.id;
                (id, Some(Source::Log(path)))
            }
            Given::File(path) => {
                let (id, source) = open_file(path, &mut warnings)?;
                (id, Some(source))
            }
        };
        // A source that was named before is the one that counts.
        let is_first = !references.iter().any(|r: &Reference| r.session_id == id);
        if let Some(source) = source.filter(|_| is_first) {
            sources.given.insert(id.clone(), source);
        }
        references.push(Reference::new(id, args.label.get(place).cloned()));
    }
    let mut resolver = Resolver::new(config, Arc::new(sources));
    if !args.no_spill {
        resolver = resolver.with_spill(Arc::new(SpillFiles::new(home)));
    }
    if let Some(window) = args.context_window {
        resolver = resolver.with_models(Arc::new(GivenWindow(window)));
    }
    let target = target(args);
    let prepared = super::block_on(async {
        let never = CancellationToken::new();
        resolver.prepare(&target, &[], &references, &never).await
    })??;
    let contexts = prepared.context.iter();
    warnings.extend(
        contexts
            .flat_map(|context| &context.references)
            .filter_map(Warning::damage),
    );
    for warning in &warnings {
        output::tell(&warning.message);
    }
    match prepared.context {
        Some(context) if out.is_json() => out.json(&as_json(&context, &warnings)?),
        Some(context) => {
            for prepared in &context.references {
                warn_unsaved(prepared, out);
            }
            out.text(&context.message.text())
        }
        None => Ok(()),
    }
}

/// Finds out whose file it is. What another tool wrote is read at once, with
/// what it builds on around it.
fn open_file(path: PathBuf, warnings: &mut Vec<Warning>) -> Result<(SessionId, Source), CliError> {
    let foreign = match detect::capture_file(&path) {
        Ok(foreign) => foreign,
        Err(unknown @ SourceError::UnknownFormat { .. }) => {
            return match log::read_header(&path) {
                Ok(header) => Ok((header.id, Source::Log(path))),
                Err(StoreError::NotASession { .. }) => Err(unknown.into()),
                Err(error) => Err(error.into()),
            };
        }
        Err(error) => return Err(error.into()),
    };
    let capture = foreign.session.capture;
    let id = capture.header.id.clone();
    warnings.extend(foreign.notices.iter().map(|notice| Warning {
        session_id: id.clone(),
        message: format!("{}: {notice}", path.display()),
    }));
    Ok((id, Source::Read(Box::new(capture))))
}

/// What the person should know of a source that was read. The context itself
/// says nothing of it.
struct Warning {
    session_id: SessionId,
    message: String,
}

impl Warning {
    /// That a source is not all there.
    fn damage(prepared: &PreparedReference) -> Option<Self> {
        let damage = prepared.damage.as_ref()?;
        let label = &prepared.reference.label;
        Some(Self {
            session_id: prepared.reference.session_id.clone(),
            message: format!("the log of {label:?} can't be read whole: {damage}"),
        })
    }

    fn to_json(&self) -> Value {
        json!({"sessionId": self.session_id, "message": self.message})
    }
}

/// Tells why a full text could not be kept: the context says only that it was
/// not.
fn warn_unsaved(prepared: &PreparedReference, out: &Output) {
    let snapshot = prepared.notice.as_ref().map(|notice| &notice.full_snapshot);
    if let Some(FullSnapshot::SaveFailed(why)) = snapshot {
        let label = &prepared.reference.label;
        out.warn(format!("the full text of {label:?} is not kept: {why}"));
    }
}

/// The sources in the order in which they stand on the command line.
fn in_order(args: &Args, order: Option<&ArgMatches>) -> Vec<Given> {
    let places = |name: &str| -> Vec<usize> {
        order
            .and_then(|matches| matches.indices_of(name))
            .map(Iterator::collect)
            .unwrap_or_default()
    };
    let sessions = args.session.iter().cloned().map(Given::Session);
    let logs = args.log.iter().cloned().map(Given::Log);
    let files = args.file.iter().cloned().map(Given::File);
    let mut given: Vec<(usize, Given)> = places("session")
        .into_iter()
        .zip(sessions)
        .chain(places("log").into_iter().zip(logs))
        .chain(places("file").into_iter().zip(files))
        .collect();
    given.sort_by_key(|(place, _)| *place);
    given.into_iter().map(|(_, given)| given).collect()
}

fn target(args: &Args) -> Target {
    let id = args
        .target
        .clone()
        .unwrap_or_else(|| uuid::Uuid::now_v7().to_string());
    let route = args.context_window.map(|_| ModelRoute {
        provider: "given".to_owned(),
        model: "given".to_owned(),
    });
    Target {
        id: SessionId::from(id),
        cwd: None,
        route: RouteChoice::Own(route),
    }
}

fn as_json(context: &PreparedContext, warnings: &[Warning]) -> Result<Value, CliError> {
    let data = context
        .references
        .iter()
        .map(|prepared| serde_json::from_str(&prepared.retained.json))
        .collect::<Result<Vec<Value>, _>>()
        .map_err(|error| CliError::new("NOT_JSON", format!("no JSON: {error}")))?;
    let notices: Vec<Value> = context
        .references
        .iter()
        .filter_map(|prepared| prepared.notice.as_ref().map(Notice::to_json))
        .collect();
    Ok(json!({
        "context": {"text": context.message.text(), "source": context.message.source},
        "data": data,
        "notices": notices,
        "warnings": warnings.iter().map(Warning::to_json).collect::<Vec<_>>(),
    }))
}

/// Files from anywhere, and the library for every other id.
struct Sources {
    given: HashMap<SessionId, Source>,
    library: Library,
}

/// A source that is a file.
enum Source {
    /// A log in our format.
    Log(PathBuf),
    /// What was read of another tool's file.
    Read(Box<Capture>),
}

impl SurfaceReader for Sources {
    fn read_surface<'a>(&'a self, id: &'a SessionId) -> BoxFuture<'a, Result<Capture, Cause>> {
        let path = match self.given.get(id) {
            None => return self.library.read_surface(id),
            Some(Source::Read(capture)) => {
                return Box::pin(std::future::ready(Ok(Capture::clone(capture))));
            }
            Some(Source::Log(path)) => path.clone(),
        };
        Box::pin(async move {
            let read = tokio::task::spawn_blocking(move || log::read_capture(&path));
            match read.await {
                Ok(Ok(log)) => Ok(log.capture),
                Ok(Err(error)) => Err(Arc::new(error) as Cause),
                Err(panic) => Err(Arc::new(panic) as Cause),
            }
        })
    }
}

/// The context window from the command line.
struct GivenWindow(u64);

impl ModelWindows for GivenWindow {
    fn context_window<'a>(
        &'a self,
        _route: &'a ModelRoute,
    ) -> BoxFuture<'a, Result<Option<u64>, WindowError>> {
        Box::pin(std::future::ready(Ok(Some(self.0))))
    }
}
