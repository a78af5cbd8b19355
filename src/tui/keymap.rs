//! Which key does what, layer by layer. The help overlay and the status line
//! are made from this table, so they can't disagree with it.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// What has the keyboard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Layer {
    /// The text being written.
    Composer,
    /// The candidates under an `@`.
    Popup,
    /// What would be sent, or a session that is looked at.
    Pane,
    /// The search line of a pane.
    PaneSearch,
    /// The list of sessions.
    Sessions,
    /// The search of what was said.
    Texts,
    /// The list of earlier messages, or of branches.
    Choices,
    /// The models to choose from.
    Models,
    /// The title being given to a session of the list.
    Naming,
    /// The table of keys.
    Help,
}

impl Layer {
    /// The layer's name in the help overlay.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Composer => "Writing",
            Self::Popup => "Citing (after @), commands (after /)",
            Self::Pane => "Preview and review",
            Self::PaneSearch => "Searching in a preview",
            Self::Sessions => "Sessions",
            Self::Texts => "Searching all sessions",
            Self::Choices => "Earlier messages and branches",
            Self::Models => "Choosing a model",
            Self::Naming => "Naming a session",
            Self::Help => "This help",
        }
    }

    /// The layer that gets the keys this one has no use for.
    fn below(self) -> Option<Self> {
        (self == Self::Popup).then_some(Self::Composer)
    }
}

/// What a key does; each is told in words in the table below.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    Accept,
    Complete,
    Send,
    Newline,
    Escape,
    Interrupt,
    EndOfInput,
    Preview,
    Sessions,
    Texts,
    Models,
    Rename,
    Export,
    Help,
    ExternalEditor,
    Suspend,
    Left,
    Right,
    WordLeft,
    WordRight,
    LineStart,
    LineEnd,
    Up,
    Down,
    TextStart,
    TextEnd,
    Backspace,
    Delete,
    WordBack,
    WordForward,
    KillToEnd,
    KillToStart,
    Yank,
    Undo,
    Redo,
    PageUp,
    PageDown,
    First,
    Last,
    SwitchView,
    PreviousReference,
    NextReference,
    Search,
    SearchNext,
    SearchPrevious,
}

/// A key with its modifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Chord(KeyModifiers, KeyCode);

const fn key(code: KeyCode) -> Chord {
    Chord(KeyModifiers::NONE, code)
}

const fn plain(c: char) -> Chord {
    key(KeyCode::Char(c))
}

const fn ctrl(c: char) -> Chord {
    Chord(KeyModifiers::CONTROL, KeyCode::Char(c))
}

const fn alt(c: char) -> Chord {
    Chord(KeyModifiers::ALT, KeyCode::Char(c))
}

const fn with(modifiers: KeyModifiers, code: KeyCode) -> Chord {
    Chord(modifiers, code)
}

impl Chord {
    /// The chord of a key event. Shift is part of a character, not of a
    /// chord.
    #[must_use]
    pub fn from_event(event: &KeyEvent) -> Self {
        let wanted = KeyModifiers::CONTROL | KeyModifiers::ALT | KeyModifiers::SHIFT;
        let mut modifiers = event.modifiers & wanted;
        let mut code = event.code;
        match code {
            KeyCode::Char(c) => {
                modifiers.remove(KeyModifiers::SHIFT);
                if modifiers.contains(KeyModifiers::CONTROL) {
                    code = KeyCode::Char(c.to_ascii_lowercase());
                }
            }
            KeyCode::BackTab => modifiers.remove(KeyModifiers::SHIFT),
            _ => {}
        }
        Self(modifiers, code)
    }

    /// Whether a person would press it: not where one key arrives as another.
    #[must_use]
    pub fn is_worth_naming(self) -> bool {
        self != ctrl('7')
    }

    /// The chord as a person reads it.
    #[must_use]
    pub fn name(self) -> String {
        let mut name = String::new();
        for (modifier, word) in [
            (KeyModifiers::CONTROL, "Ctrl-"),
            (KeyModifiers::ALT, "Alt-"),
            (KeyModifiers::SHIFT, "Shift-"),
        ] {
            if self.0.contains(modifier) {
                name.push_str(word);
            }
        }
        match self.1 {
            KeyCode::Char(c) if self.0.contains(KeyModifiers::CONTROL) => {
                name.extend(c.to_uppercase());
            }
            KeyCode::Char(' ') => name.push_str("Space"),
            KeyCode::Char(c) => name.push(c),
            KeyCode::F(n) => return format!("{name}F{n}"),
            KeyCode::PageUp => name.push_str("PgUp"),
            KeyCode::PageDown => name.push_str("PgDn"),
            KeyCode::BackTab => name.push_str("Shift-Tab"),
            other => return format!("{name}{other:?}"),
        }
        name
    }
}

/// One line of the table.
#[derive(Clone, Copy, Debug)]
pub struct Binding {
    /// Where it counts.
    pub layer: Layer,
    /// The keys that do it; the first is the one that hints name.
    pub keys: &'static [Chord],
    /// What they do.
    pub action: Action,
    /// What that is, in words; empty where it needs none.
    pub what: &'static str,
}

const fn bind(layer: Layer, keys: &'static [Chord], action: Action, what: &'static str) -> Binding {
    Binding {
        layer,
        keys,
        action,
        what,
    }
}

const ALT: KeyModifiers = KeyModifiers::ALT;
const CTRL: KeyModifiers = KeyModifiers::CONTROL;
const SHIFT: KeyModifiers = KeyModifiers::SHIFT;

/// Every key there is.
#[rustfmt::skip]
pub const BINDINGS: &[Binding] = {
    use Action as A;
    use KeyCode as K;
    use Layer::{
        Choices, Composer, Help, Models, Naming, Pane, PaneSearch, Popup, Sessions, Texts,
    };
    &[
        bind(Composer, &[key(K::Enter)], A::Send, "send"),
        bind(Composer, &[ctrl('j'), with(ALT, K::Enter), with(SHIFT, K::Enter)], A::Newline, "break the line"),
        bind(Composer, &[key(K::Esc)], A::Escape, "stop; take back what waits; twice, change an earlier message"),
        bind(Composer, &[ctrl('o')], A::Preview, "preview what would be sent"),
        bind(Composer, &[ctrl('t')], A::Sessions, "sessions"),
        bind(Composer, &[ctrl('f')], A::Texts, "search what was said in any session"),
        bind(Composer, &[ctrl('l')], A::Models, "choose the model"),
        bind(Composer, &[ctrl('g')], A::ExternalEditor, "write in $VISUAL or $EDITOR"),
        bind(Composer, &[ctrl('c')], A::Interrupt, "clear the draft; on an empty one, quit"),
        bind(Composer, &[ctrl('d')], A::EndOfInput, "quit on an empty draft; else delete forward"),
        bind(Composer, &[ctrl('z')], A::Suspend, "suspend"),
        bind(Composer, &[key(K::F(1))], A::Help, "help"),
        bind(Composer, &[key(K::PageUp)], A::PageUp, "scroll the conversation back"),
        bind(Composer, &[key(K::PageDown)], A::PageDown, "scroll the conversation on"),
        bind(Composer, &[key(K::Up), ctrl('p')], A::Up, "row up; at the top, the earlier prompt"),
        bind(Composer, &[key(K::Down), ctrl('n')], A::Down, "row down; at the bottom, the later prompt"),
        bind(Composer, &[key(K::Left), ctrl('b')], A::Left, "left"),
        bind(Composer, &[key(K::Right)], A::Right, "right"),
        bind(Composer, &[alt('b'), with(ALT, K::Left), with(CTRL, K::Left)], A::WordLeft, "word left"),
        bind(Composer, &[alt('f'), with(ALT, K::Right), with(CTRL, K::Right)], A::WordRight, "word right"),
        bind(Composer, &[key(K::Home), ctrl('a')], A::LineStart, "start of the line"),
        bind(Composer, &[key(K::End), ctrl('e')], A::LineEnd, "end of the line; follow the conversation"),
        bind(Composer, &[alt('<'), with(CTRL, K::Home)], A::TextStart, "start of the text"),
        bind(Composer, &[alt('>'), with(CTRL, K::End)], A::TextEnd, "end of the text"),
        bind(Composer, &[key(K::Backspace), ctrl('h'), with(SHIFT, K::Backspace)], A::Backspace, "delete back"),
        bind(Composer, &[key(K::Delete)], A::Delete, "delete forward"),
        bind(Composer, &[ctrl('w'), with(ALT, K::Backspace), with(CTRL, K::Backspace)], A::WordBack, "delete a word back"),
        bind(Composer, &[alt('d'), with(ALT, K::Delete), with(CTRL, K::Delete)], A::WordForward, "delete a word forward"),
        bind(Composer, &[ctrl('k')], A::KillToEnd, "cut to the end of the line"),
        bind(Composer, &[ctrl('u')], A::KillToStart, "cut to the start of the line"),
        bind(Composer, &[ctrl('y')], A::Yank, "paste what was cut"),
        // A terminal sends Ctrl-_ and Ctrl-/ as the byte that reads as Ctrl-7.
        bind(Composer, &[ctrl('_'), ctrl('/'), ctrl('7')], A::Undo, "undo"),
        bind(Composer, &[alt('_'), alt('/')], A::Redo, "redo"),

        bind(Popup, &[key(K::Enter)], A::Accept, "accept"),
        bind(Popup, &[key(K::Tab)], A::Complete, "accept; complete a command"),
        bind(Popup, &[key(K::Esc)], A::Escape, "close"),
        bind(Popup, &[ctrl('o')], A::Preview, "look at the session"),
        bind(Popup, &[key(K::Down), ctrl('n')], A::Down, "next"),
        bind(Popup, &[key(K::Up), ctrl('p')], A::Up, "previous"),
        bind(Popup, &[key(K::PageDown)], A::PageDown, "a page on"),
        bind(Popup, &[key(K::PageUp)], A::PageUp, "a page back"),
        bind(Popup, &[key(K::Home)], A::First, "first"),
        bind(Popup, &[key(K::End)], A::Last, "last"),

        bind(Pane, &[key(K::Enter)], A::Accept, "send"),
        bind(Pane, &[key(K::Esc), plain('q')], A::Escape, "return"),
        bind(Pane, &[key(K::Tab)], A::SwitchView, "conversation or exact bytes"),
        bind(Pane, &[key(K::Left), plain('h')], A::PreviousReference, "previous reference"),
        bind(Pane, &[key(K::Right), plain('l')], A::NextReference, "next reference"),
        bind(Pane, &[key(K::Up), plain('k'), ctrl('p')], A::Up, "up"),
        bind(Pane, &[key(K::Down), plain('j'), ctrl('n')], A::Down, "down"),
        bind(Pane, &[key(K::PageUp), ctrl('b')], A::PageUp, "a page up"),
        bind(Pane, &[key(K::PageDown), plain(' '), ctrl('f')], A::PageDown, "a page down"),
        bind(Pane, &[key(K::Home), plain('g')], A::First, "top"),
        bind(Pane, &[key(K::End), plain('G')], A::Last, "bottom"),
        bind(Pane, &[plain('/')], A::Search, "search"),
        bind(Pane, &[plain('n')], A::SearchNext, "next match"),
        bind(Pane, &[plain('N')], A::SearchPrevious, "previous match"),
        bind(Pane, &[key(K::F(1))], A::Help, "help"),
        bind(Pane, &[ctrl('c')], A::Escape, ""),
        bind(Pane, &[ctrl('z')], A::Suspend, ""),

        bind(PaneSearch, &[key(K::Enter)], A::Accept, "to the match"),
        bind(PaneSearch, &[key(K::Esc), ctrl('c')], A::Escape, "give up the search"),
        bind(PaneSearch, &[key(K::Backspace), ctrl('h')], A::Backspace, "delete back"),
        bind(PaneSearch, &[key(K::F(1))], A::Help, "help"),
        bind(PaneSearch, &[ctrl('z')], A::Suspend, ""),

        bind(Sessions, &[key(K::Enter)], A::Accept, "resume; read one of another tool"),
        bind(Sessions, &[key(K::Esc), ctrl('c'), ctrl('t')], A::Escape, "close"),
        bind(Sessions, &[ctrl('o')], A::Preview, "look at the session"),
        bind(Sessions, &[ctrl('r')], A::Rename, "rename"),
        bind(Sessions, &[ctrl('e')], A::Export, "export as Markdown, into this directory"),
        bind(Sessions, &[key(K::Down), ctrl('n')], A::Down, "next"),
        bind(Sessions, &[key(K::Up), ctrl('p')], A::Up, "previous"),
        bind(Sessions, &[key(K::PageDown)], A::PageDown, "a page on"),
        bind(Sessions, &[key(K::PageUp)], A::PageUp, "a page back"),
        bind(Sessions, &[key(K::Home)], A::First, "first"),
        bind(Sessions, &[key(K::End)], A::Last, "last"),
        bind(Sessions, &[key(K::Backspace), ctrl('h')], A::Backspace, "delete back"),
        bind(Sessions, &[ctrl('u')], A::KillToStart, "clear the search"),
        bind(Sessions, &[key(K::F(1))], A::Help, "help"),
        bind(Sessions, &[ctrl('z')], A::Suspend, ""),

        bind(Texts, &[key(K::Enter), key(K::Tab)], A::Accept, "cite"),
        bind(Texts, &[key(K::Esc), ctrl('c'), ctrl('f')], A::Escape, "close"),
        bind(Texts, &[ctrl('o')], A::Preview, "look at the place"),
        bind(Texts, &[key(K::Down), ctrl('n')], A::Down, "next"),
        bind(Texts, &[key(K::Up), ctrl('p')], A::Up, "previous"),
        bind(Texts, &[key(K::PageDown)], A::PageDown, "a page on"),
        bind(Texts, &[key(K::PageUp)], A::PageUp, "a page back"),
        bind(Texts, &[key(K::Home)], A::First, "first"),
        bind(Texts, &[key(K::End)], A::Last, "last"),
        bind(Texts, &[key(K::Backspace), ctrl('h')], A::Backspace, "delete back"),
        bind(Texts, &[ctrl('u')], A::KillToStart, "clear the search"),
        bind(Texts, &[key(K::F(1))], A::Help, "help"),
        bind(Texts, &[ctrl('z')], A::Suspend, ""),

        bind(Choices, &[key(K::Enter), key(K::Tab)], A::Accept, "change the message; go back to the branch"),
        bind(Choices, &[key(K::Esc), ctrl('c')], A::Escape, "close"),
        bind(Choices, &[key(K::Down), ctrl('n')], A::Down, "next"),
        bind(Choices, &[key(K::Up), ctrl('p')], A::Up, "previous"),
        bind(Choices, &[key(K::PageDown)], A::PageDown, "a page on"),
        bind(Choices, &[key(K::PageUp)], A::PageUp, "a page back"),
        bind(Choices, &[key(K::Home)], A::First, "first"),
        bind(Choices, &[key(K::End)], A::Last, "last"),
        bind(Choices, &[key(K::Backspace), ctrl('h')], A::Backspace, "delete back"),
        bind(Choices, &[ctrl('u')], A::KillToStart, "clear the search"),
        bind(Choices, &[key(K::F(1))], A::Help, "help"),
        bind(Choices, &[ctrl('z')], A::Suspend, ""),

        bind(Models, &[key(K::Enter), key(K::Tab)], A::Accept, "choose"),
        bind(Models, &[key(K::Esc), ctrl('c'), ctrl('l')], A::Escape, "close"),
        bind(Models, &[key(K::Down), ctrl('n')], A::Down, "next"),
        bind(Models, &[key(K::Up), ctrl('p')], A::Up, "previous"),
        bind(Models, &[key(K::PageDown)], A::PageDown, "a page on"),
        bind(Models, &[key(K::PageUp)], A::PageUp, "a page back"),
        bind(Models, &[key(K::Home)], A::First, "first"),
        bind(Models, &[key(K::End)], A::Last, "last"),
        bind(Models, &[key(K::Backspace), ctrl('h')], A::Backspace, "delete back"),
        bind(Models, &[ctrl('u')], A::KillToStart, "clear the search"),
        bind(Models, &[key(K::F(1))], A::Help, "help"),
        bind(Models, &[ctrl('z')], A::Suspend, ""),

        bind(Naming, &[key(K::Enter)], A::Accept, "rename"),
        bind(Naming, &[key(K::Esc), ctrl('c')], A::Escape, "keep the title"),
        bind(Naming, &[key(K::Backspace), ctrl('h')], A::Backspace, "delete back"),
        bind(Naming, &[ctrl('u')], A::KillToStart, "clear"),
        bind(Naming, &[key(K::F(1))], A::Help, "help"),
        bind(Naming, &[ctrl('z')], A::Suspend, ""),

        bind(Help, &[key(K::Esc), key(K::F(1)), key(K::Enter), plain('q'), ctrl('c')], A::Escape, "close"),
        bind(Help, &[key(K::Up), plain('k'), ctrl('p')], A::Up, "up"),
        bind(Help, &[key(K::Down), plain('j'), ctrl('n')], A::Down, "down"),
        bind(Help, &[key(K::PageUp)], A::PageUp, "a page up"),
        bind(Help, &[key(K::PageDown), plain(' ')], A::PageDown, "a page down"),
        bind(Help, &[key(K::Home)], A::First, "top"),
        bind(Help, &[key(K::End)], A::Last, "bottom"),
        bind(Help, &[ctrl('z')], A::Suspend, ""),
    ]
};

/// What a key does in a layer, or in the one that gets its unused keys.
#[must_use]
pub fn action(layer: Layer, event: &KeyEvent) -> Option<Action> {
    let chord = Chord::from_event(event);
    let in_layer = |layer| {
        BINDINGS
            .iter()
            .find(|b| b.layer == layer && b.keys.contains(&chord))
            .map(|b| b.action)
    };
    in_layer(layer).or_else(|| layer.below().and_then(in_layer))
}

/// The character that a key types, when it types one.
#[must_use]
pub fn typed(event: &KeyEvent) -> Option<char> {
    match event.code {
        KeyCode::Char(c)
            if !event
                .modifiers
                .intersects(KeyModifiers::CONTROL | KeyModifiers::ALT | KeyModifiers::SUPER) =>
        {
            Some(c)
        }
        // AltGr arrives as both on some terminals, with the character it makes.
        KeyCode::Char(c) if event.modifiers.contains(CTRL | ALT) && !c.is_ascii_alphanumeric() => {
            Some(c)
        }
        _ => None,
    }
}

/// The key that hints name for an action of a layer, or of the one that gets
/// its unused keys.
#[must_use]
pub fn hint(layer: Layer, action: Action) -> Option<String> {
    let in_layer = |layer| {
        BINDINGS
            .iter()
            .find(|b| b.layer == layer && b.action == action)
            .and_then(|b| b.keys.first())
            .map(|chord| chord.name())
    };
    in_layer(layer).or_else(|| layer.below().and_then(in_layer))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn no_key_means_two_things_in_one_layer() {
        let mut seen = HashSet::new();
        for binding in BINDINGS {
            for chord in binding.keys {
                assert!(
                    seen.insert((binding.layer, *chord)),
                    "{} twice in {:?}",
                    chord.name(),
                    binding.layer
                );
            }
        }
    }

    #[test]
    fn every_layer_can_be_left() {
        use Layer::{
            Choices, Composer, Help, Models, Naming, Pane, PaneSearch, Popup, Sessions, Texts,
        };
        let escape = KeyEvent::new(KeyCode::Esc, KeyModifiers::NONE);
        for layer in [
            Composer, Popup, Pane, PaneSearch, Sessions, Texts, Choices, Models, Naming, Help,
        ] {
            assert_eq!(action(layer, &escape), Some(Action::Escape));
        }
    }

    #[test]
    fn help_and_suspending_are_there_in_every_layer() {
        use Layer::{
            Choices, Composer, Help, Models, Naming, Pane, PaneSearch, Popup, Sessions, Texts,
        };
        let help = KeyEvent::new(KeyCode::F(1), KeyModifiers::NONE);
        let suspend = KeyEvent::new(KeyCode::Char('z'), KeyModifiers::CONTROL);
        for layer in [
            Composer, Popup, Pane, PaneSearch, Sessions, Texts, Choices, Models, Naming,
        ] {
            assert_eq!(action(layer, &help), Some(Action::Help), "{layer:?}");
            assert_eq!(action(layer, &suspend), Some(Action::Suspend), "{layer:?}");
        }
        // Where it is shown, the key closes it.
        assert_eq!(action(Help, &help), Some(Action::Escape));
        assert_eq!(action(Help, &suspend), Some(Action::Suspend));
    }

    #[test]
    fn the_popup_leaves_editing_keys_to_the_composer() {
        let kill = KeyEvent::new(KeyCode::Char('w'), KeyModifiers::CONTROL);
        assert_eq!(action(Layer::Popup, &kill), Some(Action::WordBack));
        assert_eq!(action(Layer::Sessions, &kill), None);
    }

    #[test]
    fn shift_is_part_of_a_character() {
        let bottom = KeyEvent::new(KeyCode::Char('G'), KeyModifiers::SHIFT);
        assert_eq!(action(Layer::Pane, &bottom), Some(Action::Last));
        assert_eq!(typed(&bottom), Some('G'));
    }

    #[test]
    fn control_and_alt_type_nothing() {
        for modifiers in [KeyModifiers::CONTROL, KeyModifiers::ALT] {
            assert_eq!(typed(&KeyEvent::new(KeyCode::Char('x'), modifiers)), None);
        }
        let alt_gr = KeyEvent::new(
            KeyCode::Char('@'),
            KeyModifiers::CONTROL | KeyModifiers::ALT,
        );
        assert_eq!(typed(&alt_gr), Some('@'));
    }
}
