//! opencode: all sessions in one database.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, params};
use serde_json::json;

use super::noise::Noise;
use super::random::Random;
use super::{About, Kind, Tool};

const SCHEMA: &str = "
    CREATE TABLE project (id TEXT PRIMARY KEY, worktree TEXT NOT NULL, vcs TEXT, name TEXT,
        time_created INTEGER NOT NULL, time_updated INTEGER NOT NULL, sandboxes TEXT NOT NULL);
    CREATE TABLE session (id TEXT PRIMARY KEY, project_id TEXT NOT NULL, parent_id TEXT,
        slug TEXT NOT NULL, directory TEXT NOT NULL, title TEXT NOT NULL, version TEXT NOT NULL,
        revert TEXT, time_created INTEGER NOT NULL, time_updated INTEGER NOT NULL,
        time_compacting INTEGER, time_archived INTEGER);
    CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT NOT NULL,
        time_created INTEGER NOT NULL, time_updated INTEGER NOT NULL, data TEXT NOT NULL);
    CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT NOT NULL, session_id TEXT NOT NULL,
        time_created INTEGER NOT NULL, time_updated INTEGER NOT NULL, data TEXT NOT NULL);
    CREATE INDEX session_project_idx ON session (project_id);
    CREATE INDEX session_parent_idx ON session (parent_id);
    CREATE INDEX message_session_time_created_id_idx ON message (session_id, time_created, id);
    CREATE INDEX part_message_id_id_idx ON part (message_id, id);
    CREATE INDEX part_session_idx ON part (session_id);
    PRAGMA journal_mode = WAL;
    BEGIN;
";

pub struct Opencode {
    path: PathBuf,
    database: Connection,
    /// What tools gave, a part each.
    noise: Noise,
    /// Counts messages and parts, whose ids ascend.
    ids: u64,
}

impl Opencode {
    pub fn new(home: &Path) -> io::Result<Self> {
        let folder = home.join(".local/share/opencode");
        fs::create_dir_all(&folder)?;
        let path = folder.join("opencode.db");
        let database = Connection::open(&path).map_err(io::Error::other)?;
        database.execute_batch(SCHEMA).map_err(io::Error::other)?;
        Ok(Self {
            path,
            database,
            noise: Noise::new(6, |filling, _| {
                let state = json!({"status": "completed", "input": {}, "output": filling});
                json!({"type": "tool", "tool": "bash", "state": state})
                    .to_string()
                    .into_bytes()
            }),
            ids: 0,
        })
    }

    fn id(&mut self, prefix: &str) -> String {
        self.ids += 1;
        format!("{prefix}_{:024}", self.ids)
    }

    fn message(&mut self, about: &About, role: &str) -> rusqlite::Result<String> {
        let id = self.id("msg");
        let data = json!({"role": role, "time": {"created": about.created_at}});
        self.database
            .prepare_cached("INSERT INTO message VALUES (?1, ?2, ?3, ?3, ?4)")?
            .execute(params![
                id,
                session(&about.id),
                about.created_at,
                data.to_string()
            ])?;
        Ok(id)
    }

    fn part(&mut self, about: &About, message: &str, data: &str) -> rusqlite::Result<()> {
        let id = self.id("prt");
        self.database
            .prepare_cached("INSERT INTO part VALUES (?1, ?2, ?3, ?4, ?4, ?5)")?
            .execute(params![
                id,
                message,
                session(&about.id),
                about.created_at,
                data
            ])?;
        Ok(())
    }

    fn insert(&mut self, about: &About, random: &mut Random) -> rusqlite::Result<()> {
        let parent = match &about.kind {
            Kind::Subagent(parent) => Some(session(parent)),
            _ => None,
        };
        let untitled = "New session - 2026-12-01T00:00:00.000Z".to_owned();
        let title = about.title.clone().unwrap_or(untitled);
        self.database
            .prepare_cached(
                "INSERT INTO session (id, project_id, parent_id, slug, directory, title, version,
                 time_created, time_updated) VALUES (?1, 'p', ?2, 'quiet-river', ?3, ?4,
                 '1.18.33', ?5, ?6)",
            )?
            .execute(params![
                session(&about.id),
                parent,
                about.cwd,
                title,
                about.created_at,
                about.updated_at
            ])?;
        if about.kind == Kind::Stub {
            return Ok(());
        }
        let text = |text: &str| json!({"type": "text", "text": text}).to_string();
        let mut left = about.bytes;
        let mut prompt = about.prompt.clone();
        loop {
            let asked = self.message(about, "user")?;
            self.part(about, &asked, &text(&prompt))?;
            let answered = self.message(about, "assistant")?;
            let output = String::from_utf8_lossy(self.noise.piece(random)).into_owned();
            self.part(about, &answered, &output)?;
            self.part(about, &answered, &text(&random.text(12)))?;
            prompt = random.prompt();
            left = left.saturating_sub(output.len() as u64 + 1_000);
            if left == 0 {
                return Ok(());
            }
        }
    }
}

fn session(uuid: &str) -> String {
    format!("ses_{}", uuid.replace('-', ""))
}

impl Tool for Opencode {
    fn write(&mut self, about: &About, random: &mut Random) -> io::Result<u64> {
        self.insert(about, random).map_err(io::Error::other)?;
        Ok(0)
    }

    fn finish(&mut self) -> io::Result<u64> {
        self.database
            .execute_batch("COMMIT; PRAGMA wal_checkpoint(TRUNCATE)")
            .map_err(io::Error::other)?;
        Ok(fs::metadata(&self.path)?.len())
    }
}
