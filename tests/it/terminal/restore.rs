//! The terminal is put back, however the program ends or pauses.
//!
//! A shell without line editing stays behind it, so that what is seen is what
//! the program left, not what the system resets when a terminal's last program
//! ends.

use super::home::{Place, cited, eventually, said};
use super::pty::{self, CommandBuilder, Screen, Terminal};

/// Tells a test run as a child where to panic.
const PANIC: &str = "IBID_TEST_PANIC";

/// A shell in a terminal, and the terminal's settings at its prompt.
struct Shell {
    terminal: Terminal,
    settings: String,
}

impl Shell {
    fn start(place: &Place, set_up: impl FnOnce(&mut CommandBuilder)) -> Self {
        let mut command = CommandBuilder::new("sh");
        command.arg("-i");
        pty::set_up(&mut command, &place.home(), &place.cwd());
        command.env("PS1", "prompt% ");
        command.env("IBID", env!("CARGO_BIN_EXE_ibid"));
        set_up(&mut command);
        let terminal = Terminal::start(command, (80, 24));
        terminal.wait_text("prompt%");
        let settings = terminal.settings();
        Self { terminal, settings }
    }

    /// Runs the program, and waits until it has the terminal.
    fn run(&mut self) {
        // The shell tells the program's process and how it ended.
        self.terminal
            .keys("sh -c 'echo $$ >pid; exec \"$IBID\"'; echo \"left:$?\"\r");
        self.wait_taken();
    }

    fn wait_taken(&self) {
        self.terminal.wait("the program's screen", is_taken);
        self.terminal.wait_text("help");
        assert_ne!(self.terminal.settings(), self.settings);
    }

    fn process(place: &Place) -> u32 {
        let pid = std::fs::read_to_string(place.cwd().join("pid")).unwrap();
        pid.trim().parse().unwrap()
    }

    /// Waits for a text on the screen below, and checks that the terminal is
    /// as it was.
    fn wait_restored(&self, text: &str) {
        self.terminal.wait(text, |screen| {
            !screen.alternate_screen() && pty::shows(screen, text)
        });
        self.terminal.wait("a terminal put back", is_restored);
        assert_eq!(self.terminal.settings(), self.settings);
        // The parser knows nothing of these.
        let raw = String::from_utf8(self.terminal.raw()).unwrap();
        let taken = raw.matches("\x1b[>1u").count();
        assert!(taken > 0);
        assert!(raw.matches("\x1b[<1u").count() >= taken, "keyboard flags");
        let last = |sequence: &str| raw.rfind(sequence).unwrap();
        assert!(last("\x1b[<1u") > last("\x1b[>1u"));
        for mode in ["1000", "1002", "1003", "1006", "1015", "2004", "1049"] {
            let set = last(&format!("\x1b[?{mode}h"));
            assert!(last(&format!("\x1b[?{mode}l")) > set, "mode {mode}");
        }
    }
}

fn is_taken(screen: &Screen) -> bool {
    screen.alternate_screen()
        && screen.bracketed_paste()
        && screen.mouse_protocol_mode() != vt100::MouseProtocolMode::None
}

fn is_restored(screen: &Screen) -> bool {
    !screen.alternate_screen()
        && !screen.hide_cursor()
        && !screen.bracketed_paste()
        && screen.mouse_protocol_mode() == vt100::MouseProtocolMode::None
}

#[test]
fn after_leaving_with_ctrl_d() {
    let mut shell = Shell::start(&Place::new(), |_| {});
    shell.run();
    shell.terminal.keys("\x04");
    shell.wait_restored("left:0");
}

#[test]
fn after_leaving_with_ctrl_c_twice() {
    let mut shell = Shell::start(&Place::new(), |_| {});
    shell.run();
    shell.terminal.keys("a draft");
    shell.terminal.wait_text("> a draft");
    shell.terminal.keys("\x03");
    shell.terminal.wait_text("press Ctrl-C again to quit");
    shell.terminal.wait_gone("> a draft");
    shell.terminal.keys("\x03");
    shell.wait_restored("left:0");
}

#[test]
fn after_sigterm_in_the_middle_of_an_answer() {
    let place = Place::new();
    let mut shell = Shell::start(&place, |_| {});
    shell.run();
    shell.terminal.keys("a question\r");
    shell.terminal.wait_text("This is the");
    pty::signal(Shell::process(&place), "TERM");
    shell.wait_restored("left:143");
    let log = place.new_log(&[]);
    assert_eq!(said(&log), ["a question"]);
    let text = std::fs::read_to_string(log).unwrap();
    assert!(text.contains("\"interrupted\":true"), "what came is kept");
}

#[test]
fn after_sighup() {
    let place = Place::new();
    let mut shell = Shell::start(&place, |_| {});
    shell.run();
    pty::signal(Shell::process(&place), "HUP");
    shell.wait_restored("left:129");
}

#[test]
fn around_ctrl_z() {
    let place = Place::new();
    let mut shell = Shell::start(&place, |_| {});
    shell.run();
    shell.terminal.keys("half a thought");
    shell.terminal.wait_text("half a thought");
    for _ in 0..2 {
        shell.terminal.keys("\x1a");
        shell.wait_restored("Stopped");
        shell.terminal.keys("clear; fg; echo \"left:$?\"\r");
        shell.wait_taken();
        shell.terminal.wait_text("half a thought");
    }
    // It still hears.
    shell.terminal.keys(" goes on");
    shell.terminal.wait_text("half a thought goes on");
    shell.terminal.keys("\x03\x04");
    shell.wait_restored("left:0");
}

#[test]
fn around_a_stop_by_somebody_else() {
    let place = Place::new();
    let mut shell = Shell::start(&place, |_| {});
    shell.run();
    shell.terminal.keys("half a thought");
    shell.terminal.wait_text("half a thought");
    for _ in 0..2 {
        pty::signal(Shell::process(&place), "TSTP");
        shell.wait_restored("Stopped");
        shell.terminal.keys("clear; fg; echo \"left:$?\"\r");
        shell.wait_taken();
        shell.terminal.wait_text("half a thought");
    }
    shell.terminal.keys("\x03\x04");
    shell.wait_restored("left:0");
}

#[test]
fn an_editor_that_is_stopped_gives_the_shell_back() {
    let place = Place::new();
    // As editors do it: the whole job is stopped.
    let editor = editor(&place, r#"kill -TSTP 0; echo "written later" >"$1""#);
    let mut shell = Shell::start(&place, |command| command.env("EDITOR", editor));
    shell.run();
    shell.terminal.keys("a draft\x07");
    shell.wait_restored("Stopped");
    shell.terminal.keys("clear; fg; echo \"left:$?\"\r");
    shell.wait_taken();
    shell.terminal.wait_text("> written later");
    // The stop is over, and does not come once more.
    shell.terminal.keys(" on");
    shell.terminal.wait_text("> written later on");
    shell.terminal.keys("\x03\x04");
    shell.wait_restored("left:0");
}

#[test]
fn a_stop_that_nobody_could_undo_does_nothing() {
    // Without a shell that controls jobs the system refuses to stop it.
    let place = Place::new();
    let command = pty::ibid(&place.home(), &place.cwd(), &[]);
    let mut terminal = Terminal::start(command, (80, 24));
    terminal.wait_text("help");
    terminal.keys("\x1astill here");
    terminal.wait_text("> still here");
    pty::signal(terminal.process(), "TSTP");
    terminal.keys(" and on");
    terminal.wait_text("> still here and on");
    terminal.keys("\x03\x04");
    assert!(terminal.end().status.success());
}

/// Writes a script that is run as an editor.
fn editor(place: &Place, script: &str) -> String {
    let path = place.cwd().join("editor");
    std::fs::write(&path, script).unwrap();
    format!("sh {}", path.display())
}

#[test]
fn around_the_editor_which_keeps_the_mentions() {
    let place = Place::without_review();
    place.store("old-1", "An old session", "hello", "/tmp");
    let before = place.logs();
    // Ctrl-C there reaches the whole foreground; only the editor may mind it.
    let script = r#"trap '' INT QUIT; kill -INT 0; kill -QUIT 0
stty -a >settings; printf '%s' "$(cat "$1")" >"$1"; echo ' edited' >>"$1"; cat "$1" >seen"#;
    let editor = editor(&place, script);
    let mut shell = Shell::start(&place, |command| command.env("EDITOR", editor));
    shell.run();
    shell.terminal.keys("see @old");
    shell.terminal.wait_text("▌An old session");
    shell.terminal.keys("\rfirst");
    shell.terminal.wait_text("see @An old session first");
    shell.terminal.keys("\x07");
    shell.terminal.wait_text("see @An old session first edited");
    shell.wait_taken();
    let settings = std::fs::read_to_string(place.cwd().join("settings")).unwrap();
    let words: Vec<_> = settings.split([' ', '\n']).collect();
    assert!(
        words.contains(&"icanon") && words.contains(&"echo"),
        "{settings}"
    );
    shell.terminal.keys("\r");
    shell.terminal.wait_text("The last thing you said:");
    shell.terminal.wait_gone("answering");
    shell.terminal.keys("\x04");
    shell.wait_restored("left:0");
    let log = place.new_log(&before);
    assert_eq!(cited(&log), ["old-1"]);
    assert_eq!(said(&log), ["see @An old session first edited"]);
}

#[test]
fn an_editor_that_is_not_there_is_named_and_the_draft_stays() {
    let place = Place::new();
    let mut shell = Shell::start(&place, |command| command.env("VISUAL", "no-such-editor -w"));
    shell.run();
    shell.terminal.keys("a draft\x07");
    shell
        .terminal
        .wait_text("there is no editor no-such-editor -w; set $VISUAL or $EDITOR");
    shell.terminal.wait_text("> a draft");
    shell.terminal.keys("\x03\x04");
    shell.wait_restored("left:0");
}

/// Not a test of its own: what [`after_a_panic`] runs in another process.
#[test]
fn panics_on_the_screen_when_it_is_told_to() {
    let Some(place) = std::env::var_os(PANIC) else {
        return;
    };
    let screen = ibid::tui::Screen::open().unwrap();
    let impossible = || panic!("something that can't be");
    if place == "here" {
        impossible();
    }
    std::thread::spawn(impossible).join().unwrap_err();
    print!("the screen is still up");
    drop(screen);
}

/// Runs that, and gives the shell behind it.
fn panicking(place: &str) -> Shell {
    let home = Place::new();
    let tests = std::env::current_exe().unwrap();
    let mut shell = Shell::start(&home, |command| {
        command.env("TESTS", tests);
        command.env(PANIC, place);
    });
    let name = "terminal::restore::panics_on_the_screen_when_it_is_told_to";
    shell.terminal.keys(&format!(
        "\"$TESTS\" --exact {name} --nocapture; echo \"left:$?\"\r"
    ));
    shell
}

#[test]
fn after_a_panic() {
    let shell = panicking("here");
    shell.wait_restored("left:101");
    shell.terminal.wait_text("something that can't be");
}

#[test]
fn a_panic_of_a_task_leaves_the_screen_up_and_speaks_afterwards() {
    let shell = panicking("in a task");
    shell.wait_restored("left:0");
    shell.terminal.wait_text("something that can't be");
    let raw = String::from_utf8(shell.terminal.raw()).unwrap();
    let at = |text: &str| raw.find(text).unwrap();
    assert!(at("the screen is still up") < at("\x1b[?1049l"));
    assert!(at("\x1b[?1049l") < at("something that can't be"));
}

#[test]
fn a_terminal_that_goes_away_ends_the_program() {
    let place = Place::new();
    let mut shell = Shell::start(&place, |_| {});
    shell.run();
    drop(shell);
    // The shell is killed, and with it goes the terminal. The system lets go
    // of the program's locks when it has ended.
    eventually("the program has ended", || {
        let locks = std::fs::read_dir(place.home().join("locks")).unwrap();
        locks.flatten().all(|lock| {
            let lock = std::fs::File::open(lock.path()).unwrap();
            lock.try_lock().is_ok()
        })
    });
}
