//! References are prepared when a step begins.

use std::sync::Arc;

use ibid::reference::mention::{self, Reference};
use ibid::reference::resolver::{PreparedStep, StepDecision};
use ibid::session::{Block, Message, Role, Source};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::{House, code};
use crate::support::frames::{assert_holds, record};
use crate::support::sessions::{message, said};

#[tokio::test]
async fn mentions_are_prepared_when_a_step_begins_and_other_messages_pass_through() {
    let house = House::of([said("source", ["source fact"])]);
    let called = |label: &str| mention::format(&Reference::new("source", Some(label.to_owned())));
    let direct = Arc::new(message(
        Role::User,
        Source::person(),
        vec![
            Block::text(format!("compare {} now", called("Research"))),
            Block::reasoning("preserve this non-text block"),
        ],
    ));
    let ordinary = Arc::new(Message::person("ordinary prompt"));
    let plugin = Arc::new(message(
        Role::User,
        Source::plugin("test"),
        vec![Block::text(called("Ignored"))],
    ));
    let entering = [&direct, &ordinary, &plugin].map(Arc::clone).to_vec();
    let cancel = CancellationToken::new();
    let step = house
        .resolver()
        .pre_step(&house.target(), StepDecision::Enter(entering), &cancel)
        .await
        .unwrap();

    let PreparedStep::Enter { messages, contexts } = step else {
        panic!("rejected");
    };
    assert_eq!(messages.len(), 4);
    assert_eq!(messages[0].id, direct.id);
    assert_eq!(
        messages[0].content,
        [
            Block::text("compare @Research now"),
            Block::reasoning("preserve this non-text block"),
        ]
    );
    assert!(!Arc::ptr_eq(&messages[0], &direct));
    assert!(Arc::ptr_eq(&messages[1], &contexts[0].message));
    assert_holds(
        &record(&contexts[0]),
        &json!({
            "kind": "session-reference",
            "references": [{"sessionId": "source", "label": "Research"}],
        }),
    );
    assert!(Arc::ptr_eq(&messages[2], &ordinary));
    assert!(Arc::ptr_eq(&messages[3], &plugin));
}

#[tokio::test]
async fn a_rejected_step_prepares_nothing_and_a_malformed_mention_stops_one() {
    let house = House::of([]);
    let (resolver, target) = (house.resolver(), house.target());
    let cancel = CancellationToken::new();
    let rejected = resolver
        .pre_step(&target, StepDecision::Reject, &cancel)
        .await;
    assert_eq!(rejected.unwrap(), PreparedStep::Reject);
    assert_eq!(house.shelf.reads(), []);

    let malformed = Arc::new(Message::person("@[bad](dsh-session:not-canonical)"));
    let entering = StepDecision::Enter(vec![malformed]);
    let refused = resolver.pre_step(&target, entering, &cancel).await;
    let message = refused.as_ref().unwrap_err().to_string();
    assert!(
        message.contains("invalid session reference URI"),
        "{message}"
    );
    assert_eq!(code(refused), "SESSION_REFERENCE_INVALID_REFERENCE");
    assert_eq!(house.shelf.reads(), []);
}
