//! A pseudo-terminal with a program in it.

// The benches have this file without the others around it.
#[allow(
    clippy::duplicate_mod,
    reason = "the integration tests have it beside this file too"
)]
#[path = "../support/keys.rs"]
mod keys;

use std::fmt::Write as _;
use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

pub use portable_pty::CommandBuilder;
use portable_pty::{Child, ExitStatus, MasterPty, PtySize, SlavePty, native_pty_system};
pub use vt100::Screen;

/// How long anything may take before a test gives up. Far more than it takes:
/// the machine may be busy.
const PATIENCE: Duration = Duration::from_secs(30);

/// The program's screen and all that it wrote.
struct Shown {
    parser: vt100::Parser,
    raw: Vec<u8>,
    ended: bool,
}

type Shared = Arc<(Mutex<Shown>, Condvar)>;

/// A program in a terminal.
pub struct Terminal {
    master: Box<dyn MasterPty + Send>,
    /// Held open, so that the terminal outlives the program.
    slave: Option<Box<dyn SlavePty + Send>>,
    writer: Box<dyn Write + Send>,
    child: Box<dyn Child + Send + Sync>,
    shown: Shared,
    reader: Option<JoinHandle<()>>,
}

/// What is left of a program that has ended.
pub struct Ended {
    pub status: ExitStatus,
    pub raw: Vec<u8>,
}

/// The program under test, in a directory, with a home of its own.
pub fn ibid(home: &Path, cwd: &Path, args: &[&str]) -> CommandBuilder {
    let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_ibid"));
    command.args(args);
    set_up(&mut command, home, cwd);
    command
}

/// The surroundings of the program under test.
pub fn set_up(command: &mut CommandBuilder, home: &Path, cwd: &Path) {
    command.cwd(cwd);
    command.env("IBID_HOME", home);
    // No tool keeps anything there.
    command.env("HOME", home.join("person"));
    command.env("TERM", "xterm-256color");
    for name in ibid::source::VARIABLES {
        command.env_remove(name);
    }
    for name in keys::variables() {
        command.env_remove(name);
    }
    for name in ["NO_COLOR", "VISUAL", "EDITOR", "ENV", "RUST_BACKTRACE"] {
        command.env_remove(name);
    }
}

impl Terminal {
    /// Starts a program in a terminal of so many columns and rows.
    pub fn start(command: CommandBuilder, (columns, rows): (u16, u16)) -> Self {
        let pair = native_pty_system().openpty(size(columns, rows)).unwrap();
        let parser = vt100::Parser::new(cells(rows), cells(columns), 0);
        let shown: Shared = Arc::new((
            Mutex::new(Shown {
                parser,
                raw: Vec::new(),
                ended: false,
            }),
            Condvar::new(),
        ));
        let output = pair.master.try_clone_reader().unwrap();
        let reader = std::thread::spawn({
            let shown = Arc::clone(&shown);
            move || read_all(output, &shown)
        });
        Self {
            writer: pair.master.take_writer().unwrap(),
            child: pair.slave.spawn_command(command).unwrap(),
            master: pair.master,
            slave: Some(pair.slave),
            shown,
            reader: Some(reader),
        }
    }

    /// Types, or sends the bytes of keys.
    pub fn keys(&mut self, keys: &str) {
        self.writer.write_all(keys.as_bytes()).unwrap();
        self.writer.flush().unwrap();
    }

    /// Pastes as a terminal does that was asked for brackets.
    pub fn paste(&mut self, text: &str) {
        self.keys(&format!("\x1b[200~{text}\x1b[201~"));
    }

    /// Waits until the screen is as `expected` wants it.
    pub fn wait(&self, what: &str, mut expected: impl FnMut(&Screen) -> bool) {
        self.wait_for(what, |screen, _| expected(screen));
    }

    /// The same, of a frame that is drawn to its end. What is said of all that
    /// the screen shows, or does not show, holds of whole frames only.
    pub fn wait_drawn(&self, what: &str, mut expected: impl FnMut(&Screen) -> bool) {
        self.wait_for(what, |screen, raw| ends_a_frame(raw) && expected(screen));
    }

    fn wait_for(&self, what: &str, expected: impl FnMut(&Screen, &[u8]) -> bool) {
        if !self.wait_at_most(PATIENCE, expected) {
            let mut report = format!("never came: {what}\nthe screen:\n");
            for row in self.rows() {
                let _ = writeln!(report, "|{row}|");
            }
            panic!("{report}");
        }
    }

    /// Waits until a text is on the screen, however it is wrapped.
    pub fn wait_text(&self, text: &str) {
        self.wait(text, |screen| shows(screen, text));
    }

    /// Waits until a text is no more on the screen.
    pub fn wait_gone(&self, text: &str) {
        self.wait_drawn(&format!("no {text}"), |screen| !shows(screen, text));
    }

    /// Waits until `expected` holds of the screen and of all bytes so far, or
    /// the time is over. Gives whether it holds.
    pub fn wait_at_most(
        &self,
        time: Duration,
        mut expected: impl FnMut(&Screen, &[u8]) -> bool,
    ) -> bool {
        let deadline = Instant::now() + time;
        let mut shown = self.shown();
        loop {
            if expected(shown.parser.screen(), &shown.raw) {
                return true;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() || shown.ended {
                return false;
            }
            shown = self.shown.1.wait_timeout(shown, left).unwrap().0;
        }
    }

    /// Gives the screen another size, and waits until the program has drawn
    /// on it.
    pub fn resize(&mut self, columns: u16, rows: u16) {
        let before = {
            let mut shown = self.shown();
            shown.parser.set_size(cells(rows), cells(columns));
            shown.raw.len()
        };
        self.master.resize(size(columns, rows)).unwrap();
        let clear = b"\x1b[2J";
        let drawn = self.wait_at_most(PATIENCE, |_, raw| {
            raw[before..].windows(clear.len()).any(|w| w == clear)
        });
        assert!(drawn, "not drawn at {columns}×{rows}");
    }

    /// The rows of the screen, without the spaces at their ends.
    pub fn rows(&self) -> Vec<String> {
        rows(self.shown().parser.screen())
    }

    /// All that the program wrote so far.
    pub fn raw(&self) -> Vec<u8> {
        self.shown().raw.clone()
    }

    /// The settings of the terminal, as text: how it reads, echoes, and so on.
    pub fn settings(&self) -> String {
        format!("{:?}", self.master.get_termios().unwrap())
    }

    /// The number of the program's process.
    pub fn process(&self) -> u32 {
        self.child.process_id().unwrap()
    }

    /// Kills the program as nothing can prevent, and gives the screen that it
    /// left.
    pub fn kill(mut self) -> Screen {
        signal(self.process(), "KILL");
        self.finish();
        self.shown().parser.screen().clone()
    }

    /// Waits until the program has ended by itself.
    pub fn end(mut self) -> Ended {
        let status = self.finish();
        Ended {
            status,
            raw: self.raw(),
        }
    }

    fn finish(&mut self) -> ExitStatus {
        let deadline = Instant::now() + PATIENCE;
        let status = loop {
            assert!(Instant::now() < deadline, "it does not end");
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            // What it writes must be read, or it would wait for ever.
            let len = self.shown().raw.len();
            self.wait_at_most(Duration::from_millis(5), |_, raw| raw.len() > len);
        };
        drop(self.slave.take());
        self.reader.take().unwrap().join().unwrap();
        status
    }

    fn shown(&self) -> MutexGuard<'_, Shown> {
        self.shown.0.lock().unwrap()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // A test that failed leaves no program behind.
        if matches!(self.child.try_wait(), Ok(None)) {
            let _ = self.child.kill();
        }
    }
}

fn read_all(mut output: Box<dyn Read + Send>, (shown, changed): &(Mutex<Shown>, Condvar)) {
    let mut bytes = vec![0; 65_536];
    loop {
        let read = output.read(&mut bytes).unwrap_or(0);
        let mut shown = shown.lock().unwrap();
        shown.parser.process(&bytes[..read]);
        shown.raw.extend_from_slice(&bytes[..read]);
        shown.ended = read == 0;
        changed.notify_all();
        if read == 0 {
            return;
        }
    }
}

fn size(columns: u16, rows: u16) -> PtySize {
    PtySize {
        rows,
        cols: columns,
        pixel_width: 0,
        pixel_height: 0,
    }
}

fn cells(count: u16) -> NonZeroU16 {
    NonZeroU16::new(count).unwrap()
}

/// Sends a signal to a process.
pub fn signal(process: u32, name: &str) {
    let sent = std::process::Command::new("kill")
        .args([format!("-{name}"), process.to_string()])
        .status()
        .unwrap();
    assert!(sent.success());
}

/// Whether the last bytes are those that end a frame: the caret is hidden, or
/// shown and put in its place.
fn ends_a_frame(raw: &[u8]) -> bool {
    let tail = raw.len().saturating_sub(20);
    let tail = String::from_utf8_lossy(&raw[tail..]);
    let shown = || {
        let (_, place) = tail.rsplit_once("\x1b[?25h")?;
        place.strip_prefix("\x1b[")?.strip_suffix('H')
    };
    tail.ends_with("\x1b[?25l") || shown().is_some_and(|place| !place.contains('\x1b'))
}

/// The rows of a screen, without the spaces at their ends.
pub fn rows(screen: &Screen) -> Vec<String> {
    let (_, columns) = screen.size();
    let rows = screen.rows(0, columns.get());
    rows.map(|row| row.trim_end().to_owned()).collect()
}

/// Whether a text is on the screen, however it is wrapped.
pub fn shows(screen: &Screen, text: &str) -> bool {
    squeeze(&rows(screen).concat()).contains(&squeeze(text))
}

/// The text without its white space.
pub fn squeeze(text: &str) -> String {
    text.split_whitespace().collect()
}
