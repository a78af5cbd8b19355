//! The styles of the screen, out of the terminal's own 16 colours.
//!
//! A style only helps the eye: whatever it says is also said by a word, a sign
//! or a place, so that nothing is lost without colour.

use ratatui::style::{Color, Modifier, Style};

/// One style for each thing that is told apart on the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Theme {
    /// Ordinary text.
    pub text: Style,
    /// Text that matters less: tool lines, hints, counters.
    pub dim: Style,
    /// Lines between parts of the screen.
    pub rule: Style,
    /// The heading of a pane or a session's title.
    pub title: Style,
    /// The person's name in a conversation.
    pub you: Style,
    /// The model's name in a conversation.
    pub model: Style,
    /// A mention in the composer.
    pub mention: Style,
    /// What a message cites.
    pub citation: Style,
    /// Where something was left out, and what that means.
    pub cut: Style,
    /// Something that changed or needs a look.
    pub warning: Style,
    /// Something that failed.
    pub error: Style,
    /// Text that a search found.
    pub found: Style,
    /// The found text that the search stands at.
    pub found_here: Style,
    /// The characters of a list row that the query matched.
    pub matched: Style,
    /// The chosen row of a list.
    pub selected: Style,
}

impl Theme {
    /// The default theme; with `no_color`, bold, dim, underlined and reversed
    /// text alone.
    #[must_use]
    pub fn new(no_color: bool) -> Self {
        let style = |color: Option<Color>, modifier: Modifier| {
            let style = Style::new().add_modifier(modifier);
            match color {
                Some(color) if !no_color => style.fg(color),
                _ => style,
            }
        };
        let plain = Modifier::empty();
        let found = if no_color {
            Style::new().add_modifier(Modifier::UNDERLINED)
        } else {
            Style::new().fg(Color::Black).bg(Color::Yellow)
        };
        Self {
            text: Style::new(),
            dim: style(None, Modifier::DIM),
            rule: style(None, Modifier::DIM),
            title: style(None, Modifier::BOLD),
            you: style(Some(Color::Cyan), Modifier::BOLD),
            model: style(Some(Color::Green), Modifier::BOLD),
            mention: style(Some(Color::Cyan), Modifier::UNDERLINED),
            citation: style(Some(Color::Blue), plain),
            cut: style(Some(Color::Yellow), plain),
            warning: style(Some(Color::Yellow), Modifier::BOLD),
            error: style(Some(Color::Red), Modifier::BOLD),
            found,
            found_here: style(None, Modifier::REVERSED | Modifier::BOLD),
            matched: style(Some(Color::Yellow), Modifier::BOLD),
            selected: style(None, Modifier::REVERSED),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_colour_no_style_names_one() {
        let shown = format!("{:?}", Theme::new(true));
        for color in ["Color", "fg", "bg", "Red", "Yellow", "Cyan"] {
            assert!(!shown.contains(color), "{color} in {shown}");
        }
    }

    #[test]
    fn what_a_search_found_is_told_from_the_rest_without_colour() {
        let theme = Theme::new(true);
        assert_ne!(theme.found, theme.text);
        assert_ne!(theme.found, theme.found_here);
    }
}
