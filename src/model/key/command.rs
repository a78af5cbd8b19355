//! A key that a command prints, such as that of a password manager.

use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::Command;
use zeroize::Zeroizing;

use super::{KeyError, MOST_BYTES, first_line};
use crate::model::SecretString;
use crate::sanitize;

/// The most of its complaints that is shown, in characters.
const MOST_SHOWN: usize = 500;

/// Runs the command, without a shell and without input, and takes the first
/// line of what it prints. A command that takes too long is killed.
pub(super) async fn run(words: &[String], time_limit: Duration) -> Result<SecretString, KeyError> {
    let program = words.first().map(String::as_str).unwrap_or_default();
    let failed = |problem: String| KeyError::Command {
        program: program.to_owned(),
        problem,
    };
    let run = tokio::time::timeout(time_limit, outcome(words));
    let (status, out, complaints) = match run.await {
        Ok(Ok(outcome)) => outcome,
        Ok(Err(error)) => return Err(failed(format!("can't be run: {error}"))),
        Err(_) => {
            let limit = time_limit.as_secs();
            return Err(failed(format!(
                "took longer than {limit} s and was stopped; if it waits for a pass phrase, unlock \
                 it first, or give it more time with `timeout`"
            )));
        }
    };
    if !status.success() {
        return Err(failed(format!("failed ({status}){}", shown(&complaints))));
    }
    first_line(&out, || format!("the output of the command {program:?}"))
}

type Printed = Zeroizing<Vec<u8>>;

async fn outcome(words: &[String]) -> std::io::Result<(ExitStatus, Printed, Printed)> {
    let (program, arguments) = words.split_first().ok_or(std::io::ErrorKind::NotFound)?;
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    let (out, err) = (child.stdout.take(), child.stderr.take());
    tokio::try_join!(child.wait(), beginning(out), beginning(err))
}

/// The beginning of a stream; the rest is read and dropped, so that nobody
/// waits for room in a pipe.
async fn beginning(stream: Option<impl AsyncRead + Unpin>) -> std::io::Result<Printed> {
    let mut kept = Zeroizing::new(Vec::with_capacity(MOST_BYTES + 1));
    if let Some(mut stream) = stream {
        let most = MOST_BYTES as u64 + 1;
        (&mut stream).take(most).read_to_end(&mut kept).await?;
        tokio::io::copy(&mut stream, &mut tokio::io::sink()).await?;
    }
    Ok(kept)
}

/// What it complained of, safe to show.
fn shown(complaints: &[u8]) -> String {
    let text = String::from_utf8_lossy(complaints);
    let text: String = text.trim().chars().take(MOST_SHOWN).collect();
    if text.is_empty() {
        return String::new();
    }
    format!(": {}", sanitize::line(&text))
}
