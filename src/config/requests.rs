//! What shapes requests beside their messages, as settings of a provider and of
//! its models: `max-output`, `num-ctx` and `extra`.

use serde_json::{Map, Value};

use super::problem::{Problems, Wrong};
use super::section::{Section, positive};
use super::values;
use crate::model::{Api, Options};

/// The setting of the window that an Ollama server is to set up.
pub(super) const NUM_CTX: &str = "num-ctx";

/// The settings of a provider, whose server speaks `api`.
pub(super) fn read(
    section: &Section<'_>,
    api: Option<Api>,
    problems: &mut Problems<'_>,
) -> Options {
    if section.has(NUM_CTX) && api.is_some_and(|api| api != Api::Ollama) {
        let wrong = Wrong::new("only a server of the API \"ollama\" can be told a window");
        section.refuse_name(NUM_CTX, wrong, problems);
    }
    Options {
        max_output: section.get("max-output", problems, positive),
        num_ctx: section.get(NUM_CTX, problems, positive),
        extra: extra(section, api, problems),
    }
}

/// More keys of the body of each request, from `extra`.
pub(super) fn extra(
    section: &Section<'_>,
    api: Option<Api>,
    problems: &mut Problems<'_>,
) -> Map<String, Value> {
    let mut extra = Map::new();
    let Some(section) = section.inner("extra", problems) else {
        return extra;
    };
    let own = api.map(Api::own_keys).unwrap_or_default();
    for key in section.names() {
        if own.contains(&key) {
            let wrong = Wrong::new("ibid itself says what stands here in a request");
            section.refuse_name(key, wrong, problems);
        }
        if let Some(value) = section.get(key, problems, values::json) {
            extra.insert(key.to_owned(), value);
        }
    }
    extra
}

/// Further keys over others.
pub(super) fn joined(extra: Map<String, Value>, under: Map<String, Value>) -> Map<String, Value> {
    let options = |extra| Options {
        extra,
        ..Options::default()
    };
    options(extra).over(options(under)).extra
}
