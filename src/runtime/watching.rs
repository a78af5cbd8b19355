//! Notices what other programs write while this one runs, so that a session
//! shows up, or moves on, without anybody asking for it.
//!
//! Only the files that changed are opened. What the system can't tell is not
//! missed for long: the folders are listed again whenever a list is opened.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use notify::{Config, Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::Notify;
use tokio::task::JoinError;

use super::Runtime;
use crate::library::Place;
use crate::threads::lock;

/// How long what changes is gathered before it is looked at.
const CALM: Duration = Duration::from_millis(250);
/// How much longer than the last look took the next one waits, so that a file
/// that is written all the time takes a small part of a thread.
const REST: u32 = 20;
/// The longest rest between two looks.
const MAX_REST: Duration = Duration::from_secs(5);
/// More changed paths than this are looked for by listing everything.
const MANY: usize = 1_000;
/// How often one looks whether a place is there that was not: a tool that is
/// used for the first time makes its folder.
const COMES: Duration = Duration::from_secs(2);

/// What changed since it was last looked at.
#[derive(Default)]
struct Changes {
    paths: Mutex<Changed>,
    more: Notify,
}

#[derive(Default)]
struct Changed {
    paths: BTreeSet<PathBuf>,
    /// Whether something changed that no path tells.
    unknown: bool,
}

impl Changes {
    fn take(&self) -> Changed {
        std::mem::take(&mut *lock(&self.paths))
    }

    /// Something changed, and nobody tells what.
    fn miss(&self) {
        lock(&self.paths).unknown = true;
    }

    fn add(&self, event: notify::Result<Event>) {
        {
            let mut changed = lock(&self.paths);
            match event {
                // Reading changes nothing, least of all our own.
                Ok(event) if matches!(event.kind, EventKind::Access(_)) => return,
                Ok(event) => {
                    changed.unknown |= event.need_rescan();
                    changed.paths.extend(event.paths);
                }
                Err(_) => changed.unknown = true,
            }
            if changed.paths.len() > MANY {
                changed.paths.clear();
                changed.unknown = true;
            }
        }
        self.more.notify_one();
    }
}

impl Runtime {
    /// Watches the places of every tool until the program ends.
    pub(super) fn watch_library(&self) {
        let changes = Arc::new(Changes::default());
        let cancel = self.all.child_token();
        let library = self.services.library.clone();
        let heard = Arc::clone(&changes);
        // Setting up takes as long as the folders are many.
        let watching = tokio::task::spawn_blocking(move || Watch::new(library.places(), heard));
        let mut keeper = self.keeper();
        let reading = self.tasks.clone();
        self.tasks.spawn(async move {
            // Without a watcher the lists are fresh when they are opened.
            let Ok(Some(mut watch)) = watching.await else {
                return;
            };
            let mut calm = CALM;
            loop {
                tokio::select! {
                    () = cancel.cancelled() => return,
                    () = changes.more.notified() => {}
                    () = tokio::time::sleep(COMES), if watch.waits() => {
                        let Ok((back, came)) = watch.look().await else {
                            return;
                        };
                        watch = back;
                        if !came {
                            continue;
                        }
                        // What came with the place was not heard of.
                        changes.miss();
                    }
                }
                tokio::select! {
                    () = cancel.cancelled() => return,
                    () = tokio::time::sleep(calm) => {}
                }
                let new = changes.take();
                let looked = tokio::task::spawn_blocking(move || {
                    let started = Instant::now();
                    if new.unknown {
                        keeper.refresh_once();
                    } else {
                        keeper.touch(&new.paths);
                    }
                    watch.lose();
                    (keeper, watch, started.elapsed())
                });
                let Ok((keeper_back, watch_back, took)) = looked.await else {
                    return;
                };
                (keeper, watch) = (keeper_back, watch_back);
                calm = (took * REST).clamp(CALM, MAX_REST);
                let reader = keeper.clone();
                reading.spawn_blocking(move || reader.read_texts());
            }
        });
    }
}

/// The places of all tools, and what watches them.
struct Watch {
    watcher: RecommendedWatcher,
    /// Those that are there.
    there: Vec<Place>,
    /// Those that are not there yet, or not any more.
    absent: Vec<Place>,
}

impl Watch {
    /// Watches these places; `None` where the system lets nobody watch.
    fn new(places: Vec<Place>, heard: Arc<Changes>) -> Option<Self> {
        // As listing follows no links, neither does watching.
        let config = Config::default().with_follow_symlinks(false);
        let watcher = RecommendedWatcher::new(move |event| heard.add(event), config).ok()?;
        let mut watch = Self {
            watcher,
            there: Vec::new(),
            absent: places,
        };
        watch.find();
        Some(watch)
    }

    fn waits(&self) -> bool {
        !self.absent.is_empty()
    }

    /// Looks for places that came, and tells whether any did.
    async fn look(mut self) -> Result<(Self, bool), JoinError> {
        let looked = tokio::task::spawn_blocking(move || {
            let came = self.find();
            (self, came)
        });
        looked.await
    }

    /// Watches those places that came, and tells whether any did. One that can't
    /// be watched is listed when a list is opened.
    fn find(&mut self) -> bool {
        let (came, absent): (Vec<Place>, _) = std::mem::take(&mut self.absent)
            .into_iter()
            .partition(|place| place.path.exists());
        self.absent = absent;
        for place in &came {
            let mode = if place.is_tree {
                RecursiveMode::Recursive
            } else {
                RecursiveMode::NonRecursive
            };
            let _left_out = self.watcher.watch(&place.path, mode);
        }
        let any_came = !came.is_empty();
        self.there.extend(came);
        any_came
    }

    /// Takes note of places that went.
    fn lose(&mut self) {
        let went = |place: &mut Place| !place.path.exists();
        self.absent.extend(self.there.extract_if(.., went));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_that_comes_is_watched_and_one_that_goes_is_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let place = Place {
            path: dir.path().canonicalize().unwrap().join("projects"),
            is_tree: true,
        };
        let changes = Arc::new(Changes::default());
        let mut watch = Watch::new(vec![place.clone()], Arc::clone(&changes)).unwrap();
        assert!(watch.waits());
        assert!(!watch.find());
        std::fs::create_dir(&place.path).unwrap();
        assert!(watch.find());
        assert!(!watch.waits());
        let file = place.path.join("new");
        std::fs::write(&file, "x").unwrap();
        let begun = Instant::now();
        while !changes.take().paths.contains(&file) {
            assert!(
                begun.elapsed() < Duration::from_secs(20),
                "it is not heard of"
            );
            std::thread::yield_now();
        }
        watch.lose();
        assert!(!watch.waits());
        std::fs::remove_dir_all(&place.path).unwrap();
        watch.lose();
        assert!(watch.waits());
        assert!(!watch.find());
    }
}
