//! A key that a command prints, such as that of a password manager.

use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::Command;
use zeroize::Zeroizing;

use super::{KeyError, MOST_BYTES, first_line};
use crate::model::SecretString;

/// A command that prints more than this gives no key, in bytes.
const MOST_PRINTED: u64 = 1024 * 1024;

/// Runs the command, without a shell and without input, and takes the first
/// line of what it prints. A command that takes too long, or prints without
/// end, is killed.
///
/// Nothing of what it says is ever shown: a command that fails may have named
/// the key in its complaint.
pub(super) async fn run(words: &[String], time_limit: Duration) -> Result<SecretString, KeyError> {
    let program = words.first().map(String::as_str).unwrap_or_default();
    let failed = |problem: String| KeyError::Command {
        program: program.to_owned(),
        problem,
    };
    let run = tokio::time::timeout(time_limit, outcome(words));
    let (status, out) = match run.await {
        Ok(Ok(Some(outcome))) => outcome,
        Ok(Ok(None)) => {
            let most = MOST_PRINTED / 1024;
            return Err(failed(format!(
                "printed more than {most} KB and was stopped; its first line is to be the key"
            )));
        }
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
        return Err(failed(format!(
            "failed ({status}); what it said may hold the key and is not shown: run it yourself \
             to see it"
        )));
    }
    first_line(&out, || format!("the output of the command {program:?}"))
}

type Printed = Zeroizing<Vec<u8>>;

/// How it ended, and the beginning of what it printed; `None` where it printed
/// too much.
async fn outcome(words: &[String]) -> std::io::Result<Option<(ExitStatus, Printed)>> {
    let (program, arguments) = words.split_first().ok_or(std::io::ErrorKind::NotFound)?;
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()?;
    let Some(printed) = beginning(child.stdout.take()).await? else {
        return Ok(None);
    };
    Ok(Some((child.wait().await?, printed)))
}

/// The beginning of a stream; the rest is read and dropped, so that nobody
/// waits for room in a pipe. `None` where there is too much of it.
async fn beginning(stream: Option<impl AsyncRead + Unpin>) -> std::io::Result<Option<Printed>> {
    let mut kept = Zeroizing::new(Vec::with_capacity(MOST_BYTES + 1));
    if let Some(mut stream) = stream {
        let most = MOST_BYTES as u64 + 1;
        (&mut stream).take(most).read_to_end(&mut kept).await?;
        let mut rest = stream.take(MOST_PRINTED);
        if tokio::io::copy(&mut rest, &mut tokio::io::sink()).await? == MOST_PRINTED {
            return Ok(None);
        }
    }
    Ok(Some(kept))
}
