//! Every session there is, live or stored, behind one face: list, surface,
//! title and search.
//!
//! Owns the projection cache, the table that searches run over, and the
//! fuzzy matcher. Reads logs through [`LogFiles`] and writes none. Listing
//! opens no log: sessions that the cache knows nothing of go by their ids
//! until [`Library::refresh`] has read them.

mod cache;
mod digest;
mod error;
mod files;
mod foreign;
mod gathering;
pub mod index;
mod journal;
pub mod matcher;
mod planning;
pub mod query;
mod reading;
mod refresh;
mod room;
mod searching;
mod stored;
pub mod texts;
mod verify;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, Once};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;

pub use self::cache::Standing;
use self::cache::{Cache, Corrections, ReadFile};
use self::digest::Digest;
pub use self::error::{LibraryError, Notice};
pub use self::files::{
    CapturedLog, Facts, Found, Kind, LogFile, LogFiles, Looked, Place, Scanned, Stamp,
};
pub use self::foreign::ToolLogs;
use self::gathering::LiveRow;
use self::index::{Builder, Entry, Hidden, Index, NewRow, Row};
pub use self::refresh::{Progress, Refreshed, StartOverError};
pub use self::searching::{Search, Searched, TextsStanding};
pub use self::stored::{Layered, StoredLogs};
use self::texts::Texts;
use crate::reference::Cause;
use crate::reference::ports::{ListedSession, SessionDirectory, SurfaceReader};
use crate::reference::projection::Capture;
use crate::session::{Header, SessionId};
use crate::store::file_name::LOG_SUFFIX;
use crate::threads::lock;
use crate::tool::Tool;

/// A session that is open in this process. Each call is one observation.
pub trait LiveSession: Send + Sync {
    /// Its header.
    fn header(&self) -> Header;

    /// Its own current title, if it has one.
    fn title(&self) -> Option<String>;

    /// All that citing needs of it.
    fn capture(&self) -> Capture;
}

/// Every session there is. Cheap to clone; all clones are the same library.
#[derive(Clone)]
pub struct Library {
    shared: Arc<Shared>,
}

struct Shared {
    /// ibid's own sessions.
    own: Arc<dyn LogFiles>,
    /// Those of other tools.
    others: Vec<Arc<dyn LogFiles>>,
    show_subagents: bool,
    cache_path: Option<PathBuf>,
    live: Mutex<Live>,
    /// Held only to copy or replace the pointer, so that nobody waits for it.
    index: Mutex<Arc<Index>>,
    texts: Texts,
    /// The file that all texts were put into.
    texts_file: Mutex<Option<u64>>,
    cache_made: Once,
    /// Held while the cache is used and a new index is made. Taken before
    /// `index`, never after.
    stored: Mutex<Stored>,
}

#[derive(Default)]
struct Live {
    sessions: BTreeMap<SessionId, Arc<dyn LiveSession>>,
    /// Counts what happened to them, so that a list made meanwhile can tell
    /// that it is out of date.
    version: u64,
}

#[derive(Default)]
struct Stored {
    /// `None` until it is first needed.
    cache: Option<Cache>,
    /// The logs that this process writes, as it left them. It is their only
    /// writer, so a scan that saw something else is older.
    own: HashMap<String, Stamp>,
    /// The logs and their states, where the cache and the table say all there
    /// is to say of just these; `None` where that is not known.
    known: Option<Digest>,
    /// Whether everything was listed and looked at since the start.
    is_complete: bool,
    /// What went wrong where nobody asked; the next refresh tells.
    notices: Vec<Notice>,
}

impl Stored {
    fn cache(&mut self, path: Option<&PathBuf>) -> &mut Cache {
        if self.cache.as_ref().is_some_and(Cache::has_lost_its_file) {
            // Another file in its place holds nothing of what is known.
            self.cache = None;
            self.known = None;
            self.is_complete = false;
        }
        self.cache.get_or_insert_with(|| {
            let (cache, notice) = Cache::open(path.map(PathBuf::as_path));
            self.notices.extend(notice);
            cache
        })
    }

    /// Goes back to the cache file that another program held, if it is free.
    fn come_back(&mut self, path: Option<&PathBuf>) {
        let notice = self.cache(path).come_back();
        // The other program may have written of files that are gone since.
        self.note(notice);
    }

    /// Takes note of what went wrong with the cache: what it says from now on
    /// may be less than what is shown.
    fn note(&mut self, notice: Option<Notice>) {
        if let Some(notice) = notice {
            self.notices.push(notice);
            self.known = None;
        }
    }
}

impl Facts {
    fn row(&self) -> NewRow<'_> {
        NewRow {
            title: self.title.as_ref().map(|title| &*title.text),
            is_pinned: self.title.as_ref().is_some_and(|title| title.pinned),
            updated_at: self.updated_at,
            messages: self.messages,
            tool: Tool::foreign(&self.header.id).map_or(Tool::Ibid, |(tool, _)| tool),
            is_subagent: self.kind == Kind::Subagent,
            is_stored: true,
            ..NewRow::new(&self.header)
        }
    }

    /// Whether lists show it.
    fn is_listed(&self, show_subagents: bool) -> bool {
        match self.kind {
            Kind::Session => true,
            Kind::Subagent => show_subagents,
            Kind::Stub => false,
        }
    }

    /// Whether a list shows just this.
    fn shown_by(&self, entry: &Entry<'_>) -> bool {
        let header = &self.header;
        let title = self
            .title
            .as_ref()
            .filter(|title| header.is_seeded != Some(true) && !title.text.is_empty());
        !entry.is_unread
            && entry.version == header.version
            && entry.created_at == header.created_at
            && entry.cwd == header.cwd.as_deref()
            && entry.parent == header.parent_session.as_ref().map(SessionId::as_str)
            && entry.is_seeded == (header.is_seeded == Some(true))
            && entry.is_titled == title.is_some()
            && title.is_none_or(|title| title.text == entry.label)
            && entry.updated_at == self.updated_at
            && entry.messages == self.messages
    }
}

impl Library {
    /// The library over ibid's own logs. Touches no disk yet; `cache_path` is
    /// where the projection cache is or will be, and `None` keeps it in memory.
    #[must_use]
    pub fn open(own: Arc<dyn LogFiles>, cache_path: Option<PathBuf>) -> Self {
        Self::over(own, Vec::new(), false, cache_path)
    }

    /// The library over ibid's own logs and those of other tools, with or
    /// without the sessions that other sessions' agents made.
    #[must_use]
    pub fn over(
        own: Arc<dyn LogFiles>,
        others: Vec<Arc<dyn LogFiles>>,
        show_subagents: bool,
        cache_path: Option<PathBuf>,
    ) -> Self {
        Self {
            shared: Arc::new(Shared {
                own,
                others,
                show_subagents,
                texts: Texts::open(cache_path.clone()),
                texts_file: Mutex::default(),
                cache_made: Once::new(),
                cache_path,
                live: Mutex::default(),
                index: Mutex::default(),
                stored: Mutex::default(),
            }),
        }
    }

    /// Every session as last known: at once, and unchanging. Empty until the
    /// first [`load`](Self::load) or [`refresh`](Self::refresh).
    #[must_use]
    pub fn index(&self) -> Arc<Index> {
        Arc::clone(&lock(&self.shared.index))
    }

    /// Makes a session that is open here part of the library: its own word
    /// counts from now on. Again with the same id, it takes the other's place.
    /// Takes some milliseconds with very many sessions.
    pub fn attach(&self, session: Arc<dyn LiveSession>) {
        let id = session.header().id;
        let mut live = lock(&self.shared.live);
        live.sessions.insert(id.clone(), session);
        live.version += 1;
        drop(live);
        let (_stored, row) = self.lock_with_row(&id);
        if let Some(row) = row {
            self.show_live(&row, None);
        }
    }

    /// Forgets that a session is open here. Its log, if it has one, stays
    /// listed. Takes some milliseconds with very many sessions.
    pub fn detach(&self, id: &SessionId) {
        let mut live = lock(&self.shared.live);
        if live.sessions.remove(id).is_none() {
            return;
        }
        live.version += 1;
        drop(live);
        let mut stored = lock(&self.shared.stored);
        // It may have been opened again meanwhile.
        if lock(&self.shared.live).sessions.contains_key(id) {
            return;
        }
        // From now on others may write to it.
        if let Some(file) = self.shared.own.file_name(id) {
            stored.own.remove(&file);
        }
        let index = self.index();
        let Some(row) = index.find(id) else {
            return;
        };
        let is_stored = index.row(row).is_some_and(Row::is_stored);
        let entry = index.get(row).filter(|_| is_stored);
        let left = entry.map(|entry| NewRow {
            is_live: false,
            ..stored_row(&entry)
        });
        self.publish(&index, &[row], left.as_slice(), None);
    }

    /// Takes note of what this process just wrote to a log, so that the log
    /// need not be read again. `log` is the state of the file after the
    /// write. Takes some milliseconds with very many sessions.
    pub fn record(&self, log: &LogFile, facts: &Facts) {
        let (mut stored, live) = self.lock_with_row(&facts.header.id);
        stored.own.insert(log.file.clone(), log.stamp);
        let read = [ReadFile {
            log: log.clone(),
            found: Found::Sessions(vec![facts.clone()]),
        }];
        stored.come_back(self.shared.cache_path.as_ref());
        let (_, notice) = stored.cache(self.shared.cache_path.as_ref()).write(&read);
        stored.note(notice);
        match live {
            Some(live) => self.show_live(&live, Some(facts)),
            None => self.show(&[facts], &Corrections::new(), None),
        }
    }

    /// The stored side, locked, and the present state of a session that is
    /// about to be shown, where it is live. It is asked without the lock: it
    /// may be waiting for it.
    fn lock_with_row(&self, id: &SessionId) -> (MutexGuard<'_, Stored>, Option<LiveRow>) {
        lock(&self.shared.live).version += 1;
        loop {
            let live = lock(&self.shared.live);
            let version = live.version;
            let session = live.sessions.get(id).map(Arc::clone);
            drop(live);
            let row = session.map(|session| LiveRow::new(&*session));
            let stored = lock(&self.shared.stored);
            // It may have been closed meanwhile, and must not be shown as open.
            if lock(&self.shared.live).version == version {
                return (stored, row);
            }
        }
    }

    /// Shows a live session; `facts` are those of its log, where they are new.
    fn show_live(&self, live: &LiveRow, facts: Option<&Facts>) {
        let index = self.index();
        let at = index.find(&live.header.id);
        let mut row = live.row();
        if let Some(facts) = facts {
            let stored = facts.row();
            row.is_stored = true;
            row.is_pinned = stored.is_pinned;
            row.updated_at = stored.updated_at;
            row.messages = stored.messages;
        } else if let Some((at, entry)) = at.and_then(|at| Some((at, index.get(at)?))) {
            row.is_stored = index.row(at).is_some_and(Row::is_stored);
            row.is_pinned = entry.is_pinned;
            row.updated_at = entry.updated_at;
            row.messages = entry.messages;
        }
        self.publish(&index, at.as_slice(), &[row], None);
    }

    /// Shows what is known of stored sessions that are not open here, as far
    /// as it is not corrected.
    fn show(&self, facts: &[&Facts], corrections: &Corrections, hidden: Option<Hidden>) {
        if facts.is_empty() && corrections.is_empty() {
            return;
        }
        let index = self.index();
        let mut ids: HashSet<&str> = facts.iter().map(|f| f.header.id.as_str()).collect();
        ids.extend(corrections.keys().map(SessionId::as_str));
        let old = index.rows_of(&ids);
        let as_found = facts
            .iter()
            .copied()
            .filter(|facts| !corrections.contains_key(&facts.header.id));
        let rows: Vec<NewRow<'_>> = corrections
            .values()
            .flatten()
            .chain(as_found)
            .filter(|facts| facts.is_listed(self.shared.show_subagents))
            .map(Facts::row)
            .collect();
        self.publish(&index, &old, &rows, hidden);
    }

    fn publish(&self, index: &Index, remove: &[u32], add: &[NewRow<'_>], hidden: Option<Hidden>) {
        let mut builder = Builder::without(index, remove);
        if let Some(hidden) = hidden {
            builder.set_hidden(hidden);
        }
        for row in add {
            builder.push(row);
        }
        self.replace(builder.finish());
    }

    fn replace(&self, index: Index) {
        let index = Arc::new(index);
        let old = std::mem::replace(&mut *lock(&self.shared.index), index);
        // Freeing a big table takes a while: not under the lock.
        drop(old);
    }

    /// Puts what was found in files into the cache and on show, and forgets
    /// those that are gone.
    fn keep(&self, read: &[ReadFile], gone: &[(Tool, String)]) {
        let mut stored = lock(&self.shared.stored);
        stored.come_back(self.shared.cache_path.as_ref());
        let cache = stored.cache(self.shared.cache_path.as_ref());
        let outcomes = [cache.remove(gone), cache.write(read)];
        let mut hidden = cache.ask(cache::hidden);
        if let Some(hidden) = hidden.as_mut().filter(|_| self.shared.show_subagents) {
            hidden.subagents = 0;
        }
        let mut corrections = Corrections::new();
        for (some, notice) in outcomes {
            corrections.extend(some);
            stored.note(notice);
        }
        let live: HashSet<SessionId> = lock(&self.shared.live).sessions.keys().cloned().collect();
        corrections.retain(|id, _| !live.contains(id));
        let shown: Vec<&Facts> = read
            .iter()
            .filter_map(|file| match &file.found {
                Found::Sessions(sessions) => Some(sessions),
                Found::Names(_) | Found::Nothing(_) => None,
            })
            .flatten()
            .filter(|facts| !live.contains(&facts.header.id))
            .collect();
        self.show(&shown, &corrections, hidden);
    }
}

/// A row of an index as one that can be put in again.
fn stored_row<'a>(entry: &Entry<'a>) -> NewRow<'a> {
    NewRow {
        id: entry.id,
        title: entry.is_titled.then_some(entry.label),
        is_pinned: entry.is_pinned,
        cwd: entry.cwd,
        parent: entry.parent,
        version: entry.version,
        created_at: entry.created_at,
        updated_at: entry.updated_at,
        messages: entry.messages,
        tool: entry.tool,
        is_subagent: entry.is_subagent,
        is_seeded: entry.is_seeded,
        is_live: entry.is_live,
        is_stored: true,
        is_unread: entry.is_unread,
    }
}

/// Refuses a log that lies under another session's name.
fn check_name(file: &str, id: Option<&SessionId>, found: &SessionId) -> Result<(), Cause> {
    match id {
        Some(id) if id != found => Err(Arc::new(LibraryError::Renamed {
            file: file.to_owned(),
            id: id.clone(),
            found: found.clone(),
        })),
        _ => Ok(()),
    }
}

/// Whether one of ibid's own logs of this name is that of the session.
fn belongs(own: &dyn LogFiles, file: &str, id: &str) -> bool {
    // Most names are the id itself; the others take longer to make.
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    let plain = file.strip_suffix(LOG_SUFFIX) == Some(id) && id.bytes().all(is_plain);
    plain || own.file_name(&SessionId::from(id)).as_deref() == Some(file)
}

/// Runs blocking work off the async threads.
async fn off_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Cause> + Send + 'static,
) -> Result<T, Cause> {
    match tokio::task::spawn_blocking(work).await {
        Ok(outcome) => outcome,
        Err(error) => Err(Arc::new(error)),
    }
}

impl SurfaceReader for Library {
    /// A live session by its own word; a stored one from its log, opened anew
    /// each time.
    fn read_surface<'a>(&'a self, id: &'a SessionId) -> BoxFuture<'a, Result<Capture, Cause>> {
        let live = lock(&self.shared.live).sessions.get(id).map(Arc::clone);
        let library = self.clone();
        let id = id.clone();
        off_thread(move || match live {
            Some(session) => Ok(session.capture()),
            None => library.read_stored(&id),
        })
        .boxed()
    }
}

impl SessionDirectory for Library {
    /// Live sessions, and those in the folder at this moment.
    fn list_sessions(&self) -> BoxFuture<'_, Result<Vec<ListedSession>, Cause>> {
        let library = self.clone();
        off_thread(move || {
            library.load()?;
            Ok(library.index().iter().map(|e| e.listed()).collect())
        })
        .boxed()
    }
}

impl SessionDirectory for Index {
    /// The sessions of the table, without looking at anything else.
    fn list_sessions(&self) -> BoxFuture<'_, Result<Vec<ListedSession>, Cause>> {
        let listed = self.iter().map(|entry| entry.listed()).collect();
        std::future::ready(Ok(listed)).boxed()
    }
}
