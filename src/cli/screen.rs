//! The way into the screen.

use super::{CliError, models};
use crate::chat::{ReviewPolicy, TitlePolicy};
use crate::config::ThemeName;
use crate::model::Chosen;
use crate::model::offline::Offline;
use crate::runtime::Services;

/// The directory that the program was started in.
pub(super) fn current_dir() -> Option<String> {
    let dir = std::env::current_dir().ok()?;
    Some(dir.to_string_lossy().into_owned())
}

/// Opens the chat on a person's own sessions.
pub(super) fn open() -> Result<(), CliError> {
    require_terminal()?;
    let (home, config) = super::home()?;
    // The home is about to be made, if it is not there.
    let library = super::open_library(&home, &config, Some(home.cache_file()));
    let (models, _) = models::assembled(&home, &config)?;
    let route = config.model.clone().unwrap_or_else(Offline::route);
    let start = Start {
        chosen: models.choose(&route),
        review: config.review,
        titles: config.titles,
        theme: config.theme,
    };
    let services = Services::new(home, library, models, config.references.clone());
    open_with(services, start)
}

/// What a conversation begins with.
#[cfg_attr(
    not(feature = "tui"),
    expect(dead_code, reason = "without a screen no conversation begins")
)]
pub(super) struct Start {
    pub(super) chosen: Chosen,
    pub(super) review: ReviewPolicy,
    pub(super) titles: TitlePolicy,
    pub(super) theme: ThemeName,
}

/// Says what to run instead where no screen can be opened.
#[cfg(feature = "tui")]
pub(super) fn require_terminal() -> Result<(), CliError> {
    let what = if !crate::tui::is_interactive() {
        "the chat needs a terminal"
    } else if std::env::var_os("TERM").is_some_and(|term| term == "dumb") {
        "the chat draws on the whole screen, and TERM=dumb says that this terminal can't"
    } else {
        return Ok(());
    };
    Err(CliError::new(
        "NO_TERMINAL",
        format!(
            "{what}; without a screen there are `ibid ask`, `ibid demo --print`, \
             `ibid candidates` and `ibid prepare` (see `ibid --help`)"
        ),
    ))
}

/// This build has no screen.
#[cfg(not(feature = "tui"))]
pub(super) fn require_terminal() -> Result<(), CliError> {
    Err(CliError::new(
        "NO_SCREEN",
        "this build has no screen; build it with the feature `tui`, or run `ibid ask`, `ibid demo --print`, \
         `ibid candidates` or `ibid prepare` (see `ibid --help`)",
    ))
}

/// Opens the chat on these services.
#[cfg(feature = "tui")]
pub(super) fn open_with(services: Services, start: Start) -> Result<(), CliError> {
    use crate::runtime::{Runtime, begin};
    use crate::tui;

    let (slot, draft_file, draft) = begin(&services.home, current_dir())?;
    let forbids_colour = std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty());
    let setup = tui::Setup {
        chosen: start.chosen,
        review: start.review,
        titles: start.titles,
        max_references: services.resolver.config().max_references(),
        theme: tui::Theme::of(if forbids_colour {
            ThemeName::Mono
        } else {
            start.theme
        }),
        zone: jiff::tz::TimeZone::system(),
    };
    let ended = super::block_on(async {
        let session = slot.session();
        let (runtime, done) = Runtime::start(services, slot, draft_file);
        tui::run(setup, session, draft, runtime, done).await
    })?;
    let failed = ended.terminal.err();
    let code = match failed {
        Some(_) => "TERMINAL",
        None if ended.unsaved.is_empty() => {
            let ended = ended.signal.map(|number| {
                CliError::cancelled(
                    number,
                    format!(
                        "the screen was ended by signal {number}; the draft and what came of an \
                         answer are kept"
                    ),
                )
            });
            return ended.map_or(Ok(()), Err);
        }
        None => "NOT_SAVED",
    };
    let words: Vec<String> = failed
        .map(|error| format!("the terminal failed: {error}"))
        .into_iter()
        .chain(ended.unsaved)
        .collect();
    Err(CliError::new(code, words.join("\n")))
}

/// This build has no screen.
#[cfg(not(feature = "tui"))]
pub(super) fn open_with(_: Services, _: Start) -> Result<(), CliError> {
    require_terminal()
}
