//! Session URIs: `dsh-session:` and the base64url of the JSON string of an id.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::ReferenceError;
use crate::session::SessionId;

/// What every session URI begins with.
pub const SCHEME: &str = "dsh-session:";

/// The longest part of a bad URI that an error repeats, in bytes.
const QUOTED_BYTES: usize = 80;

/// The one canonical URI of an id.
#[must_use]
pub fn encode(id: &SessionId) -> String {
    let json = serde_json::Value::from(id.as_str()).to_string();
    let mut uri = String::with_capacity(SCHEME.len() + json.len().div_ceil(3) * 4);
    uri.push_str(SCHEME);
    URL_SAFE_NO_PAD.encode_string(json, &mut uri);
    uri
}

/// The id that a URI names.
///
/// # Errors
/// `INVALID_REFERENCE` for anything but the canonical form: another scheme,
/// padding, JSON that is not one string, an escape that the encoder would not
/// have written, or a lone surrogate.
pub fn decode(uri: &str) -> Result<SessionId, ReferenceError> {
    let invalid = |problem| ReferenceError::InvalidUri {
        uri: quoted(uri),
        problem,
    };
    let payload = uri
        .strip_prefix(SCHEME)
        .ok_or_else(|| invalid("it does not begin with dsh-session:"))?;
    let json = URL_SAFE_NO_PAD
        .decode(payload)
        .map_err(|_| invalid("what follows the scheme is not unpadded base64url"))?;
    let id: String = serde_json::from_slice(&json)
        .map_err(|_| invalid("it does not hold one JSON string of whole Unicode characters"))?;
    let id = SessionId::from(id);
    if encode(&id) != uri {
        return Err(invalid("it is not in canonical form"));
    }
    Ok(id)
}

fn quoted(uri: &str) -> String {
    let end = uri.floor_char_boundary(QUOTED_BYTES);
    match uri.get(..end) {
        Some(head) if end < uri.len() => format!("{head}…"),
        _ => uri.to_owned(),
    }
}
