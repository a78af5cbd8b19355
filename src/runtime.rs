//! Carries out what the conversation and the screen ask for: tasks, their
//! cancellation, and one bounded channel back.
//!
//! Each job runs in a task of its own; what blocks runs off the async threads.
//! A task is cancelled through its token, and answers to questions that nobody
//! waits for any more are dropped by whoever put them.

mod asking;
mod choosing;
mod exporting;
mod finding;
mod freshness;
mod keeping;
mod naming;
mod rows;
mod searching;
mod sessions;
mod watching;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use tokio::sync::mpsc;
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

pub use choosing::{Asked, Offer, Offered};
pub use exporting::Export;
pub use finding::{Found, FoundRow, Query};
use freshness::Freshness;
use keeping::DraftKeeper;
pub use searching::{TextFound, TextQuery, TextRow};
use sessions::InOrder;
pub use sessions::{Destination, Hold, Opened, Slot, begin};
pub(crate) use sessions::{begun_with, its_model, open_session};

use crate::chat::{ChatEvent, Effect, Failure, Generation, KeptDraft, Notice};
use crate::library::Library;
use crate::library::matcher::SearchState;
use crate::model::Models;
use crate::reference::projection::Capture;
use crate::reference::{ReferenceConfig, Resolver};
use crate::session::SessionId;
use crate::store::{DraftFile, Home, SpillFiles};

/// How many answers may wait to be taken; more make the tasks wait.
const CHANNEL: usize = 256;

/// Work to be done.
#[derive(Debug)]
pub enum Job {
    /// What the conversation wants.
    Chat(Effect),
    /// Find sessions.
    Find(Query),
    /// Find sessions by what was said in them.
    Search(TextQuery),
    /// Read a session to look at it.
    Look(SessionId),
    /// Open another session, to go on in it.
    Open(Destination),
    /// Find out which models there are, while one of this provider answers.
    Models(String),
    /// Give a session that is not open the title that a person chose.
    Rename(SessionId, String),
    /// Write a session to a file of the person's own.
    Export(Export),
    /// Write in the session that was opened from now on.
    Switch(Hold),
    /// Put the text of an answer that can't be saved where a person finds it,
    /// and tell where.
    PutAside(String),
    /// Keep the drafts of the session that is written in, in case the program
    /// ends.
    KeepDraft(SessionId, KeptDraft),
}

/// What became of a job.
#[derive(Debug)]
pub enum Done {
    /// For the conversation.
    Chat(ChatEvent),
    /// The answer to a query.
    Found(Query, Result<Found, String>),
    /// The answer to a query for what was said.
    Searched(TextQuery, Result<TextFound, String>),
    /// The library has other rows than before.
    LibraryChanged,
    /// More of what was said can be searched than before.
    TextsRead,
    /// The models that are known of each provider, before anyone is asked.
    Models(Vec<Offered>),
    /// What a provider's server told of its models, or why not.
    ModelsTold(Box<Offered>),
    /// A session that was asked for to look at.
    Looked(SessionId, Result<Arc<Capture>, String>),
    /// Another session is open, and can be gone on in. Dropping what is opened
    /// lets it go.
    Opened(Destination, Result<Box<Opened>, Failure>),
    /// Something to tell the person.
    Notice(Notice),
}

/// What the jobs work on.
#[derive(Clone)]
pub struct Services {
    /// Where sessions, drafts and full texts are kept.
    pub home: Home,
    /// Every session there is.
    pub library: Library,
    /// Prepares references.
    pub resolver: Resolver,
    /// The models.
    pub models: Models,
}

impl Services {
    /// The services over a home, with citing set up to keep full texts there
    /// and to follow the windows of `models`.
    #[must_use]
    pub fn new(home: Home, library: Library, models: Models, references: ReferenceConfig) -> Self {
        let resolver = Resolver::new(references, Arc::new(library.clone()))
            .with_models(Arc::new(models.clone()))
            .with_spill(Arc::new(SpillFiles::new(home.clone())));
        Self {
            home,
            library,
            resolver,
            models,
        }
    }
}

/// What async work runs on: one thread beside the caller's. What takes long
/// runs on threads of its own, and what comes from a server is not passed from
/// one core to another on its way.
///
/// # Errors
/// When the system gives no thread.
pub fn executor() -> std::io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
}

/// Runs jobs. Dropping it ends them.
pub struct Runtime {
    services: Services,
    slot: Arc<Mutex<Slot>>,
    drafts: DraftKeeper,
    in_order: InOrder,
    /// What ends the task of each question.
    tokens: HashMap<Generation, CancellationToken>,
    /// What has to come to its end before the program does.
    tasks: TaskTracker,
    /// The search under way, and what the last one learnt.
    finding: CancellationToken,
    learnt: Arc<Mutex<Option<SearchState>>>,
    /// The search of texts under way.
    searching: CancellationToken,
    /// What was last asked.
    asked: Option<Query>,
    freshness: Arc<Freshness>,
    /// The session that is being looked at, and whose turn it is to be read.
    looking: CancellationToken,
    look_turns: Arc<tokio::sync::Mutex<()>>,
    /// The listing of models under way.
    choosing: CancellationToken,
    done: mpsc::Sender<Done>,
    all: CancellationToken,
    _ends_all: DropGuard,
}

impl Runtime {
    /// A runtime that writes in `slot` and keeps its draft in `draft_file`,
    /// and the channel on which it tells what became of its jobs. Must be
    /// called within tokio. Keeps the library as the folders are.
    #[must_use]
    pub fn start(
        services: Services,
        slot: Slot,
        draft_file: DraftFile,
    ) -> (Self, mpsc::Receiver<Done>) {
        let started = Self::start_alone(services, slot, draft_file);
        started.0.fill_library();
        started.0.watch_library();
        started
    }

    /// The same for a program that lists no sessions: the library stays as it
    /// is, but for the session that is written in.
    #[must_use]
    pub fn start_alone(
        services: Services,
        slot: Slot,
        draft_file: DraftFile,
    ) -> (Self, mpsc::Receiver<Done>) {
        let (done, receiver) = mpsc::channel(CHANNEL);
        let all = CancellationToken::new();
        let tasks = TaskTracker::new();
        let runtime = Self {
            drafts: DraftKeeper::start(draft_file, all.clone(), done.clone()),
            services,
            slot: Arc::new(Mutex::new(slot)),
            tokens: HashMap::new(),
            in_order: InOrder::start(&tasks),
            tasks,
            finding: all.child_token(),
            learnt: Arc::default(),
            searching: all.child_token(),
            asked: None,
            freshness: Arc::default(),
            looking: all.child_token(),
            look_turns: Arc::default(),
            choosing: all.child_token(),
            done,
            _ends_all: all.clone().drop_guard(),
            all,
        };
        runtime.attach();
        (runtime, receiver)
    }

    /// Starts a job.
    pub fn run(&mut self, job: Job) {
        match job {
            Job::Chat(effect) => self.chat(effect),
            Job::Find(query) => self.find(query),
            Job::Search(query) => self.search(query),
            Job::Look(id) => self.look(id),
            Job::Open(place) => self.open(place),
            Job::Models(in_use) => self.list_models(in_use),
            Job::Rename(id, title) => self.rename(id, title),
            Job::Export(export) => self.export(export),
            Job::Switch(hold) => self.switch(hold),
            Job::PutAside(answer) => self.put_aside(answer),
            Job::KeepDraft(id, draft) => self.drafts.keep(&id, draft),
        }
    }

    /// Ends all tasks: writes what is still to be kept, and removes what was
    /// prepared for nothing. Gives why drafts could not be saved, one failure
    /// a draft. Close the channel before, so that no task waits for its answer
    /// to be taken.
    pub async fn finish(self) -> Vec<Failure> {
        self.all.cancel();
        let drafts = self.drafts.stop().await;
        drop(self.in_order);
        self.tasks.close();
        self.tasks.wait().await;
        let settled = tokio::task::spawn_blocking(move || drafts.settle()).await;
        settled.unwrap_or_else(|panic| vec![failure("PANIC", panic)])
    }

    fn chat(&mut self, effect: Effect) {
        match effect {
            Effect::Prepare(generation, target, message) => {
                self.prepare(generation, target, message);
            }
            Effect::Recheck(generation, step) => self.recheck(generation, step),
            Effect::Log(generation, entries) => self.log(generation, entries),
            Effect::Ask(generation, header, surface) => self.ask(generation, header, surface),
            Effect::Stop(generation) => {
                if let Some(token) = self.tokens.remove(&generation) {
                    token.cancel();
                }
            }
            Effect::Discard(spills) => {
                let resolver = self.services.resolver.clone();
                self.tasks
                    .spawn(async move { resolver.discard(spills.iter()).await });
            }
            // The screen sees to these itself.
            Effect::ClearComposer | Effect::RestoreDraft(_) | Effect::Say(_) => {}
        }
    }

    /// A token for a task of this question. Tokens of tasks that have ended
    /// go with the next one.
    fn token(&mut self, generation: Generation) -> CancellationToken {
        self.tokens.retain(|_, token| !token.is_cancelled());
        let token = self.all.child_token();
        self.tokens.insert(generation, token.clone());
        token
    }
}

fn failure(code: &str, message: impl std::fmt::Display) -> Failure {
    Failure {
        code: code.to_owned(),
        message: message.to_string(),
    }
}
