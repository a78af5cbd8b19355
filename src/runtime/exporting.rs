//! Writing a session to a file of the person's own: its conversation as
//! Markdown, or its log as it is. A file that is there already stays.

mod markdown;

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::{Done, Runtime, failure};
use crate::chat::{Failure, Notice};
use crate::reference::ports::SurfaceReader as _;
use crate::session::SessionId;
use crate::store::{Home, log};
use crate::tool::Tool;

/// A session, and where to write it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Export {
    /// The session.
    pub id: SessionId,
    /// What it is called.
    pub title: String,
    /// The file as the person wrote it: a relative one is in the directory that
    /// the program was started in. Without it there is a new one there, named
    /// after the moment.
    pub path: Option<String>,
    /// The moment, as it stands in the name of a file.
    pub moment: String,
}

/// How many names are tried where the first ones are taken.
const NAMES: u32 = 100;

impl Runtime {
    /// Writes a session to a file, and tells where.
    pub(super) fn export(&self, export: Export) {
        let home = self.services.home.clone();
        let done = self.done.clone();
        if Tool::foreign(&export.id).is_none() {
            // Behind what is still being written to it.
            self.in_order.run(move || {
                let told = told(own(&home, &export));
                let _ = done.blocking_send(Done::Notice(told));
            });
            return;
        }
        let library = self.services.library.clone();
        self.tasks.spawn(async move {
            let read = library.read_surface(&export.id).await;
            let written = tokio::task::spawn_blocking(move || {
                let capture = read.map_err(|cause| failure("EXPORT_FAILED", cause))?;
                if export.wants_log() {
                    return Err(failure(
                        "EXPORT_FAILED",
                        "only ibid's own sessions have a log to export; a name that ends in .md \
                         gets the conversation",
                    ));
                }
                write(
                    &export,
                    "md",
                    &markdown::of_capture(&export.title, &capture),
                )
            });
            let written = written.await;
            let told = told(written.unwrap_or_else(|panic| Err(failure("PANIC", panic))));
            let _ = done.send(Done::Notice(told)).await;
        });
    }
}

impl Export {
    fn wants_log(&self) -> bool {
        let path = self.path.as_deref().map(Path::new);
        let extension = path.and_then(Path::extension);
        extension.is_some_and(|extension| extension.eq_ignore_ascii_case(LOG))
    }

    /// The files to try, one after the other.
    fn candidates(&self, extension: &str) -> Vec<PathBuf> {
        let written = self.path.as_deref().map(expanded);
        let folder = match written {
            Some(path) if !path.is_dir() => return vec![path],
            folder => folder.unwrap_or_default(),
        };
        let name = |n| match n {
            1 => format!("ibid-{}.{extension}", self.moment),
            n => format!("ibid-{}-{n}.{extension}", self.moment),
        };
        (1..=NAMES).map(|n| folder.join(name(n))).collect()
    }
}

/// The ending of a log's name.
const LOG: &str = "jsonl";

/// A path as a shell would take it: `~/` is the person's own folder.
fn expanded(written: &str) -> PathBuf {
    let home = written.strip_prefix("~/").zip(directories::BaseDirs::new());
    match home {
        Some((rest, dirs)) => dirs.home_dir().join(rest),
        None => PathBuf::from(written),
    }
}

/// Writes a session of ibid's own.
fn own(home: &Home, export: &Export) -> Result<PathBuf, Failure> {
    let log = home.session_file(&export.id);
    if export.wants_log() {
        let bytes = std::fs::read(&log).map_err(|cause| unreadable(&log, &cause))?;
        return write(export, LOG, &bytes);
    }
    let read = log::read_session(&log).map_err(|error| failure(error.code(), error))?;
    write(
        export,
        "md",
        &markdown::of_session(&export.title, &read.session),
    )
}

fn unreadable(log: &Path, cause: &io::Error) -> Failure {
    failure(
        "EXPORT_FAILED",
        format!("the session's log {} can't be read: {cause}", log.display()),
    )
}

/// Writes a file that is there whole or not at all, where none is yet.
fn write(export: &Export, extension: &str, bytes: &[u8]) -> Result<PathBuf, Failure> {
    let candidates = export.candidates(extension);
    for path in &candidates {
        match write_new(path, bytes) {
            Ok(()) => return Ok(std::path::absolute(path).unwrap_or_else(|_| path.clone())),
            Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => {}
            Err(cause) => return Err(failure("EXPORT_FAILED", unwritten(path, &cause))),
        }
    }
    let taken = candidates.first().map(|path| path.display().to_string());
    Err(failure(
        "EXPORT_EXISTS",
        format!(
            "there is a file already at {}, and it stays as it is; give another name",
            taken.unwrap_or_default()
        ),
    ))
}

/// Why a file can't be written, in words of the file that the person named.
fn unwritten(path: &Path, cause: &io::Error) -> String {
    let folder = folder_of(path);
    if !folder.is_dir() {
        let folder = folder.display();
        return format!("there is no folder {folder} to write to; make it, or give another path");
    }
    let path = path.display();
    // What wraps the system's error names a file that nobody asked for.
    match cause.get_ref() {
        Some(_) => format!("{path} can't be written: {}", cause.kind()),
        None => format!("{path} can't be written: {cause}"),
    }
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = tempfile::NamedTempFile::new_in(folder_of(path))?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist_noclobber(path)?;
    Ok(())
}

fn told(written: Result<PathBuf, Failure>) -> Notice {
    match written {
        Ok(path) => Notice::Info(format!("exported to {}", path.display())),
        Err(failure) => Notice::Failed(failure),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::session::{Header, Message, Millis, NewEvent, Payload};
    use crate::store::SessionWriter;

    fn home() -> (tempfile::TempDir, Home) {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::at(folder.path().join("home"));
        let header = Header::new("a", Millis(0), None);
        let said = Payload::user(Message::person("hello"));
        SessionWriter::create(&home, header, vec![NewEvent::plain(Millis(1), said)]).unwrap();
        (folder, home)
    }

    fn export(path: Option<&Path>) -> Export {
        Export {
            id: "a".into(),
            title: "Greeting".to_owned(),
            path: path.map(|path| path.to_str().unwrap().to_owned()),
            moment: "20261202-041500".to_owned(),
        }
    }

    #[test]
    fn a_name_that_ends_in_jsonl_gets_the_log_byte_for_byte() {
        let (folder, home) = home();
        let path = folder.path().join("out.jsonl");
        assert_eq!(own(&home, &export(Some(&path))).unwrap(), path);
        let log = std::fs::read(home.session_file(&"a".into())).unwrap();
        assert_eq!(std::fs::read(path).unwrap(), log);
    }

    #[test]
    fn any_other_name_gets_the_conversation() {
        let (folder, home) = home();
        let path = folder.path().join("out.txt");
        own(&home, &export(Some(&path))).unwrap();
        let text = std::fs::read_to_string(path).unwrap();
        assert!(text.starts_with("# Greeting\n"), "{text}");
        assert!(text.ends_with("## You\n\nhello\n"), "{text}");
    }

    #[test]
    fn a_file_that_is_there_stays_as_it_is() {
        let (folder, home) = home();
        let path = folder.path().join("out.md");
        std::fs::write(&path, "mine").unwrap();
        let refused = own(&home, &export(Some(&path))).unwrap_err();
        assert_eq!(refused.code, "EXPORT_EXISTS");
        assert!(refused.message.contains("out.md"), "{}", refused.message);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "mine");
        let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
        assert_eq!(left.len(), 2, "and nothing else is left: {left:?}");
    }

    #[test]
    fn in_a_folder_each_export_has_a_name_of_its_own() {
        let (folder, home) = home();
        let wanted = export(Some(folder.path()));
        let names = [own(&home, &wanted).unwrap(), own(&home, &wanted).unwrap()];
        assert_eq!(names[0], folder.path().join("ibid-20261202-041500.md"));
        assert_eq!(names[1], folder.path().join("ibid-20261202-041500-2.md"));
    }

    #[test]
    fn a_folder_that_is_not_there_is_named() {
        let (folder, home) = home();
        let path = folder.path().join("nowhere/out.md");
        let refused = own(&home, &export(Some(&path))).unwrap_err();
        assert_eq!(refused.code, "EXPORT_FAILED");
        let told = refused.message;
        assert!(told.starts_with("there is no folder"), "{told}");
        assert!(told.contains("nowhere to write to"), "{told}");
        assert!(!told.contains("nowhere/"), "{told}");
    }

    #[test]
    fn a_folder_that_takes_no_file_is_told_without_the_name_of_one_nobody_asked_for() {
        let cause = tempfile::NamedTempFile::new_in("/nowhere").unwrap_err();
        let told = unwritten(Path::new("/out.md"), &cause);
        assert!(told.starts_with("/out.md can't be written: "), "{told}");
        assert!(!told.contains(".tmp"), "{told}");
    }
}
