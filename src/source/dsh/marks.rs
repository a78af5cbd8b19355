//! What a line is, told by a few of its bytes and without parsing it.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::rows::{Message, Op, Said};
use crate::json::digits;
use crate::text::Text;

/// The longest that an operation can be at the end of a row, in bytes.
const OPERATION_BYTES: usize = 128;

/// What a line is, told by its first bytes and without parsing it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// The header, a message, a title: it must be parsed.
    Wanted,
    /// Several events of a stream in one row: parsed only to count them.
    Packed,
    /// One event that says nothing of the conversation.
    Noise,
    /// Damaged, of no known form, or with its keys in an unusual order.
    Unclear,
}

pub(super) fn mark(line: &[u8]) -> Mark {
    let Some(rest) = line.strip_prefix(br#"{"type":""#) else {
        return Mark::Unclear;
    };
    let end = memchr::memchr(b'"', rest).unwrap_or(rest.len());
    let (kind, rest) = rest.split_at_checked(end).unwrap_or_default();
    match kind {
        b"session" | b"session/title" | b"user/message" | b"assistant/message" | b"tool/result"
        | b"system/message" | b"developer/message" => Mark::Wanted,
        _ if !line.ends_with(b"}") => Mark::Unclear,
        b"text-chunks" | b"reasoning-chunks" | b"tool-call-chunks" => {
            if rest.starts_with(br#"","seq0":"#) {
                Mark::Noise
            } else {
                Mark::Packed
            }
        }
        // Only what goes to the surface has an operation: a message of a new
        // kind, or one that is glued to the end of a torn row.
        _ if is_own(kind) && !ends_with_an_operation(line) => Mark::Noise,
        _ => Mark::Unclear,
    }
}

/// Whether a type is one of the program's own, told by what stands before its
/// slash. The program reads those, and of others only rows that say they can be
/// ignored.
pub(super) fn is_own(kind: &[u8]) -> bool {
    let slash = memchr::memchr(b'/', kind);
    let of = slash.and_then(|slash| kind.get(..slash));
    matches!(
        of.unwrap_or_default(),
        b"agent"
            | b"agent-preset"
            | b"approval"
            | b"assistant"
            | b"command"
            | b"compaction"
            | b"deliverables"
            | b"developer"
            | b"feedback"
            | b"goal"
            | b"hook"
            | b"image"
            | b"job"
            | b"llm"
            | b"model"
            | b"permission"
            | b"plan"
            | b"request"
            | b"sandbox"
            | b"schedule"
            | b"session"
            | b"session-log-deepseek"
            | b"step"
            | b"subagent"
            | b"system"
            | b"team"
            | b"todo"
            | b"tool"
            | b"tool-workflow"
            | b"turn"
            | b"user"
            | b"web"
            | b"workspace"
    )
}

/// How a row of a tool's result ends that stands on the surface like any
/// other.
const APPENDED: &[u8] = br#","surfaceOp":"append"}"#;

static DATA: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new(br#""data":"#));

/// A tool's result in the form that the program writes, told by both ends of
/// the row: its seq and time. What the tool gave is not looked at.
pub(super) fn result(line: &[u8]) -> Option<Message> {
    let mut rest = line.strip_prefix(br#"{"type":"tool/result","#)?;
    let (mut seq, mut time) = (None, None);
    if let Some(after) = rest.strip_prefix(br#""seq":"#) {
        let (own, len) = digits(after)?;
        let after = after.get(len..)?.strip_prefix(br#","time":"#)?;
        let (told, len) = digits(after)?;
        (seq, time) = (Some(own), i64::try_from(told).ok());
        rest = after.get(len..)?.strip_prefix(b",")?;
    }
    let rest = rest.strip_prefix(br#""data":{"#)?;
    let inside = rest.strip_suffix(APPENDED)?;
    // What holds another row, or has one glued to it, is no result alone.
    if DATA.find(inside).is_some() {
        return None;
    }
    Some(Message {
        is_dialogue: false,
        seq,
        time,
        op: Op::Append,
        sources: Vec::new(),
        said: Some(Said::Tool {
            call: String::new(),
            text: Text::default(),
        }),
    })
}

static OPERATION: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new(br#""surfaceOp""#));

/// Whether a row has an operation, which is the last of its keys.
fn ends_with_an_operation(line: &[u8]) -> bool {
    let end = line.len().saturating_sub(OPERATION_BYTES);
    let end = line.get(end..).unwrap_or_default();
    OPERATION.find(end).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_is_told_by_its_first_bytes() {
        let cases = [
            (r#"{"type":"session","version":4}"#, Mark::Wanted),
            (r#"{"type":"user/message","seq":4,"data":{}}"#, Mark::Wanted),
            (r#"{"type":"session/title","data":{}}"#, Mark::Wanted),
            (
                r#"{"type":"assistant/chunk","seq":8,"data":{}}"#,
                Mark::Noise,
            ),
            (
                r#"{"type":"some-plugin/event","seq":8,"data":{}}"#,
                Mark::Unclear,
            ),
            (r#"{"type":"text-chunks","seq0":8,"data":{}}"#, Mark::Noise),
            (r#"{"type":"text-chunks","data":{}}"#, Mark::Packed),
            (r#"{"type":"assistant/chunk","seq":8,"da"#, Mark::Unclear),
            (r#"{"seq":8,"type":"user/message"}"#, Mark::Unclear),
            (r#"{"type":"unheard-of"}"#, Mark::Unclear),
        ];
        for (line, expected) in cases {
            assert_eq!(mark(line.as_bytes()), expected, "{line}");
        }
    }

    #[test]
    fn a_message_glued_to_torn_noise_is_no_noise() {
        let line = r#"{"type":"step/start","se{"type":"user/message","surfaceOp":"append"}"#;
        assert_eq!(mark(line.as_bytes()), Mark::Unclear);
    }

    #[test]
    fn a_tools_result_is_told_by_both_ends_of_its_row() {
        let row = |head: &str, inside: &str, end: &str| {
            let row = format!(r#"{{"type":"tool/result",{head}"data":{{{inside}}}{end}}}"#);
            result(row.as_bytes())
        };
        let inside = r#""message":{"content":"a \"data\":"}"#;
        let appended = r#","sourceEventSeqs":[1],"surfaceOp":"append""#;
        let found = row(r#""seq":7,"time":9,"#, inside, appended).unwrap();
        assert_eq!((found.seq, found.time), (Some(7), Some(9)));
        assert_eq!((found.op, found.is_dialogue), (Op::Append, false));
        assert_eq!(row("", inside, appended).unwrap().seq, None);
        for unusual in [
            row(r#""seq":7,"#, inside, appended),
            row(r#""time":9,"seq":7,"#, inside, appended),
            row("", inside, ""),
            row(
                "",
                inside,
                r#","surfaceOp":{"op":"replace","start":1,"end":2}"#,
            ),
            row("", r#""message":{"data":1}"#, appended),
        ] {
            assert_eq!(unusual, None);
        }
        let torn = r#"{"type":"tool/result","data":{"mess"#;
        let glued = r#"{"type":"user/message","data":{"content":"a"},"surfaceOp":"append"}"#;
        assert_eq!(result(format!("{torn}{glued}").as_bytes()), None);
    }
}
