//! Values that have a form of their own: addresses, paths, headers, JSON.

use std::path::{Path, PathBuf};

use serde_json::{Number, Value};
use toml::de::DeValue;
use url::Url;

use super::problem::Wrong;
use super::section::number;
use crate::model::{ExposeSecret as _, SecretString};

/// The address of a server. It is not repeated when it is wrong: it may hold a
/// password.
pub(super) fn base_url(written: &str) -> Result<String, Wrong> {
    let url = address(written, &["http", "https"])?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err(Wrong::new(
            "an address holds no user and password; use `key` or `headers`",
        ));
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(Wrong::new("an address ends before `?` and `#`"));
    }
    Ok(written.to_owned())
}

/// The address of a proxy, or nothing for none at all.
pub(super) fn proxy(written: &str) -> Result<SecretString, Wrong> {
    if !written.is_empty() {
        address(written, &["http", "https", "socks5", "socks5h"])?;
    }
    Ok(SecretString::from(written))
}

fn address(written: &str, schemes: &[&str]) -> Result<Url, Wrong> {
    match Url::parse(written) {
        Ok(url) if schemes.contains(&url.scheme()) && url.has_host() => Ok(url),
        _ => {
            let schemes: Vec<String> = schemes.iter().map(|name| format!("{name}://")).collect();
            let schemes = schemes.join(", ");
            Err(Wrong::new(format!(
                "this is an address that begins with one of {schemes}"
            )))
        }
    }
}

/// A proxy's address without the password that it may hold.
pub(super) fn without_password(address: &SecretString) -> String {
    let Ok(mut url) = Url::parse(address.expose_secret()) else {
        return String::new();
    };
    if url.password().is_some() && url.set_password(None).is_err() {
        return String::new();
    }
    url.to_string()
}

/// A path: `~/` is the person's own folder, a relative one starts at `folder`.
pub(super) fn path(written: &str, folder: &Path) -> PathBuf {
    let home = written.strip_prefix("~/").zip(directories::BaseDirs::new());
    match home {
        Some((rest, dirs)) => dirs.home_dir().join(rest),
        None => folder.join(written),
    }
}

/// The name of a header, as HTTP has it (RFC 9110, section 5.6.2).
pub(super) fn header_name(name: &str) -> Result<(), Wrong> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    if name.is_empty() || !name.chars().all(is_plain) {
        return Err(Wrong::new("this is no name of a header"));
    }
    Ok(())
}

/// The value of a header. It is not repeated: it may be a key.
pub(super) fn header_value(value: String) -> Result<SecretString, Wrong> {
    let is_plain = |byte: u8| byte.is_ascii_graphic() || byte == b' ';
    if !value.bytes().all(is_plain) {
        return Err(Wrong::new("a header has plain letters and signs alone"));
    }
    Ok(SecretString::from(value))
}

/// Any value that JSON has too.
pub(super) fn json(value: &DeValue<'_>) -> Result<Value, Wrong> {
    Ok(match value {
        DeValue::String(text) => Value::from(text.as_ref()),
        DeValue::Boolean(flag) => Value::from(*flag),
        DeValue::Integer(whole) => i64::from_str_radix(whole.as_str(), whole.radix())
            .map_err(|_| Wrong::new(format!("{whole} is too large a number")))?
            .into(),
        DeValue::Float(_) => {
            let written = Number::from_f64(number(value)?);
            written
                .ok_or_else(|| Wrong::new("JSON has no such number"))?
                .into()
        }
        DeValue::Datetime(_) => return Err(Wrong::new("JSON has no dates; write a text")),
        DeValue::Array(list) => {
            let entries = list.iter().map(|entry| json(entry.get_ref()));
            Value::Array(entries.collect::<Result<_, _>>()?)
        }
        DeValue::Table(table) => {
            let entries = table.iter().map(|(key, value)| {
                let key = key.get_ref().as_ref().to_owned();
                Ok((key, json(value.get_ref())?))
            });
            Value::Object(entries.collect::<Result<_, Wrong>>()?)
        }
    })
}
