//! Stand-ins for the ports: present, failing and hanging.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use ibid::reference::Cause;
use ibid::reference::ports::{
    ListedSession, ModelRoute, ModelWindows, SessionDirectory, Spill, SpillRef, SpillStore,
    SurfaceReader, WindowError,
};
use ibid::reference::projection::{Capture, capture};
use ibid::session::{Session, SessionId};
use thiserror::Error;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

/// A cause with a message of its own.
#[derive(Debug, Error)]
#[error("{0}")]
pub(crate) struct Failure(pub(crate) &'static str);

pub(crate) fn failure(message: &'static str) -> Cause {
    Arc::new(Failure(message))
}

/// A place where work stands still until the test lets it pass.
#[derive(Clone)]
pub(crate) struct Gate {
    entered: Arc<Semaphore>,
    opened: Arc<Semaphore>,
}

impl Gate {
    pub(crate) fn shut() -> Self {
        Self {
            entered: Arc::new(Semaphore::new(0)),
            opened: Arc::new(Semaphore::new(0)),
        }
    }

    /// Waits until somebody stands at the gate.
    pub(crate) async fn reached(&self) {
        self.entered.acquire().await.unwrap().forget();
    }

    /// Lets one pass.
    pub(crate) fn open(&self) {
        self.opened.add_permits(1);
    }

    pub(crate) async fn pass(&self) {
        self.entered.add_permits(1);
        self.opened.acquire().await.unwrap().forget();
    }
}

/// What a port does before it answers.
#[derive(Default)]
pub(crate) struct Script {
    /// Stand here first.
    pub(crate) gate: Option<Gate>,
    /// Then call this off.
    pub(crate) cancels: Option<CancellationToken>,
    /// Then fail with this.
    pub(crate) fails: Option<&'static str>,
}

impl Script {
    async fn play(self) -> Result<(), Cause> {
        if let Some(gate) = self.gate {
            gate.pass().await;
        }
        if let Some(cancel) = self.cancels {
            cancel.cancel();
        }
        self.fails.map_or(Ok(()), |message| Err(failure(message)))
    }
}

/// Sessions in memory, which may change at any time.
#[derive(Default)]
pub(crate) struct Shelf {
    sessions: Mutex<HashMap<SessionId, Session>>,
    reads: Mutex<Vec<SessionId>>,
    next: Mutex<Option<Script>>,
}

impl Shelf {
    pub(crate) fn of(sessions: impl IntoIterator<Item = Session>) -> Arc<Self> {
        let shelf = Self::default();
        for session in sessions {
            shelf.put(session);
        }
        Arc::new(shelf)
    }

    pub(crate) fn put(&self, session: Session) {
        let mut sessions = self.sessions.lock().unwrap();
        sessions.insert(session.id().clone(), session);
    }

    pub(crate) fn remove(&self, id: &str) {
        self.sessions.lock().unwrap().remove(&SessionId::from(id));
    }

    pub(crate) fn edit<T>(&self, id: &str, edit: impl FnOnce(&mut Session) -> T) -> T {
        let mut sessions = self.sessions.lock().unwrap();
        edit(sessions.get_mut(&SessionId::from(id)).unwrap())
    }

    /// Which sessions were read, in order.
    pub(crate) fn reads(&self) -> Vec<SessionId> {
        self.reads.lock().unwrap().clone()
    }

    /// What the next read does before it answers.
    pub(crate) fn next_read(&self, script: Script) {
        *self.next.lock().unwrap() = Some(script);
    }
}

impl SurfaceReader for Shelf {
    fn read_surface<'a>(&'a self, id: &'a SessionId) -> BoxFuture<'a, Result<Capture, Cause>> {
        async move {
            self.reads.lock().unwrap().push(id.clone());
            let script = self.next.lock().unwrap().take();
            script.unwrap_or_default().play().await?;
            let sessions = self.sessions.lock().unwrap();
            let session = sessions.get(id).ok_or(failure("no such session"))?;
            Ok(capture(session))
        }
        .boxed()
    }
}

/// A spill store that remembers what it was asked.
#[derive(Default)]
pub(crate) struct Spills {
    saves: Mutex<Vec<(Spill, String)>>,
    discarded: Mutex<Vec<String>>,
    next: Mutex<VecDeque<Script>>,
    on_save: Option<Box<dyn Fn() + Send + Sync>>,
}

impl Spills {
    /// A store at which something else happens during each save.
    pub(crate) fn while_saving(action: impl Fn() + Send + Sync + 'static) -> Self {
        Self {
            on_save: Some(Box::new(action)),
            ..Self::default()
        }
    }

    /// What the next save does before it answers; called again, the one after.
    pub(crate) fn next_save(&self, script: Script) {
        self.next.lock().unwrap().push_back(script);
    }

    /// The saves asked for, each with its text.
    pub(crate) fn saves(&self) -> Vec<(Spill, String)> {
        self.saves.lock().unwrap().clone()
    }

    /// The locators of what was discarded again.
    pub(crate) fn discarded(&self) -> Vec<String> {
        self.discarded.lock().unwrap().clone()
    }
}

impl SpillStore for Spills {
    fn save(&self, spill: Spill) -> BoxFuture<'_, Result<SpillRef, Cause>> {
        async move {
            if let Some(action) = &self.on_save {
                action();
            }
            let mut text = Vec::new();
            spill.content.write_to(&mut text).unwrap();
            let text = String::from_utf8(text).unwrap();
            let saved = SpillRef {
                locator: format!("memory:{}", spill.suggested_name),
                bytes: text.len().try_into().unwrap(),
                retrieval_hint: "Read it by lines.".to_owned(),
            };
            self.saves.lock().unwrap().push((spill, text));
            let script = self.next.lock().unwrap().pop_front();
            script.unwrap_or_default().play().await?;
            Ok(saved)
        }
        .boxed()
    }

    fn discard<'a>(&'a self, spill: &'a SpillRef) -> BoxFuture<'a, ()> {
        async move {
            self.discarded.lock().unwrap().push(spill.locator.clone());
        }
        .boxed()
    }
}

/// A catalogue that knows one answer at a time.
pub(crate) struct Windows {
    answer: Mutex<Result<Option<u64>, WindowError>>,
    asked: Mutex<Vec<ModelRoute>>,
    next: Mutex<Option<Script>>,
}

impl Windows {
    pub(crate) fn of(tokens: u64) -> Arc<Self> {
        Arc::new(Self {
            answer: Mutex::new(Ok(Some(tokens))),
            asked: Mutex::default(),
            next: Mutex::default(),
        })
    }

    /// What every look-up answers from now on.
    pub(crate) fn answer(&self, answer: Result<Option<u64>, WindowError>) {
        *self.answer.lock().unwrap() = answer;
    }

    /// What the next look-up does before it answers.
    pub(crate) fn next_lookup(&self, script: Script) {
        *self.next.lock().unwrap() = Some(script);
    }

    /// The models asked about, in order.
    pub(crate) fn asked(&self) -> Vec<ModelRoute> {
        self.asked.lock().unwrap().clone()
    }
}

impl ModelWindows for Windows {
    fn context_window<'a>(
        &'a self,
        route: &'a ModelRoute,
    ) -> BoxFuture<'a, Result<Option<u64>, WindowError>> {
        async move {
            self.asked.lock().unwrap().push(route.clone());
            let script = self.next.lock().unwrap().take();
            let played = script.unwrap_or_default().play().await;
            played.map_err(WindowError::Other)?;
            self.answer.lock().unwrap().clone()
        }
        .boxed()
    }
}

/// A directory with a fixed listing.
#[derive(Default)]
pub(crate) struct Listing {
    pub(crate) sessions: Vec<ListedSession>,
    pub(crate) gate: Option<Gate>,
}

impl SessionDirectory for Listing {
    fn list_sessions(&self) -> BoxFuture<'_, Result<Vec<ListedSession>, Cause>> {
        async move {
            if let Some(gate) = &self.gate {
                gate.pass().await;
            }
            Ok(self.sessions.clone())
        }
        .boxed()
    }
}
