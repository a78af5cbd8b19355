#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::string_slice)]

use proptest::prelude::*;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::piece::{LINE_BYTES, shared, split};
use super::*;
use crate::text::Text;
use crate::tui::testing::mono;

fn pager(text: &str) -> Pager {
    let text: Text = text.into();
    Pager::new(Wrap::Words, false).with(shared(Kind::Text, &text, 0..text.len()))
}

fn drawn(pager: &mut Pager, width: u16, height: u16) -> Vec<String> {
    let area = Rect::new(0, 0, width, height);
    let mut buffer = Buffer::empty(area);
    pager.draw(area, &mut buffer, &mono());
    (0..height)
        .map(|y| {
            let row: String = (0..width).map(|x| buffer[(x, y)].symbol()).collect();
            row.trim_end().to_owned()
        })
        .collect()
}

fn numbered(lines: usize) -> String {
    let lines: Vec<String> = (0..lines).map(|n| format!("line {n}")).collect();
    lines.join("\n")
}

#[test]
fn it_moves_by_rows_and_screens_and_stops_at_both_ends() {
    let mut pager = pager(&numbered(100));
    assert_eq!(drawn(&mut pager, 20, 3), ["line 0", "line 1", "line 2"]);
    pager.scroll(2);
    assert_eq!(drawn(&mut pager, 20, 3)[0], "line 2");
    pager.page(1);
    assert_eq!(drawn(&mut pager, 20, 3)[0], "line 4");
    pager.scroll(-50);
    assert_eq!(drawn(&mut pager, 20, 3)[0], "line 0");
    pager.end();
    assert_eq!(drawn(&mut pager, 20, 3), ["line 97", "line 98", "line 99"]);
    pager.scroll(i16::MAX);
    assert_eq!(drawn(&mut pager, 20, 3)[2], "line 99");
    assert!(pager.is_at_end());
}

/// A text in which each line is a piece.
fn of_lines(count: usize) -> Pager {
    let lines = (0..count).map(|n| Piece::own(Kind::Text, format!("line {n}")));
    Pager::new(Wrap::Words, false).with(lines)
}

#[test]
fn what_is_taken_out_of_the_middle_leaves_the_reader_at_the_same_text() {
    for (top, first) in [
        (0, "line 0"),
        (3, "line 4"),
        (4, "line 4"),
        (9, "line 9"),
        (7, "line 8"),
    ] {
        let mut pager = of_lines(20);
        drawn(&mut pager, 20, 2);
        pager.scroll(top);
        pager.remove(&[2..4, 6..8]);
        assert_eq!(drawn(&mut pager, 20, 2)[0], first, "from line {top}");
        pager.home();
        let all = drawn(&mut pager, 20, 20);
        let kept = (0..20).filter(|n| ![2, 3, 6, 7].contains(n));
        let kept: Vec<String> = kept.map(|n| format!("line {n}")).collect();
        assert_eq!(all[..16], kept);
    }
    let mut pager = of_lines(3);
    pager.remove(&[]);
    pager.remove(std::slice::from_ref(&(1..3)));
    assert_eq!(drawn(&mut pager, 20, 2), ["line 0", ""]);
}

#[test]
fn another_width_keeps_the_place() {
    let words: Vec<String> = (0..2000).map(|n| format!("w{n}")).collect();
    let mut pager = pager(&words.join(" "));
    drawn(&mut pager, 40, 5);
    pager.scroll(60);
    let first = drawn(&mut pager, 40, 5)[0].clone();
    let word = first.split(' ').next().unwrap();
    assert!(drawn(&mut pager, 23, 5)[0].contains(word));
    assert!(drawn(&mut pager, 90, 5)[0].contains(word));
}

#[test]
fn only_what_is_in_view_is_laid_out() {
    let mut pager = pager(&numbered(200_000));
    drawn(&mut pager, 80, 24);
    pager.end();
    drawn(&mut pager, 80, 24);
    assert!(pager.cached.len() <= 4, "{} pieces", pager.cached.len());
}

#[test]
fn what_is_laid_out_stays_within_its_limit() {
    let mut pager = pager(&"word ".repeat(1024 * 1024));
    for _ in 0..3 {
        drawn(&mut pager, 80, 24);
        pager.scroll(20_000);
        assert!(pager.cached_bytes < CACHE_BYTES + 8 * LINE_BYTES);
    }
}

#[test]
fn a_search_of_a_long_text_goes_on_in_steps() {
    let mut text = "hay hay\n".repeat(300_000);
    text.push_str("needle");
    let mut pager = pager(&text);
    drawn(&mut pager, 20, 3);
    pager.search_begin();
    pager.search_push("ne");
    assert_eq!(pager.search_count().as_deref(), Some("0/0…"));
    while pager.search_more() {}
    assert_eq!(pager.search_count().as_deref(), Some("1/1"));
    assert!(drawn(&mut pager, 20, 3).contains(&"needle".to_owned()));
}

#[test]
fn going_to_a_match_that_is_not_found_yet_takes_no_longer_step() {
    let mut text = "needle\n".to_owned();
    text.push_str(&"hay hay\n".repeat(300_000));
    text.push_str("needle");
    let mut pager = pager(&text);
    drawn(&mut pager, 20, 3);
    pager.search_begin();
    pager.search_push("ne");
    for turn in [Pager::search_next, Pager::search_previous] {
        pager.set_query("ne");
        pager.search_next();
        turn(&mut pager);
        assert_eq!(pager.search_count().as_deref(), Some("1/1…"));
        while pager.search_more() {}
        assert_eq!(pager.search_count().as_deref(), Some("2/2"));
        pager.home();
    }
}

#[test]
fn who_goes_elsewhere_meanwhile_is_not_taken_to_the_match() {
    let mut pager = pager(&format!("{}needle", "hay hay\n".repeat(300_000)));
    drawn(&mut pager, 20, 3);
    pager.search_begin();
    pager.search_push("ne");
    pager.scroll(2);
    let here = drawn(&mut pager, 20, 3);
    while pager.search_more() {}
    assert_eq!(pager.search_count().as_deref(), Some("0/1"));
    assert_eq!(drawn(&mut pager, 20, 3), here);
}

#[test]
fn long_texts_are_cut_at_line_feeds_and_only_then_inside_a_line() {
    let lines = numbered(5_000);
    let parts: Vec<&str> = split(&lines).map(|range| &lines[range]).collect();
    assert!(parts.len() > 3);
    assert_eq!(parts.join("\n"), lines);

    let line = "世".repeat(LINE_BYTES);
    let parts: Vec<&str> = split(&line).map(|range| &line[range]).collect();
    assert_eq!(parts.len(), 4);
    assert_eq!(parts.concat(), line);
}

#[test]
fn a_character_that_joins_what_came_before_is_laid_out_with_it() {
    let mut piece = Piece::own(Kind::Text, "👩世\ta👩\u{200d}");
    let mut laid = Laid::new(&piece, 8, Wrap::Words, false);
    piece.body = Body::Own("👩世\ta👩\u{200d}👩世".to_owned());
    laid.extend(&piece);
    assert_eq!(laid.rows, Laid::new(&piece, 8, Wrap::Words, false).rows);
}

proptest! {
    #[test]
    fn a_piece_that_grows_is_laid_out_as_if_it_were_new(
        parts in prop::collection::vec("[a b\u{301}世👩\u{200d}💻\n\t]{0,8}", 0..20),
        width in 1_u16..30,
    ) {
        let mut piece = Piece::own(Kind::Text, "");
        let mut grown = Laid::new(&piece, width, Wrap::Words, false);
        for part in parts {
            if let Body::Own(text) = &mut piece.body {
                text.push_str(&part);
            }
            grown.extend(&piece);
            let new = Laid::new(&piece, width, Wrap::Words, false);
            prop_assert_eq!(&grown.text, &new.text);
            prop_assert_eq!(&grown.rows, &new.rows);
        }
    }

    #[test]
    fn every_row_is_passed_once_on_the_way_down_and_up(
        text in "[ab 世\n]{0,300}",
        width in 1_u16..12,
    ) {
        let mut pager = pager(&text);
        pager.resize(width, 1);
        let mut down = vec![pager.snapped(Place::default())];
        while let Some(next) = pager.below(*down.last().unwrap()) {
            down.push(next);
        }
        let mut up = vec![pager.last_row()];
        while let Some(next) = pager.above(*up.last().unwrap()) {
            up.push(next);
        }
        up.reverse();
        prop_assert_eq!(down, up);
    }
}
