//! Writing in the person's own editor.
//!
//! The terminal is the editor's until it ends, and the program waits for that:
//! what ends the program, such as SIGTERM, takes effect when the editor is
//! closed.

use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::process::Command;

use tempfile::NamedTempFile;

use super::jobs;

/// Opens `$VISUAL`, `$EDITOR` or `vi` on a text, waits, and gives what it
/// left; `None` when the editor says that it failed and left the text alone.
///
/// # Errors
/// In words: which editor could not be started, or what it left that can't be
/// taken, why, and where that is kept.
pub fn edit(text: &str) -> Result<Option<String>, String> {
    let editor = ["VISUAL", "EDITOR"]
        .into_iter()
        .filter_map(std::env::var_os)
        .find(|value| !value.is_empty())
        .unwrap_or_else(|| OsString::from("vi"));
    edit_in(&editor, text)
}

fn edit_in(editor: &OsStr, text: &str) -> Result<Option<String>, String> {
    let file = draft_file(text).map_err(|e| format!("the draft can't be handed over: {e}"))?;
    let name = editor.to_string_lossy();
    // The variable is a command of the person's own, with arguments and quotes
    // as in `"/opt/my editor" --wait`; the path goes in as data. Ctrl-C is the
    // editor's to mind, and doesn't end the shell around it.
    let mut script = OsString::from("trap : INT QUIT\n");
    script.push(editor);
    script.push(" \"$@\"");
    let mut command = Command::new("sh");
    command.arg("-c").arg(script).arg(editor).arg(file.path());
    let ended = command.spawn().and_then(|child| jobs::wait(&child));
    let status = ended
        .map_err(|e| format!("the editor {name} can't be started: {e}; set $VISUAL or $EDITOR"))?;
    if status.code() == Some(127) {
        return Err(format!("there is no editor {name}; set $VISUAL or $EDITOR"));
    }
    let left = match std::fs::read(file.path()) {
        Ok(left) => left,
        Err(e) if e.kind() == io::ErrorKind::NotFound => {
            return Err(format!(
                "the editor {name} left no file; the draft is as it was"
            ));
        }
        Err(e) => {
            return Err(kept(
                file,
                &format!("what the editor left can't be read: {e}"),
            ));
        }
    };
    if !status.success() {
        return if left == text.as_bytes() {
            Ok(None)
        } else {
            Err(kept(file, &format!("the editor {name} failed ({status})")))
        };
    }
    match String::from_utf8(left) {
        Ok(left) => Ok(Some(left)),
        Err(_) => Err(kept(file, "what the editor left is not UTF-8")),
    }
}

/// Keeps what a person may have written, and tells where.
fn kept(file: NamedTempFile, what: &str) -> String {
    match file.keep() {
        Ok((_, path)) => format!("{what}; it is kept in {}", path.display()),
        Err(error) => {
            let (why, path) = (error.error, error.file.path().to_owned());
            format!("{what}, and {} can't be kept: {why}", path.display())
        }
    }
}

/// A file of the person's own that holds the text.
fn draft_file(text: &str) -> io::Result<NamedTempFile> {
    let mut file = tempfile::Builder::new()
        .prefix("ibid-")
        .suffix(".md")
        .tempfile()?;
    file.write_all(text.as_bytes())?;
    file.flush()?;
    Ok(file)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// What an editor makes of `draft`, which is a command of the shell.
    fn edited(editor: &str) -> Result<Option<String>, String> {
        edit_in(OsStr::new(editor), "draft")
    }

    /// The bytes that an error names the place of; they are removed then.
    fn kept_by(error: &str) -> Vec<u8> {
        let (_, path) = error.rsplit_once("it is kept in ").unwrap();
        let bytes = std::fs::read(path).unwrap();
        std::fs::remove_file(path).unwrap();
        bytes
    }

    #[test]
    fn the_setting_is_read_as_the_shell_reads_it() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("my editor");
        std::fs::write(&program, "printf '%s|' \"$1\" >\"$2\"").unwrap();
        let setting = format!("sh '{}' 'two words'", program.display());
        assert_eq!(edited(&setting), Ok(Some("two words|".to_owned())));
    }

    #[test]
    fn what_is_not_utf_8_is_kept_and_named() {
        let error = edited("printf 'gr\\374n' >").unwrap_err();
        assert!(error.contains("not UTF-8"), "{error}");
        assert_eq!(kept_by(&error), b"gr\xfcn");
    }

    #[test]
    fn what_a_failing_editor_wrote_is_kept_and_named() {
        let error = edited("f() { printf new >\"$1\"; return 3; }; f").unwrap_err();
        assert!(error.contains("failed (exit status: 3)"), "{error}");
        assert_eq!(kept_by(&error), b"new");
        assert_eq!(edited("false"), Ok(None));
    }

    #[test]
    fn a_file_that_is_gone_is_said() {
        let error = edited("rm").unwrap_err();
        assert!(error.contains("left no file"), "{error}");
    }
}
