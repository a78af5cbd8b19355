//! Makes any text safe to show.
//!
//! Titles, paths, session text, model text and what a person types can hold
//! anything. What this module returns holds no control character, no direction
//! control and no invisible character: C0 controls are shown as control
//! pictures (`␛`), the others as escapes (`\u{202e}`). Measure and cut text
//! only after it went through here. The stored text is never changed by it.

use std::borrow::Cow;
use std::fmt::Write as _;

use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthChar as _;

/// How a tab is drawn in text of several lines: always four columns, so that
/// what a piece of text looks like does not depend on what is before it.
pub(crate) const TAB: &str = "    ";

/// The text as one line: a line feed is shown as `⏎`, a tab as one space.
#[must_use]
pub(crate) fn line(text: &str) -> Cow<'_, str> {
    safe(text, "⏎", " ")
}

/// The text as lines: line feeds stay, `\r\n` becomes `\n`, a tab becomes
/// [`TAB`].
#[must_use]
pub(crate) fn block(text: &str) -> Cow<'_, str> {
    safe(text, "\n", TAB)
}

/// Joiners and variation selectors stay where they shape a visible character
/// (`👩‍💻`, `❤️`), and so do the tags of the three subdivision flags.
fn safe<'a>(text: &'a str, line_feed: &str, tab: &str) -> Cow<'a, str> {
    let keeps = |c| is_plain(c) || c == '\n' && line_feed == "\n";
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) || text.chars().all(keeps) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 16);
    for cluster in text.graphemes(true) {
        match cluster {
            "\n" | "\r\n" => safe.push_str(line_feed),
            "\t" => safe.push_str(tab),
            _ if is_shaped(cluster) => safe.push_str(cluster),
            _ => cluster.chars().for_each(|c| push_visible(&mut safe, c)),
        }
    }
    Cow::Owned(safe)
}

/// A text in JSON, still as JSON that means the same: whatever can't be shown
/// is written as an escape. Only strings can hold any of it.
#[must_use]
pub(crate) fn json(text: &str) -> Cow<'_, str> {
    if text.chars().all(|c| is_plain(c) || c == '\n') {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_plain(c) || c == '\n' {
            safe.push(c);
        } else {
            for unit in c.encode_utf16(&mut [0; 2]) {
                // Writing to a String can't fail.
                let _ = write!(safe, "\\u{unit:04x}");
            }
        }
    }
    Cow::Owned(safe)
}

fn push_visible(safe: &mut String, c: char) {
    match c {
        '\0'..='\u{1f}' => safe.extend(char::from_u32(0x2400 + u32::from(c))),
        '\u{7f}' => safe.push('␡'),
        _ if is_plain(c) => safe.push(c),
        // Writing to a String can't fail.
        _ => drop(write!(safe, "\\u{{{:x}}}", u32::from(c))),
    }
}

/// Whether every invisible character of this cluster does the work that it exists for. One that does not makes the whole
/// cluster suspect, or an escape could come between a joiner and what it joins.
fn is_shaped(cluster: &str) -> bool {
    const SUBDIVISION_FLAGS: [&str; 3] = [
        "\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
        "\u{1f3f4}\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}",
        "\u{1f3f4}\u{e0067}\u{e0062}\u{e0077}\u{e006c}\u{e0073}\u{e007f}",
    ];
    if SUBDIVISION_FLAGS.contains(&cluster) {
        return true;
    }
    let mut before = None;
    let mut chars = cluster.chars().peekable();
    while let Some(c) = chars.next() {
        let is_visible = match c {
            // Unicode continues a cluster after a joiner only where the joiner joins.
            '\u{200d}' => {
                before.is_some()
                    && chars
                        .peek()
                        .is_some_and(|&next| is_plain(next) && has_width(next))
            }
            '\u{fe0e}' | '\u{fe0f}' => before.is_some_and(takes_presentation),
            _ => is_plain(c),
        };
        if !is_visible {
            return false;
        }
        before = Some(c);
    }
    true
}

fn has_width(c: char) -> bool {
    c.width().is_some_and(|columns| columns > 0)
}

/// Characters that have a text and an emoji presentation, roughly: symbols, the keycap bases, and the few letters among them.
fn takes_presentation(c: char) -> bool {
    match c {
        '#'
        | '*'
        | '0'..='9'
        | 'ℹ'
        | 'Ⓜ'
        | '\u{1f170}'
        | '\u{1f171}'
        | '\u{1f17e}'
        | '\u{1f17f}' => true,
        _ => c >= '©' && is_plain(c) && has_width(c) && !c.is_alphanumeric(),
    }
}

/// Neither a control nor invisible on its own.
fn is_plain(c: char) -> bool {
    !c.is_control()
        && !matches!(c,
            // Soft hyphen, grapheme joiner, Arabic letter mark, Hangul and Khmer fillers, Mongolian selectors.
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
            // Zero-width characters, line and paragraph separators, direction controls, invisible operators.
            | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            // More fillers, variation selectors, the byte order mark, interlinear annotation.
            | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
            // Controls of hieroglyphs, shorthand and music; tags, and all that is reserved for more of the kind.
            | '\u{13430}'..='\u{1343f}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use unicode_width::UnicodeWidthStr as _;

    use super::*;

    fn is_bidi_control(c: char) -> bool {
        matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    }

    fn assert_safe(text: &str) {
        for (safe, has_lines) in [(line(text), false), (block(text), true)] {
            let is_allowed = |c| c == '\n' && has_lines;
            let is_bad = |&c: &char| c.is_control() && !is_allowed(c) || is_bidi_control(c);
            assert_eq!(safe.chars().find(is_bad), None, "{text:?} gave {safe:?}");
        }
    }

    #[test]
    fn no_character_brings_a_control_to_the_screen() {
        for c in '\0'..=char::MAX {
            assert_safe(c.encode_utf8(&mut [0; 4]));
        }
    }

    #[test]
    fn no_place_lets_a_control_through() {
        for c in ('\0'..=char::MAX).filter(|&c| c.is_control() || is_bidi_control(c)) {
            let beside = [
                "",
                "a",
                " ",
                "👩",
                "👩\u{200d}",
                "\u{fe0f}",
                "\u{301}",
                "\r",
                "\u{600}",
                "क\u{94d}",
            ];
            for before in beside {
                for behind in beside {
                    assert_safe(&format!("{before}{c}{behind}"));
                    assert_safe(&format!("{before}{c}{c}{behind}"));
                }
            }
        }
    }

    #[test]
    fn every_character_that_is_not_printed_as_it_is_shows_something() {
        for c in '\0'..=char::MAX {
            if !is_plain(c) {
                let text = c.to_string();
                assert!(line(&text).width() > 0, "{c:?}");
            }
        }
    }

    #[test]
    fn controls_are_shown_as_pictures_or_escapes() {
        assert_eq!(line("\x1b[31mred\x7f\u{9b}"), "␛[31mred␡\\u{9b}");
        assert_eq!(line("a\u{202e}b\u{200b}c"), "a\\u{202e}b\\u{200b}c");
        assert_eq!(block("x\u{2028}\u{feff}"), "x\\u{2028}\\u{feff}");
        assert_eq!(line("a\u{e0041}"), "a\\u{e0041}");
    }

    #[test]
    fn json_stays_json_of_the_same_meaning() {
        let text: String = ('\0'..=char::MAX).filter(|&c| !is_plain(c)).collect();
        let written = serde_json::to_string(&text).unwrap_or_default();
        let safe = json(&written);
        assert!(safe.chars().all(is_plain), "{safe}");
        assert_eq!(serde_json::from_str::<String>(&safe).ok(), Some(text));
        assert_eq!(json("\"a\u{9b}\""), "\"a\\u009b\"");
    }

    #[test]
    fn lines_and_tabs_follow_the_policy() {
        assert_eq!(block("a\tb\r\nc\rd\n"), "a    b\nc␍d\n");
        assert_eq!(line("a\tb\r\nc\n"), "a b⏎c⏎");
    }

    #[test]
    fn emoji_keep_their_joiners_and_selectors() {
        for text in [
            "👩‍💻",
            "❤️",
            "1️⃣",
            "🏳️‍🌈",
            "🕵🏻‍♂️",
            "👁️‍🗨️",
            "☺︎",
            "ℹ️",
            "🏴󠁧󠁢󠁥󠁮󠁧󠁿",
            "क्‍ष",
            "e\u{301}",
            "世界",
            "🇩🇪",
        ] {
            assert!(
                matches!(line(text), Cow::Borrowed(_)) || line(text) == text,
                "{text}"
            );
        }
    }

    #[test]
    fn hidden_data_behind_a_visible_character_is_shown() {
        assert_eq!(line("😀\u{fe0f}\u{fe0f}"), "😀\\u{fe0f}\\u{fe0f}");
        assert_eq!(line("a\u{fe0f}"), "a\\u{fe0f}");
        assert_eq!(line("👩\u{200d}"), "👩\\u{200d}");
        assert_eq!(line("👩\u{fe01}\u{200d}👩"), "👩\\u{fe01}\\u{200d}👩");
    }

    #[test]
    fn safe_text_stays_as_it_is() {
        let blocks = [
            '\0'..='\u{31ff}',
            '\u{a000}'..='\u{abff}',
            '\u{f900}'..='\u{ffff}',
        ];
        let more = ['\u{1f000}'..='\u{1fbff}', '\u{e0000}'..='\u{e01ff}'];
        for c in blocks.into_iter().chain(more).flatten() {
            let safe = line(&format!("👩{c}👩{c}\u{fe0f}")).into_owned();
            assert_eq!(line(&safe), safe);
        }
    }

    #[test]
    fn nothing_to_change_is_borrowed() {
        assert!(matches!(block("plain, größer, 世界"), Cow::Borrowed(_)));
    }
}
