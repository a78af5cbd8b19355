//! How a session's id becomes a file name, and back.
//!
//! Ids are any Unicode text. The name uses lower-case ASCII letters, digits,
//! `-`, `_` and `%`, so it is the same on disks that ignore case or fold
//! Unicode, and never a path, a device of Windows, or too long.

use std::fmt::Write;

use sha2::{Digest, Sha256};

use crate::session::SessionId;

/// What follows the encoded id in the name of a log.
pub const LOG_SUFFIX: &str = ".jsonl";

/// The longest encoded id, in bytes: what is above is hashed. Leaves room for
/// suffixes below the 143 bytes that encrypting file systems allow.
pub const MAX_BYTES: usize = 120;

/// How much of a hashed id stays readable, in bytes.
const PREFIX_BYTES: usize = 40;
/// Never followed by two hex digits, so it can't be an escape.
const HASH_MARK: &str = "%h";
/// The name of the empty id: an escape sign that escapes nothing.
const EMPTY: &str = "%";
/// SHA-256 in hex digits.
const HASH_DIGITS: usize = 64;

/// The file name of an id, without suffix. Different ids have different names.
#[must_use]
pub fn encode(id: &SessionId) -> String {
    let id = id.as_str();
    if id.is_empty() {
        return EMPTY.to_owned();
    }
    let name = escape(id);
    if name.len() <= MAX_BYTES {
        return name;
    }
    let mut end = PREFIX_BYTES;
    // Never cut an escape, which is three bytes.
    if let Some(sign) = name.get(..end).and_then(|head| head.rfind('%'))
        && sign + 3 > end
    {
        end = sign;
    }
    let mut short = name.get(..end).unwrap_or_default().to_owned();
    short.push_str(HASH_MARK);
    for byte in Sha256::digest(id.as_bytes()) {
        push_hex(&mut short, byte);
    }
    short
}

/// The id that a name stands for; `None` for names that [`encode`] never
/// gives, and for those of long ids, which only their header tells.
#[must_use]
pub fn decode(name: &str) -> Option<SessionId> {
    if name == EMPTY {
        return Some(SessionId::from(""));
    }
    let mut bytes = Vec::with_capacity(name.len());
    let mut rest = name.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            bytes.push(hex_value(rest.next()?)? << 4 | hex_value(rest.next()?)?);
        } else {
            bytes.push(byte);
        }
    }
    let id = SessionId::from(String::from_utf8(bytes).ok()?);
    // One name for each id: what is spelled in another way is not ours.
    (encode(&id) == name).then_some(id)
}

/// Whether [`encode`] can give this name.
#[must_use]
pub fn is_encoded(name: &str) -> bool {
    decode(name).is_some()
        || name.rsplit_once(HASH_MARK).is_some_and(|(head, hash)| {
            !head.is_empty()
                && head.len() <= PREFIX_BYTES
                && hash.len() == HASH_DIGITS
                && hash.bytes().all(|b| hex_value(b).is_some())
        })
}

fn escape(id: &str) -> String {
    let mut name = String::with_capacity(id.len());
    let reserved = is_reserved(id);
    for (at, byte) in id.bytes().enumerate() {
        let plain = byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_".contains(&byte);
        if plain && !(reserved && at == 0) {
            name.push(char::from(byte));
        } else {
            name.push('%');
            push_hex(&mut name, byte);
        }
    }
    name
}

/// Whether Windows takes the name for a device, whatever its suffix.
fn is_reserved(name: &str) -> bool {
    let numbered = |stem: &str| {
        name.strip_prefix(stem)
            .is_some_and(|n| n.len() == 1 && n.bytes().all(|b| b.is_ascii_digit()))
    };
    matches!(name, "con" | "prn" | "aux" | "nul") || numbered("com") || numbered("lpt")
}

fn push_hex(out: &mut String, byte: u8) {
    // Writing to a string never fails.
    let _ = write!(out, "{byte:02x}");
}

fn hex_value(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    fn name(id: &str) -> String {
        encode(&SessionId::from(id))
    }

    #[test]
    fn ordinary_ids_stay_as_they_are() {
        let id = "0198f3a2-7b1c-7e4d-9a55-0c2f6d1e8b77";
        assert_eq!(name(id), id);
    }

    #[test]
    fn paths_become_names() {
        assert_eq!(name(""), "%");
        assert_eq!(name("."), "%2e");
        assert_eq!(name(".."), "%2e%2e");
        assert_eq!(name("../a"), "%2e%2e%2fa");
        assert_eq!(name("a\0b\\"), "a%00b%5c");
        assert_eq!(name("%2e"), "%252e");
    }

    #[test]
    fn case_and_devices_are_told_apart_everywhere() {
        assert_eq!(name("Ab"), "%41b");
        assert_eq!(name("con"), "%63on");
        assert_eq!(name("lpt9"), "%6cpt9");
        assert_eq!(name("console"), "console");
        assert_eq!(name("é"), "%c3%a9");
    }

    #[test]
    fn long_ids_keep_a_readable_head() {
        let id = "flaky-login-".repeat(30);
        let long = name(&id);
        assert!(long.starts_with("flaky-login-flaky-login-"), "{long}");
        assert!(long.len() <= MAX_BYTES);
        assert_ne!(long, name(&(id + "x")));
        assert!(is_encoded(&long));
        assert_eq!(decode(&long), None);
        // A cut never leaves half an escape behind.
        let escapes = name(&"é".repeat(200));
        assert_eq!(escapes.find(HASH_MARK), Some(39));
        assert!(is_encoded(&escapes));
    }

    #[test]
    fn names_of_others_are_not_ours() {
        for other in ["A", "%41%", "%2E", "%61", "a.b", "con", "notes~", "%h", ""] {
            assert!(!is_encoded(other), "{other:?}");
        }
    }

    proptest! {
        #[test]
        fn every_short_id_has_a_name_of_its_own(ids in prop::collection::vec("[aA./%é\\\\\0]{0,4}|.{0,60}", 0..40)) {
            let mut seen = HashMap::new();
            for id in ids {
                let name = name(&id);
                prop_assert!(name.len() <= MAX_BYTES);
                prop_assert!(name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"-_%".contains(&b)));
                prop_assert!(is_encoded(&name));
                if let Some(back) = decode(&name) {
                    prop_assert_eq!(back.as_str(), &id);
                }
                if let Some(other) = seen.insert(name, id.clone()) {
                    prop_assert_eq!(other, id);
                }
            }
        }

        #[test]
        fn any_name_is_decoded_or_refused(name in "[a-f0-9%hA]{0,130}") {
            if let Some(id) = decode(&name) {
                prop_assert_eq!(encode(&id), name);
            }
        }
    }
}
