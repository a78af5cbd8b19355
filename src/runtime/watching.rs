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
        let watching = tokio::task::spawn_blocking(move || {
            // As listing follows no links, neither does watching.
            let config = Config::default().with_follow_symlinks(false);
            let mut watcher =
                RecommendedWatcher::new(move |event| heard.add(event), config).ok()?;
            for place in library.places() {
                watch(&mut watcher, &place);
            }
            Some(watcher)
        });
        let mut keeper = self.keeper();
        let reading = self.tasks.clone();
        self.tasks.spawn(async move {
            // Without a watcher the lists are fresh when they are opened.
            let Ok(Some(_watcher)) = watching.await else {
                return;
            };
            let mut calm = CALM;
            loop {
                tokio::select! {
                    () = cancel.cancelled() => return,
                    () = changes.more.notified() => {}
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
                    (keeper, started.elapsed())
                });
                let Ok((back, took)) = looked.await else {
                    return;
                };
                keeper = back;
                calm = (took * REST).clamp(CALM, MAX_REST);
                let reader = keeper.clone();
                reading.spawn_blocking(move || reader.read_texts());
            }
        });
    }
}

/// A place that is not there, or that can't be watched, is left out: it is
/// listed when a list is opened.
fn watch(watcher: &mut RecommendedWatcher, place: &Place) {
    let mode = if place.is_tree {
        RecursiveMode::Recursive
    } else {
        RecursiveMode::NonRecursive
    };
    let _left_out = watcher.watch(&place.path, mode);
}
