//! The styles of the screen, out of the terminal's own 16 colours.
//!
//! A style only helps the eye: whatever it says is also said by a word, a sign
//! or a place, so that nothing is lost without colour.

use ratatui::style::{Color, Modifier, Style};

use crate::config::ThemeName;

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
    /// The theme of a name. Without colour there is bold, dim, underlined and
    /// reversed text alone.
    #[must_use]
    pub fn of(name: ThemeName) -> Self {
        let hues = Hues::of(name);
        let style = |color: Option<Color>, modifier: Modifier| {
            let style = Style::new().add_modifier(modifier);
            color.map_or(style, |color| style.fg(color))
        };
        let hue = |of: fn(&Hues) -> Color| hues.as_ref().map(of);
        let plain = Modifier::empty();
        let found = match &hues {
            None => Style::new().add_modifier(Modifier::UNDERLINED),
            Some(_) => Style::new().fg(Color::Black).bg(Color::Yellow),
        };
        Self {
            text: Style::new(),
            dim: style(None, Modifier::DIM),
            rule: style(None, Modifier::DIM),
            title: style(None, Modifier::BOLD),
            you: style(hue(|hues| hues.you), Modifier::BOLD),
            model: style(hue(|hues| hues.model), Modifier::BOLD),
            mention: style(hue(|hues| hues.you), Modifier::UNDERLINED),
            citation: style(hue(|hues| hues.citation), plain),
            cut: style(hue(|hues| hues.warning), plain),
            warning: style(hue(|hues| hues.warning), Modifier::BOLD),
            error: style(hue(|hues| hues.error), Modifier::BOLD),
            found,
            found_here: style(None, Modifier::REVERSED | Modifier::BOLD),
            matched: style(hue(|hues| hues.warning), Modifier::BOLD),
            selected: style(None, Modifier::REVERSED),
        }
    }
}

/// The colours that tell things apart.
struct Hues {
    you: Color,
    model: Color,
    citation: Color,
    warning: Color,
    error: Color,
}

impl Hues {
    /// Those of a name; `None` for no colour.
    fn of(name: ThemeName) -> Option<Self> {
        Some(match name {
            ThemeName::Terminal => Self {
                you: Color::Cyan,
                model: Color::Green,
                citation: Color::Blue,
                warning: Color::Yellow,
                error: Color::Red,
            },
            ThemeName::Dark => Self {
                you: Color::LightCyan,
                model: Color::LightGreen,
                citation: Color::LightBlue,
                warning: Color::LightYellow,
                error: Color::LightRed,
            },
            // Yellow and cyan can't be read on white.
            ThemeName::Light => Self {
                you: Color::Blue,
                model: Color::Green,
                citation: Color::Blue,
                warning: Color::Magenta,
                error: Color::Red,
            },
            ThemeName::Mono => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::THEMES;

    #[test]
    fn without_colour_no_style_names_one() {
        let shown = format!("{:?}", Theme::of(ThemeName::Mono));
        for color in ["Color", "fg", "bg", "Red", "Yellow", "Cyan"] {
            assert!(!shown.contains(color), "{color} in {shown}");
        }
    }

    #[test]
    fn what_a_search_found_is_told_from_the_rest_without_colour() {
        let theme = Theme::of(ThemeName::Mono);
        assert_ne!(theme.found, theme.text);
        assert_ne!(theme.found, theme.found_here);
    }

    #[test]
    fn every_name_has_colours_of_its_own() {
        let all = THEMES.map(|(_, name)| Theme::of(name));
        for (place, theme) in all.iter().enumerate() {
            assert!(!all.iter().skip(place + 1).any(|other| other == theme));
        }
    }

    #[test]
    fn on_a_light_background_nothing_is_yellow_or_bright_but_a_background() {
        let shown = format!("{:?}", Theme::of(ThemeName::Light));
        for color in ["fg(Yellow", "Cyan", "Light"] {
            assert!(!shown.contains(color), "{color} in {shown}");
        }
    }
}
