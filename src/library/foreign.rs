//! The sessions of one other tool, as the library asks for them.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::Notice;
use super::files::{CapturedLog, Facts, Found, LogFile, LogFiles, Looked, Place, Scanned, Stamp};
use crate::reference::Cause;
use crate::reference::projection::{Damage, Said};
use crate::session::{Header, Millis, SessionId};
use crate::source::{
    Adapter, Cited, Environment, ForeignCapture, FoundFile, Listed, Look, Round, SourceError,
    SourceNotice, Walk, adapters, detect, follows_a_link,
};
use crate::tool::Tool;

/// What one other tool keeps on this machine.
pub struct ToolLogs {
    adapter: &'static dyn Adapter,
    places: Vec<PathBuf>,
}

impl ToolLogs {
    /// The sessions of the adapter's tool in this environment; touches no
    /// disk.
    #[must_use]
    pub fn new(adapter: &'static dyn Adapter, environment: &Environment) -> Self {
        Self {
            places: adapter.places(environment),
            adapter,
        }
    }

    /// Those of these tools, for [`Library::over`](super::Library::over).
    #[must_use]
    pub fn of(tools: &[Tool], environment: &Environment) -> Vec<Arc<dyn LogFiles>> {
        adapters()
            .filter(|adapter| tools.contains(&adapter.tool()))
            .map(|adapter| Arc::new(Self::new(adapter, environment)) as Arc<dyn LogFiles>)
            .collect()
    }

    /// The place that a file lies in.
    fn place_of(&self, file: &Path) -> Option<&PathBuf> {
        let mut places = self.places.iter();
        places.find(|place| file.starts_with(place))
    }

    fn log_file(&self, found: FoundFile) -> LogFile {
        let tool = self.adapter.tool();
        LogFile {
            tool,
            id: found.native_id.map(|native| tool.session_id(&native)),
            // The walk passes over every name that is not UTF-8.
            file: found
                .path
                .into_os_string()
                .into_string()
                .unwrap_or_else(|name| name.to_string_lossy().into_owned()),
            stamp: found.stamp,
        }
    }

    fn look_into(&self, file: &Path, stamp: Stamp, round: &Round) -> Result<Found, SourceError> {
        let tool = self.adapter.tool();
        match self.adapter.look(file, round)? {
            Look::Sessions(sessions) => {
                if let [only] = sessions.as_slice()
                    && tells_nothing(only)
                {
                    // It may be anything under a name of the tool's.
                    detect::check(self.adapter, file)?;
                }
                let sessions = sessions.into_iter();
                let facts = sessions.map(|listed| self.facts(listed, stamp));
                Ok(Found::Sessions(facts.collect()))
            }
            Look::Names(told) => {
                let told = told.into_iter();
                let told = told.map(|name| (tool.session_id(&name.native_id), name.title));
                Ok(Found::Names(told.collect()))
            }
        }
    }

    fn facts(&self, listed: Listed, stamp: Stamp) -> Facts {
        let tool = self.adapter.tool();
        let id = tool.session_id(&listed.native_id);
        let mut header = Header::new(id, listed.created_at, listed.cwd);
        header.parent_session = listed.parent.map(|parent| tool.session_id(&parent));
        Facts {
            header,
            title: listed.title,
            updated_at: listed.updated_at.unwrap_or_else(|| stamp.written_at()),
            messages: listed.messages,
            kind: listed.kind,
            notices: listed.notices.iter().map(ToString::to_string).collect(),
        }
    }
}

impl LogFiles for ToolLogs {
    fn tool(&self) -> Tool {
        self.adapter.tool()
    }

    fn file_name(&self, id: &SessionId) -> Option<String> {
        let (tool, native) = Tool::foreign(id)?;
        if tool != self.adapter.tool() {
            return None;
        }
        let mut located = self.places.iter().filter_map(|place| {
            let path = self.adapter.locate(place, native)?;
            (!follows_a_link(place, &path)).then_some(path)
        });
        let path = located.next()?;
        path.to_str().map(str::to_owned)
    }

    fn scan(&self, cancel: &CancellationToken) -> Result<Scanned, Cause> {
        let mut walk = Walk::new(cancel.clone());
        let mut seen = HashSet::new();
        for place in &self.places {
            // Two variables can name the same folder.
            let real = place.canonicalize().unwrap_or_else(|_| place.clone());
            if seen.insert(real) {
                self.adapter.scan(place, &mut walk);
            }
        }
        let obstacles = walk.obstacles.into_iter().map(|obstacle| Notice::Obstacle {
            tool: self.adapter.tool(),
            path: obstacle.path,
            cause: Arc::new(obstacle.cause),
        });
        Ok(Scanned {
            notices: obstacles.collect(),
            logs: walk.files.into_iter().map(|f| self.log_file(f)).collect(),
        })
    }

    fn find(&self, file: &str) -> Option<LogFile> {
        let path = Path::new(file);
        let place = self.place_of(path)?;
        let found = self.adapter.find(place, path)?;
        (!follows_a_link(place, path)).then(|| self.log_file(found))
    }

    fn places(&self) -> Vec<Place> {
        let places = self.places.iter().map(|path| Place {
            is_tree: self.adapter.is_tree(path),
            path: path.clone(),
        });
        places.collect()
    }

    fn holds(&self, path: &Path) -> bool {
        let is_near = |place: &PathBuf| path == place || path.parent() == Some(place);
        let mut places = self.places.iter();
        places
            .any(|place| is_near(place) || (self.adapter.is_tree(place) && path.starts_with(place)))
    }

    fn look(
        &self,
        file: &str,
        seen: Option<Stamp>,
        round: &Round,
    ) -> Result<Option<Looked>, Cause> {
        let stamp = || self.find(file).map(|found| found.stamp);
        let Some(stamp) = seen.or_else(stamp) else {
            return Ok(None);
        };
        let found = match self.look_into(Path::new(file), stamp, round) {
            Ok(found) => found,
            Err(error) if is_gone(&error) => return Ok(None),
            // Another try may go better.
            Err(error @ (SourceError::Unreadable { .. } | SourceError::TooLarge { .. })) => {
                return Err(Arc::new(error));
            }
            Err(error) => Found::Nothing(error.to_string()),
        };
        Ok(Some(Looked { stamp, found }))
    }

    fn capture(&self, file: &str, id: Option<&SessionId>) -> Result<Option<CapturedLog>, Cause> {
        let Some(seen) = self.find(file) else {
            return Ok(None);
        };
        let native = id.and_then(Tool::foreign).map(|(_, native)| native);
        outcome(
            seen.stamp,
            detect::capture_as(self.adapter, Path::new(file), native),
        )
    }

    fn said(
        &self,
        file: &str,
        ids: &[SessionId],
        round: &Round,
    ) -> Vec<Result<Option<Vec<Said>>, Cause>> {
        if self.find(file).is_none() {
            return ids.iter().map(|_| Ok(None)).collect();
        }
        let native = ids.iter().filter_map(Tool::foreign);
        let native: Vec<&str> = native.map(|(_, native)| native).collect();
        let read = self.adapter.capture_many(Path::new(file), &native, round);
        read.into_iter()
            .map(|read| Ok(there(read)?.map(|read| read.session.capture.said())))
            .collect()
    }
}

/// Whether a file says nothing of its session: all that is known of it can come
/// from names.
fn tells_nothing(listed: &Listed) -> bool {
    let is_silent = listed.messages.is_none_or(|count| count == 0);
    is_silent && listed.title.is_none() && listed.created_at == Millis(0)
}

fn outcome(
    stamp: Stamp,
    read: Result<ForeignCapture, SourceError>,
) -> Result<Option<CapturedLog>, Cause> {
    Ok(there(read)?.map(|read| captured(stamp, read)))
}

/// What was read; `None` of a file that is gone.
fn there(read: Result<ForeignCapture, SourceError>) -> Result<Option<ForeignCapture>, Cause> {
    match read {
        Ok(read) => Ok(Some(read)),
        Err(error) if is_gone(&error) => Ok(None),
        Err(error) => Err(Arc::new(error)),
    }
}

/// Whether a file went away since its folder was listed.
fn is_gone(error: &SourceError) -> bool {
    matches!(error, SourceError::Unreadable { cause, .. }
        if cause.kind() == std::io::ErrorKind::NotFound)
}

/// What citing needs of a session of another tool.
fn captured(stamp: Stamp, foreign: ForeignCapture) -> CapturedLog {
    let Cited { mut capture, title } = foreign.session;
    let skipped = |notice: &&SourceNotice| matches!(notice, SourceNotice::Skipped { .. });
    capture.damage = foreign.notices.iter().find(skipped).map(|first| Damage {
        problems: 1,
        first: first.to_string(),
    });
    CapturedLog {
        stamp,
        capture,
        title,
    }
}
