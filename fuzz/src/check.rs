//! What must hold when a home is read, whatever is in it.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ibid::library::{Found, LogFiles, ToolLogs};
use ibid::source::{Environment, Round, adapters, detect};
use ibid::tool::Tool;
use peak_alloc::PeakAlloc;
use rustix::time::{ClockId, clock_gettime};
use tempfile::TempDir;

use crate::home::{self, Part};

#[global_allocator]
static ALLOCATIONS: PeakAlloc = PeakAlloc;

/// What reading may take at most, beside four times the largest record.
const MEMORY_BYTES: usize = 64 << 20;
/// One input of so many is also read many times over.
const GROW_EVERY: u32 = 64;
/// How many times the contents of each file stand behind each other then.
const TIMES: [usize; 2] = [24, 96];
/// The most bytes that an input is made to have.
const MAX_GROWN_BYTES: usize = 4 << 20;
/// What may be spent on a file of any size.
const SMALL: Duration = Duration::from_millis(60);

thread_local! {
    static HOME: RefCell<Option<TempDir>> = const { RefCell::new(None) };
}

/// Reads an input as a home of this tool, in every way that there is.
///
/// # Panics
/// When something does not hold that must.
pub fn check(tool: Tool, data: &[u8]) {
    HOME.with_borrow_mut(|home| {
        let home = home.get_or_insert_with(|| tempfile::tempdir().expect("a folder"));
        let parts = home::parts(tool, data);
        home::write(home.path(), &parts).expect("a home");
        let before = contents(home.path());
        ALLOCATIONS.reset_peak_usage();
        let start = ALLOCATIONS.current_usage();
        read(tool, home.path());
        let most = MEMORY_BYTES + 4 * largest(&before);
        let used = ALLOCATIONS.peak_usage().saturating_sub(start);
        assert!(used <= most, "{used} bytes are used, of {most}");
        assert!(contents(home.path()) == before, "the home was changed");
        let slow: Option<Vec<Part>> = parts.iter().map(|part| slow(tool, part)).collect();
        if let Some(other) = slow {
            let told = told(home.path(), &before);
            home::write(home.path(), &other).expect("a home");
            let other = self::told(home.path(), &before);
            assert_eq!(told, other, "a quick look and a whole parse say the same");
        }
        if digest(data).is_multiple_of(GROW_EVERY) {
            grow(tool, home.path(), &parts);
        }
    });
}

/// The same file with records that only a whole parse can read: a key without
/// a value is put into each, of those that quick looks leave alone. `None`
/// where that would change what the file means.
fn slow(tool: Tool, part: &Part) -> Option<Part> {
    let key = match tool {
        Tool::Codex => "role",
        Tool::Dsh => "cwd",
        _ => return None,
    };
    // It says how many bytes of another file count.
    if memchr::memmem::find(&part.bytes, b"history_base").is_some() {
        return None;
    }
    let lines = part.bytes.split(|byte| *byte == b'\n');
    let lines: Vec<Vec<u8>> = lines.map(|line| slow_line(line, key)).collect();
    Some(Part {
        path: part.path.clone(),
        bytes: lines.join(&b'\n'),
    })
}

fn slow_line(line: &[u8], key: &str) -> Vec<u8> {
    let is_record = serde_json::from_slice(line)
        .is_ok_and(|record: serde_json::Value| record.is_object() && record.get(key).is_none());
    let mut new = line.to_vec();
    let first = br#"{"type":""#;
    let place = match line.strip_prefix(first) {
        _ if key == "role" => line.iter().rposition(|byte| *byte == b'}'),
        Some(rest) => {
            let end = rest.iter().position(|byte| *byte == b'"');
            end.filter(|end| rest.get(..*end).is_some_and(is_read_by_dsh))
                .map(|end| first.len() + end + 1)
        }
        None => None,
    };
    if let Some(place) = place.filter(|_| is_record && line.first() == Some(&b'{') && line != b"{}")
    {
        let member = format!(",\"{key}\":null");
        new.splice(place..place, member.into_bytes());
    }
    new
}

/// Whether dsh's rows of this type are parsed. The others, and the results of
/// tools, are told by their marks, whatever is in them.
fn is_read_by_dsh(kind: &[u8]) -> bool {
    const READ: &[&[u8]] = &[
        b"session",
        b"session/title",
        b"user/message",
        b"assistant/message",
        b"system/message",
        b"developer/message",
    ];
    READ.contains(&kind)
}

/// What is read of each file.
fn told(home: &Path, files: &BTreeMap<PathBuf, Vec<u8>>) -> Vec<String> {
    let files = files.keys().filter(|path| path.starts_with(home));
    let told = files.map(|path| match detect::read_file(path) {
        Ok(read) => {
            let capture = ibid::reference::projection::capture(&read.session);
            format!("{:?} {:?}", capture.conversation, read.notices)
        }
        Err(error) => error.code().to_owned(),
    });
    told.collect()
}

/// Reads each file's contents many times over, and four times as many: the
/// time must not grow much faster.
fn grow(tool: Tool, home: &Path, parts: &[Part]) {
    let size: usize = parts.iter().map(|part| part.bytes.len()).sum();
    let [some, many] = TIMES;
    if size * many > MAX_GROWN_BYTES {
        return;
    }
    let spent = |times: usize| {
        let grown = parts.iter().map(|part| Part {
            path: part.path.clone(),
            bytes: part.bytes.repeat(times),
        });
        home::write(home, &grown.collect::<Vec<_>>()).expect("a home");
        let before = clock();
        read(tool, home);
        clock().saturating_sub(before)
    };
    // Other programs can slow one try down, and not all of them.
    let is_steep = || {
        let (less, more) = (spent(some), spent(many));
        more > less.max(SMALL) * 8
    };
    assert!(
        !(0..16).all(|_| is_steep()),
        "4 times as much takes more than 8 times as long"
    );
}

/// The processor time of all threads.
fn clock() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    let (seconds, nanos) = (time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs());
    Duration::from_nanos(seconds * 1_000_000_000 + nanos)
}

fn digest(data: &[u8]) -> u32 {
    let mix = |sum: u32, byte: &u8| (sum ^ u32::from(*byte)).wrapping_mul(0x0100_0193);
    data.iter().fold(0x811c_9dc5, mix)
}

/// Lists, looks, reads and captures all there is.
fn read(tool: Tool, home: &Path) {
    let environment = Environment::new(Some(home.to_owned()), []);
    let adapter = adapters().find(|adapter| adapter.tool() == tool);
    let logs = ToolLogs::new(adapter.expect("a tool"), &environment);
    let found = logs.scan(&Default::default()).expect("a scan");
    let round = Round::default();
    for log in found.logs {
        assert_eq!(logs.find(&log.file).as_ref(), Some(&log), "found again");
        let _ = logs.header(&log.file);
        let Ok(Some(looked)) = logs.look(&log.file, Some(log.stamp), &round) else {
            continue;
        };
        let Found::Sessions(sessions) = looked.found else {
            continue;
        };
        let ids: Vec<_> = sessions.into_iter().map(|facts| facts.header.id).collect();
        for id in ids.iter().take(4) {
            let _ = logs.file_name(id);
            let read = logs.capture(&log.file, Some(id));
            let again = logs.capture(&log.file, Some(id));
            assert_eq!(read.is_ok(), again.is_ok());
            if let (Ok(Some(read)), Ok(Some(again))) = (read, again) {
                assert!(read.capture == again.capture, "the same is read twice");
            }
        }
        let _ = logs.said(&log.file, &ids, &round);
    }
    for path in contents(home).keys() {
        let (read, captured) = (detect::read_file(path), detect::capture_file(path));
        assert_eq!(read.is_ok(), captured.is_ok(), "read whole and captured");
        if let (Ok(read), Ok(captured)) = (read, captured) {
            let whole = ibid::reference::projection::capture(&read.session);
            assert!(captured.session.capture == whole, "captured as it is read");
            assert_eq!(captured.session.title.as_ref(), read.session.title());
            assert_eq!(captured.notices, read.notices);
        }
    }
}

/// Every file with what is in it.
fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                open.push(path);
            } else if let Ok(bytes) = fs::read(&path) {
                all.insert(path, bytes);
            }
        }
    }
    all
}

/// The most bytes of a record: of a line, or of all of a document.
fn largest(files: &BTreeMap<PathBuf, Vec<u8>>) -> usize {
    files.values().map(Vec::len).max().unwrap_or(0)
}
