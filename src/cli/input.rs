//! What comes in on stdin.

use std::io::Read;

use super::CliError;

/// The text on stdin, to its end.
pub(super) fn stdin() -> Result<String, CliError> {
    let mut bytes = Vec::new();
    std::io::stdin()
        .lock()
        .read_to_end(&mut bytes)
        .map_err(|error| {
            let message = format!("can't read the text on stdin: {error}");
            CliError::new("STDIN", message)
        })?;
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        CliError::new(
            "NOT_UTF8",
            format!("the text on stdin is not UTF-8 at byte {at}; convert it first"),
        )
    })
}
