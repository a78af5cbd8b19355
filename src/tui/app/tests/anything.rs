//! Whatever is pressed, at whatever size: no panic, and no control character.

use proptest::prelude::*;

use super::*;
use crate::chat::Notice;
use crate::chat::testing::{disk_full, told};
use crate::tui::keymap::BINDINGS;
use crate::tui::testing::HOSTILE;

#[derive(Clone, Debug)]
enum Act {
    /// A key of the keymap, by its place.
    Key(usize, usize),
    Type(char),
    /// An empty draft, and this in it.
    Command(&'static str),
    Paste(String),
    Mouse(bool, u16, u16),
    Resize(u16, u16),
    /// Answers what was asked for last; or lets it fail.
    Answer(bool),
    LibraryChanged,
    Tick(i64),
}

fn acts() -> impl Strategy<Value = Act> {
    prop_oneof![
        6 => (any::<usize>(), any::<usize>()).prop_map(|(b, k)| Act::Key(b, k)),
        6 => prop::sample::select(vec!['@', '?', 'a', ' ', '世', '\u{301}', '\u{200d}', '/', '\u{1b}', '\u{202e}', '[', ']'])
            .prop_map(Act::Type),
        1 => prop::sample::select(vec![
            HOSTILE.to_owned(),
            "@[x](dsh-session:%)".to_owned(),
            "y".repeat(2_000),
        ])
        .prop_map(Act::Paste),
        2 => (any::<bool>(), 0..90_u16, 0..30_u16).prop_map(|(c, x, y)| Act::Mouse(c, x, y)),
        2 => (0..90_u16, 0..30_u16).prop_map(|(w, h)| Act::Resize(w, h)),
        6 => any::<bool>().prop_map(Act::Answer),
        2 => prop::sample::select(vec!["/", "/re", "/new", "/rename a", "/theme dark", "/model o", "/export", "/x"])
            .prop_map(Act::Command),
        1 => Just(Act::LibraryChanged),
        1 => (0..500_i64).prop_map(Act::Tick),
    ]
}

impl Bench {
    fn act(&mut self, act: Act) {
        match act {
            Act::Key(binding, key) => {
                let binding = BINDINGS[binding % BINDINGS.len()];
                let chord = binding.keys[key % binding.keys.len()];
                self.press_named(&chord.name());
            }
            Act::Type(c) => self.type_text(c.encode_utf8(&mut [0; 4])),
            Act::Command(typed) => {
                self.press_all(&["Ctrl-E", "Ctrl-U"]);
                self.type_text(typed);
            }
            Act::Paste(text) => self.paste(&text),
            Act::Mouse(true, x, y) => self.click((x, y)),
            Act::Mouse(false, x, y) => self.mouse(MouseEventKind::ScrollDown, (x, y)),
            Act::Resize(width, height) => {
                self.terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
                self.update(Msg::Terminal(Event::Resize(width, height)));
            }
            Act::Answer(well) => self.answer_all(well),
            Act::LibraryChanged => self.update(Msg::Done(Done::LibraryChanged)),
            Act::Tick(by) => {
                self.now += by;
                self.update(Msg::Tick);
            }
        }
    }

    fn press_named(&mut self, name: &str) {
        // Names of keys that hold a dash themselves can't be told apart.
        if !matches!(name, "Shift-Tab" | "Ctrl--") {
            self.press(name);
        }
    }

    /// Answers everything that is asked for.
    fn answer_all(&mut self, well: bool) {
        for cmd in std::mem::take(&mut self.cmds) {
            let job = match cmd {
                Cmd::Job(job) => job,
                Cmd::Edit(text) => {
                    self.update(Msg::Edited(Ok(well.then_some(text))));
                    continue;
                }
                Cmd::Suspend | Cmd::Quit => continue,
            };
            let done = match job {
                Job::Find(query) => {
                    let rows = [
                        THREE[0],
                        ("long", HOSTILE, HOSTILE),
                        ("codex:x", "T", ""),
                        ("target", "T", ""),
                    ];
                    if well {
                        self.find_for(query, &rows);
                        continue;
                    }
                    Done::Found(query, Err(HOSTILE.to_owned()))
                }
                Job::Search(query) => {
                    let rows = [
                        ("long", HOSTILE, HOSTILE),
                        ("long", HOSTILE, "@a"),
                        ("codex:x", "T", "世 a"),
                    ];
                    if well {
                        self.search_for(query, &rows);
                        continue;
                    }
                    Done::Searched(query, Err(HOSTILE.to_owned()))
                }
                Job::Look(id) => {
                    let read = looked(id.as_str(), &self.world);
                    self.update(read);
                    continue;
                }
                Job::Open(place) => Done::Opened(
                    place,
                    Err(crate::chat::Failure {
                        code: "X".to_owned(),
                        message: HOSTILE.to_owned(),
                    }),
                ),
                Job::Chat(effect) => match self.answer(effect, well) {
                    Some(event) => Done::Chat(event),
                    None => continue,
                },
                Job::Models(_) => {
                    let told = super::models::at_first();
                    if well {
                        self.update(Msg::Done(Done::ModelsTold(Box::new(told[3].clone()))));
                    }
                    Done::Models(told)
                }
                Job::Rename(..) | Job::Export(_) if well => {
                    Done::Notice(Notice::Info(HOSTILE.to_owned()))
                }
                Job::Rename(..)
                | Job::Export(_)
                | Job::Switch(_)
                | Job::PutAside(_)
                | Job::KeepDraft(..) => continue,
            };
            self.update(Msg::Done(done));
        }
    }

    fn answer(&mut self, effect: Effect, well: bool) -> Option<ChatEvent> {
        let effects = [effect];
        match &effects[0] {
            Effect::Prepare(..) => Some(self.world.prepare(&effects)),
            Effect::Recheck(..) => Some(self.world.recheck(&effects)),
            Effect::Log(..) if well => Some(self.world.log(&effects)),
            Effect::Log(..) => Some(disk_full(&effects)),
            Effect::Ask(generation, ..) => {
                self.chat(crate::chat::testing::text(*generation, HOSTILE));
                well.then_some(ChatEvent::AnswerEnded(*generation, None))
            }
            Effect::Stop(_) | Effect::Discard(_) => None,
            other => panic!(
                "the screen sees to it itself: {:?}",
                told(std::slice::from_ref(other))
            ),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn any_keys_at_any_size_never_panic_and_never_reach_the_terminal(
        acts in prop::collection::vec(acts(), 1..60),
    ) {
        let mut bench = Bench::new();
        for act in acts {
            bench.act(act);
            bench.draw();
        }
        // The screen shows what the log holds.
        let shown = bench.app.chat.session().events();
        prop_assert!(bench.world.log.events().starts_with(shown));
    }
}
