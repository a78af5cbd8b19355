use super::*;

#[test]
fn a_string_ends_where_it_does_however_long_it_is() {
    // Longer than all that is looked at at once.
    for at in 0..3 * LONG_WORD {
        for (written, said) in [
            ("\"", Some("")),
            ("\\n\"", Some("\n")),
            ("é\\\"\"", Some("é\"")),
            ("\u{1}\"", None),
            ("", None),
        ] {
            let plain = "x".repeat(at);
            let said = said.map(|said| format!("{plain}{said}"));
            let line = format!("\"{plain}{written}");
            // What is behind it is no part of it.
            for line in [format!("{line},{}", "y".repeat(2 * LONG_WORD)), line] {
                let bytes = line.as_bytes();
                let mut room = vec![0; line.len() + WORD];
                let written = Scanner::new(bytes).unescape(&mut room);
                let text = written.map(|len| String::from_utf8_lossy(&room[..len]));
                assert_eq!(text.as_deref(), said.as_deref(), "{line:?}");
                assert_eq!(Scanner::new(bytes).skip().is_some(), said.is_some());
            }
        }
    }
}

#[test]
fn white_space_is_passed_over_and_other_control_characters_are_not() {
    let passes = |json: &str| {
        let mut json = Scanner::new(json.as_bytes());
        json.skip().and_then(|()| json.end()).is_some()
    };
    assert!(passes(" \t{ \"a\"\r\n:\n[ 1 ,\t\"b\" ] , \"c\" : { } }\n "));
    for json in ["{\u{b}\"a\":1}", "[1,\u{0}2]", "1\u{c}", "\u{1f}1", "1 2"] {
        assert!(!passes(json), "{json:?}");
    }
}

#[test]
fn numbers_that_are_passed_over_are_numbers() {
    let passes = |json: &str| {
        let mut json = Scanner::new(json.as_bytes());
        json.skip().and_then(|()| json.end()).is_some()
    };
    for json in ["0", "-1", "10", "1.5", "-0.25", "0.0"] {
        assert!(passes(json), "{json}");
    }
    for json in ["-0", "01", "1.", ".5", "-", "1e3", "1.5e3", "1.2.3", "-.5"] {
        assert!(!passes(json), "{json}");
    }
}

#[test]
fn a_beginning_is_cut_behind_a_whole_character() {
    let of = |json: &str, most: usize| {
        let mut beginning = Beginning::new(most);
        let mut json = Scanner::new(json.as_bytes());
        json.beginning(&mut beginning)?;
        json.end()?;
        Some(beginning.into_string())
    };
    assert_eq!(of(r#""a\nb""#, 9).unwrap(), "a\nb");
    assert_eq!(of(r#""a\nb""#, 2).unwrap(), "a\n");
    assert_eq!(of(r#""aéb""#, 2).unwrap(), "a");
    assert_eq!(of(r#""a\u00e9b""#, 2).unwrap(), "a");
    assert_eq!(of(r#""a\u00e9b""#, 3).unwrap(), "aé");
    // What is not kept must be sound too.
    assert_eq!(of(r#""abc\x""#, 2), None);
    assert_eq!(of(r#""abc"#, 2), None);
}
