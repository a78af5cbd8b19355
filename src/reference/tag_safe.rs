//! Tag-safe JSON: ordinary JSON in which every `<` is `\u003c`, so that no
//! text inside it can spell a tag of the frame around it.

use serde::Serialize;
use thiserror::Error;

/// A value that JSON can't express.
#[derive(Debug, Error)]
#[error("the value is not JSON-serializable: {0}")]
pub struct NotSerializable(#[from] serde_json::Error);

/// Compact tag-safe JSON.
///
/// # Errors
/// When JSON can't express the value.
pub fn to_string<T: Serialize + ?Sized>(value: &T) -> Result<String, NotSerializable> {
    Ok(without_tags(serde_json::to_string(value)?))
}

/// Tag-safe JSON, indented by two spaces, `": "` after each key.
///
/// # Errors
/// When JSON can't express the value.
pub fn to_string_pretty<T: Serialize + ?Sized>(value: &T) -> Result<String, NotSerializable> {
    Ok(without_tags(serde_json::to_string_pretty(value)?))
}

/// Appends one tag-safe JSON string, quotes included.
///
/// Most of what is ever written is text, so this is done here in one pass and
/// one buffer, eight bytes at a time.
pub fn append_str(out: &mut String, text: &str) {
    out.push('"');
    let mut rest = text;
    while let Some((at, byte)) = next_escape(rest.as_bytes()) {
        out.push_str(rest.get(..at).unwrap_or_default());
        append_escape(out, byte);
        rest = rest.get(at + 1..).unwrap_or_default();
    }
    out.push_str(rest);
    out.push('"');
}

/// The first byte that a tag-safe JSON string can't hold as it is.
fn next_escape(bytes: &[u8]) -> Option<(usize, u8)> {
    let (words, rest) = bytes.as_chunks::<8>();
    let in_words = words.iter().enumerate().find_map(|(place, word)| {
        let first = first_escape(u64::from_le_bytes(*word))?;
        Some(place * 8 + first)
    });
    let at = in_words.or_else(|| {
        let first = rest.iter().position(|b| extra_bytes(*b) > 0)?;
        Some(words.len() * 8 + first)
    })?;
    bytes.get(at).map(|byte| (at, *byte))
}

/// Which of eight bytes, the lowest first, is the first to be escaped.
///
/// A subtraction borrows only from beyond a byte that is found, so the lowest
/// byte marked is always a true one.
fn first_escape(word: u64) -> Option<usize> {
    const ONES: u64 = u64::MAX / 0xff;
    const TOPS: u64 = ONES * 0x80;
    let below = |word: u64, limit: u8| word.wrapping_sub(ONES * u64::from(limit)) & !word;
    let equal = |byte: u8| below(word ^ (ONES * u64::from(byte)), 1);
    let marks = (below(word, 0x20) | equal(b'"') | equal(b'\\') | equal(b'<')) & TOPS;
    (marks != 0).then(|| marks.trailing_zeros() as usize / 8)
}

fn append_escape(out: &mut String, byte: u8) {
    out.push_str(match byte {
        0x08 => "\\b",
        b'\t' => "\\t",
        b'\n' => "\\n",
        0x0c => "\\f",
        b'\r' => "\\r",
        b'"' => "\\\"",
        b'\\' => "\\\\",
        _ => {
            out.push_str("\\u00");
            let digits = [byte >> 4, byte & 0xf].map(u32::from);
            out.extend(digits.into_iter().filter_map(|d| char::from_digit(d, 16)));
            return;
        }
    });
}

/// The same JSON without any `<`: in JSON it stands in strings alone.
fn without_tags(json: String) -> String {
    if memchr::memchr(b'<', json.as_bytes()).is_some() {
        json.replace('<', "\\u003c")
    } else {
        json
    }
}

/// How many bytes the text takes between the quotes of a tag-safe JSON string.
#[must_use]
pub fn escaped_len(text: &str) -> usize {
    let (blocks, rest) = text.as_bytes().as_chunks::<LANES>();
    let mut extra: usize = rest.iter().map(|b| usize::from(extra_bytes(*b))).sum();
    for run in blocks.chunks(BLOCKS_PER_RUN) {
        let mut lanes = [0_u8; LANES];
        for block in run {
            for (lane, b) in lanes.iter_mut().zip(block) {
                *lane += extra_bytes(*b);
            }
        }
        extra += lanes.iter().map(|lane| usize::from(*lane)).sum::<usize>();
    }
    text.len() + extra
}

/// How many bytes are counted side by side.
const LANES: usize = 32;
/// How many blocks of lanes can be added up before a lane could overflow.
const BLOCKS_PER_RUN: usize = u8::MAX as usize / 5;

/// How many bytes more than one a byte takes in tag-safe JSON: at most 5.
/// Without branches, so that many are counted at once.
const fn extra_bytes(b: u8) -> u8 {
    let long = (b < 0x20) as u8 | (b == b'<') as u8;
    let short = (b == 0x08) as u8
        | (b == b'\t') as u8
        | (b == b'\n') as u8
        | (b == 0x0c) as u8
        | (b == b'\r') as u8;
    let quoted = (b == b'"') as u8 | (b == b'\\') as u8;
    long * 5 - short * 4 + quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_counted_length_is_the_real_one_for_every_character_at_every_place() {
        for c in (0..0x250).filter_map(char::from_u32) {
            for place in [0, 1, LANES - 1, LANES, 3 * LANES] {
                let text = format!("{}{c}", "x".repeat(place));
                let written = to_string(&text).unwrap().len() - 2;
                assert_eq!(escaped_len(&text), written, "{c:?} at {place}");
            }
        }
    }

    #[test]
    fn a_string_is_appended_as_it_is_written_for_every_character_at_every_place() {
        for c in (0..0x250)
            .chain([0x2028, 0x754c, 0x1_f600])
            .filter_map(char::from_u32)
        {
            for place in 0..9 {
                for after in ["", "<y", "yyyyyyyyyyyy\\"] {
                    let text = format!("{}{c}{after}", "x".repeat(place));
                    let mut appended = String::new();
                    append_str(&mut appended, &text);
                    assert_eq!(appended, to_string(&text).unwrap());
                }
            }
        }
    }

    #[test]
    fn the_counted_length_is_right_where_every_byte_is_escaped() {
        let text = "\0".repeat(LANES * (BLOCKS_PER_RUN + 1) + 1);
        assert_eq!(escaped_len(&text), text.len() * 6);
    }
}
