//! What a list shows of a file of Gemini CLI.
//!
//! The first record tells the id and when the session began; a summary and the
//! last moment stand at the end, in a file of one document too.

use std::path::Path;

use memchr::memmem;
use serde::Deserialize;

use super::record::Record;
use super::{Chat, words};
use crate::session::Millis;
use crate::source::glance::{CUT, Glance, PROMPT_BYTES};
use crate::source::loose::{Object, Word};
use crate::source::{Kind, Listed, Look, SourceError, SourceNotice, records, torn};

/// What a list shows of a file.
pub(super) fn look(path: &Path) -> Result<Look, SourceError> {
    let mut glance = Glance::of(path)?;
    let mut looking = Looking::default();
    if path.extension().is_some_and(|ext| ext == "json") || super::is_document(glance.head()) {
        looking.at_document(&mut glance)?;
    } else {
        looking.at_lines(&mut glance)?;
    }
    Ok(Look::Sessions(vec![looking.finish(path)]))
}

/// What a look has found so far.
#[derive(Default)]
struct Looking {
    chat: Chat,
    /// The last moment that the end tells.
    updated_at: Option<i64>,
    has_seen_all: bool,
    is_cut: bool,
}

impl Looking {
    fn knows_enough(&self) -> bool {
        self.knows_start() && self.chat.prompt().is_some()
    }

    /// Whether all is known that the first record tells.
    fn knows_start(&self) -> bool {
        self.chat.session_id.get().is_some() && self.chat.start_time.get().is_some()
    }

    /// Whether no more of the beginning is worth reading: some sessions have
    /// no prompt.
    fn is_done(&self, glance: &Glance) -> bool {
        self.knows_enough() || (self.knows_start() && glance.head().len() >= PROMPT_BYTES)
    }

    /// Looks at a file of one value, of which the beginning tells all but a
    /// summary.
    fn at_document(&mut self, glance: &mut Glance) -> Result<(), SourceError> {
        loop {
            self.take_document(glance);
            if self.is_done(glance) || !glance.grow()? {
                break;
            }
        }
        if !self.has_seen_all {
            glance.end()?;
            if glance.is_whole() {
                self.take_document(glance);
            }
            self.take_last_members(glance.tail());
        }
        self.is_cut = !self.has_seen_all && !self.knows_start();
        self.updated_at = Some(self.chat.last_updated.millis());
        Ok(())
    }

    /// Takes what has been read of a document, in place of what was before.
    fn take_document(&mut self, glance: &Glance) {
        self.chat = Chat::default();
        self.has_seen_all = glance.is_whole();
        if self.has_seen_all {
            self.chat.take_document(glance.head());
        } else if let Ok(record) = torn::read(glance.head()) {
            self.chat.take(record);
        }
    }

    /// Takes the members of a document from its summary on. They can be parsed
    /// when nothing but the document itself ends behind them.
    fn take_last_members(&mut self, tail: &[u8]) {
        let Some(at) = memmem::rfind(tail, b"\"summary\"") else {
            return;
        };
        let mut members = vec![b'{'];
        members.extend_from_slice(tail.get(at..).unwrap_or_default());
        if let Ok(record) = serde_json::from_slice::<Record>(records::trimmed(&members)) {
            self.chat.about(&record);
        }
    }

    /// Looks at a file of records, one a line.
    fn at_lines(&mut self, glance: &mut Glance) -> Result<(), SourceError> {
        let mut at = 0;
        loop {
            at = self.take_lines(glance, at);
            if self.is_done(glance) || !glance.grow()? {
                break;
            }
        }
        glance.end()?;
        if !self.knows_enough() {
            at = self.take_lines(glance, at);
        }
        self.has_seen_all = glance.is_whole() && at == glance.head().len();
        if !self.knows_enough() && !glance.is_whole() {
            self.is_cut = !self.knows_start();
            if let Ok(record) = torn::read(glance.head().get(at..).unwrap_or_default()) {
                self.chat.take(record);
            }
        }
        let rest = glance.lines(at).chain(glance.tail_lines());
        let rest: Vec<&[u8]> = rest.collect();
        for (at, line) in rest.iter().enumerate() {
            self.take_later(line, at + 1 == rest.len());
        }
        self.updated_at = rest.iter().rev().find_map(|line| moment(line));
        if self.updated_at.is_none() && glance.is_whole() {
            let last = self.chat.messages.last();
            let last = last.map_or(0, |message| message.timestamp.millis());
            self.updated_at = Some(last.max(self.chat.last_updated.millis()));
        }
        Ok(())
    }

    /// Takes the lines that have been read from byte `at` on. Gives where they
    /// end.
    fn take_lines(&mut self, glance: &Glance, mut at: usize) -> usize {
        while let Some((line, next)) = glance.line(at) {
            let line = records::trimmed(line);
            if !line.is_empty() {
                let (record, skipped) = records::record(line);
                self.chat.skipped += skipped;
                if let Some(record) = record {
                    self.chat.take(record);
                }
            }
            at = next;
        }
        at
    }

    /// Takes what a later record tells of the session, and none of its
    /// messages.
    fn take_later(&mut self, line: &[u8], is_last: bool) {
        let tells = |mark: &[u8]| memmem::find(line, mark).is_some();
        if !is_last && !tells(b"\"summary\"") && !tells(b"\"sessionId\"") {
            return;
        }
        let (record, skipped) = records::record::<Record>(line);
        self.chat.skipped += skipped;
        if let Some(record) = record {
            self.chat.about(&record);
            if let Some(set) = &record.set {
                self.chat.about(&set.0);
            }
        }
    }

    fn finish(self, path: &Path) -> Listed {
        let chat = &self.chat;
        let about = chat.identity(path);
        let prompt = chat.prompt();
        let said = words::turns(&chat.messages).filter(words::is_said);
        let count = said.count();
        let is_strange = chat.skipped > 0 || !chat.messages.iter().all(words::is_known);
        let is_empty = self.has_seen_all && count == 0 && !is_strange;
        let mut notices = Vec::new();
        if chat.skipped > 0 {
            let records = chat.skipped;
            notices.push(SourceNotice::Skipped { records });
        }
        if self.is_cut {
            notices.push(SourceNotice::Note(CUT.to_owned()));
        }
        Listed {
            title: Listed::title(chat.title(), prompt.as_deref()),
            native_id: about.native_id,
            cwd: about.cwd,
            created_at: Millis(about.created_at),
            updated_at: self.updated_at.filter(|time| *time > 0).map(Millis),
            parent: about.parent,
            kind: match is_empty {
                _ if about.is_subagent => Kind::Subagent,
                true => Kind::Stub,
                false => Kind::Session,
            },
            messages: self
                .has_seen_all
                .then(|| u32::try_from(count).unwrap_or(u32::MAX)),
            notices,
        }
    }
}

/// When a record was written.
fn moment(line: &[u8]) -> Option<i64> {
    #[derive(Default, Deserialize)]
    #[serde(default, rename_all = "camelCase")]
    struct Told {
        timestamp: Word,
        last_updated: Word,
        #[serde(rename = "$set")]
        set: Object<Set>,
    }
    #[derive(Default, Deserialize)]
    #[serde(default, rename_all = "camelCase")]
    struct Set {
        last_updated: Word,
    }
    let told: Told = serde_json::from_slice(line).ok()?;
    let words = [
        &told.timestamp,
        &told.last_updated,
        &told.set.0.last_updated,
    ];
    let time = words.into_iter().map(Word::millis).max()?;
    (time > 0).then_some(time)
}
