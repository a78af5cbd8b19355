//! `ibid doctor`: what could not be read, and what to do about it.

use serde::Serialize;
use tokio_util::sync::CancellationToken;

use super::{CliError, Output, sources};
use crate::figures::thousands;
use crate::library::texts::TextsError;
use crate::library::{Library, Notice};
use crate::session::SessionId;

/// How many findings people are told one by one.
const MOST_TOLD: usize = 200;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// As JSON
    #[arg(long)]
    json: bool,
}

/// Something that is not as it should be.
#[derive(Debug, Serialize)]
struct Finding {
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    problem: String,
    advice: &'static str,
}

pub(super) fn run(out: &mut Output) -> Result<(), CliError> {
    let (home, config) = super::home()?;
    let library = super::open_library(&home, &config, super::cache_of(&home));
    let never = CancellationToken::new();
    let mut notices = library.refresh(&never, &mut |_| {})?.notices;
    notices.extend(library.verify(&never, &mut |_| {})?.notices);
    let sources = sources::gather(&home, &config, &library);
    let unsearchable = unsearchable(&library);
    let mut findings: Vec<Finding> = notices
        .iter()
        .filter(|notice| match notice {
            // What stands with its file is told there.
            Notice::Unreadable { file, .. } => {
                let mut told = sources.iter().flat_map(|source| &source.notices);
                !told.any(|trouble| trouble.file == *file)
            }
            _ => true,
        })
        .map(general)
        .collect();
    for source in &sources {
        let troubles = source.notices.iter();
        findings.extend(troubles.map(|trouble| Finding {
            code: None,
            file: Some(trouble.file.clone()),
            problem: trouble.notice.clone(),
            advice: "whatever else is in it is shown; the file is left as it is",
        }));
    }
    findings.extend(unsearchable);
    if out.is_json() {
        return out.json(&serde_json::json!({"sources": sources, "findings": findings}));
    }
    for source in &sources {
        out.line(&sources::heading(source))?;
    }
    if findings.is_empty() {
        return out.line("everything that was found can be read");
    }
    let more = findings.len().saturating_sub(MOST_TOLD);
    for finding in findings.into_iter().take(MOST_TOLD) {
        // Some problems name the file themselves.
        let file = finding
            .file
            .filter(|file| !finding.problem.starts_with(file));
        let file = file.map(|file| format!("{file}: ")).unwrap_or_default();
        out.line(&format!("- {file}{}", finding.problem))?;
        out.line(&format!("  {}", finding.advice))?;
    }
    if more > 0 {
        let more = thousands(more as u64);
        out.line(&format!("and {more} more: `ibid doctor --json` tells each"))?;
    }
    Ok(())
}

/// The sessions whose texts can't be read, and why.
fn unsearchable(library: &Library) -> Vec<Finding> {
    let of_index = |error: TextsError, advice| Finding {
        code: Some(error.code()),
        file: None,
        problem: error.to_string(),
        advice,
    };
    let standing = match library.texts_standing() {
        Ok(standing) => standing,
        Err(error) => {
            let advice = "until then nothing that was said is found; all else works";
            return vec![of_index(error, advice)];
        }
    };
    let room = library.require_room_for_texts();
    let short = room.err().filter(|_| standing.pending() > 0).map(|error| {
        let advice = "until then what was said in sessions that were not read yet is not found";
        of_index(error, advice)
    });
    let finding = |(id, problem): (SessionId, String)| Finding {
        code: Some("SESSION_UNSEARCHABLE"),
        file: None,
        problem: format!("the session {id} could not be read for search: {problem}"),
        advice: "what was said in it since is not found; each search tries again",
    };
    let unread = standing.unread.into_iter().map(finding);
    short.into_iter().chain(unread).collect()
}

fn general(notice: &Notice) -> Finding {
    Finding {
        code: Some(notice.code()),
        file: None,
        problem: notice.to_string(),
        advice: match notice {
            Notice::CacheSetAside { .. } => {
                "ibid works without it, slower; mend or remove that file"
            }
            Notice::CacheRebuilt { .. } => "nothing is lost: it was filled again",
            Notice::CacheHeld { .. } => {
                "nothing is lost; if it stays so, end whatever else uses that file"
            }
            Notice::CacheFree { .. } => "nothing is lost, and nothing is to be done",
            Notice::CacheNotWritten { .. } => "see to room on the disk and to the file's rights",
            Notice::Obstacle { .. } | Notice::NotListed { .. } => {
                "what is there is left out as long as that is so; nothing else is"
            }
            Notice::Unreadable { .. } => "see to the file's rights",
            Notice::More { .. } => "what is said of those above holds for these",
        },
    }
}
