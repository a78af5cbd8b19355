//! The state of the screen, and how keys and answers change it.
//!
//! [`App::update`] never waits, reads a file or looks at a clock: what takes
//! time goes out as a [`Job`] and comes back as a [`Msg`].

mod choosing;
mod citing;
mod commanding;
pub(super) mod composing;
pub(super) mod drawing;
mod keys;
mod looking;
mod naming;
mod picking;
#[cfg(test)]
mod tests;
mod turning;

use naming::Naming;

use super::editor::Editor;
use super::history::History;
use super::keymap::Layer;
use super::listed::Listed;
use super::pane::Pane;
use super::theme::Theme;
use super::transcript::TranscriptState;
use crate::chat::{Chat, ChatEvent, Effect, Failure, KeptDraft, Notice, ReviewPolicy, TitlePolicy};
use crate::model::Chosen;
use crate::runtime::{Destination, Done, Job, Opened};
use crate::session::{Millis, Seq, Session};

/// What happens to the screen.
#[derive(Debug)]
pub enum Msg {
    /// A key, the mouse, a paste or a new size.
    Terminal(crossterm::event::Event),
    /// A job is done, or a part of it.
    Done(Done),
    /// Time passed; asked for by [`App::wants_tick`].
    Tick,
    /// There is nothing else to do; asked for by [`App::has_work`].
    Work,
    /// The external editor was closed; `None` when it left no text.
    Edited(Result<Option<String>, String>),
}

/// What the screen wants done.
#[derive(Debug)]
pub enum Cmd {
    /// Work for the runtime.
    Job(Job),
    /// Hand the terminal to an editor with this text.
    Edit(String),
    /// Stop until the shell continues the program.
    Suspend,
    /// End the program.
    Quit,
}

/// What the app is set up with.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The model that answers first.
    pub chosen: Chosen,
    /// When a citing message is shown before it goes.
    pub review: ReviewPolicy,
    /// Where titles come from.
    pub titles: TitlePolicy,
    /// How many sessions a message can cite.
    pub max_references: usize,
    /// The colours.
    pub theme: Theme,
    /// The time zone that moments are told in.
    pub zone: jiff::tz::TimeZone,
}

/// The popup under an `@` or a `/`.
#[derive(Debug)]
struct Popup {
    /// The byte of the draft where that stands.
    start: usize,
    listed: Listed,
}

/// The `@` or `/` whose popup was closed by hand.
#[derive(Clone, Copy, Debug)]
struct Dismissed {
    start: usize,
    /// The draft's revision then.
    revision: u64,
}

/// What the last frame showed where: what the mouse can point at, and how wide
/// the composer is.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Areas {
    pub(super) composer: ratatui::layout::Rect,
    pub(super) rows: ratatui::layout::Rect,
    /// The first row of the composer's text that is shown.
    pub(super) composer_top: usize,
}

/// What the key that ends the program does when it is pressed once more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Armed {
    /// Nothing by itself.
    #[default]
    No,
    /// It ends the program.
    Quit,
    /// It ends the program also when an answer is not saved.
    Loss,
}

/// Everything the screen shows.
#[derive(Debug)]
pub struct App {
    pub(super) setup: Setup,
    pub(super) chat: Chat,
    pub(super) editor: Editor,
    pub(super) history: History,
    pub(super) transcript: TranscriptState,
    pub(super) notice: Option<Notice>,
    pub(super) areas: Areas,
    pub(super) now: Millis,
    popup: Option<Popup>,
    dismissed: Option<Dismissed>,
    /// The draft's revision that is sent as a message, whatever it looks like.
    as_message: Option<u64>,
    /// The list over the conversation: of sessions, of what was said, of models,
    /// or of what can be gone back to.
    list: Option<Listed>,
    /// The session of the list that is being given a title.
    naming: Option<Naming>,
    /// A session that is looked at, or the draft's references.
    pane: Option<Pane>,
    /// A session that was looked at when the draft's references came over it.
    under: Option<Pane>,
    /// The session that is being opened, to go on in it.
    opening: Option<Destination>,
    help: Option<usize>,
    armed: Armed,
    /// Esc had nothing to do when it was last pressed, which was the last key.
    escaped: bool,
    /// The person was told that going on elsewhere leaves an answer unsaved.
    warned: bool,
    /// Whether a pane's search may have text left to look through.
    search_goes_on: bool,
    /// What was last given away to be kept: the composer's revision, the
    /// message on its way to the log, and the one that it takes the place of.
    kept: (u64, Option<String>, Option<Seq>),
    /// The columns of the screen.
    width: u16,
}

impl App {
    /// A screen over a session, with a draft that was left behind.
    #[must_use]
    pub fn new(setup: Setup, session: Session, draft: Option<KeptDraft>) -> Self {
        let mut editor = Editor::new();
        let mut chat =
            Chat::new(session, setup.chosen.clone(), setup.review).with_titles(setup.titles);
        if let Some(KeptDraft { typed, revises, .. }) = draft {
            editor.set(typed);
            if let Some(seq) = revises {
                chat.go_on_revising(seq);
            }
        }
        let mut app = Self {
            kept: (editor.revision(), None, chat.revising()),
            chat,
            setup,
            editor,
            history: History::default(),
            transcript: TranscriptState::default(),
            notice: None,
            areas: Areas::default(),
            now: Millis(0),
            popup: None,
            dismissed: None,
            as_message: None,
            list: None,
            naming: None,
            pane: None,
            under: None,
            opening: None,
            help: None,
            armed: Armed::No,
            escaped: false,
            warned: false,
            search_goes_on: false,
            width: 80,
        };
        app.history = History::of(app.chat.session());
        app
    }

    /// The layer that has the keyboard, derived from what is shown.
    #[must_use]
    pub fn layer(&self) -> Layer {
        if self.help.is_some() {
            return Layer::Help;
        }
        if let Some(pane) = &self.pane {
            return if pane.is_searching() {
                Layer::PaneSearch
            } else {
                Layer::Pane
            };
        }
        if self.naming.is_some() {
            return Layer::Naming;
        }
        match self.list {
            Some(Listed::Sessions(_)) => return Layer::Sessions,
            Some(Listed::Texts(_)) => return Layer::Texts,
            Some(Listed::Choices(_)) => return Layer::Choices,
            Some(Listed::Models(_)) => return Layer::Models,
            Some(Listed::Commands(_)) | None => {}
        }
        if self.popup.is_some() {
            return Layer::Popup;
        }
        Layer::Composer
    }

    /// Takes one message and tells what to do.
    pub fn update(&mut self, msg: Msg, now: Millis) -> Vec<Cmd> {
        self.now = now;
        let mut cmds = match msg {
            Msg::Terminal(event) => self.terminal_event(event),
            Msg::Done(done) => self.done(done),
            Msg::Tick => Vec::new(),
            Msg::Work => {
                self.search_on();
                Vec::new()
            }
            Msg::Edited(text) => self.edited(text),
        };
        cmds.extend(self.follow_token());
        // What is written to the log comes after the draft that it is of.
        let kept = self.keep_draft().into_iter();
        kept.chain(cmds).collect()
    }

    /// The session that is shown, as far as its log is written.
    #[must_use]
    pub fn session(&self) -> &Session {
        self.chat.session()
    }

    /// Draws everything. Decides nothing.
    pub fn draw(&mut self, frame: &mut ratatui::Frame<'_>) {
        super::view::draw(self, frame);
    }

    /// Whether something on the screen moves by time alone.
    #[must_use]
    pub fn wants_tick(&self) -> bool {
        self.chat.is_busy()
            || self.opening.is_some()
            || self.listed().is_some_and(Listed::is_moving)
            || self.pane.as_ref().is_some_and(Pane::is_preparing)
    }

    /// Whether a long search has a part left to do.
    #[must_use]
    pub fn has_work(&self) -> bool {
        self.pane.is_some() && self.search_goes_on
    }

    fn done(&mut self, done: Done) -> Vec<Cmd> {
        match done {
            Done::Chat(event) => self.chat(event),
            Done::Found(query, found) => self.found(&query, found),
            Done::Searched(query, found) => self.searched(&query, found),
            Done::LibraryChanged => self.ask_again(),
            Done::TextsRead => match self.listed() {
                Some(Listed::Texts(_)) => self.ask_again(),
                _ => Vec::new(),
            },
            Done::Models(offered) => self.models_known(offered),
            Done::ModelsTold(told) => self.models_told(*told),
            Done::Looked(id, outcome) => {
                self.looked(&id, &outcome);
                Vec::new()
            }
            Done::Opened(place, outcome) => self.opened(&place, outcome),
            Done::Notice(notice) => {
                self.notice = Some(notice);
                Vec::new()
            }
        }
    }

    /// Passes an event on to the conversation and carries out what concerns
    /// the screen.
    fn chat(&mut self, event: ChatEvent) -> Vec<Cmd> {
        let mut cmds = Vec::new();
        for effect in self.chat.update(event) {
            match effect {
                Effect::ClearComposer => {
                    let left = self.history.kept().cloned();
                    self.history.push(self.editor.take());
                    // The draft that was left to send an earlier prompt again.
                    if let Some(left) = left {
                        self.editor.set(left);
                    }
                    self.dismissed = None;
                    self.transcript.end();
                }
                Effect::RestoreDraft(draft) => {
                    self.history.leave();
                    let typed_since = self.editor.take();
                    self.editor.set(draft.followed_by(typed_since));
                    self.as_message = Some(self.editor.revision());
                }
                Effect::Say(notice) => self.notice = Some(notice),
                other => cmds.push(Cmd::Job(Job::Chat(other))),
            }
        }
        self.warned &= self.chat.unsaved_answer().is_some();
        if !self.chat.is_waiting() {
            let stays = |notice: &Notice| !matches!(notice, Notice::Waiting(_));
            self.notice = self.notice.take().filter(stays);
        }
        self.sync_pane();
        cmds
    }

    /// Another session is shown from now on, unless that was given up, or this
    /// one has something under way by now.
    fn opened(&mut self, place: &Destination, outcome: Result<Box<Opened>, Failure>) -> Vec<Cmd> {
        if self.opening.as_ref() != Some(place) {
            return Vec::new();
        }
        self.opening = None;
        let opened = match outcome {
            Ok(opened) => *opened,
            Err(failure) => {
                self.notice = Some(Notice::Failed(failure));
                return Vec::new();
            }
        };
        if self.refuses_to_leave() {
            return Vec::new();
        }
        let mut last_words = vec![self.draft_job()];
        let unsaved = self.chat.unsaved_answer().filter(|text| !text.is_empty());
        last_words.extend(unsaved.map(|text| Job::PutAside(text.to_owned())));
        let (width, now) = (self.width, self.now);
        let left = self.chat(ChatEvent::Leave);
        let mut next = Self::new(self.setup.clone(), opened.session, opened.draft);
        next.chat.follow(&self.chat);
        *self = next;
        self.width = width;
        self.now = now;
        self.notice = opened.note.map(Notice::Info);
        if let Some(chosen) = opened.chosen {
            // There is nothing under way yet that it could change.
            drop(self.chat(ChatEvent::UseModel(chosen)));
        }
        last_words.push(Job::Switch(opened.hold));
        let last_words = last_words.into_iter().map(Cmd::Job);
        left.into_iter().chain(last_words).collect()
    }

    /// The draft is kept whenever it has changed, or has come nearer to the
    /// log.
    fn keep_draft(&mut self) -> Option<Cmd> {
        let departed = self.chat.departed().map(|departed| departed.message_id);
        let now = (self.editor.revision(), departed, self.chat.revising());
        if now == self.kept {
            return None;
        }
        self.kept = now;
        Some(Cmd::Job(self.draft_job()))
    }

    /// Keeps what is not in the log yet, whether it has left the composer or
    /// not.
    pub(in crate::tui) fn draft_job(&self) -> Job {
        let kept = KeptDraft {
            departed: self.chat.departed(),
            // A prompt that is only recalled is no draft.
            typed: match self.history.kept() {
                Some(draft) => draft.clone(),
                None => self.editor.draft(),
            },
            revises: self.chat.revising(),
        };
        Job::KeepDraft(self.chat.session().id().clone(), kept)
    }
}
