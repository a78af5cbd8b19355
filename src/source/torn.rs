//! JSON whose end is missing: what is whole of it can still be read.

use std::str;

use serde::de::DeserializeOwned;

use super::records;

/// How long an escape of a code unit is, in bytes, and any other.
const UNIT_ESCAPE: usize = 6;
const ESCAPE: usize = 2;

/// Reads what is there of a record whose end is missing.
///
/// # Errors
/// When it is no JSON, or nothing of it is there.
pub(super) fn read<T: DeserializeOwned>(begun: &[u8]) -> Result<T, serde_json::Error> {
    serde_json::from_slice(&closed(records::trimmed(begun)))
}

/// What is there of a JSON value whose end is missing, closed so that it can
/// be parsed: its whole members, and the beginning of a string that is cut.
fn closed(begun: &[u8]) -> Vec<u8> {
    let mut closers = Vec::new();
    // Up to here everything is whole.
    let mut whole = 0;
    let mut is_value = true;
    let mut at = 0;
    while let Some(byte) = begun.get(at) {
        at += 1;
        match byte {
            b'"' => match string(begun, at) {
                Text::Whole { end } => {
                    at = end;
                    if is_value {
                        whole = end;
                    }
                }
                Text::Cut { end } => {
                    if is_value {
                        whole = end;
                        closers.push(b'"');
                    }
                    break;
                }
            },
            b'{' | b'[' => {
                is_value = *byte == b'[';
                closers.push(if is_value { b']' } else { b'}' });
                whole = at;
            }
            b'}' | b']' => {
                closers.pop();
                whole = at;
                if closers.is_empty() {
                    break;
                }
            }
            b',' => {
                is_value = closers.last() == Some(&b']');
                whole = at - 1;
            }
            b':' => is_value = true,
            _ => {}
        }
    }
    let mut closed = begun.get(..whole).unwrap_or_default().to_vec();
    closed.extend(closers.iter().rev());
    closed
}

enum Text {
    /// Behind its closing quote.
    Whole { end: usize },
    /// Where a quote can be put: within no code point and no escape.
    Cut { end: usize },
}

/// The string whose content begins at `start`.
fn string(bytes: &[u8], start: usize) -> Text {
    let (mut before, mut last) = (None, None);
    let mut at = start;
    while let Some(found) = bytes
        .get(at..)
        .and_then(|rest| memchr::memchr2(b'"', b'\\', rest))
    {
        at += found;
        if bytes.get(at) == Some(&b'"') {
            return Text::Whole { end: at + 1 };
        }
        (before, last) = (last, Some(at));
        at += 2;
    }
    let mut end = bytes.len();
    if let Some(torn) = last.filter(|last| last + escape_length(bytes, *last) > end) {
        end = torn;
        last = before;
    }
    // The first half of a pair says nothing without the other.
    if let Some(half) = last.filter(|last| is_first_half(bytes, *last))
        && half + UNIT_ESCAPE == end
    {
        end = half;
    }
    let text = bytes.get(start..end).unwrap_or_default();
    let valid = str::from_utf8(text).map_or_else(|e| e.valid_up_to(), str::len);
    Text::Cut { end: start + valid }
}

fn escape_length(bytes: &[u8], at: usize) -> usize {
    if bytes.get(at + 1) == Some(&b'u') {
        UNIT_ESCAPE
    } else {
        ESCAPE
    }
}

fn is_first_half(bytes: &[u8], at: usize) -> bool {
    let digits = bytes.get(at + 1..at + 4).unwrap_or_default();
    matches!(
        digits,
        [b'u', b'd' | b'D', b'8' | b'9' | b'a' | b'b' | b'A' | b'B']
    )
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn read(begun: &str) -> String {
        String::from_utf8(closed(begun.as_bytes())).unwrap()
    }

    #[test]
    fn whole_members_and_the_beginning_of_a_string_are_kept() {
        for (begun, whole) in [
            (r#"{"a":1,"b":"te"#, r#"{"a":1,"b":"te"}"#),
            (r#"{"a":[{"b":"x"},{"c":"#, r#"{"a":[{"b":"x"},{}]}"#),
            (r#"{"a":["x","y"#, r#"{"a":["x","y"]}"#),
            (r#"{"a":"x""#, r#"{"a":"x"}"#),
            (r#"{"a":{"b":true},"ke"#, r#"{"a":{"b":true}}"#),
            (r#"{"a":tru"#, "{}"),
            (r#"{"a":"\\","b":"q\""#, r#"{"a":"\\","b":"q\""}"#),
            (r#"{"a":"\\","b":"q\"#, r#"{"a":"\\","b":"q"}"#),
            (r#"{"a":"\ud83d\ude0"#, r#"{"a":""}"#),
            (r#"{"a":"\ud83d\ude00"#, r#"{"a":"\ud83d\ude00"}"#),
            (r#"{"a":1} and more"#, r#"{"a":1}"#),
            ("", ""),
        ] {
            assert_eq!(read(begun), whole, "{begun}");
        }
    }

    #[test]
    fn a_value_cut_anywhere_can_be_parsed() {
        let value = r#"{"k":"é\ud83d\ude00\n\\","l":[1,-2.5e3,null,{"m":[[],{}]}],"n":{"o":"p"},"q":false}"#;
        for end in 1..=value.len() {
            let closed = closed(&value.as_bytes()[..end]);
            let parsed = serde_json::from_slice::<Value>(&closed);
            assert!(
                parsed.is_ok(),
                "{end}: {:?}",
                String::from_utf8_lossy(&closed)
            );
        }
        assert_eq!(closed(value.as_bytes()), value.as_bytes());
    }

    #[test]
    fn what_is_no_json_is_survived() {
        for begun in ["}", "]]", ",,", "\"", "[\"\\", "{{{{", "\u{e9}"] {
            let _ = closed(begun.as_bytes());
        }
    }
}
