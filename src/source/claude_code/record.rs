//! The records of a Claude Code file, as far as they matter here.

use std::sync::LazyLock;

use memchr::memmem::Finder;
use serde::Deserialize;

use crate::source::loose::{Content, Excerpt, Flag, List, Object, Word, Words};

/// One line.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Record {
    #[serde(rename = "type")]
    pub(super) kind: Word,
    pub(super) subtype: Word,
    pub(super) uuid: Word,
    pub(super) parent_uuid: Word,
    pub(super) logical_parent_uuid: Word,
    pub(super) session_id: Word,
    pub(super) agent_id: Word,
    pub(super) request_session_id: Word,
    pub(super) forked_from: Object<ForkedFrom>,
    pub(super) timestamp: Word,
    pub(super) cwd: Word,
    pub(super) version: Word,
    pub(super) is_sidechain: Flag,
    pub(super) is_meta: Flag,
    pub(super) is_compact_summary: Flag,
    pub(super) is_visible_in_transcript_only: Flag,
    pub(super) is_api_error_message: Flag,
    pub(super) origin: Object<Origin>,
    pub(super) message: Object<Body>,
    pub(super) attachment: Object<Attachment>,
    pub(super) compact_metadata: Object<CompactMetadata>,
    pub(super) snip_metadata: Object<SnipMetadata>,
    pub(super) custom_title: Word,
    pub(super) agent_name: Word,
    pub(super) ai_title: Word,
    pub(super) summary: Word,
    pub(super) leaf_uuid: Word,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ForkedFrom {
    pub(super) session_id: Word,
}

/// Who sent a user message.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Origin {
    pub(super) kind: Word,
    pub(super) sender_task_id: Word,
}

impl Origin {
    /// Whether a task, another agent or the program itself sent it.
    pub(super) fn is_software(&self) -> bool {
        let kinds = [
            "task-notification",
            "peer",
            "coordinator",
            "auto-continuation",
        ];
        kinds.iter().any(|kind| self.kind.is(kind)) || self.sender_task_id.get().is_some()
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Body {
    pub(super) id: Word,
    pub(super) model: Word,
    pub(super) content: Content<Block>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Block {
    #[serde(rename = "type")]
    pub(super) kind: Word,
    pub(super) text: Words,
    pub(super) tool_use_id: Word,
    pub(super) content: Excerpt,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Attachment {
    #[serde(rename = "type")]
    pub(super) kind: Word,
    pub(super) command_mode: Word,
    pub(super) prompt: Content<Block>,
    pub(super) origin: Object<Origin>,
    pub(super) is_meta: Flag,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct CompactMetadata {
    pub(super) preserved_messages: Object<PreservedMessages>,
    pub(super) preserved_segment: Object<PreservedSegment>,
}

/// What was taken out of a conversation.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct SnipMetadata {
    pub(super) removed_uuids: List<Word>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct PreservedMessages {
    #[serde(rename = "anchorUuid")]
    pub(super) anchor: Word,
    pub(super) uuids: List<Word>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct PreservedSegment {
    #[serde(rename = "anchorUuid")]
    pub(super) anchor: Word,
    #[serde(rename = "headUuid")]
    pub(super) head: Word,
    #[serde(rename = "tailUuid")]
    pub(super) tail: Word,
}

/// Types of records that say nothing of the conversation; one that ends in a
/// hyphen stands for all that begin so. Known, so that they are no news.
const NOISE: &[&str] = &[
    "agent-color",
    "agent-setting",
    "api-request",
    "api-request-",
    "artifact-autoreact-ledger",
    "artifact-comment-monitor",
    "atis-latch",
    "attribution-snapshot",
    "bridge-session",
    "content-replacement",
    "continued-in",
    "cost-state",
    "ended-by-model",
    "file-history-",
    "fork-context-ref",
    "frame-link",
    "history-suppression",
    "isolation-latch",
    "mode",
    "observer-ref",
    "permission-mode",
    "pr-link",
    "progress",
    "queue-operation",
    "relocated",
    "result",
    "speculation-accept",
    "started",
    "tag",
    "task-summary",
    "tools-used",
    "worktree-state",
];

/// Whether a record of this type is known to say nothing of the conversation.
pub(super) fn is_noise(kind: &str) -> bool {
    NOISE
        .iter()
        .any(|noise| kind == *noise || (noise.ends_with('-') && kind.starts_with(noise)))
}

/// What every record of the chain has.
pub(super) static PARENT: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new(b"\"parentUuid\":"));

/// Whether a line may matter: most bytes of a file are in lines that tell at
/// their beginning that they don't. A torn one is no such line, nor is one
/// that a record of the chain is glued to.
pub(super) fn wanted(line: &[u8]) -> bool {
    let kind = line.strip_prefix(b"{\"type\":\"").and_then(|rest| {
        let end = memchr::memchr(b'"', rest.get(..64).unwrap_or(rest))?;
        std::str::from_utf8(rest.get(..end)?).ok()
    });
    !kind.is_some_and(is_noise) || !line.ends_with(b"}") || PARENT.find(line).is_some()
}
