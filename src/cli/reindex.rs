//! `ibid reindex`: looks at every session file anew.

use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::{CliError, Output};
use crate::figures::counted;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// As JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(out: &mut Output) -> Result<(), CliError> {
    let (home, config) = super::home()?;
    let library = super::open_library(&home, &config, super::cache_of(&home));
    library
        .forget()
        .map_err(|notice| CliError::new(notice.code(), notice))?;
    library
        .forget_texts()
        .map_err(|error| CliError::new(error.code(), error))?;
    let never = CancellationToken::new();
    let refreshed = library.refresh(&never, &mut |_| {})?;
    super::warn_of(&refreshed, out);
    let sessions = library.index().len();
    if out.is_json() {
        return out.json(&json!({"files": refreshed.changed, "sessions": sessions}));
    }
    let files = counted(refreshed.changed, "file");
    out.line(&format!(
        "looked at {files}: {}",
        counted(sessions, "session")
    ))
}
