//! Expected conversations, and reading a file against one.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use ibid::reference::projection::capture;
use ibid::source::detect::{capture_file, read_file};
use serde::Deserialize;

/// What reading a file must give.
#[derive(Deserialize)]
struct Expected {
    file: String,
    session_id: String,
    cwd: Option<String>,
    title: Option<String>,
    conversation: Vec<Item>,
    /// Those that a fixture tells; samples tell none.
    #[serde(default)]
    notices: Option<Vec<String>>,
    /// How surely the conversation is known.
    #[serde(default)]
    confidence: String,
}

#[derive(Debug, PartialEq, Eq, Deserialize)]
struct Item {
    role: String,
    text: String,
    checkpoint: bool,
}

/// Reads every file that the folder `expected` has an expectation of, beside
/// `root`. Gives how many there were.
fn check_all(root: &Path, expected: &Path) -> usize {
    let mut count = 0;
    for entry in fs::read_dir(expected).unwrap() {
        check_one(root, &entry.unwrap().path());
        count += 1;
    }
    count
}

/// Reads the file that one expectation names, beside `root`.
pub fn check_one(root: &Path, expected: &Path) {
    let expected = fs::read(expected).unwrap();
    check(root, &serde_json::from_slice(&expected).unwrap());
}

/// The folder of a tool's fixtures: files, and `expected`.
pub fn check_fixtures(tool: &str) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let expected = root.join(tool).join("expected");
    assert!(check_all(&root, &expected) > 0);
}

/// The tool's samples in the folder that `IBID_SAMPLES` names; says so when
/// there is none.
pub fn check_samples(tool: &str) {
    let Some(samples) = std::env::var_os("IBID_SAMPLES").map(PathBuf::from) else {
        println!("IBID_SAMPLES is not set: the samples of {tool} were left out");
        return;
    };
    let expected = samples.join("expected").join(tool);
    if !expected.is_dir() {
        println!(
            "{} is no folder: the samples of {tool} were left out",
            expected.display()
        );
        return;
    }
    // Expectations name files from the folder above.
    let root = samples.parent().unwrap();
    let before = state(&samples.join(tool));
    assert!(check_all(root, &expected) > 0);
    assert_eq!(
        state(&samples.join(tool)),
        before,
        "reading changed something"
    );
}

/// The files of a tool that there is an expectation of: its fixtures, and its
/// samples where `IBID_SAMPLES` names a folder of them.
pub fn files(tool: &str) -> Vec<PathBuf> {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let mut files = files_beside(&fixtures, &fixtures.join(tool).join("expected"));
    if let Some(samples) = std::env::var_os("IBID_SAMPLES").map(PathBuf::from) {
        let expected = samples.join("expected").join(tool);
        files.extend(files_beside(samples.parent().unwrap(), &expected));
    }
    files
}

fn files_beside(root: &Path, expected: &Path) -> Vec<PathBuf> {
    let file = |entry: io::Result<fs::DirEntry>| {
        let expected = fs::read(entry.unwrap().path()).unwrap();
        let expected: Expected = serde_json::from_slice(&expected).unwrap();
        root.join(expected.file)
    };
    fs::read_dir(expected).unwrap().map(file).collect()
}

fn check(root: &Path, expected: &Expected) {
    let name = &expected.file;
    agree(&root.join(name));
    let read = read_file(&root.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"));
    let conversation: Vec<Item> = capture(&read.session)
        .conversation
        .iter()
        .map(|item| Item {
            role: item.role.as_str().to_owned(),
            text: item.text.to_string(),
            checkpoint: item.checkpoint,
        })
        .collect();
    // What nobody is sure of is no expectation.
    if expected.confidence != "unsure" {
        assert_eq!(conversation, expected.conversation, "{name}");
    }
    assert_eq!(
        read.session.id(),
        &read.tool.session_id(&expected.session_id),
        "{name}"
    );
    assert_eq!(read.session.header().cwd, expected.cwd, "{name}");
    let title = read.session.title().map(|title| title.text.clone());
    assert_eq!(title, expected.title, "{name}");
    let notices: Vec<String> = read.notices.iter().map(ToString::to_string).collect();
    if let Some(told) = &expected.notices {
        assert_eq!(&notices, told, "{name}");
    }
    let lost = notices.iter().find(|notice| notice.contains("skipped"));
    assert_eq!(lost, None, "{name}");
}

/// What is captured of a file at once is what is captured of the whole session.
fn agree(path: &Path) {
    match (read_file(path), capture_file(path)) {
        (Ok(whole), Ok(captured)) => {
            assert_eq!(captured.session.capture, capture(&whole.session));
            assert_eq!(captured.session.title.as_ref(), whole.session.title());
            assert_eq!(captured.notices, whole.notices);
        }
        (Err(whole), Err(captured)) => assert_eq!(captured.to_string(), whole.to_string()),
        (whole, captured) => panic!("read {whole:?}, captured {captured:?}"),
    }
}

/// Every file under a folder, with its content and when it was changed.
fn state(folder: &Path) -> BTreeMap<PathBuf, (Vec<u8>, SystemTime)> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let metadata = fs::metadata(&path).unwrap();
        if metadata.is_dir() {
            files.extend(state(&path));
        } else {
            let modified = metadata.modified().unwrap();
            files.insert(path.clone(), (fs::read(&path).unwrap(), modified));
        }
    }
    files
}

/// Damages a file in many ways, each time in a folder of its own, and reads
/// it. Whatever comes of that, it is no panic, and the same in both ways.
pub fn survive_damage(fixture: &str, rounds: u64) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let bytes = fs::read(root.join(fixture)).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("damaged");
    for round in 0..rounds {
        fs::write(&path, damaged(&bytes, round)).unwrap();
        agree(&path);
    }
}

/// The bytes with a few of them changed, cut out, doubled or torn off.
fn damaged(bytes: &[u8], seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut random = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state >> 33).unwrap() % below.max(1)
    };
    let mut bytes = bytes.to_vec();
    for _ in 0..=random(4) {
        let at = random(bytes.len());
        let end = (at + random(200)).min(bytes.len());
        match random(5) {
            0 => bytes[at] = u8::try_from(random(256)).unwrap(),
            1 => drop(bytes.drain(at..end)),
            2 => drop(bytes.splice(at..at, bytes[at..end].to_vec())),
            3 => bytes[at..end].fill(0),
            _ => bytes.truncate(end),
        }
        if bytes.is_empty() {
            break;
        }
    }
    bytes
}
