//! Our own sessions on disk.
//!
//! Owns the folders, the log format, its recovery, the one writer a session
//! may have, and spill files. Knows nothing of other tools' logs, of listing
//! and titles over many sessions (`library`), or of who asks.
//!
//! A log is a file of JSON lines: the header, then one event a line. Lines are
//! only ever added. A line that is not there to its end can only be the last
//! one, left by a program that was stopped while it wrote, and is cut off by
//! the next writer. Nothing else that stands in a log is ever changed, however
//! damaged it is.

mod drafts;
mod error;
pub mod file_name;
mod files;
mod home;
mod listing;
pub mod log;
mod spill;
mod writer;

pub use drafts::DraftFile;
pub use error::StoreError;
pub(crate) use files::private;
pub use home::{HOME_VARIABLE, Home};
pub use listing::{SessionFile, list_files, session_file};
pub use spill::SpillFiles;
pub use writer::SessionWriter;
