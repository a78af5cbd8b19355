//! Whose sessions are listed, as settings: `[sources]`.

use super::problem::{Problems, Wrong};
use super::section::{Section, flag, text};
use crate::tool::Tool;

/// The settings of the section. The last is another way to write the second.
pub(super) const NAMES: &[&str] = &["tools", "show-subagents", "show_subagents"];

/// Which sessions are listed beside ibid's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceConfig {
    /// The other tools whose sessions are listed.
    pub tools: Vec<Tool>,
    /// Whether lists show the sessions that other sessions' agents made.
    pub show_subagents: bool,
}

/// The section as it was written.
#[derive(Debug, Default)]
pub(super) struct Given {
    pub(super) tools: Option<Vec<Tool>>,
    pub(super) show_subagents: Option<bool>,
}

impl Given {
    pub(super) fn read(section: &Section<'_>, problems: &mut Problems<'_>) -> Self {
        section.only(NAMES, problems);
        let show = section.get("show-subagents", problems, flag);
        Self {
            tools: section.each_of("tools", problems, |value| tool(&text(value)?)),
            show_subagents: show.or(section.get("show_subagents", problems, flag)),
        }
    }

    /// These settings, and those of `defaults` where they say nothing.
    pub(super) fn over(self, defaults: Self) -> SourceConfig {
        SourceConfig {
            tools: self.tools.or(defaults.tools).unwrap_or_default(),
            show_subagents: self
                .show_subagents
                .or(defaults.show_subagents)
                .unwrap_or_default(),
        }
    }
}

fn tool(name: &str) -> Result<Tool, Wrong> {
    let tool = Tool::named(name).filter(|tool| Tool::OTHERS.contains(tool));
    tool.ok_or_else(|| {
        let names = Tool::OTHERS.map(Tool::name);
        Wrong::not_one_of(name, "other tool with sessions to list", &names)
    })
}
