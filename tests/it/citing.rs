//! Edges of citing: the settings' bounds, what becomes of saved texts when
//! nothing is sent, and what discovery makes of odd titles.

use std::error::Error as _;
use std::sync::Arc;

use ibid::reference::discovery::Candidate;
use ibid::reference::mention::{self, Reference};
use ibid::reference::ports::{KnownTitle, ListedSession};
use ibid::reference::resolver::{PreparedStep, RouteChoice, StepDecision};
use ibid::reference::{
    ReferenceConfig, ReferenceError, ReferenceSettings, Resolver, Target, transcript,
};
use ibid::session::{Header, Message, Millis};
use tokio_util::sync::CancellationToken;

use crate::support::ports::{Script, Shelf, Spills};
use crate::support::sessions::said;

fn settings() -> ReferenceSettings {
    ReferenceSettings::default()
}

#[test]
fn settings_are_taken_up_to_their_bounds() {
    for good in [
        ReferenceSettings {
            max_references: Some(1),
            ..settings()
        },
        ReferenceSettings {
            max_references: Some(3),
            ..settings()
        },
        ReferenceSettings {
            candidate_limit: Some(1),
            ..settings()
        },
        ReferenceSettings {
            max_reference_bytes: Some(1),
            ..settings()
        },
        ReferenceSettings {
            context_fraction: Some(0.0),
            ..settings()
        },
        ReferenceSettings {
            context_fraction: Some(1.0),
            ..settings()
        },
    ] {
        assert!(ReferenceConfig::new(good).is_ok(), "{good:?}");
    }
}

#[test]
fn a_setting_beyond_its_bounds_is_refused_by_name() {
    for (bad, name) in [
        (
            ReferenceSettings {
                max_references: Some(0),
                ..settings()
            },
            "maxReferences",
        ),
        (
            ReferenceSettings {
                max_references: Some(4),
                ..settings()
            },
            "maxReferences",
        ),
        (
            ReferenceSettings {
                candidate_limit: Some(0),
                ..settings()
            },
            "candidateLimit",
        ),
        (
            ReferenceSettings {
                max_reference_bytes: Some(0),
                ..settings()
            },
            "maxReferenceBytes",
        ),
        (
            ReferenceSettings {
                context_fraction: Some(-f64::MIN_POSITIVE),
                ..settings()
            },
            "referenceContextFraction",
        ),
    ] {
        let refused = ReferenceConfig::new(bad).unwrap_err();
        assert_eq!(refused.code(), Some("SESSION_REFERENCE_INVALID_CONFIG"));
        assert!(refused.to_string().contains(name), "{refused}");
    }
}

#[test]
fn a_window_beyond_all_measure_overflows_nothing() {
    let all = ReferenceSettings {
        context_fraction: Some(1.0),
        ..settings()
    };
    let config = ReferenceConfig::new(all).unwrap();
    assert_eq!(config.budget_for_window(u64::MAX), u64::MAX);
    assert_eq!(config.budget_for_window(0), 65_536);
}

/// A resolver over two long sessions, whose texts are all saved.
fn house() -> (Arc<Spills>, Resolver, Target) {
    let long = "long ".repeat(200);
    let shelf = Shelf::of([said("one", [&*long]), said("two", [&*long])]);
    let config = ReferenceConfig::new(ReferenceSettings {
        max_reference_bytes: Some(200),
        ..settings()
    });
    let spills = Arc::new(Spills::default());
    let resolver = Resolver::new(config.unwrap(), shelf).with_spill(Arc::<Spills>::clone(&spills));
    let target = Target {
        id: "target".into(),
        cwd: None,
        route: RouteChoice::Own(None),
    };
    (spills, resolver, target)
}

fn citing(ids: &[&str]) -> Arc<Message> {
    let mentions: Vec<String> = ids
        .iter()
        .map(|id| mention::format(&Reference::new(*id, None)))
        .collect();
    Arc::new(Message::person(mentions.join(" ")))
}

#[tokio::test]
async fn texts_saved_for_one_message_are_discarded_when_a_later_message_fails() {
    let (spills, resolver, target) = house();
    let entering = StepDecision::Enter(vec![citing(&["one"]), citing(&["missing"])]);
    let failed = resolver
        .pre_step(&target, entering, &CancellationToken::new())
        .await
        .unwrap_err();
    assert_eq!(failed.code(), Some("SESSION_REFERENCE_READ_FAILED"));
    assert_eq!(spills.saves().len(), 1);
    assert_eq!(spills.discarded(), ["memory:session-reference-1.txt"]);
}

#[tokio::test]
async fn texts_saved_before_a_cancellation_are_all_discarded() {
    let (spills, resolver, target) = house();
    let cancel = CancellationToken::new();
    // The first source was saved; the second save ends as it is called off.
    let second = Script {
        cancels: Some(cancel.clone()),
        ..Script::default()
    };
    spills.next_save(Script::default());
    spills.next_save(second);
    let step = StepDecision::Enter(vec![citing(&["one", "two"])]);
    let failed = resolver.pre_step(&target, step, &cancel).await.unwrap_err();
    assert_eq!(failed.code(), Some("SESSION_REFERENCE_CANCELLED"));
    assert_eq!(
        spills.discarded(),
        [
            "memory:session-reference-1.txt",
            "memory:session-reference-2.txt"
        ]
    );
}

#[tokio::test]
async fn texts_that_were_published_are_kept() {
    let (spills, resolver, target) = house();
    let step = StepDecision::Enter(vec![citing(&["one"]), citing(&["two"])]);
    let cancel = CancellationToken::new();
    let step = resolver.pre_step(&target, step, &cancel).await.unwrap();
    let PreparedStep::Enter { messages, contexts } = step else {
        panic!("rejected");
    };
    assert!(Arc::ptr_eq(&messages[1], &contexts[0].message));
    assert!(Arc::ptr_eq(&messages[3], &contexts[1].message));
    assert!(spills.discarded().is_empty());
}

#[tokio::test]
async fn a_failed_read_gives_its_cause_in_words_and_as_its_source() {
    let (_, resolver, target) = house();
    let failed = resolver
        .pre_step(
            &target,
            StepDecision::Enter(vec![citing(&["missing"])]),
            &CancellationToken::new(),
        )
        .await
        .unwrap_err();
    assert!(matches!(failed, ReferenceError::ReadFailed { .. }));
    assert!(failed.to_string().contains("no such session"));
    assert_eq!(failed.source().unwrap().to_string(), "no such session");
}

fn called(title: KnownTitle) -> Candidate {
    let header = Header::new("id", Millis(1), None);
    Candidate::new(ListedSession { header, title }, None)
}

#[test]
fn a_title_of_invisible_characters_names_nothing() {
    for blank in ["", " \n", "\u{200b}\u{202e}", "\u{1b}]0;x\u{7}"] {
        let live = called(KnownTitle::Live(Some(blank.to_owned())));
        assert_eq!(live.label, "id", "{blank:?}");
        let cached = called(KnownTitle::Cached(blank.to_owned()));
        assert_eq!(cached.label, "id", "{blank:?}");
    }
}

#[test]
fn a_title_that_is_not_clean_has_a_clean_line_beside_it() {
    let candidate = called(KnownTitle::Live(Some("a\u{1b}[2Jb\tc".to_owned())));
    assert_eq!(candidate.label, "a\u{1b}[2Jb\tc");
    assert_eq!(candidate.display_title.as_deref(), Some("ab c"));
}

#[test]
fn what_is_no_transcript_is_refused_with_the_line() {
    for (text, line) in [
        ("", 0),
        ("# x\n", 1),
        ("## Capture\n{", 2),
        ("## Capture\n{}\n", 2),
        ("## Capture\n{}\n## Conversation\n\"x\"\n", 4),
        ("## Capture\n{}\n## Conversation\n### Message 1: user\nx", 5),
        ("## Capture\n{}\n## Conversation\n### Message 1", 4),
    ] {
        assert_eq!(transcript::decode(text), Err(line), "{text:?}");
    }
}
