//! What was seen of a turn, told as it comes, and how it ended.

use super::voice::Voice;
use crate::chat::{Chat, ChatEvent, Failure, NO_ANSWER, Notice, RequestHeader};
use crate::cli::{CliError, exit};
use crate::model::{Delta, FinishReason};
use crate::reference::frame::PreparedReference;
use crate::reference::resolver::PreparedStep;
use crate::session::SessionId;

/// What was seen of a turn.
pub(super) struct Seen<'o> {
    voice: Voice<'o>,
    /// The session was not stored before.
    is_new: bool,
    cited: Vec<PreparedReference>,
    is_asked: bool,
    has_text: bool,
    finish: Option<FinishReason>,
    /// Why the message did not go.
    refused: Option<Failure>,
    /// Why the model gave no whole answer.
    failed: Option<CliError>,
    /// Why nothing can be told any more.
    lost: Option<CliError>,
    /// The signal that called it off.
    stopped: Option<i32>,
}

impl<'o> Seen<'o> {
    pub(super) fn new(voice: Voice<'o>, is_new: bool) -> Self {
        Self {
            voice,
            is_new,
            cited: Vec::new(),
            is_asked: false,
            has_text: false,
            finish: None,
            refused: None,
            failed: None,
            lost: None,
            stopped: None,
        }
    }

    /// Whether nothing can be told any more.
    pub(super) fn is_lost(&self) -> bool {
        self.lost.is_some()
    }

    /// Takes note of what happens to the conversation. What comes after it was
    /// called off is in no log, so it is not told.
    pub(super) fn event(&mut self, event: &ChatEvent) {
        if self.stopped.is_some() {
            return;
        }
        match event {
            ChatEvent::Prepared(_, Ok(PreparedStep::Enter { contexts, .. })) => {
                let cited = contexts.iter().flat_map(|context| &context.references);
                self.cited = cited.cloned().collect();
            }
            ChatEvent::Delta(_, delta) => self.delta(delta),
            // The first end is the one that counts.
            ChatEvent::AnswerEnded(_, Some(error)) => {
                self.failed.get_or_insert(error.clone().into());
            }
            _ => {}
        }
    }

    fn delta(&mut self, delta: &Delta) {
        self.tell(|voice| match delta {
            Delta::Text(text) => voice.text(text),
            Delta::Reasoning(text) => voice.reasoning(text),
            Delta::Usage(usage) => voice.usage(*usage),
            Delta::Waiting(waiting) => voice.waiting(waiting),
            Delta::Finished(_) => Ok(()),
        });
        match delta {
            Delta::Text(text) => self.has_text |= !text.is_empty(),
            Delta::Finished(reason) => self.finish = Some(*reason),
            _ => {}
        }
    }

    /// The message is in the log, and the model is asked.
    pub(super) fn asked(&mut self, header: &RequestHeader, id: &SessionId) {
        self.is_asked = true;
        let is_new = self.is_new;
        let cited = std::mem::take(&mut self.cited);
        self.tell(|voice| {
            voice.session(id, is_new)?;
            cited.iter().try_for_each(|cited| voice.reference(cited))?;
            voice.request(&header.config().route(), header.turn)
        });
    }

    /// Something that the conversation or the runtime says.
    pub(super) fn notice(&mut self, notice: &Notice) {
        match notice {
            Notice::Failed(failure) if !self.is_asked => self.refused = Some(failure.clone()),
            Notice::ByEstimate(failure) if !self.is_asked => {
                let Failure { code, message } = failure.clone();
                let message =
                    format!("{message}; that is an estimate: --send-anyway sends it all the same");
                self.refused = Some(Failure { code, message });
            }
            Notice::Failed(Failure { message, .. })
            | Notice::ByEstimate(Failure { message, .. })
            | Notice::Info(message)
            | Notice::Waiting(message) => self.say(message),
        }
    }

    /// Something to know that stops nothing.
    pub(super) fn say(&mut self, message: &str) {
        self.tell(|voice| voice.notice(message));
    }

    /// It is called off by this signal.
    pub(super) fn stopped_by(&mut self, number: i32) {
        self.stopped.get_or_insert(number);
    }

    /// Tells something, as long as somebody can hear it.
    fn tell(&mut self, tell: impl FnOnce(&mut Voice<'o>) -> Result<(), CliError>) {
        if self.lost.is_none() {
            self.lost = tell(&mut self.voice).err();
        }
    }

    /// How the turn ended, now that all of it that can be is in the log.
    pub(super) fn outcome(mut self, chat: &Chat) -> Result<(), CliError> {
        self.tell(Voice::end);
        if let Some(why) = chat.unsaved_reason() {
            let message = format!(
                "{}; the answer is not in the session, and stands only where it was printed",
                why.message
            );
            return Err(CliError::new(&why.code, message));
        }
        if let Some(number) = self.stopped {
            return Err(CliError::cancelled(number, stopped(chat, self.has_text)));
        }
        if let Some(lost) = self.lost {
            return Err(lost);
        }
        if let Some(failed) = self.failed {
            return Err(failed);
        }
        if let Some(refused) = self.refused.filter(|_| !self.is_asked) {
            return Err(refused.into());
        }
        let Some(finish) = self.finish.filter(|_| self.has_text) else {
            return Err(CliError::new(
                NO_ANSWER,
                "the model ended its turn without an answer; ask in another way",
            ));
        };
        self.voice.finished(finish)?;
        match finish {
            FinishReason::Stop => Ok(()),
            FinishReason::Length => Err(CliError::new(
                exit::CUT,
                "the answer reached the limit of its length and breaks off; what came is in \
                 the session; let the model go on, or raise `max-output`",
            )),
        }
    }
}

/// What is told of a turn that was called off before it began.
pub(super) const CALLED_OFF: &str = "called off; nothing was sent";

/// What is left of a turn that was called off.
fn stopped(chat: &Chat, has_text: bool) -> String {
    let session = chat.session();
    let id = session.id();
    match (session.captured_through().is_some(), has_text) {
        (false, _) => CALLED_OFF.to_owned(),
        (true, true) => format!("called off; what came of the answer is kept in session {id}"),
        (true, false) => format!("called off before an answer came; session {id} has the message"),
    }
}
