//! What is listed of sessions that lie in several files.

use super::*;

#[test]
fn a_fork_goes_by_the_first_prompt_of_what_it_builds_on() {
    let home = Fixture::new();
    let parent = lines(&[meta(ID), user("first")]);
    let bytes = parent.len();
    let fork = home.write(&rollout(CHILD), child(CHILD, ID, bytes));
    let listed = look(&fork);
    assert_eq!(title(&listed), Some(("q3", false)));
    assert!(notices(&listed)[0].contains("not there"), "{listed:?}");
    home.write(&rollout(ID), parent + &lines(&[user("second")]));
    let listed = look(&fork);
    assert_eq!(title(&listed), Some(("first", false)));
    assert_eq!(notices(&listed), [""; 0]);
    // Nothing of it, then.
    home.write(&rollout(CHILD), child(CHILD, ID, 10));
    assert_eq!(title(&look(&fork)), Some(("q3", false)));
}

#[test]
fn what_sessions_build_on_is_listed_once_a_round_and_anew_to_cite_one() {
    let home = Fixture::new();
    let parent = lines(&[meta(ID), user("first")]);
    let fork = home.write(&rollout(CHILD), child(CHILD, ID, parent.len()));
    let round = Round::default();
    assert_eq!(title(&look_in(&round, &fork)), Some(("q3", false)));
    home.write(&rollout(ID), &parent);
    assert_eq!(title(&look_in(&round, &fork)), Some(("q3", false)));
    assert_eq!(title(&look(&fork)), Some(("first", false)));
    let said = |captured: Result<ForeignCapture, SourceError>| {
        let said = captured.unwrap().session.capture.conversation;
        said.iter()
            .map(|item| item.text.to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(said(Codex.capture(&fork, None)), ["first", "q3"]);
    let many = |round: &Round| Codex.capture_many(&fork, &[CHILD], round).remove(0);
    assert_eq!(said(many(&round)), ["q3"]);
    assert_eq!(said(many(&Round::default())), ["first", "q3"]);
}

#[test]
fn a_beginning_that_is_moved_during_a_round_is_found_where_it_went() {
    let home = Fixture::new();
    let parent = lines(&[meta(ID), user("first")]);
    let fork = home.write(&rollout(CHILD), child(CHILD, ID, parent.len()));
    let file = home.write(&rollout(ID), &parent);
    let round = Round::default();
    assert_eq!(title(&look_in(&round, &fork)), Some(("first", false)));
    let name = file.file_name().unwrap();
    let archived = home.path("archived_sessions");
    std::fs::create_dir_all(&archived).unwrap();
    std::fs::rename(&file, archived.join(name)).unwrap();
    assert_eq!(title(&look_in(&round, &fork)), Some(("first", false)));
}

#[test]
fn files_that_build_on_each_other_end() {
    let home = Fixture::new();
    let one = home.write(&rollout(CHILD), child(CHILD, ID, 10_000));
    home.write(&rollout(ID), child(ID, CHILD, 10_000));
    assert_eq!(title(&look(&one)), Some(("q3", false)));
}

#[test]
fn of_a_session_that_was_reverted_the_file_it_goes_on_in_is_the_newest() {
    let home = Fixture::new();
    let text = lines(&[
        meta(ID),
        user("q1"),
        at("2026-12-01T22:00:00.000Z", user("taken back")),
    ]);
    let first = home.write(&rollout(ID), &text);
    let base = json!({"thread_id": ID, "end_byte_offset": text.len()});
    let base = json!({"id": ID, "cwd": "/w", "history_base": base});
    let reverted = at("2026-12-01T23:00:00.000Z", line("session_meta", base));
    let segment = rollout(&format!("{ID}_{SEGMENT}"));
    let live = look(&home.write(&segment, lines(&[reverted])));
    let left = look(&first);
    assert_eq!((live.native_id.as_str(), left.native_id.as_str()), (ID, ID));
    assert!(live.updated_at > left.updated_at);
    assert_eq!(live.kind, Kind::Session);
    assert_eq!(title(&live), Some(("q1", false)));
}
