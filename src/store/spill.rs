//! Spill files: the full text of what a citation had to leave out.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::sync::{Arc, Weak};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tempfile::TempPath;
use uuid::Uuid;

use super::{Home, StoreError, files};
use crate::reference::Cause;
use crate::reference::ports::{Spill, SpillRef, SpillStore};

/// What a locator begins with.
const SCHEME: &str = "spill:";

/// The spill files of a home.
///
/// Each has a random name of 122 bits, is created exclusively, and is for its
/// owner alone (0600).
#[derive(Clone, Debug)]
pub struct SpillFiles {
    home: Home,
}

impl SpillFiles {
    /// The spill files of `home`; touches no disk.
    #[must_use]
    pub fn new(home: Home) -> Self {
        Self { home }
    }

    /// Opens a saved text for reading.
    ///
    /// # Errors
    /// `SPILL_NOT_FOUND` when the locator is none of ours or its file is gone;
    /// else a failure of the disk.
    pub fn open(&self, locator: &str) -> Result<File, StoreError> {
        let unknown = || StoreError::UnknownSpill {
            locator: locator.to_owned(),
        };
        let path = self.path(locator).ok_or_else(unknown)?;
        File::open(&path).map_err(|cause| match cause.kind() {
            io::ErrorKind::NotFound => unknown(),
            _ => StoreError::io("read", &path, cause),
        })
    }

    /// The file of a locator. Nothing but 32 hex digits gets into a path.
    fn path(&self, locator: &str) -> Option<PathBuf> {
        let id = Uuid::try_parse(locator.strip_prefix(SCHEME)?).ok()?;
        (locator_of(id) == locator).then(|| self.file_of(id))
    }

    fn file_of(&self, id: Uuid) -> PathBuf {
        self.home.spill_dir().join(format!("{}.txt", id.simple()))
    }

    /// Writes a text; the file goes with the [`TempPath`] unless it is kept.
    fn write(&self, spill: &Spill, asker: Weak<()>) -> Result<(TempPath, SpillRef), StoreError> {
        self.home.create()?;
        let id = Uuid::new_v4();
        let path = self.file_of(id);
        let failed = |cause| StoreError::io("write", &path, cause);
        let file = files::private()
            .write(true)
            .create_new(true)
            .open(&path)
            .map_err(failed)?;
        let guard = TempPath::try_from_path(&path).map_err(failed)?;
        let mut out = BufWriter::new(WhileAsked { file, asker });
        spill.content.write_to(&mut out).map_err(failed)?;
        out.flush().map_err(failed)?;
        let file = &out.get_ref().file;
        file.sync_all().map_err(failed)?;
        let bytes = file.metadata().map_err(failed)?.len();
        files::sync_dir(&self.home.spill_dir()).map_err(failed)?;
        let locator = locator_of(id);
        let retrieval_hint = format!("the full text: ibid spill show {locator}");
        Ok((
            guard,
            SpillRef {
                locator,
                bytes,
                retrieval_hint,
            },
        ))
    }
}

fn locator_of(id: Uuid) -> String {
    format!("{SCHEME}{}", id.simple())
}

impl SpillStore for SpillFiles {
    fn save(&self, spill: Spill) -> BoxFuture<'_, Result<SpillRef, Cause>> {
        async move {
            let waiting = Arc::new(());
            let asker = Arc::downgrade(&waiting);
            let files = self.clone();
            // When nobody waits any more, what the task gives is dropped, and
            // the file goes with it.
            let written = tokio::task::spawn_blocking(move || files.write(&spill, asker)).await;
            drop(waiting);
            let cause = |error: StoreError| -> Cause { Arc::new(error) };
            let (guard, saved) = written
                .map_err(|error| -> Cause { Arc::new(error) })?
                .map_err(cause)?;
            guard.keep().map_err(|error| {
                cause(StoreError::io("keep", &self.home.spill_dir(), error.error))
            })?;
            Ok(saved)
        }
        .boxed()
    }

    fn discard<'a>(&'a self, spill: &'a SpillRef) -> BoxFuture<'a, ()> {
        async move {
            if let Some(path) = self.path(&spill.locator) {
                // A file that stays is private and named by nothing.
                let _ = tokio::task::spawn_blocking(move || fs::remove_file(path)).await;
            }
        }
        .boxed()
    }
}

/// Writes to the file as long as somebody waits for it.
struct WhileAsked {
    file: File,
    asker: Weak<()>,
}

impl Write for WhileAsked {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.asker.strong_count() == 0 {
            return Err(io::Error::other("nobody waits for it any more"));
        }
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::io::Read;

    use tempfile::TempDir;

    use super::*;
    use crate::reference::projection::{Capture, Item};
    use crate::reference::transcript::{self, Transcript};
    use crate::session::{Header, Millis, Role};

    fn spill(text: &str) -> Spill {
        let capture = Capture {
            header: Header::new("source", Millis(0), None),
            captured_through: None,
            damage: None,
            conversation: vec![Item {
                time: Millis(0),
                role: Role::User,
                checkpoint: false,
                text: text.into(),
            }],
        };
        Spill {
            owner: "owner".into(),
            source: "source".into(),
            label: "Source".to_owned(),
            suggested_name: "session-reference-1.txt".to_owned(),
            content: Arc::new(Transcript::new(Arc::new(capture), "Source".to_owned())),
        }
    }

    fn files() -> (TempDir, SpillFiles) {
        let dir = tempfile::tempdir().unwrap();
        let files = SpillFiles::new(Home::at(dir.path().join("home")));
        (dir, files)
    }

    fn count(files: &SpillFiles) -> usize {
        fs::read_dir(files.home.spill_dir()).unwrap().count()
    }

    #[tokio::test]
    async fn a_saved_text_reads_back_until_it_is_discarded() {
        let (_dir, files) = files();
        let text = "long <text>\n".repeat(10_000);
        let saved = files.save(spill(&text)).await.unwrap();
        assert!(
            saved
                .retrieval_hint
                .contains(&format!("ibid spill show {}", saved.locator))
        );
        let mut content = String::new();
        files
            .open(&saved.locator)
            .unwrap()
            .read_to_string(&mut content)
            .unwrap();
        assert_eq!(content.len() as u64, saved.bytes);
        let decoded = transcript::decode(&content).unwrap();
        assert_eq!(decoded.messages.first().unwrap().text, text);
        files.discard(&saved).await;
        assert_eq!(
            files.open(&saved.locator).unwrap_err().code(),
            "SPILL_NOT_FOUND"
        );
        assert_eq!(count(&files), 0);
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn a_saved_text_is_for_its_owner_alone() {
        use std::os::unix::fs::PermissionsExt;
        let (_dir, files) = files();
        let saved = files.save(spill("text")).await.unwrap();
        let file = files.open(&saved.locator).unwrap();
        let mode = file.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn a_save_that_nobody_waits_for_leaves_nothing() {
        let (_dir, files) = files();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        runtime.block_on(async {
            // Starts the task, and goes away.
            let save = files.save(spill(&"x".repeat(100_000)));
            assert!(save.now_or_never().is_none());
        });
        // Waits for the task.
        drop(runtime);
        if files.home.spill_dir().exists() {
            assert_eq!(count(&files), 0);
        }
        let error = files.write(&spill("x"), Weak::new()).unwrap_err();
        assert_eq!(error.code(), "STORE_IO");
        assert_eq!(count(&files), 0);
    }

    #[tokio::test]
    async fn a_home_that_can_not_be_made_is_the_cause() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let files = SpillFiles::new(Home::at(file.path()));
        let cause = files.save(spill("x")).await.unwrap_err();
        assert!(cause.to_string().contains("is a file"), "{cause}");
    }

    #[test]
    fn no_locator_leads_out_of_the_folder() {
        let (_dir, files) = files();
        for locator in [
            "",
            "spill:",
            "spill:../../etc/passwd",
            "spill:00000000-0000-4000-8000-000000000000",
            "spill:0000000000004000800000000000000G",
            "SPILL:00000000000040008000000000000000",
            "/etc/passwd",
        ] {
            assert_eq!(files.path(locator), None, "{locator}");
            assert_eq!(files.open(locator).unwrap_err().code(), "SPILL_NOT_FOUND");
        }
    }
}
