//! What servers told of their models, kept from one run to the next.

use std::collections::BTreeMap;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{Facts, Layer};
use crate::model::ModelInfo;
use crate::session::Millis;

/// The version of the file.
const VERSION: u32 = 1;
/// A larger file is none of ours.
const MOST_BYTES: u64 = 64 * 1024 * 1024;
/// The most models that are kept of one server.
const MOST_MODELS: usize = 10_000;
/// The longest id or name that is kept, in bytes.
const LONGEST_NAME: usize = 256;

/// Why what servers told can't be read or kept.
#[derive(Debug, Error)]
pub enum StoredError {
    /// The disk would not.
    #[error("can't {action} {path:?}: {cause}")]
    Io {
        /// What was tried, such as `read`.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        cause: io::Error,
    },
    /// The file is not what was written.
    #[error(
        "{path:?} is no list of models ({problem}); `ibid models update` writes it anew, until \
         then it is left out"
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Why.
        problem: String,
    },
}

impl StoredError {
    /// The stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Io { .. } => "MODELS_IO",
            Self::Damaged { .. } => "MODELS_DAMAGED",
        }
    }
}

/// What one server told.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Refreshed {
    /// When.
    pub at: Millis,
    /// Of its models, by their ids.
    pub models: BTreeMap<String, Facts>,
}

impl Refreshed {
    /// What a server told at this moment. Ids and names out of all measure
    /// are left out, and models beyond ten thousand.
    #[must_use]
    pub fn new(at: Millis, told: &[ModelInfo]) -> Self {
        let is_short = |text: &str| !text.is_empty() && text.len() <= LONGEST_NAME;
        let models = told
            .iter()
            .filter(|info| is_short(&info.id))
            .take(MOST_MODELS)
            .map(|info| {
                let mut facts = Facts::from(info);
                facts.name = facts.name.filter(|name| is_short(name));
                (info.id.clone(), facts)
            });
        Self {
            at,
            models: models.collect(),
        }
    }
}

/// What servers told, by provider: the file `models.json` in ibid's home.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StoredModels {
    /// What each provider's server told when it was last asked.
    pub providers: BTreeMap<String, Refreshed>,
}

#[derive(Serialize, Deserialize)]
struct File {
    version: u32,
    providers: BTreeMap<String, Refreshed>,
}

impl StoredModels {
    /// What was kept; nothing where there is no file.
    ///
    /// # Errors
    /// `MODELS_IO`, and `MODELS_DAMAGED` for a file that is not what was
    /// written, or of a newer program.
    pub fn load(path: &Path) -> Result<Self, StoredError> {
        let io = |cause| StoredError::io("read", path, cause);
        let damaged = |problem: String| StoredError::Damaged {
            path: path.to_owned(),
            problem,
        };
        // Opening a pipe would wait for its other end, so look before.
        match path.metadata() {
            Ok(metadata) if !metadata.is_file() => return Err(damaged("it is no file".to_owned())),
            Ok(_) => {}
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(cause) => return Err(io(cause)),
        }
        let mut text = Vec::new();
        let file = std::fs::File::open(path).map_err(io)?;
        file.take(MOST_BYTES).read_to_end(&mut text).map_err(io)?;
        let file: File =
            serde_json::from_slice(&text).map_err(|error| damaged(error.to_string()))?;
        if file.version != VERSION {
            return Err(damaged(format!("its version is {}", file.version)));
        }
        Ok(Self {
            providers: file.providers,
        })
    }

    /// Keeps it, in place of what was kept before: all of it or nothing. The
    /// file is for its owner alone.
    ///
    /// # Errors
    /// `MODELS_IO`.
    pub fn save(&self, path: &Path) -> Result<(), StoredError> {
        let io = |cause| StoredError::io("write", path, cause);
        let folder = path.parent().unwrap_or(Path::new("."));
        let file = File {
            version: VERSION,
            providers: self.providers.clone(),
        };
        let text = serde_json::to_vec(&file).map_err(|error| io(error.into()))?;
        // A file of tempfile's is for its owner alone.
        let mut new = tempfile::NamedTempFile::new_in(folder).map_err(io)?;
        new.write_all(&text).map_err(io)?;
        new.as_file().sync_all().map_err(io)?;
        new.persist(path).map_err(|error| io(error.error))?;
        Ok(())
    }

    /// Takes in what a server told. Where it could not tell the facts of all of
    /// its models, those that were known before stay.
    pub fn add(&mut self, provider: String, mut told: Refreshed, lacks_facts: bool) {
        let before = self.providers.remove(&provider).filter(|_| lacks_facts);
        for (id, facts) in before.into_iter().flat_map(|before| before.models) {
            if let Some(new) = told.models.get_mut(&id) {
                *new = std::mem::take(new).over(facts);
            }
        }
        self.providers.insert(provider, told);
    }

    /// The facts alone, as a layer of the catalogue.
    #[must_use]
    pub fn into_layer(self) -> Layer {
        let providers = self.providers.into_iter();
        providers.map(|(name, told)| (name, told.models)).collect()
    }
}

impl StoredError {
    fn io(action: &'static str, path: &Path, cause: io::Error) -> Self {
        Self::Io {
            action,
            path: path.to_owned(),
            cause,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(id: &str, name: &str, window: Option<u64>) -> ModelInfo {
        ModelInfo {
            provider: "p".to_owned(),
            id: id.to_owned(),
            name: name.to_owned(),
            context_window: window,
            max_output: None,
            input_price: None,
            output_price: None,
        }
    }

    #[test]
    fn facts_that_a_server_could_not_tell_stay_and_models_that_it_lists_no_more_go() {
        let window = |stored: &StoredModels, id: &str| {
            let facts = stored.providers["p"].models.get(id)?;
            Some(facts.context_window)
        };
        for (lacks_facts, kept) in [(true, Some(5)), (false, None)] {
            let before = [told("m", "m", Some(5)), told("gone", "gone", Some(6))];
            let now = [told("m", "m", None), told("new", "new", Some(7))];
            let mut stored = StoredModels::default();
            stored.add("p".to_owned(), Refreshed::new(Millis(1), &before), false);
            stored.add("p".to_owned(), Refreshed::new(Millis(2), &now), lacks_facts);
            assert_eq!(window(&stored, "m"), Some(kept));
            assert_eq!(window(&stored, "new"), Some(Some(7)));
            assert_eq!(window(&stored, "gone"), None);
            assert_eq!(stored.providers["p"].at, Millis(2));
        }
    }

    fn one() -> StoredModels {
        let models = [told("m", "m", Some(5)), told("\u{1b}[31m", "Red", None)];
        let refreshed = Refreshed::new(Millis(7), &models);
        StoredModels {
            providers: BTreeMap::from([("p".to_owned(), refreshed)]),
        }
    }

    #[test]
    fn what_was_told_is_there_again_for_its_owner_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("models.json");
        assert_eq!(StoredModels::load(&path).unwrap(), StoredModels::default());
        one().save(&path).unwrap();
        one().save(&path).unwrap();
        assert_eq!(StoredModels::load(&path).unwrap(), one());
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = path.metadata().unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
    }

    #[test]
    fn a_name_that_is_just_the_id_says_nothing() {
        let layer = one().into_layer();
        let facts = layer.get("p").unwrap().get("m").unwrap();
        assert_eq!(
            (facts.name.as_deref(), facts.context_window),
            (None, Some(5))
        );
    }

    #[test]
    fn a_server_can_tell_nothing_out_of_all_measure() {
        let long = "x".repeat(LONGEST_NAME + 1);
        let mut models = vec![
            told(&long, "a", None),
            told("", "b", None),
            told("m", &long, None),
        ];
        models.extend((0..MOST_MODELS).map(|id| told(&id.to_string(), "", None)));
        let refreshed = Refreshed::new(Millis(0), &models);
        assert_eq!(refreshed.models.len(), MOST_MODELS);
        assert_eq!(refreshed.models.get("m"), Some(&Facts::default()));
        assert!(refreshed.models.keys().all(|id| id.len() < 10));
    }

    #[test]
    fn a_damaged_file_is_named_and_can_be_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("models.json");
        for content in ["", "{", "[]", r#"{"version":2,"providers":{}}"#] {
            std::fs::write(&path, content).unwrap();
            let error = StoredModels::load(&path).unwrap_err();
            assert_eq!(error.code(), "MODELS_DAMAGED");
            assert!(error.to_string().contains("ibid models update"), "{error}");
        }
        one().save(&path).unwrap();
        assert_eq!(StoredModels::load(&path).unwrap(), one());
        assert_eq!(
            StoredModels::load(dir.path()).unwrap_err().code(),
            "MODELS_DAMAGED"
        );
        assert_eq!(one().save(dir.path()).unwrap_err().code(), "MODELS_IO");
    }
}
