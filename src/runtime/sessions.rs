//! The session that is written in, and going on in another one.

use std::sync::{Arc, Mutex};

use tokio::sync::mpsc;
use tokio_util::task::TaskTracker;

use super::{Done, Runtime, Services, failure};
use crate::aside::recoverable;
use crate::chat::{
    ChatEvent, Draft, Generation, KeptDraft, Notice, Part, TURN_END, last_asked, unfinished,
};
use crate::library::{Facts, Library, LiveSession, StoredLogs};
use crate::model::{Chosen, Models};
use crate::reference::Reference;
use crate::reference::ports::ModelRoute;
use crate::reference::projection::{Capture, Damage, capture};
use crate::session::{Entry, Event, Header, Millis, NewEvent, Payload, Session, SessionId};
use crate::store::{DraftFile, Home, SessionWriter, StoreError, log};
use crate::threads::lock;

/// The session that is written in. A new one is stored with its first
/// message, so that none is ever empty.
#[derive(Debug)]
pub enum Slot {
    /// Not stored yet.
    New(Header),
    /// Stored, and held for writing.
    Stored(Box<SessionWriter>),
    /// Let go, for others to write in: as it was then.
    Left(Box<Session>),
}

impl Slot {
    /// The session as far as it is stored.
    #[must_use]
    pub fn session(&self) -> Session {
        match self {
            Self::New(header) => Session::new(header.clone()),
            Self::Stored(writer) => writer.session().clone(),
            Self::Left(session) => (**session).clone(),
        }
    }

    /// What of its log can't be read.
    fn damage(&self) -> Option<&Damage> {
        match self {
            Self::Stored(writer) => writer.damage(),
            Self::New(_) | Self::Left(_) => None,
        }
    }

    /// Lets a stored session go.
    fn let_go(&mut self) {
        if let Self::Stored(writer) = self {
            *self = Self::Left(Box::new(writer.session().clone()));
        }
    }

    /// Writes events, all or none, at the present moment.
    pub(super) fn append(
        &mut self,
        home: &Home,
        entries: Vec<Entry>,
    ) -> Result<Vec<Arc<Event>>, StoreError> {
        let now = Millis::now();
        let events = entries.into_iter().map(|entry| entry.at(now)).collect();
        match self {
            Self::Stored(writer) => writer.append_all(events),
            Self::New(header) => {
                let (writer, logged) = SessionWriter::create(home, header.clone(), events)?;
                *self = Self::Stored(Box::new(writer));
                Ok(logged)
            }
            Self::Left(session) => Err(StoreError::OpenElsewhere {
                id: session.id().clone(),
            }),
        }
    }
}

/// Where a person goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destination {
    /// One that is stored.
    Stored(SessionId),
    /// A new one.
    New,
    /// A new one that cites another, and so carries it on.
    Citing(Reference),
}

/// A session that can be gone on in. Dropping it lets the session go.
#[derive(Debug)]
pub struct Opened {
    /// The session as its log stands.
    pub session: Session,
    /// What was being written in it.
    pub draft: Option<KeptDraft>,
    /// What the person should know of it.
    pub note: Option<String>,
    /// The model that it was last asked of, as it would be asked now; `None`
    /// where none was, or that is not in the settings.
    pub chosen: Option<Chosen>,
    /// What [`Job::Switch`](super::Job::Switch) takes to write in it.
    pub hold: Hold,
}

/// A session that is held for writing, with its draft.
#[derive(Debug)]
pub struct Hold {
    slot: Slot,
    draft_file: DraftFile,
}

impl Hold {
    /// What [`Runtime::start`] takes to write in it.
    #[must_use]
    pub fn into_parts(self) -> (Slot, DraftFile) {
        (self.slot, self.draft_file)
    }
}

/// The open session, as the library asks it.
struct Live(Arc<Mutex<Slot>>);

impl LiveSession for Live {
    fn header(&self) -> Header {
        match &*lock(&self.0) {
            Slot::New(header) => header.clone(),
            Slot::Stored(writer) => writer.session().header().clone(),
            Slot::Left(session) => session.header().clone(),
        }
    }

    fn title(&self) -> Option<String> {
        match &*lock(&self.0) {
            Slot::New(_) => None,
            Slot::Stored(writer) => writer.session().display_title(),
            Slot::Left(session) => session.display_title(),
        }
    }

    fn capture(&self) -> Capture {
        capture(&lock(&self.0).session())
    }
}

/// Work that blocks, done one piece after the other in the order in which it
/// was asked for: writing to sessions, letting them go and opening them.
///
/// Not bounded: each piece answers something that a person did, or the end of
/// an answer, and the screen that asks must not wait.
pub(super) struct InOrder(mpsc::UnboundedSender<Work>);

type Work = Box<dyn FnOnce() + Send>;

impl InOrder {
    /// Whoever waits for `tasks` waits for all that was asked for.
    pub(super) fn start(tasks: &TaskTracker) -> Self {
        let (asked, mut next) = mpsc::unbounded_channel::<Work>();
        tasks.spawn(async move {
            while let Some(work) = next.recv().await {
                // One that panicked has told so already.
                let _ = tokio::task::spawn_blocking(work).await;
            }
        });
        Self(asked)
    }

    pub(super) fn run(&self, work: impl FnOnce() + Send + 'static) {
        // It is taken for as long as this is there.
        let _ = self.0.send(Box::new(work));
    }
}

impl Runtime {
    /// Writes to the log. Once begun a write is never called off: what is in
    /// the log is what happened.
    pub(super) fn log(&mut self, generation: Generation, entries: Vec<Entry>) {
        let slot = Arc::clone(&self.slot);
        let draft = self.drafts.held();
        let Services { home, library, .. } = self.services.clone();
        let done = self.done.clone();
        self.in_order.run(move || {
            // First the draft, as one that departed: whatever a crash leaves
            // behind tells whether its message reached the log. What can't be
            // saved here is tried again, and told then.
            let _ = draft.save();
            let is_new = matches!(&*lock(&slot), Slot::New(_));
            let logged = lock(&slot).append(&home, entries);
            let logged = logged.map_err(|error| failure(error.code(), error));
            let is_stored = logged.is_ok();
            if is_new && is_stored {
                library.attach(Arc::new(Live(Arc::clone(&slot))));
            }
            let event = ChatEvent::Logged(generation, logged);
            let _ = done.blocking_send(Done::Chat(event));
            if is_stored {
                note(&library, &home, &slot);
            }
        });
    }

    /// Opens another session, to go on in it. The one before stays as it is. A
    /// new one is of the directory of the one that is open.
    pub(super) fn open(&self, place: Destination) {
        let home = self.services.home.clone();
        let slot = Arc::clone(&self.slot);
        let done = self.done.clone();
        let left = self.drafts.left();
        let models = self.services.models.clone();
        let all = self.all.clone();
        self.in_order.run(move || {
            // Nobody goes on in it any more.
            if all.is_cancelled() {
                return;
            }
            let cwd = || lock(&slot).session().header().cwd.clone();
            let opened = match &place {
                Destination::Stored(id) => left.settle(id).and_then(|()| open_session(&home, id)),
                Destination::New => begun_with(&home, cwd(), None),
                Destination::Citing(cited) => begun_with(&home, cwd(), Some(cited.clone())),
            };
            let opened = opened.map(|opened| Box::new(with_its_model(opened, &models)));
            let opened = opened.map_err(|error| failure(error.code(), error));
            let _ = done.blocking_send(Done::Opened(place, opened));
        });
    }

    /// Goes on in a session that was opened, and lets the one before go. What
    /// is written from now on goes there.
    pub(super) fn switch(&mut self, hold: Hold) {
        let is_stored = matches!(hold.slot, Slot::Stored(_));
        let slot = Arc::new(Mutex::new(hold.slot));
        let before = std::mem::replace(&mut self.slot, Arc::clone(&slot));
        let draft_before = self.drafts.hold(hold.draft_file);
        let library = self.services.library.clone();
        let left = self.drafts.left();
        let done = self.done.clone();
        self.in_order.run(move || {
            if let Err(error) = left.add(draft_before) {
                let failed = Notice::Failed(failure(error.code(), error));
                // When nobody takes it, the end of the program tells.
                let _ = done.try_send(Done::Notice(failed));
            }
            let live = Live(before);
            library.detach(&live.header().id);
            // Others may still hold it, and read it as it was.
            lock(&live.0).let_go();
            if is_stored {
                library.attach(Arc::new(Live(slot)));
            }
        });
    }

    /// Puts away an answer that can't be saved in its session.
    pub(super) fn put_aside(&self, answer: String) {
        let done = self.done.clone();
        self.in_order.run(move || {
            let place = recoverable("answer", &answer);
            let told = format!("the answer that could not be saved: {place}");
            let _ = done.blocking_send(Done::Notice(Notice::Info(told)));
        });
    }

    /// Makes the session that is written in part of the library, where it is
    /// stored already.
    pub(super) fn attach(&self) {
        if matches!(&*lock(&self.slot), Slot::Stored(_)) {
            let live = Live(Arc::clone(&self.slot));
            self.services.library.attach(Arc::new(live));
        }
    }
}

/// Lets the library know what was just written, so that no one has to read
/// the log for it.
pub(super) fn note(library: &Library, home: &Home, slot: &Mutex<Slot>) {
    let logs = StoredLogs::new(home.clone());
    // Both at the same moment: what is written later has another stamp.
    let slot = lock(slot);
    let session = slot.session();
    let damage = slot.damage().cloned();
    let log = logs.log_file(session.id());
    drop(slot);
    if let Some(log) = log {
        let facts = Facts::of(&session, damage.as_ref(), log.stamp.written_at());
        library.record(&log, &facts);
    }
}

/// Begins a session in a directory, or takes up what a program that is gone
/// was writing there.
///
/// # Errors
/// Those of [`DraftFile::hold`].
pub fn begin(
    home: &Home,
    cwd: Option<String>,
) -> Result<(Slot, DraftFile, Option<KeptDraft>), StoreError> {
    let left = DraftFile::adopt::<KeptDraft>(home, cwd.as_deref());
    let (file, kept) = match left {
        Some((file, kept)) => (file, Some(kept)),
        None => (hold_new_draft(home, cwd.clone())?, None),
    };
    let slot = new_slot(&file, cwd);
    let draft = kept.map(|kept| kept.left_in(&slot.session()));
    Ok((slot, file, draft))
}

/// The model that a session was last asked of, where it can be asked; else, in
/// words, why it is not gone on with. `None` for a session that asked none.
pub(crate) fn its_model(session: &Session, models: &Models) -> Option<Result<ModelRoute, String>> {
    let route = last_asked(session)?;
    if models.provider(&route.provider).is_ok() {
        return Some(Ok(route));
    }
    let ModelRoute { provider, model } = route;
    Some(Err(format!(
        "{provider}/{model} answered here last and is not in the settings now: the model of the \
         settings answers"
    )))
}

/// Goes on with the model that the session was last asked of, or tells why
/// not.
fn with_its_model(mut opened: Opened, models: &Models) -> Opened {
    match its_model(&opened.session, models) {
        None => {}
        Some(Ok(route)) => opened.chosen = Some(models.choose(&route)),
        Some(Err(gone)) => {
            let notes = [opened.note.take(), Some(gone)];
            opened.note = Some(notes.into_iter().flatten().collect::<Vec<_>>().join("; "));
        }
    }
    opened
}

/// Begins a session in a directory; its draft cites another one, if one is
/// given. What other programs were writing there stays theirs.
pub(crate) fn begun_with(
    home: &Home,
    cwd: Option<String>,
    cited: Option<Reference>,
) -> Result<Opened, StoreError> {
    let draft_file = hold_new_draft(home, cwd.clone())?;
    let slot = new_slot(&draft_file, cwd);
    let draft = cited.map(|cited| {
        let parts = vec![Part::Element(cited.into()), Part::Text(" ".to_owned())];
        KeptDraft::from(Draft { parts })
    });
    if let Some(draft) = &draft {
        draft_file.save(draft)?;
    }
    Ok(Opened {
        session: slot.session(),
        draft,
        note: None,
        chosen: None,
        hold: Hold { slot, draft_file },
    })
}

/// The draft of a session that nobody has begun yet.
fn hold_new_draft(home: &Home, cwd: Option<String>) -> Result<DraftFile, StoreError> {
    let id = SessionId::from(uuid::Uuid::now_v7().to_string());
    DraftFile::hold(home, id, cwd)
}

/// The session that a draft is of, begun now.
fn new_slot(draft: &DraftFile, cwd: Option<String>) -> Slot {
    Slot::New(Header::new(draft.session_id().clone(), Millis::now(), cwd))
}

/// Opens a session for writing, with its draft.
pub(crate) fn open_session(home: &Home, id: &SessionId) -> Result<Opened, StoreError> {
    let (mut writer, recovered) = SessionWriter::open(home, id)?;
    let cwd = recovered.session.header().cwd.clone();
    let draft_file = DraftFile::hold(home, id.clone(), cwd)?;
    let kept = draft_file.load::<KeptDraft>();
    let mut notes: Vec<String> = log::damage(&recovered.notices)
        .map(|damage| damage.to_string())
        .into_iter()
        .collect();
    // Without it the session can still be read, and gone on in later.
    match end_turn(&mut writer) {
        // The conversation itself shows how it ended; a log that lost something
        // is told of with what was made of it.
        Ok(Some(outcome)) if !notes.is_empty() => {
            notes.push(format!("its last turn is ended as {outcome}"));
        }
        Ok(_) => {}
        Err(error) => notes.push(format!("its last turn could not be ended: {error}")),
    }
    let session = writer.session().clone();
    Ok(Opened {
        draft: kept.map(|kept| kept.left_in(&session)),
        session,
        note: (!notes.is_empty()).then(|| notes.join("; ")),
        chosen: None,
        hold: Hold {
            slot: Slot::Stored(Box::new(writer)),
            draft_file,
        },
    })
}

/// Ends a turn that was left open by a program that ended itself, and tells how.
fn end_turn(writer: &mut SessionWriter) -> Result<Option<String>, StoreError> {
    let end = unfinished(writer.session());
    if end.is_empty() {
        return Ok(None);
    }
    let outcome = end.iter().rev().find_map(|payload| match payload {
        Payload::LogOnly { kind, data } if kind == TURN_END => {
            Some(data.get("outcome")?.as_str()?.to_owned())
        }
        _ => None,
    });
    let now = Millis::now();
    let end = end.into_iter();
    writer.append_all(end.map(|payload| NewEvent::plain(now, payload)).collect())?;
    Ok(outcome)
}
