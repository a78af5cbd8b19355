//! The end of the program: what is under way comes to its end, and what could
//! not be kept is told when the screen is gone.

use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until, timeout};

use super::app::{App, Msg};
use super::carry;
use crate::aside::recoverable;
use crate::chat::Failure;
use crate::runtime::{Done, Job, Runtime};

/// How long the last writes may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// Lets what is under way come to its end: a partial answer is kept, the draft
/// is kept, and a write that began is waited for. Gives what could not be
/// kept, in words.
pub(super) async fn settle(
    app: &mut App,
    runtime: &mut Runtime,
    done: &mut mpsc::Receiver<Done>,
) -> Vec<String> {
    let deadline = Instant::now() + PATIENCE;
    let mut words = Vec::new();
    // What stands on the screen was told there.
    drop(app.take_failure());
    for job in app.part() {
        runtime.run(job);
    }
    while app.is_writing() {
        tokio::select! {
            () = sleep_until(deadline) => break,
            outcome = done.recv() => match outcome {
                Some(outcome) => words.extend(carry_on(app, runtime, outcome)),
                None => break,
            },
        }
    }
    // What was prepared meanwhile is given up; what comes later finds nobody.
    done.close();
    while let Ok(outcome) = done.try_recv() {
        words.extend(carry_on(app, runtime, outcome));
    }
    runtime.run(app.draft_job());
    words.extend(app.unsaved().map(|(text, why)| {
        let why = why.map_or_else(|| "it took too long".to_owned(), in_words);
        let place = recoverable("answer", text);
        format!("the last answer is not saved: {why}\n{place}")
    }));
    words
}

fn carry_on(app: &mut App, runtime: &mut Runtime, outcome: Done) -> Option<String> {
    carry(app, runtime, Msg::Done(outcome));
    let failure = app.take_failure()?;
    // An answer that is not saved is told of with its text.
    app.unsaved().is_none().then(|| in_words(&failure))
}

/// Ends all jobs. Gives what could not be kept of drafts, in words. A file
/// system that hangs can't keep the program from ending.
pub(super) async fn finish(app: &App, runtime: Runtime) -> Option<String> {
    let why: Vec<String> = match timeout(PATIENCE, runtime.finish()).await {
        Ok(failures) => failures.iter().map(in_words).collect(),
        Err(_) => vec!["it took too long".to_owned()],
    };
    if why.is_empty() {
        return None;
    }
    let why = why.join("; ");
    let Job::KeepDraft(_, draft) = app.draft_job() else {
        return None;
    };
    if draft.is_blank() {
        return Some(format!("a draft is not saved: {why}"));
    }
    let departed = draft.departed.map(|departed| departed.draft.to_text());
    let texts: Vec<String> = departed
        .into_iter()
        .chain([draft.typed.to_text()])
        .collect();
    let place = recoverable("draft", &texts.join("\n"));
    Some(format!("the draft is not saved: {why}\n{place}"))
}

fn in_words(failure: &Failure) -> String {
    format!("{} [{}]", failure.message, failure.code)
}
