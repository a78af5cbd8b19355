//! The programs whose sessions ibid knows, itself included, and how their
//! sessions are named so that no two are the same.

use std::fmt;

use crate::session::SessionId;

/// A program that sessions belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tool {
    /// This program.
    Ibid,
    /// DeepSeek Harness.
    Dsh,
    /// Claude Code.
    ClaudeCode,
    /// Codex CLI.
    Codex,
    /// Gemini CLI.
    Gemini,
    /// opencode.
    Opencode,
}

impl Tool {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Ibid,
        Self::Dsh,
        Self::ClaudeCode,
        Self::Codex,
        Self::Gemini,
        Self::Opencode,
    ];

    /// Those that are not this program.
    pub const OTHERS: [Self; 5] = [
        Self::Dsh,
        Self::ClaudeCode,
        Self::Codex,
        Self::Gemini,
        Self::Opencode,
    ];

    /// The short name, as lists show it and ids begin with it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ibid => "ibid",
            Self::Dsh => "dsh",
            Self::ClaudeCode => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Opencode => "opencode",
        }
    }

    /// The tool of this short name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.name() == name)
    }

    /// The id that ibid knows a session of this tool by. Sessions of ibid go
    /// by their own ids; those of other tools have the tool's name in front,
    /// so that ids are unique across tools.
    #[must_use]
    pub fn session_id(self, native: &str) -> SessionId {
        match self {
            Self::Ibid => SessionId::from(native),
            other => SessionId::from(format!("{}:{native}", other.name())),
        }
    }

    /// Which other tool an id says that it is of, and the id there; `None`
    /// for an id of ibid's own form.
    #[must_use]
    pub fn foreign(id: &SessionId) -> Option<(Self, &str)> {
        let (name, native) = id.as_str().split_once(':')?;
        let tool = Self::named(name).filter(|tool| *tool != Self::Ibid)?;
        Some((tool, native))
    }

    /// The tool that a session belongs to, by its id.
    #[must_use]
    pub fn of(id: &SessionId) -> Self {
        Self::foreign(id).map_or(Self::Ibid, |(tool, _)| tool)
    }
}

impl fmt::Display for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_tells_which_other_tool_it_is_of() {
        for tool in Tool::ALL {
            let id = tool.session_id("a:b");
            let expected = (tool != Tool::Ibid).then_some((tool, "a:b"));
            assert_eq!(Tool::foreign(&id), expected, "{id}");
            assert_eq!(Tool::of(&id), tool, "{id}");
        }
        assert_eq!(Tool::foreign(&"ibid:x".into()), None);
        assert_eq!(Tool::foreign(&"".into()), None);
    }
}
