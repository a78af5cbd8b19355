//! What rows of lists have in common: where a session was begun, and what tells
//! it from another that looks the same.

use std::collections::{HashMap, HashSet};

use super::{FoundRow, TextRow};
use crate::session::SessionId;

/// How much of an id tells two sessions apart, in bytes.
const ID_TAIL: usize = 8;

/// A row of a list, as far as it can look like another.
pub(super) trait Alike {
    /// The session it is of.
    fn id(&self) -> &SessionId;
    /// What is the same of two that look alike.
    fn looks(&self) -> (String, String);
    /// Where it was begun.
    fn place(&mut self) -> &mut String;
}

impl Alike for FoundRow {
    fn id(&self) -> &SessionId {
        &self.id
    }

    fn looks(&self) -> (String, String) {
        (self.title.clone(), self.place.clone())
    }

    fn place(&mut self) -> &mut String {
        &mut self.place
    }
}

impl Alike for TextRow {
    fn id(&self) -> &SessionId {
        &self.id
    }

    fn looks(&self) -> (String, String) {
        (self.title.clone(), self.place.clone())
    }

    fn place(&mut self) -> &mut String {
        &mut self.place
    }
}

/// Rows of sessions that look the same get the end of their ids, or all of
/// them where the ends are the same too.
pub(super) fn tell_apart<R: Alike>(rows: &mut [R]) {
    for tail in [ID_TAIL, usize::MAX] {
        let mut seen: HashMap<_, HashSet<SessionId>> = HashMap::new();
        for row in &*rows {
            seen.entry(row.looks())
                .or_default()
                .insert(row.id().clone());
        }
        for row in &mut *rows {
            if seen.get(&row.looks()).is_some_and(|ids| ids.len() > 1) {
                let id = row.id().as_str();
                let from = id.ceil_char_boundary(id.len().saturating_sub(tail));
                let tail = format!("#{}", id.get(from..).unwrap_or_default());
                let place = row.place();
                if !place.is_empty() {
                    place.push(' ');
                }
                place.push_str(&tail);
            }
        }
    }
}

/// The person's home, where it is known.
pub(super) fn home_dir() -> Option<String> {
    let dirs = directories::BaseDirs::new()?;
    dirs.home_dir().to_str().map(str::to_owned)
}

/// A path with the person's home as `~`.
pub(super) fn short_path(path: &str, home: Option<&str>) -> String {
    match home.and_then(|home| path.strip_prefix(home)) {
        Some("") => "~".to_owned(),
        Some(rest) if rest.starts_with('/') => format!("~{rest}"),
        _ => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::{Millis, Role};
    use crate::tool::Tool;

    fn row(id: &str, title: &str, place: &str) -> FoundRow {
        FoundRow {
            id: id.into(),
            label: title.to_owned(),
            title: title.to_owned(),
            tool: Tool::Ibid,
            is_fork: false,
            place: place.to_owned(),
            when: Millis(0),
            matched: Vec::new(),
        }
    }

    fn text_row(id: &str, snippet: &str) -> TextRow {
        TextRow {
            id: id.into(),
            label: "Fix".to_owned(),
            title: "Fix".to_owned(),
            tool: Tool::Ibid,
            place: "~/api".to_owned(),
            message: Some(0),
            matches: 1,
            when: Millis(0),
            role: Role::User,
            snippet: snippet.to_owned(),
            marks: Vec::new(),
        }
    }

    fn places(mut rows: Vec<FoundRow>) -> Vec<String> {
        tell_apart(&mut rows);
        rows.into_iter().map(|row| row.place).collect()
    }

    #[test]
    fn rows_that_look_alike_get_the_ends_of_their_ids() {
        let rows = vec![
            row("session-one-1", "Fix", "~/api"),
            row("session-two-2", "Fix", "~/api"),
            row("other", "Fix", "~/web"),
        ];
        assert_eq!(
            places(rows),
            ["~/api #on-one-1", "~/api #on-two-2", "~/web"]
        );
    }

    #[test]
    fn ids_that_end_alike_are_shown_whole() {
        let rows = vec![
            row("a-12345678", "Fix", ""),
            row("b-12345678", "Fix", ""),
            row("", "Fix", ""),
            row("世界世界", "Fix", ""),
        ];
        let places = places(rows);
        let distinct: HashSet<_> = places.iter().collect();
        assert_eq!(distinct.len(), 4, "{places:?}");
    }

    #[test]
    fn several_rows_of_one_session_are_no_look_alikes() {
        let mut rows = vec![text_row("a", "one"), text_row("a", "two")];
        tell_apart(&mut rows);
        assert!(rows.iter().all(|row| row.place == "~/api"), "{rows:?}");
        rows.push(text_row("b", "three"));
        tell_apart(&mut rows);
        let places: Vec<_> = rows.iter().map(|row| &*row.place).collect();
        assert_eq!(places, ["~/api #a", "~/api #a", "~/api #b"]);
    }

    #[test]
    fn the_home_of_a_person_is_a_tilde() {
        let short = |path| short_path(path, Some("/home/ann"));
        assert_eq!(short("/home/ann"), "~");
        assert_eq!(short("/home/ann/api"), "~/api");
        assert_eq!(short("/home/anna"), "/home/anna");
        assert_eq!(short_path("/x", None), "/x");
    }
}
