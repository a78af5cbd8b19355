//! Full text search over every session that lists show: keeping the index of
//! texts up to date, and asking it.

use std::collections::{BTreeMap, HashSet};

use jiff::tz::TimeZone;
use rayon::prelude::*;
use tokio_util::sync::CancellationToken;

use super::cache::{self, Searchable};
use super::query::{Filter, Parsed, Problem};
use super::texts::{
    Depth, SessionTexts, Terms, TextHits, TextMessage, TextQuery, Texts, TextsError,
};
use super::{Library, Progress, Stamp};
use crate::reference::Cause;
use crate::reference::projection::Said;
use crate::session::{Millis, SessionId};
use crate::source::Round;
use crate::threads::{in_background, lock};
use crate::tool::Tool;

/// How many files are read before what was said in them is written.
const BATCH_FILES: usize = 16;
/// The most sessions of one file that are read at once.
const BATCH_SESSIONS: usize = 32;

/// A question for what was said.
#[derive(Clone, Copy, Debug)]
pub struct Search<'a> {
    /// What was typed, filters included.
    pub text: &'a str,
    /// A session that is no answer: the one that is written in.
    pub exclude: Option<&'a SessionId>,
    /// The moment of asking.
    pub now: Millis,
    /// Where the days of dates begin.
    pub zone: &'a TimeZone,
    /// How many sessions to give.
    pub limit: usize,
    /// How far to look.
    pub depth: Depth,
    /// What holds besides the filters that were typed.
    pub filter: &'a Filter,
}

/// The answer to a [`Search`].
#[derive(Clone, Debug, Default)]
pub struct Searched {
    /// What was found.
    pub hits: TextHits,
    /// Filters that could not be followed.
    pub problems: Vec<Problem>,
}

/// Sessions of one file that have to be read.
struct Unread {
    tool: Tool,
    file: String,
    ids: Vec<SessionId>,
    /// Of each the state that it is known in, and its last activity.
    states: Vec<(Stamp, Millis)>,
}

/// A session that was read for its text.
struct Read<'a> {
    id: &'a SessionId,
    stamp: Stamp,
    when: Millis,
    said: Result<Vec<Said>, Cause>,
}

/// How much of what was said can be searched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextsStanding {
    /// How many sessions are in the index as they are now.
    pub indexed: usize,
    /// How many there are.
    pub of: usize,
    /// Those that could not be read the last time, and why.
    pub unread: Vec<(SessionId, String)>,
}

impl TextsStanding {
    /// Whether an answer leaves nothing out.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.indexed == self.of
    }

    /// How many sessions are still to be read, as far as they can be.
    #[must_use]
    pub fn pending(&self) -> usize {
        let missing = self.of.saturating_sub(self.indexed);
        missing.saturating_sub(self.unread.len())
    }
}

impl Searchable {
    /// The state that tells whether its text is known. A file of many changes
    /// with each of them, so there the session's own time counts.
    fn stamp(&self) -> Stamp {
        if self.is_one_of_many {
            Stamp {
                size: 0,
                mtime_ns: self.updated_at.0,
                inode: 0,
            }
        } else {
            self.place.stamp
        }
    }
}

impl Library {
    /// Reads what was said in every listed session that changed since, and
    /// forgets those that are gone. Blocks, for minutes where much is new;
    /// stops early when cancelled, with what was read so far kept.
    ///
    /// # Errors
    /// When the index can't be used. A session that can't be read is left out:
    /// [`texts_standing`](Self::texts_standing) tells which.
    pub fn index_texts(
        &self,
        cancel: &CancellationToken,
        on_progress: &mut dyn FnMut(Progress),
    ) -> Result<(), TextsError> {
        let texts = &self.shared.texts;
        // One that takes the place of another holds nothing of these.
        let file = texts.file();
        let Some(known) = self.searchable() else {
            return Ok(());
        };
        // What is not listed yet is not gone.
        if lock(&self.shared.stored).is_complete && !cancel.is_cancelled() {
            let kept: HashSet<SessionId> = known.iter().map(|one| one.id.clone()).collect();
            texts.forget_others(&kept)?;
        }
        let unread = by_file(&known, &texts.stale(&states(&known))?);
        let round = Round::default();
        let total = unread.iter().map(|file| file.ids.len()).sum();
        let mut done = 0;
        for batch in unread.chunks(BATCH_FILES) {
            if cancel.is_cancelled() {
                break;
            }
            on_progress(Progress { done, total });
            self.index_batch(texts, batch, &round, cancel)?;
            done += batch.iter().map(|file| file.ids.len()).sum::<usize>();
        }
        if total > 0 {
            on_progress(Progress { done, total });
        }
        if !cancel.is_cancelled() {
            *lock(&self.shared.texts_file) = file.or_else(|| texts.file());
        }
        // Whoever held the file was waited for here.
        lock(&self.shared.stored).come_back(self.shared.cache_path.as_ref());
        Ok(())
    }

    /// How much of what was said can be searched now. Blocks.
    ///
    /// # Errors
    /// When the index can't be used.
    pub fn texts_standing(&self) -> Result<TextsStanding, TextsError> {
        self.make_cache();
        let texts = &self.shared.texts;
        let known = self.searchable().unwrap_or_default();
        let stale = texts.stale(&states(&known))?;
        let missing: HashSet<&SessionId> = stale
            .iter()
            .filter_map(|at| Some(&known.get(*at)?.id))
            .collect();
        let mut unread = texts.problems()?;
        unread.retain(|(id, _)| missing.contains(id));
        Ok(TextsStanding {
            indexed: known.len() - stale.len(),
            of: known.len() + self.listed_beside(&known),
            unread,
        })
    }

    /// Whether there is room to read more for search.
    ///
    /// # Errors
    /// When there is none, and what to do about it.
    pub fn require_room_for_texts(&self) -> Result<(), TextsError> {
        self.shared.texts.require_room()
    }

    /// How many more sessions are listed, with something in them that can be
    /// read: while others write to the cache, it may not take up all.
    fn listed_beside(&self, known: &[Searchable]) -> usize {
        let known: HashSet<&str> = known.iter().map(|one| one.id.as_str()).collect();
        let index = self.index();
        let listed = (0..).map_while(|row| Some((index.row(row)?, index.get(row)?)));
        listed
            .filter(|(row, entry)| row.is_stored() && !entry.is_unread)
            .filter(|(_, entry)| !known.contains(entry.id))
            .count()
    }

    /// Whether the index that [`index_texts`](Self::index_texts) filled is gone,
    /// with the file that it was in. A refresh and another filling mend that.
    #[must_use]
    pub fn has_lost_texts(&self) -> bool {
        let filled = *lock(&self.shared.texts_file);
        filled.is_some_and(|filled| self.shared.texts.file() != Some(filled))
    }

    /// Every session whose text can be searched; `None` where the cache can't
    /// tell.
    fn searchable(&self) -> Option<Vec<Searchable>> {
        let with_subagents = self.shared.show_subagents;
        let mut known = self.ask(|c| cache::searchable(c, with_subagents).map(Some))?;
        known.retain(|one| self.logs_of(one.place.tool).is_some());
        Some(known)
    }

    fn index_batch(
        &self,
        texts: &Texts,
        batch: &[Unread],
        round: &Round,
        cancel: &CancellationToken,
    ) -> Result<(), TextsError> {
        let read: Vec<Vec<Read<'_>>> = in_background(|| {
            let files = batch.par_iter().filter(|_| !cancel.is_cancelled());
            files.map(|file| self.all_said(file, round)).collect()
        });
        let mut whole: Vec<(&Read<'_>, Vec<TextMessage<'_>>)> = Vec::new();
        let mut problems: Vec<(SessionId, String)> = Vec::new();
        for read in read.iter().flatten() {
            match &read.said {
                Ok(said) => whole.push((read, messages(said, read.when))),
                Err(cause) => problems.push((read.id.clone(), cause.to_string())),
            }
        }
        let sessions: Vec<SessionTexts<'_>> = whole
            .iter()
            .map(|(read, messages)| SessionTexts {
                id: read.id,
                stamp: read.stamp,
                messages,
            })
            .collect();
        texts.put(&sessions)?;
        texts.put_problems(&problems)
    }

    /// The sessions of a file as they are now, but for those that are gone. One
    /// that can't be read keeps what is known of it, and is tried again.
    fn all_said<'a>(&self, file: &'a Unread, round: &Round) -> Vec<Read<'a>> {
        let Some(logs) = self.logs_of(file.tool) else {
            return Vec::new();
        };
        let read = logs.said(&file.file, &file.ids, round);
        let known = file.ids.iter().zip(&file.states);
        known
            .zip(read)
            .filter_map(|((id, (stamp, when)), read)| {
                Some(Read {
                    id,
                    stamp: *stamp,
                    when: *when,
                    said: read.transpose()?,
                })
            })
            .collect()
    }

    /// Searches what was said. `None` as soon as it is cancelled. Blocks.
    ///
    /// # Errors
    /// When the index can't be used.
    pub fn search(
        &self,
        search: &Search<'_>,
        cancel: &CancellationToken,
    ) -> Result<Option<Searched>, TextsError> {
        let parsed = Parsed::new(search.text, search.zone);
        let index = self.index();
        let admits = |id: &SessionId| {
            let entry = index.find(id).and_then(|row| index.get(row));
            let admitted = entry.is_some_and(|entry| {
                let (tool, cwd, at) = (entry.tool, entry.cwd, entry.updated_at);
                [&parsed.filter, search.filter]
                    .iter()
                    .all(|filter| filter.admits(tool, cwd, at, search.now))
            });
            admitted && search.exclude != Some(id)
        };
        let query = TextQuery {
            terms: &Terms::parse(&parsed.rest),
            admits: &admits,
            limit: search.limit,
            depth: search.depth,
        };
        self.make_cache();
        let hits = self.shared.texts.search(&query, cancel)?;
        Ok(hits.map(|hits| Searched {
            hits,
            problems: parsed.problems,
        }))
    }

    /// Opens the cache, if nobody has yet: it is what makes the file that the
    /// texts lie in, too.
    fn make_cache(&self) {
        self.shared.cache_made.call_once(|| {
            let mut stored = lock(&self.shared.stored);
            stored.cache(self.shared.cache_path.as_ref());
        });
    }
}

/// The sessions and the states that they are known in.
fn states(known: &[Searchable]) -> Vec<(SessionId, Stamp)> {
    let known = known.iter();
    known.map(|one| (one.id.clone(), one.stamp())).collect()
}

/// The sessions to be read, by their files; those come first whose newest
/// session does.
fn by_file(known: &[Searchable], stale: &[usize]) -> Vec<Unread> {
    let mut places: BTreeMap<(Tool, &str), usize> = BTreeMap::new();
    let mut files: Vec<Unread> = Vec::new();
    for one in stale.iter().filter_map(|at| known.get(*at)) {
        let key = (one.place.tool, &*one.place.file);
        let at = places.get(&key).copied();
        let open = at.and_then(|at| files.get_mut(at));
        if let Some(file) = open.filter(|file| file.ids.len() < BATCH_SESSIONS) {
            file.ids.push(one.id.clone());
            file.states.push((one.stamp(), one.updated_at));
            continue;
        }
        places.insert(key, files.len());
        files.push(Unread {
            tool: one.place.tool,
            file: one.place.file.clone(),
            ids: vec![one.id.clone()],
            states: vec![(one.stamp(), one.updated_at)],
        });
    }
    files
}

/// What was said in a session. A message that does not tell when was said when
/// something last happened in it.
fn messages(said: &[Said], last: Millis) -> Vec<TextMessage<'_>> {
    said.iter()
        .map(|Said { item, cited }| TextMessage {
            role: item.role,
            when: Some(item.time).filter(|time| time.0 > 0).unwrap_or(last),
            cited: *cited,
            text: &item.text,
        })
        .collect()
}
