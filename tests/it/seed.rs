//! The 47 cases of the seed, one test each.
//!
//! The seed is the test file of an existing system, `session-reference.spec.ts`;
//! its cases are counted row by row. Where a case shows something that only
//! the seed's own language can get wrong, the test shows the nearest thing
//! that can go wrong here, and the table says so.
//!
//! | Seed case | Test |
//! |---|---|
//! | **URI and inline mentions** | [`uris_and_mentions`] |
//! | round-trips arbitrary session ids and replaces mentions | `any_id_survives_its_uri_and_mentions_become_readable_labels` |
//! | rejects malformed explicit references and bare candidates | `a_malformed_mention_is_refused_and_so_is_a_bare_uri_that_is_not_canonical` |
//! | **spill outcomes** | [`spill`] |
//! | leaves intact references unchanged | `an_intact_source_is_not_saved` |
//! | saves the full transcript: huge single message | `the_full_transcript_of_one_huge_message_is_saved` |
//! | saves the full transcript: whole dropped messages | `the_full_transcript_with_whole_dropped_messages_is_saved` |
//! | saves the full transcript: tiny preview | `the_full_transcript_is_saved_though_not_even_a_notice_fits_in_its_text` |
//! | saves the full transcript: escaped controls | `the_full_transcript_of_control_characters_is_saved` |
//! | per-reference locators distinct and durable | `each_cut_source_has_a_locator_of_its_own_which_outlives_the_source` |
//! | spills only the captured projection | `only_what_was_captured_is_saved_though_the_source_grows_meanwhile` |
//! | unavailable storage: missing | `without_a_spill_store_the_full_text_is_unavailable` |
//! | unavailable storage: failure | `when_saving_fails_the_full_text_is_unavailable` |
//! | cancellation during-save | `nothing_is_published_when_it_is_cancelled_during_a_save` |
//! | cancellation after-save | `nothing_is_published_when_it_is_cancelled_as_a_save_ends`; also shows that the save is undone |
//! | **model-relative budgets** | [`budgets`] |
//! | bounds: defaults, 200,001 | `a_source_gets_a_fifth_of_a_large_window` |
//! | bounds: defaults, 8,000 | `a_source_gets_the_floor_under_a_small_window` |
//! | bounds: fraction 0.1 | `a_source_gets_the_configured_fraction_of_the_window` |
//! | bounds: fraction 0 | `a_source_gets_the_floor_when_the_fraction_is_zero` |
//! | bounds: 360 bytes | `a_source_gets_the_configured_bytes_without_a_look_up` |
//! | uses the assembled selection | `the_budget_follows_the_model_that_the_step_was_assembled_for` |
//! | the floor for absent metadata, service or route | `the_floor_applies_without_a_declared_window_a_whole_route_or_a_catalogue`; a diagnostic assembly has no agent, so it never makes a `RouteChoice` |
//! | the floor when there is no adapter | `the_floor_applies_when_no_provider_has_an_adapter` |
//! | other model errors, and cancellation beside an absent adapter | `other_model_errors_are_passed_on_and_cancelling_wins_over_a_missing_adapter` |
//! | propagates look-up errors, cancels an unresolved look-up | `a_failing_look_up_is_passed_on_and_a_hanging_one_can_be_cancelled` |
//! | removes both listeners when disposed | `a_resolver_that_goes_lets_go_of_its_ports_and_touches_no_step`; there are no listeners here: what must not stay behind is its ports |
//! | invalid fraction −0.1 | `a_fraction_below_zero_is_refused` |
//! | invalid fraction 1.1 | `a_fraction_above_one_is_refused` |
//! | invalid fraction NaN | `a_fraction_that_is_no_number_is_refused` |
//! | invalid fraction Infinity | `an_infinite_fraction_is_refused` |
//! | **discovery and preparation** | [`discovery`], [`pre_step`], [`preparation`] |
//! | matches metadata and titles before ranking | `candidates_are_matched_first_then_ranked_by_directory_and_age` |
//! | an attached session's current title | `a_live_session_goes_by_its_current_title` |
//! | a cold session from its checkpoint | `a_stored_session_goes_by_its_cached_title`; a directory has no way to read a log |
//! | a session no projection answers for | `a_seeded_session_goes_by_its_id_whatever_the_cache_says` |
//! | every session by id without a projection face | `every_session_goes_by_its_id_when_nobody_knows_titles` |
//! | the Remote face | `other_programs_get_the_configured_number_each_with_its_mention` |
//! | prepares direct mentions at pre-step | `mentions_are_prepared_when_a_step_begins_and_other_messages_pass_through` |
//! | a rejected pre-step, and malformed mentions | `a_rejected_step_prepares_nothing_and_a_malformed_mention_stops_one` |
//! | still matches an unlabeled session | `a_session_with_nothing_but_an_id_is_found_by_it` |
//! | projects only the current surface | `only_the_current_dialogue_is_cited_with_the_facts_of_its_capture` |
//! | records the source format generation | `the_format_version_and_the_last_seq_are_those_of_the_capture` |
//! | excludes injected context | `a_citation_inside_a_source_is_not_cited_again` |
//! | tag-safe framing | `hostile_text_stays_inside_its_frame_and_keeps_its_value`; what JSON can't express is, here, a map with keys that are no strings |
//! | deduplicates, caps, self, read failure, cancellation | `duplicates_go_before_the_cap_and_every_failure_has_its_code`; references that are no objects or whose id is no string can only come as URIs |
//! | checkpoints and latest messages within the budget | `checkpoints_and_the_newest_message_are_kept_within_an_exact_budget` |
//! | the full limit for each of three | `each_of_three_sources_has_the_whole_budget` |
//! | fails when fixed data cannot fit | `nothing_is_prepared_when_not_even_the_fixed_part_fits` |
//! | target replay independent of the source | `what_was_said_never_changes_with_its_source` |
//! | rejects direct invalid configuration | `a_configuration_is_checked_when_it_is_built` |

mod budgets;
mod discovery;
mod pre_step;
mod preparation;
mod spill;
mod uris_and_mentions;

use std::fmt::Debug;
use std::sync::Arc;

use base64::Engine as _;
use ibid::reference::mention::{self, Reference};
use ibid::reference::resolver::RouteChoice;
use ibid::reference::{
    Prepared, PreparedContext, ReferenceConfig, ReferenceError, ReferenceSettings, Resolver, Target,
};
use ibid::session::{Block, Millis, NewEvent, Payload, Session};
use tokio_util::sync::CancellationToken;

use crate::support::ports::{Shelf, Spills, Windows};

/// The stable code of the error that this must be.
#[track_caller]
fn code<T: Debug>(result: Result<T, ReferenceError>) -> &'static str {
    result.unwrap_err().code().unwrap()
}

/// A URI over any JSON, canonical or not.
fn uri_of_json(json: &str) -> String {
    let payload = base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(json);
    format!("dsh-session:{payload}")
}

/// The mention of a session by its id.
fn mention_of(id: &str) -> String {
    mention::format(&Reference::new(id, None))
}

/// The citations land in the target's log.
fn cite(target: &mut Session, context: &PreparedContext) {
    let message = Payload::user((*context.message).clone());
    target.append(NewEvent::plain(Millis(3), message)).unwrap();
}

/// A resolver's surroundings, with the session `target` at work in it.
struct House {
    shelf: Arc<Shelf>,
    settings: ReferenceSettings,
    spills: Option<Arc<Spills>>,
    windows: Option<Arc<Windows>>,
    route: RouteChoice,
}

impl House {
    /// Sessions and nothing else.
    fn of(sessions: impl IntoIterator<Item = Session>) -> Self {
        Self {
            shelf: Shelf::of(sessions),
            settings: ReferenceSettings::default(),
            spills: None,
            windows: None,
            route: RouteChoice::Own(None),
        }
    }

    fn with_settings(self, settings: ReferenceSettings) -> Self {
        Self { settings, ..self }
    }

    fn with_budget(mut self, bytes: u64) -> Self {
        self.settings.max_reference_bytes = Some(bytes);
        self
    }

    fn with_spills(self) -> Self {
        self.with_spill_store(Spills::default())
    }

    fn with_spill_store(self, spills: Spills) -> Self {
        Self {
            spills: Some(Arc::new(spills)),
            ..self
        }
    }

    fn with_windows(self, windows: Arc<Windows>) -> Self {
        Self {
            windows: Some(windows),
            ..self
        }
    }

    fn without_windows(self) -> Self {
        Self {
            windows: None,
            ..self
        }
    }

    fn with_route(self, route: RouteChoice) -> Self {
        Self { route, ..self }
    }

    fn spills(&self) -> Arc<Spills> {
        Arc::clone(self.spills.as_ref().unwrap())
    }

    fn windows(&self) -> Arc<Windows> {
        Arc::clone(self.windows.as_ref().unwrap())
    }

    fn target(&self) -> Target {
        Target {
            id: "target".into(),
            cwd: None,
            route: self.route.clone(),
        }
    }

    fn resolver(&self) -> Resolver {
        let config = ReferenceConfig::new(self.settings).unwrap();
        let mut resolver = Resolver::new(config, Arc::<Shelf>::clone(&self.shelf));
        if let Some(spills) = &self.spills {
            resolver = resolver.with_spill(Arc::<Spills>::clone(spills));
        }
        if let Some(windows) = &self.windows {
            resolver = resolver.with_models(Arc::<Windows>::clone(windows));
        }
        resolver
    }

    async fn prepare(
        &self,
        content: &[Block],
        references: &[Reference],
        cancel: &CancellationToken,
    ) -> Result<Prepared, ReferenceError> {
        let resolver = self.resolver();
        resolver
            .prepare(&self.target(), content, references, cancel)
            .await
    }

    /// Cites sessions by their ids.
    async fn cite<const N: usize>(
        &self,
        ids: [&str; N],
    ) -> Result<PreparedContext, ReferenceError> {
        self.cite_until(ids, &CancellationToken::new()).await
    }

    async fn cite_until<const N: usize>(
        &self,
        ids: [&str; N],
        cancel: &CancellationToken,
    ) -> Result<PreparedContext, ReferenceError> {
        let references = ids.map(|id| Reference::new(id, None));
        let prepared = self.prepare(&[], &references, cancel).await?;
        Ok(prepared.context.unwrap())
    }
}
