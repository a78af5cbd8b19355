//! What is found is what a look at every text finds.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;
use crate::library::texts::fold::{fold, fold_smart, is_word};

/// Sessions by their ids: the texts of each.
type Sessions = BTreeMap<String, Vec<String>>;

fn put_all(texts: &Texts, sessions: &Sessions, state: u64) {
    let strs: Vec<(&str, Vec<&str>)> = sessions
        .iter()
        .map(|(id, texts)| (&**id, texts.iter().map(|text| &**text).collect()))
        .collect();
    let borrowed: Vec<(&str, &[&str])> = strs.iter().map(|(id, t)| (*id, &**t)).collect();
    put(texts, &borrowed, state);
}

/// Whether the text has the term, by looking at every place of it.
fn has(text: &str, term: &str) -> bool {
    let any = |keeps: fn(char, char) -> bool| term.chars().any(|c| keeps(c, c));
    let keeps_case = any(|c, _| fold_smart(c, false, true) != fold_smart(c, true, true));
    let keeps_marks = any(|c, _| fold_smart(c, true, false) != fold_smart(c, true, true));
    let kept = |c: &char| fold_smart(*c, keeps_case, keeps_marks);
    let (text, term): (Vec<char>, Vec<char>) = (text.chars().collect(), term.chars().collect());
    let is_word = |c: Option<&char>| c.is_some_and(|c| is_word(fold(*c)));
    let must_be_whole = term.len() < 3 && term.iter().all(|c| is_word(Some(c)));
    (0..text.len()).any(|at| {
        let Some(part) = text.get(at..at + term.len()) else {
            return false;
        };
        let before = at.checked_sub(1).and_then(|at| text.get(at));
        part.iter().map(kept).eq(term.iter().map(kept))
            && !(must_be_whole && (is_word(before) || is_word(text.get(at + term.len()))))
    })
}

/// Few different characters, so that queries match: letters of either case,
/// with and without marks, dense scripts, punctuation, blanks, and such as
/// change their length when folded.
fn text(len: std::ops::Range<usize>) -> impl Strategy<Value = String> {
    let chars = "aabBcéÉ登录日한ア_:\"-. \n\0İẞſ\u{301}\u{1f980}Ａ";
    let any = prop::sample::select(chars.chars().collect::<Vec<_>>());
    prop::collection::vec(any, len).prop_map(String::from_iter)
}

fn sessions() -> impl Strategy<Value = Sessions> {
    let id = prop::sample::select(vec!["p", "q", "r", "s"]).prop_map(str::to_owned);
    prop::collection::btree_map(id, prop::collection::vec(text(0..30), 0..5), 0..4)
}

fn expected(sessions: &Sessions, finds: impl Fn(&str) -> bool) -> BTreeSet<(String, u32)> {
    sessions
        .iter()
        .filter_map(|(id, texts)| {
            let count = texts.iter().filter(|text| finds(text)).count();
            Some((id.clone(), u32::try_from(count).ok()?))
        })
        .filter(|(_, count)| *count > 0)
        .collect()
}

fn found(texts: &Texts, query: &str) -> BTreeSet<(String, u32)> {
    let rows = search(texts, query, Depth::All).rows;
    rows.iter()
        .map(|hit| (hit.id.to_string(), hit.matches))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_a_look_at_every_text_finds_is_found_and_nothing_else(
        sessions in sessions(),
        phrases in prop::collection::vec(text(1..7), 1..8),
    ) {
        let texts = Texts::open(None);
        put_all(&texts, &sessions, 1);
        for phrase in phrases {
            let phrase = phrase.replace('"', "a");
            let is_blank = phrase.chars().all(|c| fold(c) == ' ');
            let query = format!("\"{phrase}\"");
            let by_hand = expected(&sessions, |text| !is_blank && has(text, &phrase));
            prop_assert_eq!(found(&texts, &query), by_hand, "{:?}", query);
        }
    }

    #[test]
    fn several_terms_are_all_there_and_the_excluded_are_not(
        sessions in sessions(),
        (first, second, not) in ("[a-c]{1,3}", "[登录日aB]{1,3}", "[a-c登]{1,2}"),
    ) {
        let texts = Texts::open(None);
        put_all(&texts, &sessions, 1);
        let query = format!("{first} {second} -{not}");
        let finds = |text: &str| has(text, &first) && has(text, &second) && !has(text, &not);
        prop_assert_eq!(found(&texts, &query), expected(&sessions, finds), "{:?}", query);
    }

    #[test]
    fn after_any_changes_the_index_is_as_if_made_anew(
        steps in prop::collection::vec((sessions(), prop::option::of(0..4usize)), 1..5),
        phrase in text(1..4),
    ) {
        let texts = Texts::open(None);
        let mut now = Sessions::new();
        for ((sessions, forget), state) in steps.into_iter().zip(0..) {
            put_all(&texts, &sessions, state);
            now.extend(sessions);
            if let Some(id) = forget.and_then(|at| now.keys().nth(at).cloned()) {
                texts.forget(&[id.as_str().into()]).unwrap();
                now.remove(&id);
            }
        }
        let phrase = phrase.replace('"', "a");
        let is_blank = phrase.chars().all(|c| fold(c) == ' ');
        let by_hand = expected(&now, |text| !is_blank && has(text, &phrase));
        prop_assert_eq!(found(&texts, &format!("\"{phrase}\"")), by_hand);
    }

    #[test]
    fn marks_are_in_order_and_on_whole_characters_of_a_line_that_is_safe(
        text in text(0..300),
        phrase in text(1..4),
    ) {
        let texts = Texts::open(None);
        put(&texts, &[("a", &[&text])], 1);
        for hit in search(&texts, &phrase, Depth::All).rows {
            let safe = crate::sanitize::line(&hit.snippet);
            prop_assert_eq!(&safe, &hit.snippet);
            let mut end = 0;
            for mark in &hit.marks {
                prop_assert!(mark.start >= end && mark.start < mark.end);
                prop_assert!(hit.snippet.get(mark.clone()).is_some());
                end = mark.end + 1;
            }
        }
    }
}
