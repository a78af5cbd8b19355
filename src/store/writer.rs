//! The one writer of a session.
//!
//! A lock on a file beside the log keeps others out. The system drops it with
//! the process, however that ends, so no lock is ever left behind.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Map, Value};
use tempfile::TempPath;

use super::log::{self, LogNotice, Problem, Recovered};
use super::{Home, StoreError, files};
use crate::reference::projection::Damage;
use crate::session::{Event, Header, NewEvent, Payload, Role, Seq, Session, SessionId};

/// A session that is open for writing.
///
/// Holds the session's lock until it is dropped.
#[derive(Debug)]
pub struct SessionWriter {
    session: Session,
    /// What of the log can't be read, and stays in it.
    damage: Option<Damage>,
    path: PathBuf,
    log: Log,
    _lock: files::Lock,
}

impl SessionWriter {
    /// Begins a session with its first events, which are on disk when this
    /// returns. The log gets its name when all of that is in it: whatever a
    /// program killed meanwhile leaves is no log of a session.
    ///
    /// # Errors
    /// `SESSION_EXISTS`, `SESSION_OPEN_ELSEWHERE`, or those of
    /// [`append_all`](Self::append_all); then no file of the session is left.
    pub fn create(
        home: &Home,
        header: Header,
        first: Vec<NewEvent>,
    ) -> Result<(Self, Vec<Arc<Event>>), StoreError> {
        let mut lines = log::encode_header(&header)?;
        home.create()?;
        let path = home.session_file(&header.id);
        let lock = lock(home, &header.id)?;
        remove_unfinished(&path)?;
        let mut session = Session::new(header);
        let events = stage_all(&mut session, &mut lines, first)?;
        let file = match create_whole(&path, &lines) {
            Ok(file) => file,
            Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => {
                let id = session.id().clone();
                return Err(StoreError::SessionExists { id, path });
            }
            Err(cause) => return Err(StoreError::io("create", &path, cause)),
        };
        let writer = Self {
            session,
            damage: None,
            path,
            log: Log::new(Box::new(file), lines.len() as u64),
            _lock: lock,
        };
        Ok((writer, events))
    }

    /// Opens a session, with what was found while reading it.
    ///
    /// A torn last line is cut off. What was written together with it is cut off
    /// too if it holds a message of the person's side: without what it cites it
    /// is another message. An answer stays. Other damage stays as it is, and what
    /// is appended goes behind it, at the seq after the highest that was read.
    ///
    /// # Errors
    /// `SESSION_NOT_FOUND`, also where its creation was stopped half-way;
    /// `SESSION_OPEN_ELSEWHERE`; `SESSION_WRONG_ID`; those of
    /// [`log::read_session`]; or a failure of the disk.
    pub fn open(home: &Home, id: &SessionId) -> Result<(Self, Recovered), StoreError> {
        let path = home.session_file(id);
        let unknown = || StoreError::UnknownSession {
            id: id.clone(),
            path: path.clone(),
        };
        if !path.exists() {
            return Err(unknown());
        }
        home.create()?;
        let lock = lock(home, id)?;
        if remove_unfinished(&path)? {
            return Err(unknown());
        }
        let mut recovered = log::read_session(&path)?;
        if recovered.session.id() != id {
            return Err(StoreError::WrongId {
                path,
                expected: id.clone(),
                found: recovered.session.id().clone(),
            });
        }
        let failed = |cause| StoreError::io("write", &path, cause);
        if let Some(first) = torn_request(&recovered.session) {
            let found = line_of(&path, first, recovered.valid_len).map_err(failed)?;
            // Where the log is damaged, an event that is missing may have been
            // written: nothing is cut then.
            let is_damage = |offset: u64| {
                recovered
                    .notices
                    .iter()
                    .any(|n| n.offset >= offset && n.problem != Problem::TornTail)
            };
            if let Some((line, offset)) = found.filter(|(_, offset)| !is_damage(*offset)) {
                recovered.session.rewind_to(first);
                recovered.notices.push(LogNotice {
                    line,
                    offset,
                    bytes: recovered.valid_len - offset,
                    problem: Problem::TornBatch,
                });
                recovered.valid_len = offset;
            }
        }
        let mut file = File::options()
            .read(true)
            .write(true)
            .open(&path)
            .map_err(failed)?;
        let len = repair_tail(&mut file, recovered.valid_len).map_err(failed)?;
        let writer = Self {
            session: recovered.session.clone(),
            damage: lasting_damage(&recovered.notices),
            log: Log::new(Box::new(file), len),
            path,
            _lock: lock,
        };
        Ok((writer, recovered))
    }

    /// The session as it stands on disk.
    #[must_use]
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// What of the log can't be read, as long as nobody mends it by hand; `None`
    /// when all can.
    #[must_use]
    pub fn damage(&self) -> Option<&Damage> {
        self.damage.as_ref()
    }

    /// Appends one event; it is on disk when this returns.
    ///
    /// # Errors
    /// As [`SessionWriter::append_all`].
    pub fn append(&mut self, event: NewEvent) -> Result<Arc<Event>, StoreError> {
        self.commit(|session, lines| stage(session, lines, event, Map::new()))
    }

    /// Appends events in one write; they are on disk when this returns. Of
    /// what a program killed meanwhile leaves of them, the next
    /// [`open`](Self::open) keeps those that are whole, or none if a message of
    /// the person's side is among them.
    ///
    /// # Errors
    /// `SESSION_EVENT_REFUSED`, `SESSION_NOT_STORABLE`,
    /// `SESSION_CHANGED_OUTSIDE`, `STORE_FULL`, or another failure of the
    /// disk. None of the events is stored then, on disk or in memory.
    pub fn append_all(&mut self, events: Vec<NewEvent>) -> Result<Vec<Arc<Event>>, StoreError> {
        self.commit(|session, lines| stage_all(session, lines, events))
    }

    /// Stores what `stage` adds to the session, or takes it back.
    fn commit<T>(
        &mut self,
        stage: impl FnOnce(&mut Session, &mut Vec<u8>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mark = self.session.next_seq();
        let mut lines = Vec::new();
        let stored = stage(&mut self.session, &mut lines)
            .and_then(|staged| self.store(&lines).map(|()| staged));
        if stored.is_err() && self.session.next_seq() != mark {
            self.session.rewind_to(mark);
        }
        stored
    }

    fn store(&mut self, lines: &[u8]) -> Result<(), StoreError> {
        if lines.is_empty() {
            return Ok(());
        }
        let failed = |cause| StoreError::io("write", &self.path, cause);
        if !self.log.is_untouched().map_err(failed)? {
            return Err(StoreError::ChangedOutside {
                path: self.path.clone(),
            });
        }
        self.log.append(lines).map_err(failed)
    }
}

/// Adds events that belong together to the session, and their lines to those
/// to be written.
fn stage_all(
    session: &mut Session,
    lines: &mut Vec<u8>,
    events: Vec<NewEvent>,
) -> Result<Vec<Arc<Event>>, StoreError> {
    let mut rest = Map::new();
    if events.len() > 1 {
        rest.insert(BATCH.to_owned(), events.len().into());
    }
    events
        .into_iter()
        .map(|event| stage(session, lines, event, std::mem::take(&mut rest)))
        .collect()
}

/// Adds an event to the session, and its line to those to be written.
fn stage(
    session: &mut Session,
    lines: &mut Vec<u8>,
    event: NewEvent,
    rest: Map<String, Value>,
) -> Result<Arc<Event>, StoreError> {
    let event = Arc::new(Event {
        seq: session.next_seq(),
        time: event.time,
        payload: event.payload,
        surface_op: event.surface_op,
        source_event_seqs: event.source_event_seqs,
        rest,
    });
    session.push(Arc::clone(&event))?;
    write_line(lines, &event)?;
    Ok(event)
}

/// The key on the first of several events that were written together, with
/// how many they are.
const BATCH: &str = "batch";

/// What is left of the damage when a writer has cut off a torn last line.
fn lasting_damage(notices: &[LogNotice]) -> Option<Damage> {
    let lasts = |n: &&LogNotice| !matches!(n.problem, Problem::TornTail | Problem::TornBatch);
    let lasting: Vec<LogNotice> = notices.iter().filter(lasts).cloned().collect();
    log::damage(&lasting)
}

/// The first event of those written together last, when they are not all there
/// and one of them is a message of the person's side.
fn torn_request(session: &Session) -> Option<Seq> {
    let first = unfinished_batch(session)?;
    let mut there = session.events().iter().filter(|event| event.seq >= first);
    let asks = |event: &Arc<Event>| {
        let message = event.message();
        message.is_some_and(|message| message.role != Role::Assistant)
    };
    there.any(asks).then_some(first)
}

/// The first event of those written together last, when they are not all there.
fn unfinished_batch(session: &Session) -> Option<Seq> {
    let through = session.captured_through()?;
    let (first, count) = session.events().iter().rev().find_map(|event| {
        let count = event.rest.get(BATCH)?.as_u64()?;
        Some((event.seq, count))
    })?;
    (through.0 - first.0 + 1 < count).then_some(first)
}

/// Where the line of an event begins, looked for from the end: its number,
/// from 1, and its first byte.
fn line_of(path: &Path, seq: Seq, valid_len: u64) -> io::Result<Option<(u64, u64)>> {
    let mut log = fs::read(path)?;
    log.truncate(usize::try_from(valid_len).unwrap_or(usize::MAX));
    let line = format!("\n{{\"seq\":{seq},");
    let Some(feed) = memchr::memmem::rfind(&log, line.as_bytes()) else {
        return Ok(None);
    };
    let before = log.iter().take(feed).filter(|b| **b == b'\n').count();
    let place = |n: usize| u64::try_from(n).unwrap_or(u64::MAX);
    Ok(Some((place(before + 2), place(feed + 1))))
}

/// Where a log is written before it has its name. The next writer of the
/// session writes over what is left there.
fn nameless(path: &Path) -> PathBuf {
    path.with_extension("new")
}

/// Makes a file that is there whole and durable, or not at all. Only with the
/// lock.
fn create_whole(path: &Path, bytes: &[u8]) -> io::Result<File> {
    let mut options = files::private();
    let mut file = options
        .write(true)
        .create(true)
        .truncate(true)
        .open(nameless(path))?;
    // Goes with this when anything fails.
    let nameless = TempPath::try_from_path(nameless(path))?;
    file.write_all(bytes)?;
    file.sync_all()?;
    nameless.persist_noclobber(path)?;
    let dir = path.parent().unwrap_or(path);
    files::sync_dir(dir).inspect_err(|_| {
        // What stays when this fails too is whole.
        let _ = fs::remove_file(path);
    })?;
    Ok(file)
}

/// Takes the one lock of a session.
fn lock(home: &Home, id: &SessionId) -> Result<files::Lock, StoreError> {
    let path = home.lock_file(id);
    files::lock(&path)
        .map_err(|cause| StoreError::io("lock", &path, cause))?
        .ok_or_else(|| StoreError::OpenElsewhere { id: id.clone() })
}

/// Whether nothing of a session is stored; a log without any event is removed,
/// and so is one that was not finished.
///
/// # Errors
/// `SESSION_OPEN_ELSEWHERE`, or a failure of the disk.
pub(super) fn remove_empty(home: &Home, id: &SessionId) -> Result<bool, StoreError> {
    let path = home.session_file(id);
    let nameless = nameless(&path);
    if !path.exists() && !nameless.exists() {
        return Ok(true);
    }
    let _lock = lock(home, id)?;
    // What stays is written over, or never looked at.
    let _ = fs::remove_file(nameless);
    if !path.exists() || remove_unfinished(&path)? {
        return Ok(true);
    }
    let read = log::read_session(&path)?;
    let is_damaged = |notice: &LogNotice| notice.problem != Problem::TornTail;
    // A first message that is not all there is nothing yet either.
    let holds_some =
        read.session.captured_through().is_some() && torn_request(&read.session) != Some(Seq(0));
    if holds_some || read.notices.iter().any(is_damaged) {
        return Ok(false);
    }
    fs::remove_file(&path)
        .map(|()| true)
        .map_err(|cause| StoreError::io("remove", &path, cause))
}

/// Removes a log whose creation was stopped half-way. Only with the lock.
fn remove_unfinished(path: &Path) -> Result<bool, StoreError> {
    match log::read_header(path) {
        Err(StoreError::Unfinished { .. }) => fs::remove_file(path)
            .map(|()| true)
            .map_err(|cause| StoreError::io("remove", path, cause)),
        _ => Ok(false),
    }
}

/// Cuts off a torn last line, or gives a whole one its line feed. Gives the
/// length after.
fn repair_tail(file: &mut File, valid_len: u64) -> io::Result<u64> {
    let len = file.metadata()?.len();
    if len > valid_len {
        file.set_len(valid_len)?;
        file.sync_data()?;
    }
    let mut last = [0];
    file.seek(SeekFrom::Start(valid_len.saturating_sub(1)))?;
    file.read_exact(&mut last)?;
    if last == *b"\n" {
        return Ok(valid_len);
    }
    file.write_all(b"\n")?;
    file.sync_data()?;
    Ok(valid_len + 1)
}

/// Adds the line of an event, and makes sure that it reads back.
fn write_line(lines: &mut Vec<u8>, event: &Event) -> Result<(), StoreError> {
    let not_storable = |problem: String| StoreError::NotStorable {
        problem: format!(
            "event {} ({}): {problem}",
            event.seq,
            event.payload.type_name()
        ),
    };
    let start = lines.len();
    serde_json::to_writer(&mut *lines, event).map_err(|e| not_storable(e.to_string()))?;
    let line = lines.get(start..).unwrap_or_default();
    let back: Event = serde_json::from_slice(line).map_err(|e| not_storable(e.to_string()))?;
    let is_message = |event: &Event| matches!(event.payload, Payload::Message { .. });
    if is_message(&back) != is_message(event) {
        return Err(not_storable("its type does not fit its data".to_owned()));
    }
    lines.push(b'\n');
    Ok(())
}

/// What the writer needs of a file.
trait LogFile: Send + Sync + std::fmt::Debug {
    /// Writes all of `bytes` at an offset.
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()>;
    /// Makes what was written durable.
    fn sync(&mut self) -> io::Result<()>;
    /// Cuts the file.
    fn cut(&mut self, len: u64) -> io::Result<()>;
    /// Its length in bytes; `None` once it was removed.
    fn len(&self) -> io::Result<Option<u64>>;
}

impl LogFile for File {
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.seek(SeekFrom::Start(offset))?;
        self.write_all(bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.sync_data()
    }

    fn cut(&mut self, len: u64) -> io::Result<()> {
        self.set_len(len)
    }

    fn len(&self) -> io::Result<Option<u64>> {
        let metadata = self.metadata()?;
        #[cfg(unix)]
        if std::os::unix::fs::MetadataExt::nlink(&metadata) == 0 {
            return Ok(None);
        }
        Ok(Some(metadata.len()))
    }
}

/// A file that grows by whole pieces or not at all.
#[derive(Debug)]
struct Log {
    file: Box<dyn LogFile>,
    /// Its length in bytes, without what a failed write may have left.
    len: u64,
    /// Whether such a rest still has to be cut off.
    uncut: bool,
}

impl Log {
    fn new(file: Box<dyn LogFile>, len: u64) -> Self {
        Self {
            file,
            len,
            uncut: false,
        }
    }

    /// Whether the file is as this writer left it.
    fn is_untouched(&self) -> io::Result<bool> {
        Ok(match self.file.len()? {
            Some(len) if self.uncut => len >= self.len,
            len => len == Some(self.len),
        })
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.uncut {
            self.file.cut(self.len)?;
            self.uncut = false;
        }
        let written = self
            .file
            .write_at(self.len, bytes)
            .and_then(|()| self.file.sync());
        if written.is_err() {
            self.uncut = self.file.cut(self.len).is_err();
        } else {
            self.len += bytes.len() as u64;
        }
        written
    }
}

#[cfg(test)]
mod tests;
