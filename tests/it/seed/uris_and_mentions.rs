//! URIs and inline mentions.

use ibid::reference::mention::{self, Reference};
use ibid::reference::uri;
use ibid::session::SessionId;

use super::{code, uri_of_json};

#[test]
fn any_id_survives_its_uri_and_mentions_become_readable_labels() {
    let id = SessionId::from("unicode/引号\"/slash\\/line\n");
    let uri = uri::encode(&id);
    assert_eq!(uri::decode(&uri).unwrap(), id);

    let labelled = Reference::new(id.clone(), Some("源]会话".to_owned()));
    let plain = Reference::new(id.clone(), None);
    let parsed =
        mention::parse(&format!("compare {} and {uri}", mention::format(&labelled))).unwrap();
    assert_eq!(parsed.text, format!("compare @源]会话 and @{id}"));
    assert_eq!(parsed.references, [labelled, plain.clone()]);
    assert!(mention::format(&plain).starts_with("@[unicode/引号\"/slash\\\\/line\n]("));

    // Punctuation ends a bare URI.
    let parsed = mention::parse(&format!("see {uri}. and `{uri}`")).unwrap();
    assert_eq!(parsed.text, format!("see @{id}. and `@{id}`"));
    assert_eq!(parsed.references, [plain.clone(), plain]);

    // The scheme alone is ordinary text.
    for text in ["what is a dsh-session: URI?", "see dsh-session:%%%"] {
        let parsed = mention::parse(text).unwrap();
        assert_eq!(parsed.text, text);
        assert_eq!(parsed.references, []);
    }
}

#[test]
fn a_malformed_mention_is_refused_and_so_is_a_bare_uri_that_is_not_canonical() {
    const INVALID: &str = "SESSION_REFERENCE_INVALID_REFERENCE";
    assert_eq!(code(uri::decode("https://example.test")), INVALID);
    assert_eq!(code(mention::parse("see dsh-session:IiJ")), INVALID);
    assert_eq!(code(mention::parse("@[bad](dsh-session:%%%)")), INVALID);
    assert_eq!(code(uri::decode(&uri_of_json(r#"{"id":"x"}"#))), INVALID);
    assert_eq!(code(uri::decode("dsh-session:IiJ")), INVALID);
}
