//! The filters in what a person typed: `tool:codex`, `cwd:api`, `since:7d`.
//!
//! A word that begins with one of these keys and one colon is a filter, with
//! `-` in front its opposite; all else is text, left as it was typed. Between
//! double quotes spaces belong to the word, and a word that begins with a
//! quote is text. What cannot be understood filters nothing: it becomes a
//! [`Problem`] to show, because a filter that is still being typed must not
//! make every row vanish.
//!
//! | filter | admits sessions |
//! |---|---|
//! | `tool:codex` | of this tool; the beginning of its name will do. Several, by commas or by repeating the filter, admit each |
//! | `cwd:api` | whose directory has this in it, in capitals or not. Several must all be there |
//! | `since:7d` | in which something happened in the last 7 days: `h`, `d`, `w`, `m` (30 days), `y` (365 days) |
//! | `since:2026-11-01` | in which something happened on this day or later |

mod words;

use std::fmt;

use jiff::civil::Date;
use jiff::tz::TimeZone;

use self::words::Piece;
use crate::session::Millis;
use crate::tool::Tool;

/// What a person typed, taken apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parsed {
    /// Which sessions may be answers.
    pub filter: Filter,
    /// What to search for in them: the text without the filters.
    pub rest: String,
    /// The filters that were left out, in the order they were typed.
    pub problems: Vec<Problem>,
}

impl Parsed {
    /// Takes `text` apart. `zone` is where the days of dates begin.
    #[must_use]
    pub fn new(text: &str, zone: &TimeZone) -> Self {
        let mut parsed = Self::default();
        for piece in words::pieces(text) {
            match piece {
                Piece::Text(text) => parsed.rest.push_str(text),
                Piece::Filter { key, not, value } => parsed.take(key, not, &value, zone),
            }
        }
        parsed
    }

    /// The same and one filter more, as a flag of a command gives it.
    #[must_use]
    pub fn with(mut self, key: Key, value: &str, zone: &TimeZone) -> Self {
        self.take(key, false, value, zone);
        self
    }

    fn take(&mut self, key: Key, not: bool, value: &str, zone: &TimeZone) {
        if value.trim().is_empty() {
            self.problems.push(Problem::Empty(key));
            return;
        }
        match key {
            Key::Tool => self.take_tools(not, value),
            Key::Cwd => {
                let part = value.to_lowercase();
                let parts = if not {
                    &mut self.filter.not_cwds
                } else {
                    &mut self.filter.cwds
                };
                parts.push(part);
            }
            Key::Since => match Moment::parse(value, zone) {
                Ok(moment) if not => self.filter.before.push(moment),
                Ok(moment) => self.filter.since.push(moment),
                Err(problem) => self.problems.push(problem),
            },
        }
    }

    fn take_tools(&mut self, not: bool, value: &str) {
        let names = value.split(',').map(str::trim);
        for name in names.filter(|name| !name.is_empty()) {
            let lower = name.to_ascii_lowercase();
            let begins = |tool: &Tool| tool.name().starts_with(&lower);
            let tools: Vec<Tool> = Tool::ALL.into_iter().filter(begins).collect();
            match *tools {
                [tool] if not => self.filter.not_tools.add(tool),
                [tool] => self.filter.tools.add(tool),
                [] => self.problems.push(Problem::NoTool(name.to_owned())),
                _ => {
                    let typed = name.to_owned();
                    self.problems.push(Problem::ManyTools { typed, tools });
                }
            }
        }
    }
}

/// Which sessions may be answers. The default admits all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Any of these; none named means any.
    tools: Tools,
    not_tools: Tools,
    /// In lower case, as are those that must not be there.
    cwds: Vec<String>,
    not_cwds: Vec<String>,
    since: Vec<Moment>,
    before: Vec<Moment>,
}

impl Filter {
    /// Whether it admits every session there can be.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether a session may be an answer. `updated_at` is when something
    /// last happened in it, and `now` the moment of asking.
    #[must_use]
    pub fn admits(&self, tool: Tool, cwd: Option<&str>, updated_at: Millis, now: Millis) -> bool {
        self.admits_tool(tool) && self.admits_cwd(cwd) && self.span(now).has(updated_at)
    }

    /// Whether sessions of this tool may be answers.
    #[must_use]
    pub fn admits_tool(&self, tool: Tool) -> bool {
        (self.tools.is_empty() || self.tools.has(tool)) && !self.not_tools.has(tool)
    }

    /// Whether sessions of this directory, or of none, may be answers.
    #[must_use]
    pub fn admits_cwd(&self, cwd: Option<&str>) -> bool {
        if self.cwds.is_empty() && self.not_cwds.is_empty() {
            return true;
        }
        let Some(cwd) = cwd else {
            return self.cwds.is_empty();
        };
        let cwd = cwd.to_lowercase();
        self.cwds.iter().all(|part| cwd.contains(part))
            && !self.not_cwds.iter().any(|part| cwd.contains(part))
    }

    /// The time in which something must have happened last.
    #[must_use]
    pub fn span(&self, now: Millis) -> TimeSpan {
        TimeSpan {
            since: self.since.iter().map(|moment| moment.at(now)).max(),
            before: self.before.iter().map(|moment| moment.at(now)).min(),
        }
    }

    /// Whether all that it admits at `now`, `other` admitted at the moment
    /// `then`. It may say no where that is so.
    #[must_use]
    pub fn narrows(&self, now: Millis, other: &Self, then: Millis) -> bool {
        let tools = Tool::ALL
            .into_iter()
            .all(|tool| other.admits_tool(tool) || !self.admits_tool(tool));
        let cwds = other
            .cwds
            .iter()
            .all(|wide| self.cwds.iter().any(|part| part.contains(wide)));
        let not_cwds = other
            .not_cwds
            .iter()
            .all(|part| self.not_cwds.iter().any(|wide| part.contains(wide)));
        tools && cwds && not_cwds && self.span(now).is_within(other.span(then))
    }
}

/// From one moment to before another, open where there is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TimeSpan {
    since: Option<Millis>,
    before: Option<Millis>,
}

impl TimeSpan {
    /// Whether the moment is in it.
    #[must_use]
    pub fn has(self, moment: Millis) -> bool {
        self.since.is_none_or(|since| since <= moment)
            && self.before.is_none_or(|before| moment < before)
    }

    fn is_within(self, other: Self) -> bool {
        let begins = other
            .since
            .is_none_or(|wide| self.since.is_some_and(|since| since >= wide));
        let ends = other
            .before
            .is_none_or(|wide| self.before.is_some_and(|before| before <= wide));
        begins && ends
    }
}

/// Some of the tools, one bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Tools(u8);

impl Tools {
    fn add(&mut self, tool: Tool) {
        self.0 |= 1 << tool as u8;
    }

    fn has(self, tool: Tool) -> bool {
        self.0 & (1 << tool as u8) != 0
    }

    fn is_empty(self) -> bool {
        self.0 == 0
    }
}

/// The longest time span: longer ago than there were computers.
const MOST_HOURS: i64 = 200 * 365 * 24;

/// Whether a text has the form of a date. A parser of dates takes more, and
/// leaves out what is not the date.
fn is_date(text: &str) -> bool {
    let mut parts = text.split('-').map(str::len);
    let is_plain = text.bytes().all(|b| b.is_ascii_digit() || b == b'-');
    is_plain
        && [parts.next(), parts.next(), parts.next(), parts.next()]
            == [Some(4), Some(2), Some(2), None]
}

/// A point in time as typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Moment {
    /// So many milliseconds before the moment of asking.
    Ago(i64),
    At(Millis),
}

impl Moment {
    fn parse(text: &str, zone: &TimeZone) -> Result<Self, Problem> {
        let no_time = || Problem::NoTime(text.to_owned());
        let too_long = || Problem::TooLong(text.to_owned());
        if is_date(text) {
            let date: Date = text.parse().map_err(|_| no_time())?;
            let day = date.to_zoned_datetime(zone.clone());
            let moment = day.map_err(|_| no_time())?.timestamp();
            return Ok(Self::At(Millis(moment.as_millisecond())));
        }
        let digits = text.find(|c: char| !c.is_ascii_digit());
        let (count, unit) = digits
            .and_then(|digits| text.split_at_checked(digits))
            .filter(|(count, _)| !count.is_empty())
            .ok_or_else(no_time)?;
        let hours: i64 = match &*unit.to_ascii_lowercase() {
            "h" => 1,
            "d" => 24,
            "w" => 7 * 24,
            "m" => 30 * 24,
            "y" => 365 * 24,
            _ => return Err(no_time()),
        };
        // A count of digits alone is one, however many they are.
        let hours = count.parse().ok().and_then(|n: i64| n.checked_mul(hours));
        let hours = hours.filter(|hours| *hours <= MOST_HOURS);
        Ok(Self::Ago(hours.ok_or_else(too_long)? * 3_600_000))
    }

    fn at(self, now: Millis) -> Millis {
        match self {
            Self::Ago(span) => Millis(now.0.saturating_sub(span)),
            Self::At(moment) => moment,
        }
    }
}

/// What a filter looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// The tool that a session is of.
    Tool,
    /// The directory that it was begun in.
    Cwd,
    /// When something last happened in it.
    Since,
}

impl Key {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Tool, Self::Cwd, Self::Since];

    /// What stands before the colon.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Cwd => "cwd",
            Self::Since => "since",
        }
    }
}

/// Why a filter was left out. Shown, it is a hint of one line; what was typed
/// stands in it as it was typed, so it is to be cleaned like any outside text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// Nothing stands behind the colon, yet.
    Empty(Key),
    /// No tool's name begins like this.
    NoTool(String),
    /// The names of several tools begin like this.
    ManyTools {
        /// The beginning.
        typed: String,
        /// The tools.
        tools: Vec<Tool>,
    },
    /// This is neither a time span nor a date.
    NoTime(String),
    /// This time span goes back further than anything does.
    TooLong(String),
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = |tools: &[Tool], with: &str| {
            let names: Vec<&str> = tools.iter().map(|tool| tool.name()).collect();
            names.join(with)
        };
        match self {
            Self::Empty(Key::Tool) => {
                write!(f, "tool: takes one of {}", names(&Tool::ALL, ", "))
            }
            Self::Empty(Key::Cwd) => write!(f, "cwd: takes a part of a directory"),
            Self::Empty(Key::Since) => write!(f, "since: takes 7d, 12h, 2w, 3m, 1y or 2026-11-01"),
            Self::NoTool(typed) => {
                let all = names(&Tool::ALL, ", ");
                write!(f, "no tool is called {typed}: try one of {all}")
            }
            Self::ManyTools { typed, tools } => {
                write!(f, "tool:{typed} may be {}", names(tools, " or "))
            }
            Self::NoTime(typed) => write!(
                f,
                "since:{typed} is no time: try 7d, 12h, 2w, 3m, 1y or 2026-11-01"
            ),
            Self::TooLong(typed) => write!(f, "since:{typed} is too long ago: try 1y"),
        }
    }
}

#[cfg(test)]
mod tests;
