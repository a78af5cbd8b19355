//! Choosing the model.

use super::*;
use crate::chat::testing::{asked, text};
use crate::model::{Access, Api, Chosen, KeyError, RequestConfig};
use crate::runtime::{Asked, Destination, Offer, Offered};
use crate::tui::keymap::Layer;
use crate::tui::testing::HOSTILE;

/// A server told all that it has.
const TOLD: Asked = Asked::Told { lacks: None };

/// A model with its window and its prices.
type Known<'a> = (&'a str, Option<u64>, Option<(f64, f64)>);

pub(super) fn offered(
    provider: &str,
    access: Access,
    asked: Asked,
    models: &[Known<'_>],
) -> Offered {
    let config = |model: &str| RequestConfig {
        api: (provider != "offline").then_some(Api::OpenaiChat),
        ..RequestConfig::plain(provider, model)
    };
    let offer = |(model, window, price): &Known<'_>| Offer {
        chosen: Chosen {
            context_window: *window,
            ..Chosen::from(config(model))
        },
        price: (price.map(|price| price.0), price.map(|price| price.1)),
    };
    Offered {
        plain: config(""),
        access,
        models: models.iter().map(offer).collect(),
        asked,
    }
}

fn missing(variable: &str) -> Access {
    Access::Missing(KeyError::NotSet {
        names: vec![variable.to_owned()],
    })
}

/// What is known at first where two servers are asked.
pub(super) fn at_first() -> Vec<Offered> {
    vec![
        offered(
            "anthropic",
            Access::There,
            Asked::UnderWay,
            &[
                ("claude-haiku", Some(200_000), Some((1.0, 5.0))),
                ("claude-sonnet", Some(1_000_000), Some((3.0, 15.0))),
            ],
        ),
        offered("corp", Access::AtCommand, Asked::Not, &[]),
        offered(
            "offline",
            Access::NotNeeded,
            Asked::Not,
            &[("offline", Some(128_000), None)],
        ),
        offered("ollama", Access::NotNeeded, Asked::UnderWay, &[]),
        offered(
            "openai",
            missing("OPENAI_API_KEY"),
            Asked::Not,
            &[("gpt-mini", Some(128_000), Some((0.25, 2.0)))],
        ),
    ]
}

fn told(models: &[Known<'_>]) -> Done {
    let told = offered("ollama", Access::NotNeeded, TOLD, models);
    Done::ModelsTold(Box::new(told))
}

impl Bench {
    /// The provider in use, as often as the models were asked for.
    fn listings(&mut self) -> Vec<String> {
        let cmds = std::mem::take(&mut self.cmds).into_iter();
        cmds.filter_map(|cmd| match cmd {
            Cmd::Job(Job::Models(in_use)) => Some(in_use),
            _ => None,
        })
        .collect()
    }

    fn models(&mut self, done: Done) {
        self.update(Msg::Done(done));
    }

    fn open_models(&mut self) {
        self.press("Ctrl-L");
        self.models(Done::Models(at_first()));
    }

    fn in_use(&self) -> String {
        let config = &self.app.chat.chosen().config;
        format!("{}/{}", config.provider, config.model)
    }
}

#[test]
fn what_is_known_shows_at_once_and_what_a_server_tells_joins_it() {
    let mut bench = Bench::new();
    bench.press("Ctrl-L");
    assert_eq!(bench.app.layer(), Layer::Models);
    assert_eq!(bench.listings(), ["offline"]);
    bench.models(Done::Models(at_first()));
    assert!(bench.app.wants_tick(), "a spinner turns");
    insta::assert_snapshot!(bench.screen_at(100, 30), @r###"
 ibid · new session                                                            offline · 0% of 128k
────────────────────────────────────────────────────────────────────────────────────────────────────
 Models:                                                                                      ⠋ 4/4
▌*offline/offline                                                       128k  needs no key
  anthropic/claude-haiku                                                200k  key is there  $1/$5
  anthropic/claude-sonnet                                               1.0M  key is there  $3/$15
  openai/gpt-mini                                                       128k  no key        $0.25/$2
  asked only when used: corp (type PROVIDER/MODEL)



















────────────────────────────────────────────────────────────────────────────────────────────────────
 >
 Enter choose · Esc close                                                                   F1 help
"###);
    bench.press("Down");
    let chosen = bench.selected();
    bench.models(told(&[("qwen3:8b", Some(40_960), None)]));
    bench.models(Done::ModelsTold(Box::new(offered(
        "anthropic",
        Access::There,
        Asked::Failed("the server does not know the key".to_owned()),
        &[("claude-haiku", Some(200_000), Some((1.0, 5.0)))],
    ))));
    assert_eq!(bench.selected(), chosen, "the cursor stays on its model");
    assert!(!bench.app.wants_tick());
    insta::assert_snapshot!(bench.screen_at(100, 30), @r###"
 ibid · new session                                                            offline · 0% of 128k
────────────────────────────────────────────────────────────────────────────────────────────────────
 Models:                                                                                        4/4
 *offline/offline                                                       128k  needs no key
▌ anthropic/claude-haiku                                                200k  key is there  $1/$5
  ollama/qwen3:8b                                                        40k  needs no key
  openai/gpt-mini                                                       128k  no key        $0.25/$2
  asked only when used: corp (type PROVIDER/MODEL)
  anthropic: the server does not know the key


















────────────────────────────────────────────────────────────────────────────────────────────────────
 >
 Enter choose · Esc close                                                                   F1 help
"###);
    insta::assert_snapshot!(bench.screen_at(40, 10), @r###"
 ibid · new sessi… offline · 0% of 128k
────────────────────────────────────────
 Models:                            4/4
 *offline/offline                   128k
▌ anthropic/claude-haiku            200k
  ollama/qwen3:8b                    40k
  anthropic: the server does not know th
────────────────────────────────────────
 >
 Enter choose · Esc close       F1 help
"###);
    insta::assert_snapshot!(bench.screen_at(20, 6), @r###"
 Models:        4/4
 *offline/offline
▌ anthropic/claude-…
  ollama/qwen3:8b
 >
            F1 help
"###);
}

#[test]
fn the_list_narrows_as_one_types_and_enter_chooses() {
    let mut bench = Bench::new();
    bench.open_models();
    bench.type_text("ant son");
    assert_eq!(bench.selected().trim(), "anthropic/claude-sonnet");
    insta::assert_snapshot!(bench.screen_at(40, 10), @r###"
 ibid · new sessi… offline · 0% of 128k
────────────────────────────────────────
 Models: ant son                  ⠋ 1/4
▌ anthropic/claude-sonnet           1.0M
  asked only when used: corp (type PROVI


────────────────────────────────────────
 >
 Enter choose · Esc close       F1 help
"###);
    bench.press("Enter");
    assert_eq!(bench.app.layer(), Layer::Composer);
    assert_eq!(bench.in_use(), "anthropic/claude-sonnet");
    let head = bench.screen_at(80, 24).lines().next().unwrap().to_owned();
    assert!(head.ends_with("claude-sonnet · 0% of 1.0M"), "{head}");
    assert!(bench.notice().contains("from the next message on"));
    bench.press("Ctrl-L");
    assert_eq!(bench.listings(), ["offline", "anthropic"]);
    bench.models(Done::Models(at_first()));
    assert!(bench.screen().contains("▌*anthropic/claude-sonnet"));
}

#[test]
fn the_next_message_goes_to_the_model_that_was_chosen() {
    let mut bench = Bench::new();
    bench.open_models();
    bench.type_text("haiku");
    bench.press("Enter");
    bench.type_text("hello");
    bench.press("Enter");
    bench.log();
    let effects = bench.effects();
    let asks = effects.iter().find_map(|effect| match effect {
        Effect::Ask(_, header, _) => Some(header.config().clone()),
        _ => None,
    });
    assert_eq!(asks.unwrap().model, "claude-haiku");
    let logged = crate::chat::last_asked(bench.app.session()).unwrap();
    assert_eq!(logged.model, "claude-haiku", "and it is in the log");
}

#[test]
fn a_citation_is_made_for_the_model_that_was_chosen() {
    let mut bench = Bench::new();
    bench.open_models();
    bench.type_text("haiku");
    bench.press("Enter");
    bench.cite("flaky", "Fix the flaky login test");
    bench.cmds.clear();
    bench.press("Enter");
    let (_, target, _) = asked_to_prepare(&bench.effects());
    let crate::reference::RouteChoice::Own(Some(route)) = target.route else {
        panic!("nothing was assembled yet: {:?}", target.route);
    };
    assert_eq!(route.model, "claude-haiku");
}

#[test]
fn the_answer_under_way_goes_on_with_the_model_that_was_asked() {
    let mut bench = Bench::new();
    bench.type_text("hello");
    bench.press("Enter");
    bench.log();
    let generation = asked(&bench.effects());
    bench.open_models();
    bench.type_text("haiku");
    bench.press("Enter");
    assert!(
        bench
            .notice()
            .contains("offline/offline goes on with this answer")
    );
    bench.chat(text(generation, "hi"));
    assert!(bench.screen().contains(" offline  hi"));
    bench.chat(ChatEvent::AnswerEnded(generation, None));
    bench.log();
    let last = bench.app.session().derive_messages().last().unwrap();
    assert_eq!(last.source.rest["model"], "offline");
}

#[test]
fn a_model_without_its_key_can_be_chosen_and_what_is_missing_is_said() {
    let mut bench = Bench::new();
    bench.open_models();
    bench.type_text("gpt");
    assert!(bench.screen().contains("no key"));
    bench.press("Enter");
    assert_eq!(bench.in_use(), "openai/gpt-mini");
    assert!(
        bench
            .notice()
            .contains("set the environment variable OPENAI_API_KEY")
    );
}

#[test]
fn a_model_that_no_list_has_is_chosen_by_its_whole_name() {
    let mut bench = Bench::new();
    bench.open_models();
    bench.type_text("corp/their-own:7b");
    assert!(bench.screen().contains("in no list"));
    bench.press("Enter");
    assert_eq!(bench.in_use(), "corp/their-own:7b");
    let chosen = bench.app.chat.chosen();
    assert_eq!(chosen.config.api, Some(Api::OpenaiChat));
    assert_eq!(chosen.context_window, None);
    let head = bench.screen().lines().next().unwrap().to_owned();
    assert!(head.ends_with("their-own:7b"), "{head}");

    bench.open_models();
    bench.type_text("nobody/x");
    assert!(bench.screen().contains("none of 4 models matches"));
    bench.press("Enter");
    assert_eq!(
        bench.app.layer(),
        Layer::Models,
        "there is nothing to choose"
    );
}

#[test]
fn enter_before_anything_is_known_waits_for_it() {
    let mut bench = Bench::new();
    bench.press("Ctrl-L");
    bench.type_text("haiku");
    bench.press("Enter");
    assert_eq!(bench.in_use(), "offline/offline");
    bench.models(Done::Models(at_first()));
    assert_eq!(bench.in_use(), "anthropic/claude-haiku");
    assert_eq!(bench.app.layer(), Layer::Composer);
}

#[test]
fn the_command_chooses_a_model_that_it_names_and_else_lists() {
    let mut bench = Bench::new();
    bench.type_text("/model claude-haiku");
    bench.press("Enter");
    assert_eq!(bench.text(), "");
    bench.models(Done::Models(at_first()));
    assert_eq!(bench.in_use(), "anthropic/claude-haiku");

    bench.type_text("/model qwen3:8b");
    bench.press("Enter");
    bench.models(Done::Models(at_first()));
    assert_eq!(bench.app.layer(), Layer::Models, "it may still be told");
    bench.models(told(&[("qwen3:8b", None, None)]));
    assert_eq!(bench.in_use(), "ollama/qwen3:8b");

    bench.type_text("/model claude");
    bench.press("Enter");
    bench.models(Done::Models(at_first()));
    assert_eq!(bench.app.layer(), Layer::Models, "two fit");
    assert_eq!(bench.in_use(), "ollama/qwen3:8b");
    bench.press("Esc");

    bench.type_text("/model");
    bench.press("Enter");
    assert_eq!(bench.app.layer(), Layer::Models);
}

#[test]
fn a_window_that_a_server_tells_of_the_model_in_use_counts_at_once() {
    let mut bench = Bench::new();
    bench.open_models();
    bench.type_text("ollama/qwen3:8b");
    bench.press("Enter");
    bench.models(told(&[("qwen3:8b", Some(40_960), None)]));
    let head = bench.screen().lines().next().unwrap().to_owned();
    assert!(head.ends_with("qwen3:8b · 0% of 40k"), "{head}");
}

#[test]
fn what_no_one_waits_for_any_more_changes_nothing() {
    let mut bench = Bench::new();
    bench.open_models();
    bench.press("Ctrl-L");
    assert_eq!(bench.app.layer(), Layer::Composer);
    let screen = bench.screen();
    bench.models(told(&[("qwen3:8b", None, None)]));
    assert_eq!(bench.screen(), screen);
}

/// Talks to a model that was chosen, and then begins a session that opens with
/// this one.
fn begins_after(chosen: Option<Chosen>) -> String {
    let mut bench = Bench::new();
    bench.open_models();
    bench.type_text("sonnet");
    bench.press("Enter");
    bench.converse();
    bench.type_text("/new");
    bench.press("Enter");
    let home = tempfile::tempdir().unwrap();
    let home = crate::store::Home::at(home.path());
    let mut begun = crate::runtime::begun_with(&home, None, None).unwrap();
    begun.chosen = chosen;
    let opened = Done::Opened(Destination::New, Ok(Box::new(begun)));
    bench.update(Msg::Done(opened));
    assert_ne!(bench.app.session().id().as_str(), "target");
    bench.in_use()
}

#[test]
fn a_new_session_begins_with_the_model_of_the_settings() {
    assert_eq!(begins_after(None), "offline/offline");
}

#[test]
fn what_a_server_could_not_tell_stands_below_the_models_that_it_told_of() {
    let mut bench = Bench::new();
    bench.press("Ctrl-L");
    bench.models(Done::Models(at_first()));
    let lacks = Some("the window of 1 model is not known: it is broken".to_owned());
    bench.models(Done::ModelsTold(Box::new(offered(
        "ollama",
        Access::NotNeeded,
        Asked::Told { lacks },
        &[("broken", None, None)],
    ))));
    let screen = bench.screen_at(100, 30);
    assert!(screen.contains("ollama/broken"), "{screen}");
    let why = "ollama: the window of 1 model is not known: it is broken";
    assert!(screen.contains(why), "{screen}");
}

#[test]
fn a_session_goes_on_with_the_model_that_it_was_last_asked_of() {
    let haiku = at_first()[0].models[0].chosen.clone();
    assert_eq!(begins_after(Some(haiku)), "anthropic/claude-haiku");
}

#[test]
fn names_from_elsewhere_are_shown_as_text() {
    let mut bench = Bench::new();
    bench.press("Ctrl-L");
    let first = offered(
        HOSTILE,
        Access::There,
        Asked::Failed(HOSTILE.to_owned()),
        &[
            (HOSTILE, Some(u64::MAX), Some((f64::MAX, f64::NAN))),
            ("", Some(0), None),
        ],
    );
    bench.models(Done::Models(vec![first.clone(), first]));
    for size in [(100, 30), (40, 10), (20, 6), (3, 3), (1, 1)] {
        bench.screen_at(size.0, size.1);
    }
    bench.press("Enter");
    bench.screen_at(100, 30);
}
