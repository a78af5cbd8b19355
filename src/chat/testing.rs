//! What tests of the conversation share: sources, a log and a resolver in
//! memory that answer its effects.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::HashMap;
use std::future::ready;
use std::sync::{Arc, Mutex};

use futures_util::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use super::{
    Chat, ChatEvent, Draft, Effect, Element, Failure, Generation, Notice, Part, ReviewPolicy, Step,
};
use crate::model::offline::Offline;
use crate::model::{Chosen, Delta, Models};
use crate::reference::ports::{ModelRoute, Spill, SpillRef, SpillStore, SurfaceReader};
use crate::reference::projection::{Capture, Damage, capture};
use crate::reference::resolver::{StepDecision, Target};
use crate::reference::{Cause, ReferenceConfig, ReferenceError, ReferenceSettings, Resolver};
use crate::session::{Entry, Header, Message, Millis, NewEvent, Payload, Session, SessionId};

/// The budget of a source, in bytes: a few short messages fit.
pub(crate) const BUDGET: u64 = 600;

/// Sessions to cite, and what was saved of them.
#[derive(Default)]
pub(crate) struct Sources {
    sessions: Mutex<HashMap<SessionId, Session>>,
    saved: Mutex<Vec<String>>,
    /// What can't be read of any of them.
    pub(crate) damage: Mutex<Option<Damage>>,
}

impl Sources {
    /// Adds a session in which a person said these.
    pub(crate) fn put(&self, id: &str, texts: &[&str]) {
        let mut session = Session::new(Header::new(id, Millis(1), Some("/work/api".to_owned())));
        for text in texts {
            say(&mut session, text);
        }
        let mut sessions = self.sessions.lock().unwrap();
        sessions.insert(session.id().clone(), session);
    }

    /// A person says more in a session.
    pub(crate) fn grow(&self, id: &str, text: &str) {
        let mut sessions = self.sessions.lock().unwrap();
        say(sessions.get_mut(&SessionId::from(id)).unwrap(), text);
    }

    /// A session is deleted.
    pub(crate) fn remove(&self, id: &str) {
        self.sessions.lock().unwrap().remove(&SessionId::from(id));
    }

    /// The full texts that are saved now.
    pub(crate) fn saved(&self) -> Vec<String> {
        self.saved.lock().unwrap().clone()
    }
}

fn say(session: &mut Session, text: &str) {
    let event = NewEvent::plain(Millis(2), Payload::user(Message::person(text)));
    session.append(event).unwrap();
}

impl SurfaceReader for Sources {
    fn read_surface<'a>(&'a self, id: &'a SessionId) -> BoxFuture<'a, Result<Capture, Cause>> {
        let sessions = self.sessions.lock().unwrap();
        let read = sessions.get(id).map(|session| Capture {
            damage: self.damage.lock().unwrap().clone(),
            ..capture(session)
        });
        let gone = || Arc::new(std::io::Error::other("no such session")) as Cause;
        Box::pin(ready(read.ok_or_else(gone)))
    }
}

impl SpillStore for Sources {
    fn save(&self, spill: Spill) -> BoxFuture<'_, Result<SpillRef, Cause>> {
        let mut saved = self.saved.lock().unwrap();
        let locator = format!("spill:{}:{}", spill.source, saved.len());
        saved.push(locator.clone());
        Box::pin(ready(Ok(SpillRef {
            locator,
            bytes: 1,
            retrieval_hint: String::new(),
        })))
    }

    fn discard<'a>(&'a self, spill: &'a SpillRef) -> BoxFuture<'a, ()> {
        let mut saved = self.saved.lock().unwrap();
        saved.retain(|locator| *locator != spill.locator);
        Box::pin(ready(()))
    }
}

/// Answers what a conversation asks for, when the test says so.
pub(crate) struct World {
    pub(crate) sources: Arc<Sources>,
    /// The log on disk.
    pub(crate) log: Session,
    resolver: Resolver,
    runtime: tokio::runtime::Runtime,
}

impl World {
    /// A world with the session `flaky` to cite, which is short, and the
    /// session `long`, of which a part has to be left out.
    pub(crate) fn new() -> Self {
        let sources = Arc::new(Sources::default());
        sources.put("flaky", &["why is it flaky?"]);
        sources.put("long", &[&"a long story ".repeat(100), "and its end"]);
        let config = ReferenceConfig::new(ReferenceSettings {
            max_reference_bytes: Some(BUDGET),
            ..ReferenceSettings::default()
        })
        .unwrap();
        Self {
            resolver: Resolver::new(config, sources.clone()).with_spill(sources.clone()),
            sources,
            log: Session::new(Header::new(
                "target",
                Millis(0),
                Some("/work/api".to_owned()),
            )),
            runtime: tokio::runtime::Builder::new_current_thread()
                .build()
                .unwrap(),
        }
    }

    /// A conversation over the log.
    pub(crate) fn chat(&self, review: ReviewPolicy) -> Chat {
        Chat::new(self.log.clone(), chosen(), review)
    }

    /// Prepares what the effects ask for.
    pub(crate) fn prepare(&self, effects: &[Effect]) -> ChatEvent {
        let (generation, target, message) = asked_to_prepare(effects);
        self.prepare_for(generation, &target, message)
    }

    /// Prepares a message.
    pub(crate) fn prepare_for(
        &self,
        generation: Generation,
        target: &Target,
        message: Arc<Message>,
    ) -> ChatEvent {
        let decision = StepDecision::Enter(vec![message]);
        let cancel = CancellationToken::new();
        let outcome = self.resolver.pre_step(target, decision, &cancel);
        ChatEvent::Prepared(generation, self.runtime.block_on(outcome))
    }

    /// Compares what the effects ask for with the sources as they are.
    pub(crate) fn recheck(&self, effects: &[Effect]) -> ChatEvent {
        let (generation, step) = asked_to_recheck(effects);
        let cancel = CancellationToken::new();
        let outcome = self.resolver.changed_since(&step.contexts, &cancel);
        ChatEvent::Rechecked(generation, self.runtime.block_on(outcome))
    }

    /// Writes what the effects ask for.
    pub(crate) fn log(&mut self, effects: &[Effect]) -> ChatEvent {
        let (generation, payloads) = asked_to_log(effects);
        let events = payloads
            .into_iter()
            .map(|entry| self.log.append(entry.at(Millis(5))).unwrap())
            .collect();
        ChatEvent::Logged(generation, Ok(events))
    }

    /// Removes what the effects ask for.
    pub(crate) fn discard(&self, effects: &[Effect]) {
        for effect in effects {
            if let Effect::Discard(spills) = effect {
                self.runtime.block_on(self.resolver.discard(spills.iter()));
            }
        }
    }
}

pub(crate) fn route() -> ModelRoute {
    ModelRoute {
        provider: "offline".to_owned(),
        model: "offline".to_owned(),
    }
}

/// The offline model, chosen.
pub(crate) fn chosen() -> Chosen {
    Models::new()
        .with(Arc::new(Offline::default()))
        .choose(&route())
}

/// The message that the effects want to have prepared.
pub(crate) fn asked_to_prepare(effects: &[Effect]) -> (Generation, Target, Arc<Message>) {
    effects
        .iter()
        .find_map(|effect| match effect {
            Effect::Prepare(generation, target, message) => {
                Some((*generation, target.clone(), Arc::clone(message)))
            }
            _ => None,
        })
        .unwrap_or_else(|| panic!("nothing to prepare in {:?}", told(effects)))
}

/// What the effects want to have compared with its sources.
pub(crate) fn asked_to_recheck(effects: &[Effect]) -> (Generation, Arc<Step>) {
    effects
        .iter()
        .find_map(|effect| match effect {
            Effect::Recheck(generation, step) => Some((*generation, Arc::clone(step))),
            _ => None,
        })
        .unwrap_or_else(|| panic!("nothing to recheck in {:?}", told(effects)))
}

/// What the effects want to have written.
pub(crate) fn asked_to_log(effects: &[Effect]) -> (Generation, Vec<Entry>) {
    effects
        .iter()
        .find_map(|effect| match effect {
            Effect::Log(generation, entries) => Some((*generation, entries.clone())),
            _ => None,
        })
        .unwrap_or_else(|| panic!("nothing to log in {:?}", told(effects)))
}

/// A write that fails.
pub(crate) fn disk_full(effects: &[Effect]) -> ChatEvent {
    let failure = Failure {
        code: "STORE_FULL".to_owned(),
        message: "the disk is full".to_owned(),
    };
    ChatEvent::Logged(asked_to_log(effects).0, Err(failure))
}

/// The question for an answer among the effects.
pub(crate) fn asked(effects: &[Effect]) -> Generation {
    effects
        .iter()
        .find_map(|effect| match effect {
            Effect::Ask(generation, ..) => Some(*generation),
            _ => None,
        })
        .unwrap_or_else(|| panic!("nothing asked in {:?}", told(effects)))
}

/// A piece of text of an answer.
pub(crate) fn text(generation: Generation, text: &str) -> ChatEvent {
    ChatEvent::Delta(generation, Delta::Text(text.to_owned()))
}

/// A preparation that failed.
pub(crate) fn unreadable(effects: &[Effect]) -> ChatEvent {
    let error = ReferenceError::ReadFailed {
        session_id: "flaky".into(),
        label: "Flaky".to_owned(),
        cause: Arc::new(std::io::Error::other("a bad sector")),
    };
    ChatEvent::Prepared(asked_to_prepare(effects).0, Err(error))
}

/// A draft of text and mentions: `"see @flaky, please"` cites the session
/// `flaky`; words that begin with `@` name the sessions.
pub(crate) fn draft(text: &str) -> Draft {
    let mut parts = Vec::new();
    for piece in text.split_inclusive(' ') {
        match piece.trim_end().strip_prefix('@') {
            Some(id) => {
                parts.push(Part::Element(Element::Mention {
                    session_id: id.into(),
                    label: id.to_uppercase(),
                }));
                if piece.ends_with(' ') {
                    parts.push(Part::Text(" ".to_owned()));
                }
            }
            None => parts.push(Part::Text(piece.to_owned())),
        }
    }
    Draft { parts }
}

/// The effects in words, in order.
pub(crate) fn told(effects: &[Effect]) -> Vec<String> {
    effects
        .iter()
        .map(|effect| match effect {
            Effect::Prepare(..) => "prepare".to_owned(),
            Effect::Recheck(..) => "recheck".to_owned(),
            Effect::Log(_, entries) => {
                let kinds = entries.iter().map(|entry| entry.payload().type_name());
                let kinds: Vec<&str> = kinds.collect();
                format!("log {}", kinds.join(" "))
            }
            Effect::Ask(_, _, surface) => format!("ask {}", surface.len()),
            Effect::Stop(_) => "stop".to_owned(),
            Effect::Discard(spills) => format!("discard {}", spills.len()),
            Effect::ClearComposer => "clear".to_owned(),
            Effect::RestoreDraft(draft) => format!("restore {}", draft.to_text()),
            Effect::Say(Notice::Failed(failure) | Notice::ByEstimate(failure)) => {
                format!("say {}", failure.code)
            }
            Effect::Say(Notice::Info(_) | Notice::Waiting(_)) => "say".to_owned(),
        })
        .collect()
}
