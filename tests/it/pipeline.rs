//! A turn carried out for real: the conversation and the runtime drive each
//! other over a store, a library and the offline model, without a terminal.

mod choosing;
mod compacting;
mod drafts;
mod finding;
mod naming;
mod searching;
mod sent;
mod trouble;
mod turn;
mod turning;

use std::path::Path;
use std::time::Duration;

use ibid::chat::{
    Chat, ChatEvent, Departed, Draft, Effect, Element, KeptDraft, Notice, Part, ReviewPolicy, View,
};
use ibid::library::{Library, StoredLogs};
use ibid::model::offline::Offline;
use ibid::model::{Chosen, Models};
use ibid::reference::{ReferenceConfig, ReferenceSettings};
use ibid::runtime::{Destination, Done, Job, Opened, Runtime, Services, Slot, begin};
use ibid::session::{Block, Session};
use ibid::session::{Header, Message, MessageKind, Millis, NewEvent, Payload, Role, Source};
use ibid::store::{DraftFile, Home, SessionWriter};
use tempfile::TempDir;
use tokio::sync::mpsc;
use tokio::time::timeout;

/// The budget of a source in bytes.
const BUDGET: u64 = 2_000;
/// Longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(20);

/// A home with the short session `flaky` and the session `long` in it.
struct Place {
    dir: TempDir,
    home: Home,
}

impl Place {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path().join("home"));
        write(
            &home,
            "flaky",
            &["why is it flaky?", "the pool is too small"],
        );
        let story = "a long story ".repeat(400);
        write(&home, "long", &[&story, "its end"]);
        Self { dir, home }
    }

    fn services(&self, a_word: Duration) -> Services {
        let logs = std::sync::Arc::new(StoredLogs::new(self.home.clone()));
        let library = Library::open(logs, Some(self.home.cache_file()));
        self.services_over(library, a_word)
    }

    fn services_over(&self, library: Library, a_word: Duration) -> Services {
        let models = Models::new().with(std::sync::Arc::new(Offline::new(a_word)));
        let config = ReferenceConfig::new(ReferenceSettings {
            max_reference_bytes: Some(BUDGET),
            ..ReferenceSettings::default()
        })
        .unwrap();
        Services::new(self.home.clone(), library, models, config)
    }

    fn spills(&self) -> Vec<String> {
        files_in(&self.home.spill_dir())
    }

    /// The session as its log tells.
    fn stored(&self, session: &Session) -> Session {
        let file = self.home.session_file(session.id());
        ibid::store::log::read_session(&file).unwrap().session
    }
}

/// The offline model, chosen.
fn offline() -> Chosen {
    Models::new()
        .with(std::sync::Arc::new(Offline::default()))
        .choose(&Offline::route())
}

/// The files in a folder and below.
fn files_in(folder: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    entries
        .flat_map(|entry| {
            let entry = entry.unwrap();
            if entry.path().is_dir() {
                files_in(&entry.path())
            } else {
                vec![entry.file_name().to_string_lossy().into_owned()]
            }
        })
        .collect()
}

/// Stores a session in which a person and a model take turns.
fn write(home: &Home, id: &str, texts: &[&str]) {
    let header = Header::new(id, Millis(1), Some("/work".to_owned()));
    let events = texts.iter().enumerate().map(|(place, text)| {
        let payload = if place % 2 == 0 {
            Payload::user(Message::person(*text))
        } else {
            let source = Source::model("offline", "offline");
            let message = Message::new(Role::Assistant, source, vec![Block::text(*text)]);
            Payload::step(MessageKind::Assistant, message, 1, 1)
        };
        NewEvent::plain(Millis(2), payload)
    });
    SessionWriter::create(home, header, events.collect()).unwrap();
}

/// A conversation and the runtime that carries out what it wants.
struct Bench {
    chat: Chat,
    runtime: Runtime,
    done: mpsc::Receiver<Done>,
    /// What stands in the composer, as far as the conversation changes it.
    composer: Option<Draft>,
    told: Vec<Notice>,
}

impl Bench {
    fn start(place: &Place, review: ReviewPolicy) -> Self {
        Self::at_pace(place, review, Duration::ZERO)
    }

    fn at_pace(place: &Place, review: ReviewPolicy, a_word: Duration) -> Self {
        let (slot, file, _) = begin(&place.home, Some("/work".to_owned())).unwrap();
        Self::over(place.services(a_word), slot, file, review)
    }

    fn over(services: Services, slot: Slot, file: DraftFile, review: ReviewPolicy) -> Self {
        let session = slot.session();
        let (runtime, done) = Runtime::start(services, slot, file);
        Self {
            chat: Chat::new(session, offline(), review),
            runtime,
            done,
            composer: None,
            told: Vec::new(),
        }
    }

    fn on(&mut self, event: ChatEvent) {
        for effect in self.chat.update(event) {
            match effect {
                Effect::ClearComposer => self.composer = None,
                Effect::RestoreDraft(draft) => self.composer = Some(draft),
                Effect::Say(notice) => self.told.push(notice),
                other => self.runtime.run(Job::Chat(other)),
            }
        }
    }

    fn send(&mut self, draft: Draft) {
        self.composer = Some(draft.clone());
        self.on(ChatEvent::Send(draft));
    }

    async fn next(&mut self) -> Done {
        timeout(PATIENCE, self.done.recv()).await.unwrap().unwrap()
    }

    /// Takes outcomes until the conversation is as wanted.
    async fn until(&mut self, is_there: impl Fn(&Chat) -> bool) {
        while !is_there(&self.chat) {
            if let Done::Chat(event) = self.next().await {
                self.on(event);
            }
        }
    }

    async fn until_idle(&mut self) {
        self.until(|chat| !chat.is_busy()).await;
    }

    async fn until_reviewed(&mut self) {
        self.until(|chat| matches!(chat.outgoing(), View::Review { .. }))
            .await;
    }

    async fn open(&mut self, id: &str) -> Result<Box<Opened>, ibid::chat::Failure> {
        self.runtime.run(Job::Open(Destination::Stored(id.into())));
        loop {
            if let Done::Opened(_, opened) = self.next().await {
                return opened;
            }
        }
    }

    /// Ends the program in the order in which it ends.
    async fn end(self) {
        assert_eq!(self.end_with_failures().await, []);
    }

    /// Ends the program, and gives what could not be saved.
    async fn end_with_failures(mut self) -> Vec<ibid::chat::Failure> {
        self.done.close();
        while self.done.try_recv().is_ok() {}
        timeout(PATIENCE, self.runtime.finish()).await.unwrap()
    }

    /// The codes of the failures that the person was told.
    fn codes(&self) -> Vec<&str> {
        let told = self.told.iter();
        told.filter_map(|notice| match notice {
            Notice::Failed(failure) | Notice::ByEstimate(failure) => Some(&*failure.code),
            Notice::Info(_) | Notice::Waiting(_) => None,
        })
        .collect()
    }
}

/// A draft that cites a session.
fn citing(id: &str) -> Draft {
    Draft {
        parts: vec![
            Part::Text("see ".to_owned()),
            Part::Element(Element::Mention {
                session_id: id.into(),
                label: id.to_uppercase(),
            }),
        ],
    }
}

fn texts(session: &Session) -> Vec<String> {
    session.derive_messages().map(Message::text).collect()
}

fn kinds(session: &Session) -> Vec<&str> {
    let events = session.events().iter();
    events.map(|event| event.payload.type_name()).collect()
}
