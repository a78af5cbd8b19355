//! One turn, driven to its end: the conversation and the runtime of the screen,
//! with signals in place of keys.

use tokio::signal::unix::SignalKind;
use tokio::sync::mpsc;

use super::seen::{CALLED_OFF, Seen};
use super::voice::Voice;
use crate::chat::{Chat, ChatEvent, Draft, Effect, ReviewPolicy};
use crate::cli::CliError;
use crate::model::{Chosen, Delta, Provider};
use crate::runtime::{Done, Job, Runtime, Services, Slot};
use crate::signals::Ends;
use crate::store::DraftFile;

/// A turn under way.
pub(super) struct Turn<'o> {
    chat: Chat,
    runtime: Runtime,
    done: mpsc::Receiver<Done>,
    signals: Ends,
    seen: Seen<'o>,
    /// It was called off because nobody can be told of it.
    is_left: bool,
}

impl<'o> Turn<'o> {
    /// A turn in the session of `slot`. `despite_estimates` sends also what is
    /// too long by an estimate. Must be called within tokio.
    pub(super) fn start(
        services: Services,
        slot: Slot,
        draft_file: DraftFile,
        chosen: Chosen,
        despite_estimates: bool,
        voice: Voice<'o>,
    ) -> Result<Self, CliError> {
        let signals = Ends::listen(&CALLING_OFF).map_err(|error| {
            CliError::new("NO_SIGNALS", format!("signals can't be heard: {error}"))
        })?;
        let is_new = matches!(slot, Slot::New(_));
        let chat = Chat::new(slot.session(), chosen, ReviewPolicy::Never)
            .despite_estimates(despite_estimates);
        let (runtime, done) = Runtime::start_alone(services, slot, draft_file);
        Ok(Self {
            chat,
            runtime,
            done,
            signals,
            seen: Seen::new(voice, is_new),
            is_left: false,
        })
    }

    /// Sends a message to a model of this provider and tells what comes of it,
    /// until its turn is in the log. Without a key there is nothing to ask, and
    /// nothing to keep.
    pub(super) async fn run(
        mut self,
        draft: Draft,
        provider: &dyn Provider,
    ) -> Result<(), CliError> {
        tokio::select! {
            biased;
            number = self.signals.recv() => {
                return Err(CliError::cancelled(number, CALLED_OFF));
            }
            key = provider.get_key() => key?,
        }
        self.take(ChatEvent::Send(draft));
        while self.chat.is_busy() {
            tokio::select! {
                biased;
                number = self.signals.recv() => {
                    self.seen.stopped_by(number);
                    self.take(ChatEvent::Cancel);
                }
                Some(done) = self.done.recv() => match done {
                    Done::Chat(event) => self.take(event),
                    Done::Notice(notice) => self.seen.notice(&notice),
                    // Nothing else was asked for.
                    _ => {}
                },
            }
        }
        let Self {
            chat,
            runtime,
            done,
            mut seen,
            ..
        } = self;
        drop(done);
        for failure in runtime.finish().await {
            seen.say(&failure.message);
        }
        seen.outcome(&chat)
    }

    /// Lets the conversation take an event, and does what it wants.
    fn take(&mut self, event: ChatEvent) {
        self.seen.event(&event);
        // What the screen says of these in its own words is told already.
        let is_told = matches!(
            event,
            ChatEvent::Delta(_, Delta::Waiting(_)) | ChatEvent::AnswerEnded(..)
        );
        let effects = self.chat.update(event);
        // The outcome tells of an answer that could not be written.
        let is_told = is_told || self.chat.unsaved_reason().is_some();
        for effect in effects {
            match effect {
                // The prompt is where it came from.
                Effect::ClearComposer | Effect::RestoreDraft(_) => {}
                Effect::Say(_) if is_told => {}
                Effect::Say(notice) => self.seen.notice(&notice),
                Effect::Ask(generation, header, surface) => {
                    self.seen.asked(&header, self.chat.session().id());
                    let ask = Effect::Ask(generation, header, surface);
                    self.runtime.run(Job::Chat(ask));
                }
                other => self.runtime.run(Job::Chat(other)),
            }
        }
        // Nobody would read the rest of the answer.
        if self.seen.is_lost() && self.chat.is_busy() && !self.is_left {
            self.is_left = true;
            self.take(ChatEvent::Cancel);
        }
    }
}

/// The signals that call a turn off.
const CALLING_OFF: [SignalKind; 3] = [
    SignalKind::hangup(),
    SignalKind::interrupt(),
    SignalKind::terminate(),
];
