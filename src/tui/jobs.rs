//! Stopping and going on, as a shell that controls jobs wants it.
//!
//! The program minds SIGTSTP itself, to put the terminal back first. So the
//! system neither stops it where that signal reaches a whole job, nor keeps it
//! from a stop that nobody could undo: both are seen to here.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};

use rustix::io::retry_on_intr;
use rustix::process::{Pid, Signal, WaitOptions, kill_current_process_group, waitpid};

/// Stops the job until the shell continues it. Goes on at once where no shell
/// could.
pub fn suspend() {
    if is_stoppable().unwrap_or(false) {
        stop();
    }
}

/// Waits for a child that has the terminal, and stops as often as it stops: a
/// shell takes a job for stopped when all of it is.
///
/// # Errors
/// When the child can't be waited for.
pub fn wait(child: &Child) -> io::Result<ExitStatus> {
    loop {
        match status(child)? {
            Some(status) => return Ok(status),
            None => stop(),
        }
    }
}

/// Stops the job, in which others may be around the program. SIGTSTP would
/// come back to the program itself.
fn stop() {
    // Where this is refused there is nothing to be done but to go on.
    let _ = kill_current_process_group(Signal::STOP);
}

/// How a child ended; `None` when it was stopped.
fn status(child: &Child) -> io::Result<Option<ExitStatus>> {
    let child = Some(Pid::from_child(child));
    let waited = retry_on_intr(|| waitpid(child, WaitOptions::UNTRACED))?;
    let ended = waited.map(|(_, status)| status).filter(|s| !s.stopped());
    Ok(ended.map(|status| ExitStatus::from_raw(status.as_raw())))
}

/// Whether a stop can be undone: the system tells a child, which does not mind
/// the signal, by stopping it or not.
fn is_stoppable() -> io::Result<bool> {
    let mut child = Command::new("sh")
        .args(["-c", "kill -TSTP $$"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let stopped = status(&child)?.is_none();
    if stopped {
        child.kill()?;
        child.wait()?;
    }
    Ok(stopped)
}
