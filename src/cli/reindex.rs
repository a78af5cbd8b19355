//! `ibid reindex`: looks at every session file anew, and reads all for search.

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
    let library = super::open_library(&home, &config, super::made_cache_of(&home, out));
    let notice = library
        .start_over()
        .map_err(|error| CliError::new(error.code(), error))?;
    let never = CancellationToken::new();
    let refreshed = library.refresh(&never, &mut |_| {})?;
    super::warn_of(&refreshed.notices, out);
    let sessions = library.index().len();
    super::search::read_texts(&library).map_err(super::search::failed)?;
    let texts = super::search::standing(&library)?;
    if out.is_json() {
        return out.json(&json!({
            "files": refreshed.changed,
            "sessions": sessions,
            "indexed": texts.indexed,
            "of": texts.of,
            "unread": super::search::unread(&texts),
            "rebuilt": notice.as_ref().map(ToString::to_string),
        }));
    }
    if let Some(notice) = notice {
        out.line(&notice.to_string())?;
    }
    let files = counted(refreshed.changed, "file");
    let sessions = counted(sessions, "session");
    out.line(&format!("looked at {files}: {sessions}"))?;
    let indexed = counted(texts.indexed, "session");
    out.line(&format!("read {indexed} for search"))?;
    super::search::warn_of_missing(&texts, None, out);
    Ok(())
}
