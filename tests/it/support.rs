//! What the tests build on: sessions to cite, and stand-ins for the ports.

pub(crate) mod frames;
pub(crate) mod ports;
pub(crate) mod sessions;

use ibid::config::Config;
use ibid::model::KeyPlace;

/// The environment variables that hold a person's keys: no test may see them.
pub(crate) fn key_variables() -> Vec<String> {
    let defaults = Config::load(std::path::Path::new("/nowhere")).unwrap();
    let providers = defaults.providers.into_values();
    providers
        .filter_map(|provider| match provider.key {
            Some(KeyPlace::Variables(names)) => Some(names),
            _ => None,
        })
        .flatten()
        .collect()
}
