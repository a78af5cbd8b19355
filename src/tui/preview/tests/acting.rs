//! What a reader does in the preview: turns, searches, anything at any size.

use proptest::prelude::*;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::widgets::StatefulWidget as _;

use super::*;
use crate::config::ThemeName;
use crate::tui::testing::render;
use crate::tui::theme::Theme;

#[test]
fn a_reference_that_grew_since_the_preview_is_named() {
    let now = prepare(vec![flaky()], 65_536, false);
    let note = "+2 messages since the preview".to_owned();
    let mut state = ready(now);
    state.ready_mut().unwrap().set_note(Some(note));
    let screen = draw((80, 24), PreviewMode::Review, &mut state);
    assert!(screen.contains("+2 messages"), "{screen}");
}

#[test]
fn the_arrows_go_round_the_references_in_either_view() {
    let captures = ["one", "two", "three"].map(|id| {
        let text = format!("text of {id} ").repeat(200);
        capture(id, &[(Role::User, &text)])
    });
    let mut state = ready(prepare(captures.to_vec(), 65_536, false));
    let shown = |state: &mut PreviewState| draw((60, 14), PreviewMode::Preview, state);
    assert!(shown(&mut state).contains("Title of one"));
    state.previous_reference();
    assert!(shown(&mut state).contains("Title of three"));
    state.switch_view();
    state.next_reference();
    state.next_reference();
    let screen = shown(&mut state);
    assert!(screen.contains("2/3 · exact text"), "{screen}");
    // The exact text stands at the reference's own data.
    assert!(screen.contains(r#""label":"Title of two""#), "{screen}");
    assert!(!screen.contains("text of one"), "{screen}");
}

#[test]
fn a_search_goes_from_match_to_match_and_says_where_it_is() {
    let text = "Needle one\nneedle two\nNEEDLE three\n".repeat(20);
    let mut state = ready(prepare(
        vec![capture("s", &[(Role::User, &text)])],
        65_536,
        false,
    ));
    let count = |state: &mut PreviewState| {
        draw((60, 20), PreviewMode::Preview, state);
        state.pager_mut().unwrap().search_count()
    };
    let pager = |state: &mut PreviewState, act: fn(&mut Pager)| act(state.pager_mut().unwrap());
    count(&mut state);
    pager(&mut state, Pager::search_begin);
    assert_eq!(count(&mut state), None);
    for c in "needle".chars() {
        state
            .pager_mut()
            .unwrap()
            .search_push(c.encode_utf8(&mut [0; 4]));
    }
    assert_eq!(count(&mut state).as_deref(), Some("1/60"));
    pager(&mut state, Pager::search_previous);
    assert_eq!(count(&mut state).as_deref(), Some("60/60"));
    pager(&mut state, Pager::search_next);
    pager(&mut state, Pager::search_next);
    assert_eq!(count(&mut state).as_deref(), Some("2/60"));

    // A capital letter makes the case count.
    for _ in 0.."needle".len() {
        pager(&mut state, Pager::search_pop);
    }
    assert_eq!(count(&mut state), None);
    for c in "Needle".chars() {
        state
            .pager_mut()
            .unwrap()
            .search_push(c.encode_utf8(&mut [0; 4]));
    }
    assert_eq!(count(&mut state).as_deref(), Some("1/20"));
    state.pager_mut().unwrap().search_push("x");
    assert_eq!(count(&mut state).as_deref(), Some("not found"));
    pager(&mut state, Pager::search_pop);
    pager(&mut state, Pager::search_accept);

    // The query goes along into the other view.
    state.switch_view();
    assert_eq!(count(&mut state).as_deref(), Some("0/20"));
    pager(&mut state, Pager::search_next);
    assert_eq!(count(&mut state).as_deref(), Some("1/20"));
}

#[test]
fn calling_a_search_off_goes_back_to_where_it_began() {
    let text = format!("{}the end", "line\n".repeat(100));
    let mut state = ready(prepare(
        vec![capture("s", &[(Role::User, &text)])],
        65_536,
        false,
    ));
    let before = draw((60, 20), PreviewMode::Preview, &mut state);
    let pager = state.pager_mut().unwrap();
    pager.search_begin();
    pager.search_push("end");
    let found = draw((60, 20), PreviewMode::Preview, &mut state);
    assert!(
        found.contains("the end") && found.contains("/end  1/1"),
        "{found}"
    );
    state.pager_mut().unwrap().search_cancel();
    assert_eq!(draw((60, 20), PreviewMode::Preview, &mut state), before);
}

#[test]
fn matches_stand_out_and_the_caret_stands_behind_the_query() {
    let mut state = ready(prepare(
        vec![capture("s", &[(Role::User, "say 世界 and 世界")])],
        65_536,
        false,
    ));
    let area = Rect::new(0, 0, 40, 14);
    let theme = Theme::of(ThemeName::Terminal);
    let pane = PreviewPane {
        theme: &theme,
        mode: PreviewMode::Preview,
        now: Millis(0),
    };
    let pager = state.pager_mut().unwrap();
    pager.search_begin();
    pager.search_push("世界");
    let mut buffer = Buffer::empty(area);
    pane.render(area, &mut buffer, &mut state);
    let row = (0..14)
        .find(|&y| buffer[(0, y)].symbol() == "s")
        .expect("the text's row");
    let style_at = |x| buffer[(x, row)].style();
    assert!(
        style_at(4)
            .add_modifier
            .contains(theme.found_here.add_modifier)
    );
    assert_eq!(style_at(13).bg, theme.found.bg);
    assert_ne!(style_at(9).bg, theme.found.bg);
    assert_eq!(state.caret(area), Some(Position { x: 5, y: 13 }));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn no_size_and_no_step_breaks_it(
        sizes in prop::collection::vec((0_u16..=200, 0_u16..=60), 1..6),
        steps in prop::collection::vec(0_u8..14, 0..24),
        text in ".{0,200}",
    ) {
        let hostile = format!("{text}{HOSTILE}{text}\n").repeat(8);
        let captures = vec![flaky(), capture("h", &[(Role::User, &text), (Role::User, &hostile)])];
        let mut state = ready(prepare(captures, 900, true));
        let mut sizes = sizes.iter().cycle();
        for step in steps.into_iter().chain([0]) {
            match step {
                0 => state.switch_view(),
                1 => state.next_reference(),
                2 => state.previous_reference(),
                step => {
                    let pager = state.pager_mut().unwrap();
                    match step {
                        3 => pager.scroll(7),
                        4 => pager.scroll(-3),
                        5 => pager.page(1),
                        6 => pager.page(-2),
                        7 => pager.home(),
                        8 => pager.end(),
                        9 => pager.search_begin(),
                        10 => pager.search_push("e"),
                        11 => pager.search_next(),
                        12 => pager.search_previous(),
                        _ => pager.search_pop(),
                    }
                }
            }
            let size = *sizes.next().unwrap();
            let pane = PreviewPane { theme: &mono(), mode: PreviewMode::Review, now: Millis(0) };
            render(size, pane, &mut state);
            state.caret(Rect::new(0, 0, size.0, size.1));
        }
    }
}
