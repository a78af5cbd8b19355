#![allow(clippy::unwrap_used)]

use super::*;

const HOUR: i64 = 3_600_000;
const DAY: i64 = 24 * HOUR;
/// 2026-12-02T00:00:00Z.
const NOW: Millis = Millis(1_796_169_600_000);

fn parsed(text: &str) -> Parsed {
    Parsed::new(text, &TimeZone::UTC)
}

/// The filter of a text that has nothing wrong with it.
fn filter(text: &str) -> Filter {
    let parsed = parsed(text);
    assert_eq!(parsed.problems, [], "{text}");
    parsed.filter
}

/// The tools that a text admits.
fn tools(text: &str) -> Vec<Tool> {
    let filter = parsed(text).filter;
    let admits = |tool: &Tool| filter.admits(*tool, None, NOW, NOW);
    Tool::ALL.into_iter().filter(admits).collect()
}

fn admits_cwd(text: &str, cwd: &str) -> bool {
    filter(text).admits(Tool::Ibid, Some(cwd), NOW, NOW)
}

fn admits_time(text: &str, updated_at: i64) -> bool {
    filter(text).admits(Tool::Ibid, None, Millis(updated_at), NOW)
}

fn problems(text: &str) -> Vec<Problem> {
    let parsed = parsed(text);
    assert!(parsed.filter.is_empty(), "{text}: {:?}", parsed.filter);
    parsed.problems
}

#[test]
fn text_without_filters_is_left_as_it_was_typed() {
    for text in [
        "",
        "  ",
        " fix  the login ",
        "foo::bar",
        "tool::named",
        "C:x",
        "https://example.com/since:7d",
        "my-tool:codex",
        "(tool:codex)",
        "Tool:codex",
        "tool codex",
        "- tool",
        "\"tool:codex since:7d\"",
        "\"not closed tool:codex",
        "修复:登录",
    ] {
        let expected = Parsed {
            rest: text.to_owned(),
            ..Parsed::default()
        };
        assert_eq!(parsed(text), expected, "{text}");
    }
}

#[test]
fn filters_are_taken_out_of_the_text_with_the_spaces_behind_them() {
    for (text, rest) in [
        ("tool:codex", ""),
        ("tool:codex login", "login"),
        ("fix tool:codex  the login", "fix the login"),
        ("fix  -tool:codex", "fix  "),
        ("tool:codex since:7d cwd:api", ""),
        ("a cwd:\"my work\" b", "a b"),
        ("5\" disk tool:codex", "5\" disk "),
        ("a tool:xyz b", "a b"),
    ] {
        assert_eq!(parsed(text).rest, rest, "{text}");
    }
}

#[test]
fn no_filter_admits_everything() {
    let filter = Filter::default();
    assert!(filter.is_empty());
    assert!(filter.admits(Tool::Codex, None, Millis(i64::MAX), NOW));
    assert!(filter.admits(Tool::Ibid, Some("/"), Millis(i64::MIN), NOW));
}

#[test]
fn a_tool_goes_by_its_name_or_the_beginning_of_it() {
    assert_eq!(tools("tool:codex"), [Tool::Codex]);
    assert_eq!(tools("tool:CO"), [Tool::Codex]);
    assert_eq!(tools("tool:g"), [Tool::Gemini]);
    for tool in Tool::ALL {
        assert_eq!(tools(&format!("tool:{tool}")), [tool]);
    }
}

#[test]
fn each_of_several_tools_is_admitted() {
    let expected = [Tool::ClaudeCode, Tool::Codex];
    assert_eq!(tools("tool:codex,claude"), expected);
    assert_eq!(tools("tool:codex tool:claude"), expected);
    assert_eq!(tools("tool:codex,claude,"), expected);
}

#[test]
fn a_tool_with_a_minus_is_not_admitted() {
    let others = [Tool::Ibid, Tool::Dsh, Tool::ClaudeCode, Tool::Opencode];
    assert_eq!(tools("-tool:codex,gemini"), others);
    assert_eq!(tools("-tool:codex -tool:gemini"), others);
    assert_eq!(tools("tool:codex,gemini -tool:codex"), [Tool::Gemini]);
}

#[test]
fn a_directory_has_the_text_in_it_whatever_the_case() {
    assert!(admits_cwd("cwd:api", "/work/my-API/src"));
    assert!(admits_cwd("cwd:É", "/work/été"));
    assert!(!admits_cwd("cwd:api", "/work/web"));
    assert!(!filter("cwd:api").admits(Tool::Ibid, None, NOW, NOW));
}

#[test]
fn a_directory_must_have_all_texts_and_none_with_a_minus() {
    assert!(admits_cwd("cwd:work cwd:api", "/work/api"));
    assert!(!admits_cwd("cwd:work cwd:api", "/work/web"));
    assert!(!admits_cwd("-cwd:api", "/work/api"));
    assert!(!admits_cwd("-cwd:api -cwd:web", "/work/api"));
    assert!(admits_cwd("-cwd:api", "/work/web"));
    assert!(filter("-cwd:api").admits(Tool::Ibid, None, NOW, NOW));
}

#[test]
fn quotes_hold_a_directory_with_spaces_together() {
    for text in ["cwd:\"my work\"", "cwd:\"my work", "cwd:my\" \"work"] {
        assert!(admits_cwd(text, "/home/my work"), "{text}");
        assert!(!admits_cwd(text, "/home/my-work"), "{text}");
    }
}

#[test]
fn since_counts_back_from_now() {
    for (text, ago) in [
        ("since:12h", 12 * HOUR),
        ("since:7d", 7 * DAY),
        ("since:2w", 14 * DAY),
        ("since:3m", 90 * DAY),
        ("since:1Y", 365 * DAY),
        ("since:0d", 0),
    ] {
        assert!(admits_time(text, NOW.0 - ago), "{text}");
        assert!(!admits_time(text, NOW.0 - ago - 1), "{text}");
        assert!(admits_time(text, NOW.0 + DAY), "{text}");
    }
}

#[test]
fn since_longer_than_there_is_anything_filters_nothing_and_is_told() {
    for text in [
        "999999999999999999999999y",
        "9223372036854775807d",
        "201y",
        "1752001h",
    ] {
        let query = format!("since:{text}");
        assert_eq!(problems(&query), [Problem::TooLong(text.to_owned())]);
    }
    for text in ["since:200y", "since:1752000h"] {
        assert_eq!(parsed(text).problems, [], "{text}");
    }
}

#[test]
fn since_a_date_begins_with_that_day_in_the_given_zone() {
    let first = NOW.0 - 31 * DAY;
    assert!(admits_time("since:2026-11-01", first));
    assert!(!admits_time("since:2026-11-01", first - 1));
    let zone = TimeZone::fixed(jiff::tz::offset(2));
    let filter = Parsed::new("since:2026-11-01", &zone).filter;
    assert!(filter.span(NOW).has(Millis(first - 2 * HOUR)));
    assert!(!filter.span(NOW).has(Millis(first - 2 * HOUR - 1)));
}

#[test]
fn since_with_a_minus_admits_what_is_older() {
    assert!(admits_time("-since:7d", NOW.0 - 7 * DAY - 1));
    assert!(!admits_time("-since:7d", NOW.0 - 7 * DAY));
}

#[test]
fn several_times_must_all_hold() {
    assert!(admits_time("since:7d -since:1d", NOW.0 - 2 * DAY));
    assert!(!admits_time("since:7d -since:1d", NOW.0));
    assert!(!admits_time("since:7d since:1d", NOW.0 - 2 * DAY));
    assert!(!admits_time("-since:7d -since:1d", NOW.0 - 2 * DAY));
}

#[test]
fn what_cannot_be_understood_filters_nothing_and_is_told() {
    let no_time = |text: &str| Problem::NoTime(text.to_owned());
    assert_eq!(problems("tool:"), [Problem::Empty(Key::Tool)]);
    assert_eq!(problems("-cwd:"), [Problem::Empty(Key::Cwd)]);
    assert_eq!(problems("cwd:\" \""), [Problem::Empty(Key::Cwd)]);
    assert_eq!(problems("since: 7d"), [Problem::Empty(Key::Since)]);
    assert_eq!(problems("tool:xyz"), [Problem::NoTool("xyz".to_owned())]);
    for text in [
        "abc",
        "7",
        "d",
        "7days",
        "-7d",
        "1.5d",
        "2026-1",
        "2026-02-30",
        "2026-11-01T12:00",
        "20261101",
        "99999-01-01",
        "2026-11-01-",
    ] {
        assert_eq!(problems(&format!("since:{text}")), [no_time(text)]);
    }
    let many = Problem::ManyTools {
        typed: "C".to_owned(),
        tools: vec![Tool::ClaudeCode, Tool::Codex],
    };
    assert_eq!(problems("tool:C"), [many]);
}

#[test]
fn what_is_understood_counts_beside_what_is_not() {
    let parsed = parsed("tool:codex,xyz since:abc cwd:api");
    assert_eq!(parsed.filter, filter("tool:codex cwd:api"));
    assert_eq!(parsed.problems.len(), 2);
}

#[test]
fn a_problem_says_what_to_type_instead() {
    let said = |text: &str| problems(text).first().unwrap().to_string();
    assert_eq!(
        said("tool:xyz"),
        "no tool is called xyz: try one of ibid, dsh, claude, codex, gemini, opencode"
    );
    assert_eq!(said("tool:c"), "tool:c may be claude or codex");
    assert_eq!(
        said("since:abc"),
        "since:abc is no time: try 7d, 12h, 2w, 3m, 1y or 2026-11-01"
    );
    assert_eq!(said("cwd:"), "cwd: takes a part of a directory");
}

#[test]
fn a_filter_that_grows_narrows_what_it_was() {
    for (narrow, wide) in [
        ("", ""),
        ("tool:codex", ""),
        ("tool:codex", "tool:codex,claude"),
        ("tool:codex", "-tool:claude"),
        ("cwd:api", "cwd:a"),
        ("cwd:api cwd:web", "cwd:web"),
        ("-cwd:a", "-cwd:api"),
        ("since:1d", "since:7d"),
        ("-since:7d", "-since:1d"),
        ("since:7d", "since:7d"),
        ("cwd:a since:2026-11-02", "since:2026-11-01"),
    ] {
        let (narrow_filter, wide_filter) = (filter(narrow), filter(wide));
        assert!(
            narrow_filter.narrows(NOW, &wide_filter, NOW),
            "{narrow}, {wide}"
        );
        let back = wide_filter.narrows(NOW, &narrow_filter, NOW);
        assert_eq!(back, narrow == wide, "{wide}, {narrow}");
    }
    assert!(!filter("tool:codex").narrows(NOW, &filter("cwd:a"), NOW));
    assert!(!filter("cwd:a").narrows(NOW, &filter("-cwd:b"), NOW));
}

#[test]
fn time_that_passes_narrows_what_is_young_and_widens_what_is_old() {
    let later = Millis(NOW.0 + 1);
    let (young, old) = (filter("since:1d"), filter("-since:1d"));
    assert!(young.narrows(later, &young, NOW));
    assert!(!young.narrows(NOW, &young, later));
    assert!(!old.narrows(later, &old, NOW));
    assert!(old.narrows(NOW, &old, later));
}
