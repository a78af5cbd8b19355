//! Keeps the library as the folders are: when the program starts, whenever
//! somebody begins to look for a session, when files change, and when the index
//! of what was said is gone.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::{Done, Runtime, failure};
use crate::chat::Notice;
use crate::library::index::Index;
use crate::library::texts::TextsError;
use crate::library::{Library, Notice as LibraryNotice, Refreshed};
use crate::reference::Cause;
use crate::threads::lock;

/// How long after the library changed a question that is asked again counts
/// as asked for that reason.
const ECHO: Duration = Duration::from_secs(1);

/// How often it is told that more can be searched.
const TELL_EVERY: Duration = Duration::from_millis(200);

/// How the library stands to the folder.
#[derive(Default)]
pub(super) struct Freshness {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Looking through the folders.
    listing: Work,
    /// Reading for searching.
    reading: Work,
    standing: Standing,
    /// What the person was told last, so that nothing is told at each turn.
    told: Option<Notice>,
    /// When the library was last said to have changed.
    changed: Option<Instant>,
}

/// What has to be known of the library to answer a question.
#[derive(Clone, Default)]
pub(super) struct Standing {
    /// How many logs of how many were read, while any are.
    pub(super) indexing: Option<(usize, usize)>,
    /// How many sessions of how many were read for searching, while any are.
    pub(super) reading: Option<(usize, usize)>,
    /// Whether not all was read for searching since the start, whoever else
    /// reads meanwhile.
    is_filling: bool,
    /// How many sessions could not be taken up for searching, where that ended early.
    pub(super) unread: usize,
    /// Why the folder could not be listed the last time.
    pub(super) failed: Option<String>,
}

impl Standing {
    /// How much of what was said is known, while some of it may not be: 0 of 0
    /// where that can't be told yet.
    pub(super) fn texts(&self) -> Option<(usize, usize)> {
        let filling = self.is_filling.then_some((0, 0));
        self.reading.or(self.indexing).or(filling)
    }
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Work {
    #[default]
    Idle,
    /// It is being done.
    UnderWay,
    /// That, and once more after it.
    Wanted,
}

impl Freshness {
    pub(super) fn standing(&self) -> Standing {
        lock(&self.state).standing.clone()
    }

    /// Whether the library changed a moment ago.
    pub(super) fn just_changed(&self) -> bool {
        let changed = lock(&self.state).changed;
        changed.is_some_and(|at| at.elapsed() < ECHO)
    }
}

impl Work {
    /// Whether the work has to be begun: what is under way is done once more,
    /// because it may be past what is new.
    fn begin(&mut self) -> bool {
        let is_idle = *self == Self::Idle;
        *self = if is_idle {
            Self::UnderWay
        } else {
            Self::Wanted
        };
        is_idle
    }

    /// Whether the work that was done is wanted once more.
    fn goes_on(&mut self) -> bool {
        let goes_on = *self == Self::Wanted;
        *self = if goes_on { Self::UnderWay } else { Self::Idle };
        goes_on
    }
}

impl Runtime {
    /// Brings the library up to date at the start: first what the cache
    /// remembers, then what has to be read, then whether the cache tells the
    /// truth, then what was said.
    pub(super) fn fill_library(&self) {
        lock(&self.freshness.state).listing.begin();
        // Nothing is known yet, which is not the same as that there is nothing.
        let standing = &mut lock(&self.freshness.state).standing;
        standing.indexing = Some((0, 0));
        standing.is_filling = true;
        let mut keeper = self.keeper();
        self.tasks.spawn_blocking(move || {
            keeper.recall();
            keeper.refresh();
            keeper.verify();
            keeper.read_texts();
            lock(&keeper.freshness.state).standing.is_filling = false;
            keeper.tell_read();
        });
    }

    /// Looks for what other programs stored since. Costs little where they
    /// stored nothing.
    pub(super) fn freshen_library(&self) {
        let begins = lock(&self.freshness.state).listing.begin();
        if begins {
            let mut keeper = self.keeper();
            self.tasks.spawn_blocking(move || {
                keeper.refresh();
                keeper.read_texts();
            });
        }
    }

    pub(super) fn keeper(&self) -> Keeper {
        let library = self.services.library.clone();
        Keeper {
            shown: Arc::downgrade(&library.index()),
            library,
            freshness: Arc::clone(&self.freshness),
            done: self.done.clone(),
            cancel: self.all.child_token(),
        }
    }
}

/// Does the work, and tells what came of it. Blocks.
#[derive(Clone)]
pub(super) struct Keeper {
    library: Library,
    freshness: Arc<Freshness>,
    /// The rows that the screen was last told of.
    shown: Weak<Index>,
    done: mpsc::Sender<Done>,
    cancel: CancellationToken,
}

impl Keeper {
    fn recall(&mut self) {
        let library = self.library.clone();
        library.recall(&mut || self.tell_changes());
    }

    fn refresh(&mut self) {
        loop {
            self.refresh_once();
            if !lock(&self.freshness.state).listing.goes_on() {
                return;
            }
        }
    }

    /// Reads everything anew, in a task of its own, whose index was lost with its
    /// file; once at a time.
    pub(super) fn fill_again(mut self, tasks: &TaskTracker) {
        let mut state = lock(&self.freshness.state);
        if !state.listing.begin() {
            return;
        }
        state.standing.is_filling = true;
        drop(state);
        tasks.spawn_blocking(move || {
            self.refresh();
            self.read_texts();
            lock(&self.freshness.state).standing.is_filling = false;
            self.tell_read();
        });
    }

    pub(super) fn refresh_once(&mut self) {
        let (library, cancel) = (self.library.clone(), self.cancel.clone());
        let refreshed = library.refresh(&cancel, &mut |progress| {
            let indexing = Some((progress.done, progress.total));
            lock(&self.freshness.state).standing.indexing = indexing;
            self.tell_changed();
        });
        let was_indexing = lock(&self.freshness.state)
            .standing
            .indexing
            .take()
            .is_some();
        self.tell_listed(refreshed);
        if was_indexing {
            self.tell_changed();
        }
        self.tell_changes();
    }

    /// Reads what was said in sessions that changed, so that it can be
    /// searched. One does it at a time, and once more for whoever comes
    /// meanwhile and does not wait.
    pub(super) fn read_texts(&self) {
        if !lock(&self.freshness.state).reading.begin() {
            return;
        }
        loop {
            let read = self.read_texts_once();
            let pending = || self.library.texts_standing().map_or(0, |it| it.pending());
            let unread = read.as_ref().err().map_or(0, |_| pending());
            lock(&self.freshness.state).standing.unread = unread;
            if let Err(error) = read {
                self.say(Notice::Failed(failure(error.code(), error)));
                self.tell_read();
            }
            if !lock(&self.freshness.state).reading.goes_on() {
                return;
            }
        }
    }

    fn read_texts_once(&self) -> Result<(), TextsError> {
        let mut told = Instant::now();
        let read = self.library.index_texts(&self.cancel, &mut |progress| {
            let reading = Some((progress.done, progress.total));
            lock(&self.freshness.state).standing.reading = reading;
            if told.elapsed() >= TELL_EVERY {
                told = Instant::now();
                self.tell_read();
            }
        });
        let reading = lock(&self.freshness.state).standing.reading.take();
        if reading.is_some() {
            self.tell_read();
        }
        read
    }

    fn tell_read(&self) {
        // Nobody waits for it when the program ends.
        let _ = self.done.blocking_send(Done::TextsRead);
    }

    /// Looks at these files again, and at nothing else.
    pub(super) fn touch(&mut self, paths: &BTreeSet<PathBuf>) {
        let paths = paths.iter().map(PathBuf::as_path);
        let touched = self.library.touch(paths, &self.cancel);
        self.tell(touched);
        self.tell_changes();
    }

    fn verify(&mut self) {
        let verified = self.library.verify(&self.cancel, &mut |_| {});
        self.tell(verified);
        self.tell_changes();
    }

    /// Tells how listing everything went: what could not be listed is the
    /// answer to every question until it can.
    fn tell_listed(&mut self, outcome: Result<Refreshed, Cause>) {
        let failed = outcome.as_ref().err().map(ToString::to_string);
        let mut state = lock(&self.freshness.state);
        let is_other = state.standing.failed != failed;
        state.standing.failed = failed;
        if is_other {
            state.told = None;
        }
        drop(state);
        if is_other {
            self.tell_changed();
        }
        self.tell(outcome);
    }

    /// Tells what went wrong, if it was not told just before.
    fn tell(&self, outcome: Result<Refreshed, Cause>) {
        let notice = match outcome {
            Ok(refreshed) => told(&refreshed).map(Notice::Info),
            Err(cause) => Some(Notice::Failed(failure("SESSIONS_NOT_LISTED", cause))),
        };
        if let Some(notice) = notice {
            self.say(notice);
        }
    }

    /// Says something, unless it is what was said the last time.
    fn say(&self, notice: Notice) {
        let told = lock(&self.freshness.state).told.replace(notice.clone());
        if told.as_ref() != Some(&notice) {
            let _ = self.done.blocking_send(Done::Notice(notice));
        }
    }

    /// Tells that there are other rows, if there are.
    fn tell_changes(&mut self) {
        let index = self.library.index();
        if !Weak::ptr_eq(&self.shown, &Arc::downgrade(&index)) {
            self.tell_changed();
        }
    }

    fn tell_changed(&mut self) {
        self.shown = Arc::downgrade(&self.library.index());
        lock(&self.freshness.state).changed = Some(Instant::now());
        // Nobody waits for it when the program ends.
        let _ = self.done.blocking_send(Done::LibraryChanged);
    }
}

/// What went wrong, in one line.
fn told(refreshed: &Refreshed) -> Option<String> {
    let (first, rest) = refreshed.notices.split_first()?;
    let more: usize = rest.iter().map(LibraryNotice::count).sum();
    Some(if more == 0 {
        first.to_string()
    } else {
        format!("{first} (and {more} more)")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_for_meanwhile_is_done_once_more() {
        let mut work = Work::default();
        assert!(work.begin());
        assert!(!work.begin());
        assert!(!work.begin());
        assert!(work.goes_on());
        assert!(!work.goes_on());
        assert!(work.begin());
    }

    #[test]
    fn a_question_soon_after_a_change_is_asked_for_that() {
        let freshness = Freshness::default();
        assert!(!freshness.just_changed());
        lock(&freshness.state).changed = Some(Instant::now());
        assert!(freshness.just_changed());
        lock(&freshness.state).changed = Instant::now().checked_sub(ECHO);
        assert!(!freshness.just_changed());
    }
}
