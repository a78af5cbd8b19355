//! The write-ahead log of the cache's database.

use std::thread;
use std::time::{Duration, Instant};

use rusqlite::Connection;

/// How long one waits before the next try.
const PAUSE: Duration = Duration::from_millis(2);

/// Lets a database have a write-ahead log. SQLite waits for nobody here: of two
/// that open a new file at once, one would be refused.
pub(super) fn use_wal(connection: &Connection, patience: Duration) -> rusqlite::Result<()> {
    let begun = Instant::now();
    loop {
        match connection.pragma_update(None, "journal_mode", "wal") {
            Err(error) if is_busy(&error) && begun.elapsed() < patience => thread::sleep(PAUSE),
            outcome => return outcome,
        }
    }
}

/// Whether another connection is in the way.
pub(super) fn is_busy(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode::{DatabaseBusy, DatabaseLocked};
    matches!(
        error.sqlite_error_code(),
        Some(DatabaseBusy | DatabaseLocked)
    )
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use super::*;

    #[test]
    fn many_that_open_a_new_file_at_once_all_get_a_log() {
        for _ in 0..40 {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("new.sqlite3");
            let begun = Barrier::new(4);
            std::thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| {
                        let connection = Connection::open(&path).unwrap();
                        begun.wait();
                        use_wal(&connection, Duration::from_secs(20)).unwrap();
                        connection.busy_timeout(Duration::from_secs(20)).unwrap();
                        connection
                            .execute_batch("CREATE TABLE IF NOT EXISTS t (a)")
                            .unwrap();
                    });
                }
            });
        }
    }
}
