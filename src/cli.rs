//! The command line: for scripts, for other programs, and the way into the
//! screen.
//!
//! Results go to stdout, errors to stderr; with `--json` both are JSON, an
//! error as one line `{"error":{"code","message"}}`, and each thing that could
//! not be looked at on the way as one `{"warning":{…}}` of the same form. Exit
//! codes: 0 done, 2 wrong usage, and what `exit` says of an error by its code.

mod ask;
mod candidates;
mod config;
mod demo;
mod doctor;
mod error;
mod exit;
mod input;
mod mention;
mod models;
mod output;
mod prepare;
mod reindex;
mod screen;
mod search;
mod sessions;
mod sources;
mod spill;

use std::borrow::Cow;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
pub use error::CliError;
use output::Output;

use crate::config::Config;
use crate::figures::counted;
use crate::library::{Library, Notice, StoredLogs, ToolLogs};
use crate::reference::uri;
use crate::sanitize;
use crate::session::{Millis, SessionId};
use crate::source::Environment;
use crate::store::Home;

const EXAMPLES: &str = "\
Examples:
  ibid                                      open the chat
  ibid demo                                 the same, with sample sessions to cite
  ibid demo --print                         the tour as text
  ibid ask --cite 'flaky login' 'what fixed it?'   ask without the screen
  ibid candidates flaky --json              sessions that can be cited, with mentions
  ibid prepare --session ID                 what a model would get of a session
  ibid prepare --log FILE --json            the same of a log anywhere, with all facts
  ibid sessions list                        every session
  ibid models                               models, their windows and prices
  ibid config init                          a first settings file
  ibid search 'connection reset'            sessions in which that was said
  ibid doctor                               what can't be read, and why
  echo 'see @[x](dsh-session:ImEi)' | ibid mention parse

Sessions are kept in $IBID_HOME, or the data folder of your system.";

/// A terminal chat client that can cite your other sessions.
#[derive(Debug, Parser)]
#[command(name = "ibid", version, after_help = EXAMPLES)]
struct Args {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Ask a model without the screen, and print its answer
    Ask(ask::Args),
    /// List the sessions that can be cited
    Candidates(candidates::Args),
    /// Print what a model would get of one or more sessions
    Prepare(prepare::Args),
    /// Read and write mentions
    #[command(subcommand)]
    Mention(mention::Command),
    /// Clean a title: text on stdin, both forms as JSON on stdout
    Title(mention::TitleArgs),
    /// List and show sessions
    #[command(subcommand)]
    Sessions(sessions::Command),
    /// Find sessions by what was said in them
    Search(search::Args),
    /// Tell where each tool's sessions are looked for, and what was found
    Sources(sources::Args),
    /// Tell what could not be read, and what to do about it
    Doctor(doctor::Args),
    /// Forget what is known of every session file, and look at all anew
    Reindex(reindex::Args),
    /// Show the full text of what a citation had to leave out
    #[command(subcommand)]
    Spill(spill::Command),
    /// List the models there are, with what is known of them
    Models(models::Args),
    /// The settings: write, show and check them
    #[command(subcommand)]
    Config(config::Command),
    /// Open the chat with sample sessions to cite
    Demo(demo::Args),
}

/// Runs the program and gives its exit code.
#[must_use]
pub fn run(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let args: Vec<OsString> = args.into_iter().collect();
    // What the arguments mean is not known yet when they are wrong.
    let json = args
        .iter()
        .take_while(|arg| *arg != "--")
        .any(|arg| arg == "--json");
    let mut out = Output::new(json);
    let matches = match Args::command().try_get_matches_from(args) {
        Ok(matches) => matches,
        Err(error) => return out.usage(&error),
    };
    out.set_json(wants_json(&matches));
    let outcome = Args::from_arg_matches(&matches)
        .map_err(CliError::usage)
        .and_then(|args| dispatch(args, &matches, &mut out));
    out.finish(outcome)
}

/// Whether the command was given its flag `--json`: the same word may also
/// be an id.
fn wants_json(matches: &clap::ArgMatches) -> bool {
    let mut innermost = matches;
    while let Some((_, inner)) = innermost.subcommand() {
        innermost = inner;
    }
    matches!(innermost.try_get_one("json"), Ok(Some(true)))
}

fn dispatch(args: Args, matches: &clap::ArgMatches, out: &mut Output) -> Result<(), CliError> {
    match args.command {
        None => screen::open(),
        Some(Command::Ask(args)) => ask::run(&args, out),
        Some(Command::Candidates(args)) => candidates::run(&args, out),
        Some(Command::Prepare(args)) => {
            let order = matches.subcommand_matches("prepare");
            prepare::run(&args, order, out)
        }
        Some(Command::Mention(command)) => mention::run(command, out),
        Some(Command::Title(_)) => mention::title(out),
        Some(Command::Sessions(command)) => sessions::run(&command, out),
        Some(Command::Search(args)) => search::run(&args, out),
        Some(Command::Sources(_)) => sources::run(out),
        Some(Command::Doctor(_)) => doctor::run(out),
        Some(Command::Reindex(_)) => reindex::run(out),
        Some(Command::Spill(command)) => spill::run(&command, out),
        Some(Command::Models(args)) => models::run(&args, out),
        Some(Command::Config(command)) => config::run(&command, out),
        Some(Command::Demo(args)) => demo::run(&args, out),
    }
}

/// The home and its settings.
fn home() -> Result<(Home, Config), CliError> {
    let home = Home::locate()?;
    let config = Config::load(home.root())?;
    Ok((home, config))
}

/// The library over a home's own sessions and those of other tools, of which
/// nothing is known yet.
fn open_library(home: &Home, config: &Config, cache: Option<PathBuf>) -> Library {
    let sources = &config.sources;
    let others = ToolLogs::of(&sources.tools, &Environment::of_process());
    let own = std::sync::Arc::new(StoredLogs::new(home.clone()));
    Library::over(own, others, sources.show_subagents, cache)
}

/// Where a command that only reads may keep what it learnt: a home that is not
/// there yet stays so.
fn cache_of(home: &Home) -> Option<PathBuf> {
    home.root().is_dir().then(|| home.cache_file())
}

/// Where a command that reads all sessions keeps what it learnt: a home is made
/// for it, or nothing of it would be left for the next time.
fn made_cache_of(home: &Home, out: &Output) -> Option<PathBuf> {
    if let Err(error) = home.create() {
        out.warn_with(error.code(), error);
    }
    cache_of(home)
}

/// That library, brought up to date. What the cache says of a log that did not
/// change is not compared with it yet.
fn library(home: &Home, config: &Config, out: &Output) -> Result<Library, CliError> {
    refreshed(open_library(home, config, cache_of(home)), out)
}

fn refreshed(library: Library, out: &Output) -> Result<Library, CliError> {
    let never = tokio_util::sync::CancellationToken::new();
    warn_of(&library.refresh(&never, &mut |_| {})?.notices, out);
    Ok(library)
}

/// A moment as lists show it.
fn moment(at: Millis, zone: &jiff::tz::TimeZone) -> String {
    jiff::Timestamp::from_millisecond(at.0)
        .map(|at| {
            let here = at.to_zoned_datetime(zone.clone());
            here.strftime("%Y-%m-%d %H:%M").to_string()
        })
        .unwrap_or_default()
}

/// Tells what is not as it should be. People are told in full what happened just
/// now; what stays so is counted alone, because they would read the same each
/// time, and `ibid doctor` has it all. Programs are told what stays so, which
/// makes a result less than whole.
fn warn_of(notices: &[Notice], out: &Output) {
    let is_told = |notice: &&Notice| out.is_json() == notice.is_lasting();
    for notice in notices.iter().filter(is_told) {
        out.warn_with(notice.code(), notice);
    }
    let lasting = notices.iter().filter(|notice| notice.is_lasting());
    let count: usize = lasting.map(Notice::count).sum();
    if count > 0 {
        let warnings = counted(count, "warning");
        out.warn(format!("{warnings}: `ibid doctor` tells what and where"));
    }
}

/// Sessions know their directory by its whole path: one that is given by a
/// shorter one, such as `.`, is looked up. What is none stays as it is.
fn whole_dir(dir: &str) -> Cow<'_, str> {
    let path = std::path::Path::new(dir);
    if path.is_absolute() {
        return Cow::Borrowed(dir);
    }
    path.canonicalize().map_or(Cow::Borrowed(dir), |path| {
        Cow::Owned(path.to_string_lossy().into_owned())
    })
}

/// A session's id as a list shows it: one that can't be shown, or that would be
/// taken for a URI, as its URI.
fn shown_id(id: &str) -> Cow<'_, str> {
    if id.starts_with(uri::SCHEME) || sanitize::line(id) != id {
        Cow::Owned(uri::encode(&SessionId::from(id)))
    } else {
        Cow::Borrowed(id)
    }
}

/// The session that an argument names: by its id, or by the URI that a list
/// shows in its place.
fn session_id(given: &str) -> SessionId {
    uri::decode(given).unwrap_or_else(|_| SessionId::from(given))
}

/// The signal of a file that is larger than the person's limit for files; the
/// same on Linux and macOS.
#[cfg(unix)]
const SIGXFSZ: i32 = 25;

/// Runs async work to its end.
fn block_on<T>(work: impl Future<Output = T>) -> Result<T, CliError> {
    let runtime = crate::runtime::executor()
        .map_err(|error| CliError::new("NO_THREADS", format!("can't start: {error}")))?;
    let outcome = runtime.block_on(async {
        // A file that may not grow further is an error to be told, and would
        // end the program otherwise. Once asked for, the signal does nothing.
        #[cfg(unix)]
        let _ = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::from_raw(SIGXFSZ));
        work.await
    });
    // What still blocks, such as a read that nobody waits for, is left behind.
    runtime.shutdown_background();
    Ok(outcome)
}
