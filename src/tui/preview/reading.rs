//! What is read in a preview: the facts of a reference, its conversation with
//! the cuts marked, and the conversation of a whole session.

use super::ReferenceFacts;
use crate::reference::frame::{FullSnapshot, Notice, PreparedReference};
use crate::reference::projection::{Capture, Damage};
use crate::reference::retention::{Cut, Kept};
use crate::sanitize;
use crate::session::{Header, Role, Seq};
use crate::text::Text;
use crate::tui::human::{counted, human_bytes, human_count, human_share};
use crate::tui::pager::piece::{Kind, Piece, shared};

/// The cells of a budget's bar.
const BAR: u64 = 10;

/// The facts of one reference, the most telling first.
pub(super) fn reference_facts(prepared: &PreparedReference, facts: &ReferenceFacts) -> Vec<Piece> {
    let kept = &prepared.retained.facts;
    let used = u64::try_from(prepared.retained.json.len()).unwrap_or(u64::MAX);
    let messages = format!(
        "{} of {}",
        human_count(kept.retained_messages),
        counted(kept.original_messages, "message"),
    );
    let compacted = if kept.compacted { " · compacted" } else { "" };
    let mut pieces = vec![
        title(&prepared.reference.label),
        origin(&prepared.header, prepared.captured_through, facts),
        Piece::own(
            Kind::Fact,
            format!(
                "{messages}{compacted} · {}\u{a0}{}",
                bar(used, prepared.budget),
                // Hard spaces: the bar and its figures stay together.
                human_share(used, prepared.budget).replace(' ', "\u{a0}")
            ),
        ),
    ];
    pieces.extend(prepared.notice.as_ref().map(notice));
    pieces.extend(prepared.damage.as_ref().map(damage));
    pieces
}

/// The facts of a session that is not cited yet.
pub(super) fn session_facts(capture: &Capture, label: &str, facts: &ReferenceFacts) -> Vec<Piece> {
    let bytes: usize = capture.conversation.iter().map(|i| i.text.len()).sum();
    let bytes = human_bytes(u64::try_from(bytes).unwrap_or(u64::MAX));
    let messages = counted(capture.conversation.len(), "message");
    let mut pieces = vec![
        title(label),
        origin(&capture.header, capture.captured_through, facts),
        Piece::own(Kind::Fact, format!("{messages} · {bytes} of text")),
    ];
    pieces.extend(capture.damage.as_ref().map(damage));
    pieces
}

/// That something is missing which nobody cut.
fn damage(damage: &Damage) -> Piece {
    let damage = sanitize::line(&damage.to_string()).into_owned();
    Piece::own(Kind::Cut, format!("its log can't be read whole: {damage}"))
}

fn title(label: &str) -> Piece {
    Piece::own(Kind::Title, sanitize::line(label))
}

fn origin(header: &Header, through: Option<Seq>, facts: &ReferenceFacts) -> Piece {
    let mut parts = vec![sanitize::line(&facts.tool)];
    parts.extend(header.cwd.as_deref().map(sanitize::line));
    let through = through.map_or("an empty log".to_owned(), |seq| {
        format!("through seq {seq}")
    });
    let captured = format!("captured {} {through}", sanitize::line(&facts.captured));
    parts.push(captured.into());
    Piece::own(Kind::Fact, parts.join(" · "))
}

/// How full the budget is. What is used shows as at least one cell, and only
/// a full budget as all of them.
fn bar(used: u64, budget: u64) -> String {
    let full = u128::from(used) * u128::from(BAR) / u128::from(budget.max(1));
    let full = u64::try_from(full).map_or(BAR, |full| full.min(BAR));
    let full = if used > 0 { full.max(1) } else { 0 };
    (0..BAR)
        .map(|cell| if cell < full { '█' } else { '░' })
        .collect()
}

fn notice(notice: &Notice) -> Piece {
    let bytes = human_bytes(u64::try_from(notice.omitted_bytes).unwrap_or(u64::MAX));
    let messages = match notice.omitted_messages {
        0 => String::new(),
        count => format!(" ({} whole)", counted(count, "message")),
    };
    let place = match &notice.full_snapshot {
        FullSnapshot::Saved(spill) => format!(
            "full text ({}): {}",
            human_bytes(spill.bytes),
            sanitize::line(&spill.locator)
        ),
        FullSnapshot::NotConfigured => {
            "full text not saved: no place for full texts is configured".to_owned()
        }
        FullSnapshot::SaveFailed(reason) => {
            format!("full text not saved: {}", sanitize::line(reason))
        }
    };
    Piece::own(Kind::Cut, format!("{bytes} omitted{messages} · {place}"))
}

/// The kept conversation, with the cuts where they fall.
pub(super) fn kept_conversation(prepared: &PreparedReference) -> Vec<Piece> {
    let retained = &prepared.retained;
    let facts = &retained.facts;
    let cut_bytes: usize = retained
        .kept
        .iter()
        .filter_map(|k| k.cut)
        .map(|c| c.omitted)
        .sum();
    let gaps = Gaps {
        // What each of several gaps held is not known, only their sum.
        bytes: (gap_count(&retained.kept, facts.original_messages) == 1)
            .then(|| facts.omitted_bytes.saturating_sub(cut_bytes)),
    };
    let mut pieces = Vec::new();
    let mut next = 0;
    for kept in &retained.kept {
        pieces.extend(gaps.mark(next, kept.index));
        next = kept.index + 1;
        pieces.push(heading(kept.role, false, pieces.is_empty()));
        match kept.cut {
            None => pieces.extend(shared(Kind::Text, &kept.text, 0..kept.text.len())),
            Some(cut) => pieces.extend(cut_text(kept, cut)),
        }
    }
    pieces.extend(gaps.mark(next, facts.original_messages));
    if pieces.is_empty() {
        pieces.push(nothing());
    }
    pieces
}

fn gap_count(kept: &[Kept], all: usize) -> usize {
    let mut next = 0;
    let mut gaps = 0;
    for index in kept.iter().map(|k| k.index).chain([all]) {
        gaps += usize::from(index > next);
        next = index + 1;
    }
    gaps
}

struct Gaps {
    bytes: Option<usize>,
}

impl Gaps {
    /// The mark between a message that should come and the one that does.
    fn mark(&self, from: usize, to: usize) -> Option<Piece> {
        let count = to.checked_sub(from).filter(|&count| count > 0)?;
        let noun = if from == 0 {
            "earlier message"
        } else {
            "message"
        };
        let bytes = self.bytes.map_or(String::new(), |bytes| {
            format!(
                " ({})",
                human_bytes(u64::try_from(bytes).unwrap_or(u64::MAX))
            )
        });
        let above = if from == 0 { "" } else { "\n" };
        let messages = counted(count, noun);
        Some(mark(above, &format!("{messages} omitted{bytes}")))
    }
}

/// A shortened text: its head, the mark, its tail. The model's own notice,
/// which stands at the end, says the same as the mark.
fn cut_text(kept: &Kept, cut: Cut) -> Vec<Piece> {
    let text = &kept.text;
    let (head, tail) = (cut.head, cut.head.saturating_add(cut.tail));
    if text.get(..head).is_none() || text.get(head..tail).is_none() {
        return shared(Kind::Text, text, 0..text.len());
    }
    let mut pieces = Vec::new();
    if head > 0 {
        pieces.extend(shared(Kind::Text, text, 0..head));
    }
    let bytes = human_bytes(u64::try_from(cut.omitted).unwrap_or(u64::MAX));
    pieces.push(mark("", &format!("{bytes} omitted here")));
    if tail > head {
        pieces.extend(shared(Kind::Text, text, head..tail));
    }
    pieces
}

/// The whole conversation of a session.
pub(super) fn whole_conversation(capture: &Capture) -> Vec<Piece> {
    let mut pieces = Vec::with_capacity(capture.conversation.len() * 2);
    for item in &capture.conversation {
        pieces.push(heading(item.role, item.checkpoint, pieces.is_empty()));
        pieces.extend(shared(Kind::Text, &item.text, 0..item.text.len()));
    }
    if pieces.is_empty() {
        pieces.push(nothing());
    }
    pieces
}

/// Who speaks, below an empty row unless it is the first.
fn heading(role: Role, checkpoint: bool, is_first: bool) -> Piece {
    let (kind, name) = match role {
        _ if checkpoint => (Kind::Cut, "── summary of compacted messages ──"),
        Role::User => (Kind::You, "You"),
        Role::Assistant => (Kind::Model, "Assistant"),
        Role::System => (Kind::Model, "System"),
        Role::Tool => (Kind::Model, "Tool"),
    };
    let above = if is_first { "" } else { "\n" };
    Piece::own(kind, format!("{above}{name}"))
}

fn nothing() -> Piece {
    mark("", "no messages that can be cited")
}

fn mark(above: &str, text: &str) -> Piece {
    Piece::own(Kind::Cut, format!("{above}── {text} ──"))
}

/// Pieces of the exact text that the model gets.
pub(super) fn exact(text: &Text) -> Vec<Piece> {
    shared(Kind::Text, text, 0..text.len())
}
