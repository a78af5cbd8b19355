//! Texts that can't be kept in their place, put where a person finds them.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Puts a text where a person can take it from, and tells where: in a file of
/// their own, or with the words themselves.
pub(crate) fn recoverable(name: &str, text: &str) -> String {
    recoverable_in(&std::env::temp_dir(), name, text)
}

fn recoverable_in(folder: &Path, name: &str, text: &str) -> String {
    match put_aside(folder, name, text) {
        Ok(path) => format!("its text is kept in {}", path.display()),
        Err(_) => format!("its text:\n{text}"),
    }
}

fn put_aside(folder: &Path, name: &str, text: &str) -> io::Result<PathBuf> {
    let mut file = tempfile::Builder::new()
        .prefix(&format!("ibid-{name}-"))
        .suffix(".md")
        .tempfile_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.flush()?;
    Ok(file.keep()?.1)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_is_not_saved_is_put_aside_and_its_place_named() {
        let folder = tempfile::tempdir().unwrap();
        let told = recoverable_in(folder.path(), "answer", "what it said");
        let path = told.strip_prefix("its text is kept in ").unwrap();
        assert_eq!(std::fs::read_to_string(path).unwrap(), "what it said");
    }

    #[test]
    fn where_no_file_can_be_made_the_text_itself_is_told() {
        let nowhere = Path::new("/no/such/folder");
        assert_eq!(
            recoverable_in(nowhere, "answer", "what it said"),
            "its text:\nwhat it said"
        );
    }
}
