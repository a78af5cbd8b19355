//! Candidates: which sessions can be cited, what they are called, and in what
//! order they are offered. No log is ever opened here.

use std::cmp::Reverse;

use serde::Serialize;
use tokio_util::sync::CancellationToken;

use super::mention::{self, Reference};
use super::ports::{KnownTitle, ListedSession, SessionDirectory};
use super::resolver::{Target, or_cancelled};
use super::{ReferenceConfig, ReferenceError};
use crate::session::{Millis, SessionId, title};

/// A session that can be cited.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Candidate {
    /// The session.
    pub session_id: SessionId,
    /// What a mention of it says: its title where one can be trusted, else
    /// its id.
    pub label: String,
    /// The label as a clean line, where the two differ.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display_title: Option<String>,
    /// The directory it was begun in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Whether the target was begun in the same directory.
    pub same_workspace: bool,
    /// When it began.
    pub created_at: Millis,
}

/// A candidate with the mention that cites it, for other programs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RemoteCandidate {
    /// The candidate.
    #[serde(flatten)]
    pub candidate: Candidate,
    /// Its canonical mention.
    pub mention: String,
}

/// Where a candidate stands for a target begun in `cwd`: the same directory
/// first, then sessions without one, then other directories.
#[must_use]
pub fn workspace_rank(target_cwd: Option<&str>, cwd: Option<&str>) -> u8 {
    match (target_cwd, cwd) {
        (Some(here), Some(there)) if here == there => 0,
        (_, None) => 1,
        _ => 2,
    }
}

impl From<Candidate> for RemoteCandidate {
    fn from(candidate: Candidate) -> Self {
        Self {
            mention: mention::format(&candidate.reference()),
            candidate,
        }
    }
}

impl Candidate {
    /// A listed session as a candidate for a target begun in `target_cwd`.
    #[must_use]
    pub fn new(session: ListedSession, target_cwd: Option<&str>) -> Self {
        let header = session.header;
        let title = match session.title {
            KnownTitle::Live(title) => title,
            KnownTitle::Cached(title) if header.is_seeded != Some(true) => Some(title),
            KnownTitle::Cached(_) | KnownTitle::Unknown => None,
        };
        let label = title
            // A title of nothing but invisible characters names nothing.
            .filter(|title| !title::normalise(title, title.len()).is_empty())
            .unwrap_or_else(|| header.id.as_str().to_owned());
        let clean = title::normalise(&label, label.len());
        Self {
            same_workspace: workspace_rank(target_cwd, header.cwd.as_deref()) == 0,
            display_title: (clean != label).then_some(clean),
            session_id: header.id,
            label,
            cwd: header.cwd,
            created_at: header.created_at,
        }
    }

    /// The reference that picking this candidate makes.
    #[must_use]
    pub fn reference(&self) -> Reference {
        Reference {
            session_id: self.session_id.clone(),
            label: self.label.clone(),
        }
    }

    fn matches(&self, lower_query: &str) -> bool {
        if lower_query.is_empty() {
            return true;
        }
        [
            Some(self.session_id.as_str()),
            self.cwd.as_deref(),
            Some(&*self.label),
            self.display_title.as_deref(),
        ]
        .into_iter()
        .flatten()
        .any(|text| text.to_lowercase().contains(lower_query))
    }
}

/// Lists what `target` can cite: a case-insensitive substring of id, cwd,
/// label or display title keeps a candidate; the target's own directory comes
/// first, then sessions without one, then the others, each newest first.
///
/// # Errors
/// `INVALID_REFERENCE` for a limit of 0, `CANCELLED` as soon as that is asked
/// for, `READ_FAILED` when the directory fails.
pub async fn list_candidates(
    directory: &dyn SessionDirectory,
    target: &Target,
    query: &str,
    limit: usize,
    cancel: &CancellationToken,
) -> Result<Vec<Candidate>, ReferenceError> {
    if limit == 0 {
        return Err(ReferenceError::InvalidLimit);
    }
    let sessions = or_cancelled(cancel, directory.list_sessions())
        .await?
        .map_err(|cause| ReferenceError::ListFailed { cause })?;
    let cwd = target.cwd.as_deref();
    let query = query.to_lowercase();
    let mut candidates: Vec<Candidate> = sessions
        .into_iter()
        .filter(|session| session.header.id != target.id)
        .map(|session| Candidate::new(session, cwd))
        .filter(|candidate| candidate.matches(&query))
        .collect();
    candidates.sort_by_cached_key(|c| {
        (
            workspace_rank(cwd, c.cwd.as_deref()),
            Reverse(c.created_at),
            c.session_id.clone(),
        )
    });
    candidates.truncate(limit);
    Ok(candidates)
}

/// The same list for other programs: under the configured limit, each with
/// its mention.
///
/// # Errors
/// Those of [`list_candidates`].
pub async fn remote_candidates(
    directory: &dyn SessionDirectory,
    config: &ReferenceConfig,
    target: &Target,
    query: &str,
    cancel: &CancellationToken,
) -> Result<Vec<RemoteCandidate>, ReferenceError> {
    let candidates =
        list_candidates(directory, target, query, config.candidate_limit(), cancel).await?;
    Ok(candidates.into_iter().map(RemoteCandidate::from).collect())
}
