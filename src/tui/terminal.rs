//! The terminal as a whole: taken over, and always put back.

use std::io::{self, IsTerminal, Stdout, Write, stderr, stdout};
use std::mem::ManuallyDrop;
use std::panic;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use crossterm::event::{
    DisableBracketedPaste, DisableMouseCapture, EnableBracketedPaste, EnableMouseCapture,
    KeyboardEnhancementFlags, PopKeyboardEnhancementFlags, PushKeyboardEnhancementFlags,
};
use crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use crossterm::{cursor, execute};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;

use crate::sanitize;

/// The screen to draw on. Dropping it puts the terminal back.
pub struct Screen {
    /// Never dropped: it would print where nobody reads any more, and that
    /// panics. [`leave`] does all that its drop is for.
    terminal: ManuallyDrop<Terminal<CrosstermBackend<Stdout>>>,
    unsaid: Unsaid,
}

/// What panics in tasks had to say while the screen was up.
type Unsaid = Arc<Mutex<Vec<String>>>;

/// Whether both ends of the program are a terminal.
#[must_use]
pub fn is_interactive() -> bool {
    io::stdin().is_terminal() && stdout().is_terminal()
}

impl Screen {
    /// Takes the terminal over for this thread, and sees to it that a panic of
    /// this thread gives it back before it speaks. A panic of another one ends
    /// a task and not the program: it speaks when the screen is dropped.
    ///
    /// # Errors
    /// When the terminal can't be switched; it is put back then.
    pub fn open() -> io::Result<Self> {
        let unsaid = Unsaid::default();
        let speak = panic::take_hook();
        let owner = thread::current().id();
        let quiet = Arc::clone(&unsaid);
        panic::set_hook(Box::new(move |panic| {
            if thread::current().id() == owner {
                leave();
                speak(panic);
            } else {
                let mut unsaid = quiet.lock().unwrap_or_else(PoisonError::into_inner);
                unsaid.push(panic.to_string());
            }
        }));
        enter()?;
        let terminal = Terminal::new(CrosstermBackend::new(stdout())).inspect_err(|_| leave())?;
        Ok(Self {
            terminal: ManuallyDrop::new(terminal),
            unsaid,
        })
    }

    /// The terminal to draw on.
    pub fn terminal(&mut self) -> &mut Terminal<CrosstermBackend<Stdout>> {
        &mut self.terminal
    }

    /// Gives the terminal away for as long as `outside` runs. Gives what came
    /// of that, and whether the terminal could be taken over again.
    pub fn lend<T>(&mut self, outside: impl FnOnce() -> T) -> (T, io::Result<()>) {
        leave();
        (outside(), self.retake())
    }

    fn retake(&mut self) -> io::Result<()> {
        enter()?;
        // Everything is to be drawn anew. `Terminal::clear` would first ask
        // the terminal where its cursor is, and wait for an answer that may
        // never come.
        let area = self.terminal.size()?.into();
        self.terminal.resize(area)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        leave();
        if thread::panicking() {
            // The hook can't be replaced now.
            return;
        }
        drop(panic::take_hook());
        let unsaid = self.unsaid.lock().unwrap_or_else(PoisonError::into_inner);
        for message in &*unsaid {
            // There is nobody left to tell when this fails.
            let _ = writeln!(stderr(), "{}", sanitize::block(message));
        }
    }
}

fn enter() -> io::Result<()> {
    enable_raw_mode()?;
    // Terminals that do not know a mode pass over it; asking them first would
    // cost a round trip before the first frame.
    let entered = execute!(
        stdout(),
        EnterAlternateScreen,
        EnableBracketedPaste,
        EnableMouseCapture,
        PushKeyboardEnhancementFlags(KeyboardEnhancementFlags::DISAMBIGUATE_ESCAPE_CODES),
    );
    entered.inspect_err(|_| leave())
}

/// Puts everything back. Each part is tried whatever became of the others:
/// there is nobody left to tell.
fn leave() {
    let mut out = stdout();
    let _ = execute!(out, PopKeyboardEnhancementFlags);
    let _ = execute!(out, DisableMouseCapture, DisableBracketedPaste);
    let _ = execute!(out, LeaveAlternateScreen, cursor::Show);
    let _ = disable_raw_mode();
    let _ = out.flush();
}
