//! Whether the cache tells the truth: its rows of ibid's own sessions beside the
//! headers of their logs.

use rayon::prelude::*;
use tokio_util::sync::CancellationToken;

use super::Library;
use super::refresh::{LAST_BATCH, Named, Progress, Refreshed};
use crate::reference::Cause;
use crate::session::{Header, SessionId};
use crate::threads::{in_background, lock};
use crate::tool::Tool;

impl Library {
    /// Compares each row of ibid's own sessions in the cache with the header
    /// of its log, and reads those logs again that say something else. Blocks;
    /// stops early when cancelled.
    ///
    /// # Errors
    /// When something is wrong and the folder can't be listed.
    pub fn verify(
        &self,
        cancel: &CancellationToken,
        on_progress: &mut dyn FnMut(Progress),
    ) -> Result<Refreshed, Cause> {
        self.compare(&self.remembered(), cancel, on_progress)
    }

    /// Does for these sessions alone what [`verify`](Self::verify) does, as
    /// far as they are shown and stored. Blocks.
    ///
    /// # Errors
    /// Those of [`verify`](Self::verify).
    pub fn verify_only<'a>(
        &self,
        ids: impl IntoIterator<Item = &'a SessionId>,
    ) -> Result<Refreshed, Cause> {
        let index = self.index();
        let shown: Vec<_> = ids
            .into_iter()
            .filter_map(|id| {
                let entry = index.get(index.find(id)?)?;
                let header = entry.listed().header;
                let is_compared = entry.tool == Tool::Ibid && !entry.is_live && !entry.is_unread;
                let file = self.shared.own.file_name(id).filter(|_| is_compared)?;
                Some((file, header))
            })
            .collect();
        self.compare(&shown, &CancellationToken::new(), &mut |_| {})
    }

    fn compare(
        &self,
        believed: &[(String, Header)],
        cancel: &CancellationToken,
        on_progress: &mut dyn FnMut(Progress),
    ) -> Result<Refreshed, Cause> {
        let total = believed.len();
        let mut wrong: Vec<Named> = Vec::new();
        for (batch, done) in believed.chunks(LAST_BATCH).zip((0..).step_by(LAST_BATCH)) {
            if cancel.is_cancelled() {
                break;
            }
            on_progress(Progress { done, total });
            let found: Vec<Named> = in_background(|| {
                let wrong = batch.par_iter().filter(|(file, header)| {
                    let real = self.shared.own.header(file);
                    !cancel.is_cancelled() && !real.is_ok_and(|real| same_facts(header, &real))
                });
                wrong
                    .map(|(file, header)| Named {
                        tool: Tool::Ibid,
                        file: file.clone(),
                        id: Some(header.id.clone()),
                        seen: None,
                    })
                    .collect()
            });
            wrong.extend(found);
        }
        let read = self.read(&wrong, cancel, on_progress);
        if !wrong.is_empty() {
            // One that can't be read is still there, under its id.
            self.load()?;
        }
        Ok(self.outcome(read.changed, read.notices))
    }

    /// The rows of ibid's own sessions that stand under their own id, each
    /// with the header that it claims.
    fn remembered(&self) -> Vec<(String, Header)> {
        let mut remembered = Vec::new();
        let mut stored = lock(&self.shared.stored);
        let read = stored.cache(self.shared.cache_path.as_ref()).read(|row| {
            if row.tool == Tool::Ibid && !self.is_stray(&row) {
                let mut header = Header::new(row.id, row.created_at, row.cwd.map(str::to_owned));
                header.version = row.version;
                header.parent_session = row.parent.map(SessionId::from);
                header.is_seeded = row.is_seeded.then_some(true);
                remembered.push((row.file.to_owned(), header));
            }
        });
        if let Err(notice) = read {
            stored.notices.push(notice);
            remembered.clear();
        }
        remembered
    }
}

/// Whether two headers agree on all that the cache keeps.
fn same_facts(cached: &Header, real: &Header) -> bool {
    cached.id == real.id
        && cached.version == real.version
        && cached.created_at == real.created_at
        && cached.cwd == real.cwd
        && cached.parent_session == real.parent_session
        && (cached.is_seeded == Some(true)) == (real.is_seeded == Some(true))
}
