//! The settings of citing, checked when they are built.

use super::ReferenceError;

/// The most sessions that one message may ever cite.
pub const MAX_REFERENCES: usize = 3;
/// The budget of a source when nothing better is known, in bytes.
pub const FLOOR_BYTES: u64 = 65_536;
/// Bytes counted for each token of a context window.
const BYTES_PER_TOKEN: f64 = 4.0;

/// Checked settings of the resolver.
#[derive(Clone, Debug, PartialEq)]
pub struct ReferenceConfig {
    max_references: usize,
    candidate_limit: usize,
    max_reference_bytes: Option<u64>,
    context_fraction: f64,
}

/// Settings as they were given; absent ones take their default.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ReferenceSettings {
    /// `maxReferences`: distinct sessions a message, 1 to 3 (3).
    pub max_references: Option<usize>,
    /// `candidateLimit`: candidates that the remote face gives, from 1 (50).
    pub candidate_limit: Option<usize>,
    /// `maxReferenceBytes`: a fixed budget a source, from 1 byte.
    pub max_reference_bytes: Option<u64>,
    /// `referenceContextFraction`: the part of the model's window that one
    /// source may fill, 0 to 1 (0.2).
    pub context_fraction: Option<f64>,
}

impl ReferenceSettings {
    /// These settings, and those of `others` where they say nothing.
    #[must_use]
    pub fn over(self, others: Self) -> Self {
        Self {
            max_references: self.max_references.or(others.max_references),
            candidate_limit: self.candidate_limit.or(others.candidate_limit),
            max_reference_bytes: self.max_reference_bytes.or(others.max_reference_bytes),
            context_fraction: self.context_fraction.or(others.context_fraction),
        }
    }
}

impl Default for ReferenceConfig {
    fn default() -> Self {
        Self {
            max_references: MAX_REFERENCES,
            candidate_limit: 50,
            max_reference_bytes: None,
            context_fraction: 0.2,
        }
    }
}

impl ReferenceConfig {
    /// Checks settings.
    ///
    /// # Errors
    /// `INVALID_CONFIG`, naming the first setting that is out of its range.
    pub fn new(settings: ReferenceSettings) -> Result<Self, ReferenceError> {
        let default = Self::default();
        let config = Self {
            max_references: settings.max_references.unwrap_or(default.max_references),
            candidate_limit: settings.candidate_limit.unwrap_or(default.candidate_limit),
            max_reference_bytes: settings.max_reference_bytes,
            context_fraction: settings
                .context_fraction
                .unwrap_or(default.context_fraction),
        };
        let invalid = |setting, problem| Err(ReferenceError::InvalidConfig { setting, problem });
        if !(1..=MAX_REFERENCES).contains(&config.max_references) {
            return invalid(
                "maxReferences",
                format!(
                    "{} is not from 1 to {MAX_REFERENCES}",
                    config.max_references
                ),
            );
        }
        if config.candidate_limit == 0 {
            return invalid("candidateLimit", "0 is less than 1".to_owned());
        }
        if config.max_reference_bytes == Some(0) {
            return invalid("maxReferenceBytes", "0 is less than 1".to_owned());
        }
        // A NaN is in no range, so this refuses it too.
        if !(0.0..=1.0).contains(&config.context_fraction) {
            return invalid(
                "referenceContextFraction",
                format!("{} is not from 0 to 1", config.context_fraction),
            );
        }
        Ok(config)
    }

    /// The same settings with another number of candidates. A list of none is
    /// refused where it is asked for.
    #[must_use]
    pub fn with_candidate_limit(self, candidate_limit: usize) -> Self {
        Self {
            candidate_limit,
            ..self
        }
    }

    /// How many distinct sessions a message may cite.
    #[must_use]
    pub fn max_references(&self) -> usize {
        self.max_references
    }

    /// How many candidates the remote face gives.
    #[must_use]
    pub fn candidate_limit(&self) -> usize {
        self.candidate_limit
    }

    /// The fixed budget a source, in bytes.
    #[must_use]
    pub fn max_reference_bytes(&self) -> Option<u64> {
        self.max_reference_bytes
    }

    /// The part of the model's window that one source may fill, 0 to 1.
    #[must_use]
    pub fn context_fraction(&self) -> f64 {
        self.context_fraction
    }

    /// The budget a source under a model with this context window (tokens),
    /// in bytes: never less than [`FLOOR_BYTES`].
    #[must_use]
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the contract computes this in IEEE doubles; the product is finite and not negative"
    )]
    pub fn budget_for_window(&self, context_window: u64) -> u64 {
        let bytes = (context_window as f64 * BYTES_PER_TOKEN * self.context_fraction).floor();
        FLOOR_BYTES.max(bytes as u64)
    }
}
