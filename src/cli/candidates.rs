//! `ibid candidates`: which sessions can be cited.

use std::collections::HashSet;
use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use jiff::tz::TimeZone;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::{CliError, Output};
use crate::library::Library;
use crate::library::index::{Entry, Index};
use crate::library::query::{Filter, Parsed};
use crate::reference::discovery::{RemoteCandidate, remote_candidates};
use crate::reference::ports::{ListedSession, SessionDirectory};
use crate::reference::{Cause, ReferenceConfig, RouteChoice, Target};
use crate::session::{Millis, SessionId};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Part of an id, a directory or a title; case does not matter. `tool:codex`,
    /// `cwd:api` and `since:7d` leave others out
    #[arg(default_value = "", allow_hyphen_values = true)]
    query: String,
    /// The session that will cite: it is left out, and its directory comes first
    #[arg(long, value_name = "ID", allow_hyphen_values = true)]
    target: Option<String>,
    /// The directory whose sessions come first (default: that of the target,
    /// else the current one)
    #[arg(long, value_name = "DIR")]
    cwd: Option<String>,
    /// How many to list at the most
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// As JSON, with mentions; a session whose log can't be read is
    /// `"unread": true`
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args, out: &mut Output) -> Result<(), CliError> {
    let (home, config) = super::home()?;
    let parsed = Parsed::new(&args.query, &TimeZone::system());
    if let Some(problem) = parsed.problems.first() {
        return Err(CliError::usage(problem));
    }
    let library = super::library(&home, &config, out)?;
    let references = match args.limit {
        Some(limit) => config.references.with_candidate_limit(limit),
        None => config.references,
    };
    let (candidates, index) = super::block_on(find(args, &parsed, &library, &references, out))??;
    let is_unread = |id: &SessionId| {
        let row = index.find(id).and_then(|row| index.get(row));
        row.is_some_and(|entry| entry.is_unread)
    };
    if out.is_json() {
        let rows: Vec<_> = candidates
            .iter()
            .map(|found| match &found.candidate {
                candidate if is_unread(&candidate.session_id) => json!({
                    "sessionId": candidate.session_id,
                    "label": candidate.label,
                    "unread": true,
                    "mention": found.mention,
                }),
                _ => json!(found),
            })
            .collect();
        return out.json(&rows);
    }
    for RemoteCandidate { candidate, .. } in candidates {
        let title = candidate.display_title.unwrap_or(candidate.label);
        let cwd = candidate.cwd.unwrap_or_default();
        let id = super::shown_id(candidate.session_id.as_str());
        out.row(&[&id, &title, &cwd])?;
    }
    Ok(())
}

/// What can be cited, and the table that it is from. The answer is taken as
/// it is, so each row in it is compared with its log; one that was wrong may
/// belong elsewhere, or nowhere, and the list is made once more.
async fn find(
    args: &Args,
    parsed: &Parsed,
    library: &Library,
    references: &ReferenceConfig,
    out: &Output,
) -> Result<(Vec<RemoteCandidate>, Arc<Index>), CliError> {
    let id = match &args.target {
        Some(id) => super::session_id(id),
        None => SessionId::from(uuid::Uuid::now_v7().to_string()),
    };
    let mut compared = HashSet::from([id.clone()]);
    super::warn_of(&library.verify_only([&id])?.notices, out);
    let never = CancellationToken::new();
    // Without filters each space counts.
    let text = match &parsed.filter {
        filter if filter.is_empty() => &args.query,
        _ => parsed.rest.trim(),
    };
    loop {
        let index = library.index();
        let admitted = Admitted {
            index: &index,
            filter: &parsed.filter,
            now: Millis::now(),
        };
        let cwd_of_target = index.find(&id).and_then(|row| index.get(row)?.cwd);
        let target = Target {
            id: id.clone(),
            cwd: match (&args.cwd, cwd_of_target) {
                (Some(cwd), _) => Some(super::whole_dir(cwd).into_owned()),
                (None, Some(cwd)) => Some(cwd.to_owned()),
                (None, None) => super::screen::current_dir(),
            },
            route: RouteChoice::Own(None),
        };
        let found = remote_candidates(&admitted, references, &target, text, &never).await?;
        let ids = found.iter().map(|found| &found.candidate.session_id);
        let new: Vec<&SessionId> = ids.filter(|id| compared.insert((*id).clone())).collect();
        super::warn_of(&library.verify_only(new)?.notices, out);
        if Arc::ptr_eq(&index, &library.index()) {
            return Ok((found, index));
        }
    }
}

/// The sessions of a table that a filter admits.
struct Admitted<'a> {
    index: &'a Index,
    filter: &'a Filter,
    now: Millis,
}

impl SessionDirectory for Admitted<'_> {
    fn list_sessions(&self) -> BoxFuture<'_, Result<Vec<ListedSession>, Cause>> {
        let admits = |entry: &Entry<'_>| {
            let (tool, cwd, at) = (entry.tool, entry.cwd, entry.updated_at);
            self.filter.admits(tool, cwd, at, self.now)
        };
        let admitted = self.index.iter().filter(admits);
        let listed = admitted.map(|entry| entry.listed()).collect();
        std::future::ready(Ok(listed)).boxed()
    }
}
