//! What a person sees and presses.
//!
//! Everything below this module works without a terminal; nothing outside it
//! names ratatui or crossterm.

pub mod app;
mod choices;
mod command_list;
mod commands;
pub mod editor;
mod external;
mod farewell;
mod find;
mod history;
mod human;
mod jobs;
mod keymap;
mod list;
mod listed;
mod models;
mod pager;
mod pane;
mod picker;
mod preview;
mod terminal;
#[cfg(test)]
mod testing;
mod texts;
mod theme;
mod transcript;
mod view;
mod wrap;

use std::io;
use std::time::Duration;

pub use app::Setup;
use app::{App, Cmd, Msg};
use crossterm::event::EventStream;
use futures_util::StreamExt;
use rustix::process::Signal;
pub use terminal::{Screen, is_interactive};
pub use theme::Theme;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep, sleep_until};

use crate::chat::KeptDraft;
use crate::runtime::{Done, Runtime};
use crate::session::{Millis, Session};
use crate::signals::Ends;

/// The least time between two frames.
const FRAME: Duration = Duration::from_millis(16);
/// How often what moves by time alone moves.
const TICK: Duration = Duration::from_millis(100);

/// How long a signal may take from the system to who listens.
const SETTLE: Duration = Duration::from_millis(5);

/// How the screen ended. The terminal is put back in every case.
#[derive(Debug)]
pub struct Ended {
    /// Whether the terminal failed.
    pub terminal: io::Result<()>,
    /// The signal that ended it; `None` where the person did.
    pub signal: Option<i32>,
    /// What could not be kept, in words, for whoever reads the terminal then.
    pub unsaved: Vec<String>,
}

/// Runs the screen until the person, or the system, ends it.
pub async fn run(
    setup: Setup,
    session: Session,
    draft: Option<KeptDraft>,
    mut runtime: Runtime,
    mut done: mpsc::Receiver<Done>,
) -> Ended {
    let mut app = App::new(setup, session, draft);
    let mut unsaved = Vec::new();
    let terminal = match Screen::open() {
        Ok(mut screen) => {
            let outcome = drive(&mut app, &mut screen, &mut runtime, &mut done).await;
            unsaved = farewell::settle(&mut app, &mut runtime, &mut done).await;
            outcome
        }
        Err(error) => Err(error),
    };
    drop(done);
    unsaved.extend(farewell::finish(&app, runtime).await);
    let signal = terminal.as_ref().ok().copied().flatten();
    Ended {
        terminal: terminal.map(drop),
        signal,
        unsaved,
    }
}

/// The loop: waits for something to happen, lets the state take it, and draws
/// at most once a frame. Gives the signal that ended it, if one did.
async fn drive(
    app: &mut App,
    screen: &mut Screen,
    runtime: &mut Runtime,
    done: &mut mpsc::Receiver<Done>,
) -> io::Result<Option<i32>> {
    let mut ends = Ends::listen(&ENDING)?;
    let _kept_from_ending = FOR_THE_EDITOR.map(signal);
    let mut stops = signal(STOP)?;
    let mut ticks = interval(TICK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    let mut keys = EventStream::new();
    let mut drawn = Instant::now();
    let mut dirty = false;
    draw(app, screen)?;
    loop {
        let msg = tokio::select! {
            biased;
            number = ends.recv() => return Ok(Some(number)),
            Some(()) = stops.recv() => None,
            key = keys.next() => match key {
                Some(event) => Some(Msg::Terminal(event?)),
                None => return Ok(None),
            },
            () = sleep_until(drawn + FRAME), if dirty => {
                draw(app, screen)?;
                drawn = Instant::now();
                dirty = false;
                continue;
            }
            Some(outcome) = done.recv() => Some(Msg::Done(outcome)),
            _ = ticks.tick(), if app.wants_tick() => Some(Msg::Tick),
            // Whatever else there is goes first.
            () = tokio::task::yield_now(), if app.has_work() => Some(Msg::Work),
        };
        dirty = true;
        let cmds = match msg {
            Some(msg) => app.update(msg, Millis::now()),
            None => vec![Cmd::Suspend],
        };
        for cmd in cmds {
            match cmd {
                Cmd::Job(job) => runtime.run(job),
                Cmd::Quit => return Ok(None),
                outside => {
                    // The event stream would read what is typed there.
                    drop(keys);
                    go_outside(outside, app, screen, runtime)?;
                    keys = EventStream::new();
                    // What stopped the job there has done so, but may be
                    // told only now.
                    sleep(SETTLE).await;
                    stops = signal(STOP)?;
                }
            }
        }
    }
}

/// What is stopped as with Ctrl-Z by somebody else.
const STOP: SignalKind = SignalKind::from_raw(Signal::TSTP.as_raw());

/// The signals that end the program.
const ENDING: [SignalKind; 2] = [SignalKind::terminate(), SignalKind::hangup()];
/// What is pressed in the external editor is meant for it alone. The keys of
/// the screen itself send no signals.
const FOR_THE_EDITOR: [SignalKind; 2] = [SignalKind::interrupt(), SignalKind::quit()];

/// Does what needs the terminal as it was.
fn go_outside(
    cmd: Cmd,
    app: &mut App,
    screen: &mut Screen,
    runtime: &mut Runtime,
) -> io::Result<()> {
    let Cmd::Edit(text) = cmd else {
        return screen.lend(jobs::suspend).1;
    };
    let (edited, taken) = screen.lend(|| external::edit(&text));
    // What was written counts also where the screen is lost.
    carry(app, runtime, Msg::Edited(edited));
    taken
}

/// Takes a message whose jobs are all for the runtime.
fn carry(app: &mut App, runtime: &mut Runtime, msg: Msg) {
    for cmd in app.update(msg, Millis::now()) {
        if let Cmd::Job(job) = cmd {
            runtime.run(job);
        }
    }
}

fn draw(app: &mut App, screen: &mut Screen) -> io::Result<()> {
    screen.terminal().draw(|frame| app.draw(frame)).map(drop)
}
