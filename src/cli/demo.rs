//! `ibid demo`: the chat with sample sessions to cite, or the tour as text.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use futures_util::StreamExt;
use tokio_util::sync::CancellationToken;

use super::{CliError, Output, screen};
use crate::chat::{Draft, Part};
use crate::library::matcher;
use crate::library::{Layered, Library, LogFiles, StoredLogs};
use crate::model::{AnswerStream, Delta, Models, Request, offline::Offline};
use crate::reference::frame::{FullSnapshot, PreparedReference};
use crate::reference::resolver::{PreparedStep, StepDecision};
use crate::reference::{Reference, Resolver, RouteChoice, Target};
use crate::runtime::Services;
use crate::session::{Event, Header, SessionId};
use crate::store::{Home, SpillFiles};

/// The sample sessions, by the names of their files in `assets/samples`.
const SAMPLES: &[(&str, &str)] = &[
    (
        "bundle-size-regression",
        include_str!("../../assets/samples/bundle-size-regression.jsonl"),
    ),
    (
        "cursor-pagination-for-orders",
        include_str!("../../assets/samples/cursor-pagination-for-orders.jsonl"),
    ),
    (
        "emoji-and-cjk-display-names",
        include_str!("../../assets/samples/emoji-and-cjk-display-names.jsonl"),
    ),
    (
        "fix-the-flaky-login-test",
        include_str!("../../assets/samples/fix-the-flaky-login-test.jsonl"),
    ),
    (
        "flaky-ci-on-arm64",
        include_str!("../../assets/samples/flaky-ci-on-arm64.jsonl"),
    ),
    (
        "jest-to-vitest-migration",
        include_str!("../../assets/samples/jest-to-vitest-migration.jsonl"),
    ),
    (
        "login-page-redesign",
        include_str!("../../assets/samples/login-page-redesign.jsonl"),
    ),
    (
        "oncall-handover",
        include_str!("../../assets/samples/oncall-handover.jsonl"),
    ),
    (
        "postgres-upgrade-checklist",
        include_str!("../../assets/samples/postgres-upgrade-checklist.jsonl"),
    ),
    (
        "suspicious-issue-report",
        include_str!("../../assets/samples/suspicious-issue-report.jsonl"),
    ),
    (
        "talk-outline-flaky-tests",
        include_str!("../../assets/samples/talk-outline-flaky-tests.jsonl"),
    ),
    (
        "untitled-healthcheck-question",
        include_str!("../../assets/samples/untitled-healthcheck-question.jsonl"),
    ),
];

/// What the tour asks: before the mention, what is typed for it, and behind.
const QUESTION: (&str, &str, &str) = ("compare with ", "flak", " and tell me what changed");
/// Which row of the popup the tour picks.
const PICKED: &str = "Fix the flaky login test";

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Print the tour as text instead of opening the chat
    #[arg(long)]
    print: bool,
}

pub(super) fn run(args: &Args, out: &mut Output) -> Result<(), CliError> {
    if !args.print {
        screen::require_terminal()?;
    }
    let (home, config) = super::home()?;
    // The samples never mix with a person's own sessions: they stand beside
    // them for as long as the demo runs.
    let folder = tempfile::tempdir().map_err(not_laid_out)?;
    let samples = lay_out(folder.path())?;
    let logs: Arc<dyn LogFiles> = Arc::new(Layered::new(vec![
        Arc::new(StoredLogs::new(home.clone())),
        Arc::new(StoredLogs::new(samples)),
    ]));
    let library = Library::open(logs, None);
    if args.print {
        return super::block_on(tour(&home, &config, &library, out))?;
    }
    let models = Models::new().with(Arc::new(Offline::default()));
    let services = Services::new(home, library, models, config.references.clone());
    let start = screen::Start {
        chosen: services.models.choose(&Offline::route()),
        review: config.review,
        titles: config.titles,
        theme: config.theme,
    };
    screen::open_with(services, start)
}

/// Writes the samples into a folder of their own.
fn lay_out(folder: &std::path::Path) -> Result<Home, CliError> {
    let home = Home::at(folder);
    home.create()?;
    for (name, text) in SAMPLES {
        let header: Header = serde_json::from_str(text.lines().next().unwrap_or_default())
            .map_err(|error| CliError::new("SAMPLE", format!("{name}: {error}")))?;
        let path = home.session_file(&header.id);
        let written = std::fs::write(&path, text).and_then(|()| {
            std::fs::File::options()
                .write(true)
                .open(&path)?
                .set_modified(last_moment(text))
        });
        written.map_err(not_laid_out)?;
    }
    Ok(home)
}

#[expect(clippy::needless_pass_by_value, reason = "for `map_err`")]
fn not_laid_out(error: std::io::Error) -> CliError {
    let folder = std::env::temp_dir();
    CliError::new(
        "NO_ROOM_FOR_SAMPLES",
        format!(
            "the sample sessions can't be written to {}: {error}; \
             set TMPDIR to a folder that can be written",
            folder.display()
        ),
    )
}

/// When the last event of a sample happened: its file is as old as that.
fn last_moment(text: &str) -> SystemTime {
    let last = text.lines().last().and_then(|line| {
        let event: Event = serde_json::from_str(line).ok()?;
        u64::try_from(event.time.0).ok()
    });
    UNIX_EPOCH + Duration::from_millis(last.unwrap_or_default())
}

/// The tour: what is typed, what the model gets of it, what it answers.
async fn tour(
    home: &Home,
    config: &crate::config::Config,
    library: &Library,
    out: &mut Output,
) -> Result<(), CliError> {
    let never = CancellationToken::new();
    library.refresh(&never, &mut |_| {})?;
    let (before, typed, after) = QUESTION;
    out.line(&format!("You type  {before}@{typed}"))?;
    out.line("")?;
    let Some(reference) = pick(library, typed, out)? else {
        return Err(CliError::new(
            "SAMPLE",
            "no sample session matches the tour",
        ));
    };
    let label = reference.label.clone();
    let draft = Draft {
        parts: vec![
            Part::Text(before.to_owned()),
            Part::Element(reference.into()),
            Part::Text(after.to_owned()),
        ],
    };
    let models = Models::new().with(Arc::new(Offline::new(Duration::ZERO)));
    let resolver = Resolver::new(config.references.clone(), Arc::new(library.clone()))
        .with_models(Arc::new(models.clone()))
        .with_spill(Arc::new(SpillFiles::new(home.clone())));
    let target = Target {
        id: SessionId::from(uuid::Uuid::now_v7().to_string()),
        cwd: screen::current_dir(),
        route: RouteChoice::Own(Some(Offline::route())),
    };
    let decision = StepDecision::Enter(vec![Arc::new(draft.message())]);
    let step = resolver.pre_step(&target, decision, &never).await?;
    let PreparedStep::Enter { messages, contexts } = step else {
        return Ok(());
    };
    out.line(&format!("You send  {before}@{label}{after}"))?;
    out.line("")?;
    out.line("The model gets")?;
    for prepared in contexts.iter().flat_map(|context| &context.references) {
        tell_what_goes(prepared, out)?;
    }
    out.line("")?;
    let request = Request::answer(models.choose(&Offline::route()).config, messages);
    tell_answer(models.stream(request), out).await
}

/// What of a cited session goes to the model, and what does not.
fn tell_what_goes(prepared: &PreparedReference, out: &mut Output) -> Result<(), CliError> {
    let facts = prepared.retained.facts;
    out.line(&format!(
        "  {} · {} of {} messages · {} of {} bytes",
        prepared.reference.label,
        facts.retained_messages,
        facts.original_messages,
        prepared.retained.json.len(),
        prepared.budget,
    ))?;
    let Some(notice) = &prepared.notice else {
        return Ok(());
    };
    let place = match &notice.full_snapshot {
        FullSnapshot::Saved(spill) => format!("full text: ibid spill show {}", spill.locator),
        FullSnapshot::NotConfigured => "full text not kept".to_owned(),
        FullSnapshot::SaveFailed(why) => format!("full text could not be kept: {why}"),
    };
    out.line(&format!(
        "  {} bytes left out · {place}",
        notice.omitted_bytes
    ))
}

async fn tell_answer(mut answer: AnswerStream, out: &mut Output) -> Result<(), CliError> {
    out.line("The offline model answers")?;
    out.line("")?;
    let mut text = String::new();
    while let Some(delta) = answer.next().await {
        if let Delta::Text(piece) = delta? {
            text.push_str(&piece);
        }
    }
    for line in text.lines() {
        out.line(format!("  {line}").trim_end())?;
    }
    Ok(())
}

/// Shows what the popup would, and picks the row of the tour.
fn pick(library: &Library, typed: &str, out: &mut Output) -> Result<Option<Reference>, CliError> {
    let index = library.index();
    let query = matcher::Query {
        text: typed.to_owned(),
        target_cwd: screen::current_dir(),
        exclude: None,
        limit: 5,
        ..matcher::Query::default()
    };
    let never = CancellationToken::new();
    let hits = matcher::search(&index, &query, None, &never).map(|hits| hits.rows);
    let mut picked = None;
    for entry in hits
        .unwrap_or_default()
        .iter()
        .filter_map(|hit| index.get(hit.row))
    {
        let is_picked = picked.is_none() && entry.label == PICKED;
        let mark = if is_picked { "▌" } else { " " };
        let cwd = entry.cwd.unwrap_or_default();
        out.line(&format!("  {mark}{}  ibid  {cwd}", entry.display))?;
        if is_picked {
            picked = Some(entry.reference());
        }
    }
    out.line("")?;
    Ok(picked)
}
