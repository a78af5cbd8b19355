//! Retention: what of a conversation is kept under a budget of bytes.
//!
//! Linear in the number of messages, and no text is looked at that the budget
//! leaves no room for.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use serde::Serialize;

use super::projection::{Capture, Item};
use super::{ReferenceError, tag_safe};
use crate::session::{Role, Seq, SessionId};
use crate::text::Text;

/// What retention did to a conversation. Text sizes are UTF-8 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Facts {
    /// Whether a compaction checkpoint stands in the conversation.
    pub compacted: bool,
    /// Messages before.
    pub original_messages: usize,
    /// Messages after.
    pub retained_messages: usize,
    /// Messages dropped whole.
    pub omitted_messages: usize,
    /// Bytes of text that are gone, from dropped and from shortened messages.
    pub omitted_bytes: usize,
    /// Whether anything is gone.
    pub truncated: bool,
}

/// A message that was kept, perhaps shortened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// Its place in the conversation before, from 0.
    pub index: usize,
    /// Whose words.
    pub role: Role,
    /// The text that the model gets.
    pub text: Text,
    /// Where it was cut; `None` for a whole message.
    pub cut: Option<Cut>,
}

/// How a message was shortened, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// Kept from the beginning.
    pub head: usize,
    /// Kept from the end.
    pub tail: usize,
    /// Gone from between.
    pub omitted: usize,
}

/// A source's data as the model gets it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retained {
    /// The tag-safe JSON object, never longer than the budget.
    pub json: String,
    /// The messages in it.
    pub kept: Vec<Kept>,
    /// What was done.
    pub facts: Facts,
}

/// All of the data but the conversation.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Head<'a> {
    session_id: &'a SessionId,
    label: &'a str,
    cwd: Option<&'a str>,
    captured_through_seq: Option<Seq>,
}

/// Keeps what fits into `budget` bytes of tag-safe JSON.
///
/// The oldest messages go first, never a checkpoint and never the newest one;
/// then the longest text is shortened, until all fits.
///
/// # Errors
/// `BUDGET_EXCEEDED` when no text is left and it still does not fit.
pub fn retain(capture: &Capture, label: &str, budget: u64) -> Result<Retained, ReferenceError> {
    let items = &capture.conversation;
    let limit = usize::try_from(budget).unwrap_or(usize::MAX);
    let mut room = Room {
        used: render(capture, label, &[], 0).len(),
        items: 0,
        limit,
    };
    let (mut kept, pinned) = keep_newest(items, &mut room);
    if room.used > limit {
        // The pinned alone are over it, so nothing else was kept.
        shorten(items, &mut kept, pinned, &mut room).map_err(|needed| {
            ReferenceError::BudgetExceeded {
                session_id: capture.header.id.clone(),
                label: label.to_owned(),
                budget,
                needed: u64::try_from(needed).unwrap_or(u64::MAX),
            }
        })?;
    }
    let facts = facts(items, &kept);
    Ok(Retained {
        json: render(capture, label, &kept, room.used),
        kept,
        facts,
    })
}

/// Writes the data out; `bytes` is how many it will take, as far as is known.
///
/// Text by text, into one allocation: the whole would otherwise be held twice,
/// once with tags and once without.
fn render(capture: &Capture, label: &str, kept: &[Kept], bytes: usize) -> String {
    let head = Head {
        session_id: &capture.header.id,
        label,
        cwd: capture.header.cwd.as_deref(),
        captured_through_seq: capture.captured_through,
    };
    let mut json = String::with_capacity(bytes);
    // Strings, numbers and null: JSON expresses them all.
    json.push_str(&tag_safe::to_string(&head).unwrap_or_default());
    json.pop();
    json.push_str(r#","conversation":["#);
    for (place, k) in kept.iter().enumerate() {
        if place > 0 {
            json.push(',');
        }
        json.push_str(r#"{"role":""#);
        json.push_str(k.role.as_str());
        json.push_str(r#"","text":"#);
        tag_safe::append_str(&mut json, &k.text);
        json.push('}');
    }
    json.push_str("]}");
    json
}

/// The bytes in use, counted without writing them.
struct Room {
    used: usize,
    items: usize,
    limit: usize,
}

impl Room {
    fn size_of(&self, role: Role, escaped: usize) -> usize {
        let comma = usize::from(self.items > 0);
        r#"{"role":"","text":""}"#.len() + role.as_str().len() + escaped + comma
    }

    /// Adds a message whether it fits or not; gives its text's escaped length.
    fn add(&mut self, role: Role, text: &str) -> usize {
        let escaped = tag_safe::escaped_len(text);
        self.used += self.size_of(role, escaped);
        self.items += 1;
        escaped
    }

    /// Adds a message if it fits.
    fn offer(&mut self, role: Role, text: &str) -> bool {
        // An escape never shortens: most that can't fit are known by length.
        let least = self.used.saturating_add(self.size_of(role, text.len()));
        if least > self.limit {
            return false;
        }
        let size = self.size_of(role, tag_safe::escaped_len(text));
        if self.used + size > self.limit {
            return false;
        }
        self.used += size;
        self.items += 1;
        true
    }
}

/// Checkpoints, the newest message, and as many of the messages before it as
/// fit without a gap; and the escaped lengths of the pinned ones' texts.
fn keep_newest(items: &[Item], room: &mut Room) -> (Vec<Kept>, Vec<usize>) {
    let newest = items.len().saturating_sub(1);
    let pinned = |index: usize, item: &Item| item.checkpoint || index == newest;
    let escaped = items
        .iter()
        .enumerate()
        .filter(|(i, item)| pinned(*i, item))
        .map(|(_, item)| room.add(item.role, &item.text))
        .collect();
    let oldest_kept = items
        .iter()
        .enumerate()
        .rev()
        .filter(|(i, item)| !pinned(*i, item))
        .take_while(|(_, item)| room.offer(item.role, &item.text))
        .last()
        .map_or(items.len(), |(index, _)| index);
    let kept = items
        .iter()
        .enumerate()
        .filter(|(i, item)| *i >= oldest_kept || pinned(*i, item))
        .map(|(index, item)| Kept {
            index,
            role: item.role,
            text: item.text.clone(),
            cut: None,
        })
        .collect();
    (kept, escaped)
}

/// Shortens the longest text until all fits; `escaped` holds the escaped
/// length of each kept text. Gives the bytes in use when no text is left to
/// shorten.
fn shorten(
    items: &[Item],
    kept: &mut [Kept],
    mut escaped: Vec<usize>,
    room: &mut Room,
) -> Result<(), usize> {
    let mut longest: BinaryHeap<(usize, Reverse<usize>)> = kept
        .iter()
        .enumerate()
        .map(|(place, k)| (k.text.len(), Reverse(place)))
        .collect();
    while room.used > room.limit {
        let overflow = room.used - room.limit;
        let Some((bytes @ 1.., Reverse(place))) = longest.pop() else {
            return Err(room.used);
        };
        let (Some(entry), Some(size)) = (kept.get_mut(place), escaped.get_mut(place)) else {
            return Err(room.used);
        };
        let Some(original) = items.get(entry.index).map(|item| &*item.text) else {
            return Err(room.used);
        };
        let (text, cut) = shortened(original, bytes.saturating_sub(overflow));
        room.used -= std::mem::replace(size, tag_safe::escaped_len(&text));
        room.used += *size;
        longest.push((text.len(), Reverse(place)));
        entry.text = text.into();
        entry.cut = Some(cut);
    }
    Ok(())
}

/// The head and the tail of a text with a notice of what is gone, in at most
/// `target` bytes; empty when not even the notice fits.
fn shortened(original: &str, target: usize) -> (String, Cut) {
    let mut best = None;
    let (mut low, mut high) = (0, target);
    // This search is part of the contract: the size is not quite monotonic in
    // `mid`, and every reader must land on the same cut.
    while low <= high {
        let mid = usize::midpoint(low, high);
        let cut = cut_at(original, mid);
        if cut.head + cut.tail + notice_len(cut.omitted) <= target {
            best = Some(cut);
            low = mid + 1;
        } else if mid == 0 {
            break;
        } else {
            high = mid - 1;
        }
    }
    let nothing = Cut {
        head: 0,
        tail: 0,
        omitted: original.len(),
    };
    let Some(cut) = best else {
        return (String::new(), nothing);
    };
    let head = original.get(..cut.head).unwrap_or_default();
    let tail = original
        .get(original.len() - cut.tail..)
        .unwrap_or_default();
    (format!("{head}{tail}{}", notice(cut.omitted)), cut)
}

fn cut_at(text: &str, keep: usize) -> Cut {
    let head = text.floor_char_boundary(keep.div_ceil(2));
    let tail = text.len() - text.ceil_char_boundary(text.len().saturating_sub(keep / 2));
    Cut {
        head,
        tail,
        omitted: text.len().saturating_sub(head + tail),
    }
}

fn notice(omitted: usize) -> String {
    format!("\n[… omitted {omitted} UTF-8 bytes …]")
}

fn notice_len(omitted: usize) -> usize {
    let digits = omitted.checked_ilog10().unwrap_or(0) as usize + 1;
    "\n[… omitted  UTF-8 bytes …]".len() + digits
}

fn facts(items: &[Item], kept: &[Kept]) -> Facts {
    let bytes = |texts: &mut dyn Iterator<Item = usize>| texts.sum::<usize>();
    let original = bytes(&mut items.iter().map(|item| item.text.len()));
    let retained = bytes(&mut kept.iter().map(|k| match k.cut {
        Some(cut) => cut.head + cut.tail,
        None => k.text.len(),
    }));
    let omitted_messages = items.len() - kept.len();
    Facts {
        compacted: items.iter().any(|item| item.checkpoint),
        original_messages: items.len(),
        retained_messages: kept.len(),
        omitted_messages,
        omitted_bytes: original - retained,
        truncated: omitted_messages > 0 || kept.iter().any(|k| k.cut.is_some()),
    }
}
