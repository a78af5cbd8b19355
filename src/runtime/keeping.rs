//! Keeping drafts: the newest one is saved a moment after it changed, and what
//! could not be saved is tried again until the program ends.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::{Done, failure};
use crate::chat::{Failure, KeptDraft, Notice};
use crate::session::SessionId;
use crate::store::{DraftFile, StoreError};
use crate::threads::lock;

/// How long typing may go on before the draft is saved.
const DRAFT_DELAY: Duration = Duration::from_millis(300);

/// Saves the newest draft, a moment after it last changed.
pub(super) struct DraftKeeper {
    held: watch::Sender<Arc<HeldDraft>>,
    writing: JoinHandle<()>,
    left: Arc<LeftDrafts>,
}

/// The draft of one session, and its newest state while that is not saved.
pub(super) struct HeldDraft {
    id: SessionId,
    newest: Mutex<Option<KeptDraft>>,
    /// `None` once it was let go.
    file: Mutex<Option<DraftFile>>,
}

impl HeldDraft {
    fn new(file: DraftFile) -> Arc<Self> {
        Arc::new(Self {
            id: file.session_id().clone(),
            newest: Mutex::default(),
            file: Mutex::new(Some(file)),
        })
    }

    /// Saves the newest state, unless it is saved. Blocks. What can't be
    /// saved stays, for the next time.
    pub(super) fn save(&self) -> Result<(), StoreError> {
        self.save_in(lock(&self.file).as_ref())
    }

    /// Saves the newest state and lets the draft go, so that it can be held
    /// again; what can't be saved stays held. Blocks.
    fn let_go(&self) -> Result<(), StoreError> {
        let mut file = lock(&self.file);
        self.save_in(file.as_ref())?;
        *file = None;
        Ok(())
    }

    fn save_in(&self, file: Option<&DraftFile>) -> Result<(), StoreError> {
        let Some(file) = file else {
            return Ok(());
        };
        let Some(draft) = lock(&self.newest).take() else {
            return Ok(());
        };
        let saved = if draft.is_blank() {
            file.clear()
        } else {
            file.save(&draft)
        };
        if saved.is_err() {
            // Unless a newer one came meanwhile.
            lock(&self.newest).get_or_insert(draft);
        }
        saved
    }
}

/// Drafts of sessions that were left, and that could not be saved then.
#[derive(Default)]
pub(super) struct LeftDrafts(Mutex<Vec<Arc<HeldDraft>>>);

impl LeftDrafts {
    /// Saves a draft for the last time and lets it go. One that can't be saved
    /// is kept here. Blocks.
    pub(super) fn add(&self, draft: Arc<HeldDraft>) -> Result<(), StoreError> {
        draft.let_go().inspect_err(|_| lock(&self.0).push(draft))
    }

    /// Saves the draft of a session that is about to be opened, if it is here.
    /// Blocks.
    pub(super) fn settle(&self, id: &SessionId) -> Result<(), StoreError> {
        let mut drafts = lock(&self.0);
        let mut all = drafts.iter();
        let Some(place) = all.position(|draft| draft.id == *id) else {
            return Ok(());
        };
        let draft = drafts.swap_remove(place);
        drop(drafts);
        self.add(draft)
    }
}

impl DraftKeeper {
    pub(super) fn start(file: DraftFile, all: CancellationToken, done: mpsc::Sender<Done>) -> Self {
        let (held, mut changes) = watch::channel(HeldDraft::new(file));
        let writing = tokio::spawn(async move {
            while changes.changed().await.is_ok() {
                // The last draft is saved at once when the program ends.
                all.run_until_cancelled(tokio::time::sleep(DRAFT_DELAY))
                    .await;
                let held = Arc::clone(&changes.borrow_and_update());
                let saved = tokio::task::spawn_blocking(move || held.save()).await;
                if let Ok(Err(error)) = saved {
                    let failed = Notice::Failed(failure(error.code(), error));
                    // Nobody takes it when the program ends; what is not saved
                    // by then is tried once more, and told.
                    let _ = done.try_send(Done::Notice(failed));
                }
            }
        });
        Self {
            held,
            writing,
            left: Arc::default(),
        }
    }

    /// Keeps a draft of the session that is held; that of another one would
    /// be of the past.
    pub(super) fn keep(&self, id: &SessionId, draft: KeptDraft) {
        self.held.send_if_modified(|held| {
            let is_held = held.id == *id;
            if is_held {
                *lock(&held.newest) = Some(draft);
            }
            is_held
        });
    }

    /// The draft that is held.
    pub(super) fn held(&self) -> Arc<HeldDraft> {
        Arc::clone(&self.held.borrow())
    }

    /// Holds another draft from now on, and gives the one before, which is to
    /// be added to [`left`](Self::left).
    pub(super) fn hold(&self, file: DraftFile) -> Arc<HeldDraft> {
        self.held.send_replace(HeldDraft::new(file))
    }

    /// The drafts that could not be saved when their session was left.
    pub(super) fn left(&self) -> Arc<LeftDrafts> {
        Arc::clone(&self.left)
    }

    /// Ends saving by itself, with the newest draft saved, or at least tried.
    pub(super) async fn stop(self) -> Unsettled {
        let held = self.held();
        drop(self.held);
        // A task that panicked has told so already.
        let _ = self.writing.await;
        Unsettled {
            held,
            left: self.left,
        }
    }
}

/// The drafts at the end of the program.
pub(super) struct Unsettled {
    held: Arc<HeldDraft>,
    left: Arc<LeftDrafts>,
}

impl Unsettled {
    /// Saves what is not saved yet and lets all go. Gives what can't be saved.
    /// Blocks.
    pub(super) fn settle(self) -> Vec<Failure> {
        let mut drafts = std::mem::take(&mut *lock(&self.left.0));
        drafts.push(self.held);
        let failed = drafts.iter().filter_map(|draft| draft.let_go().err());
        failed.map(|error| failure(error.code(), error)).collect()
    }
}
