#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod disk;

use std::sync::{Arc, Mutex};

use serde_json::json;
use tempfile::TempDir;

use super::*;
use crate::session::{Block, Message, MessageKind, Millis, Role, Seq, Source};
use crate::store::log::{Problem, read_session};

fn home() -> (TempDir, Home) {
    let dir = tempfile::tempdir().unwrap();
    let home = Home::at(dir.path().join("home"));
    (dir, home)
}

fn header() -> Header {
    Header::new("s", Millis(1), None)
}

fn say(text: &str) -> NewEvent {
    NewEvent::plain(Millis(2), Payload::user(Message::person(text)))
}

fn texts(session: &Session) -> Vec<String> {
    session.derive_messages().map(Message::text).collect()
}

fn stored(home: &Home) -> Vec<String> {
    let read = read_session(&home.session_file(&"s".into())).unwrap();
    assert_eq!(read.notices, []);
    texts(&read.session)
}

fn create(home: &Home) -> Result<SessionWriter, StoreError> {
    SessionWriter::create(home, header(), Vec::new()).map(|(writer, _)| writer)
}

fn open(home: &Home) -> Result<(SessionWriter, Recovered), StoreError> {
    SessionWriter::open(home, &"s".into())
}

#[test]
fn what_was_appended_is_there_when_it_is_opened_again() {
    let (_dir, home) = home();
    let mut writer = create(&home).unwrap();
    writer.append(say("one")).unwrap();
    let two = writer.append_all(vec![say("two"), say("three")]).unwrap();
    assert_eq!(
        two.iter().map(|e| e.seq).collect::<Vec<_>>(),
        [Seq(1), Seq(2)]
    );
    let events = writer.session().events().to_vec();
    drop(writer);
    let (writer, recovered) = open(&home).unwrap();
    assert_eq!(recovered.notices, []);
    assert_eq!(writer.session().events(), events);
    assert_eq!(writer.session().header(), &header());
}

#[test]
fn a_second_writer_is_sent_away_and_may_read() {
    let (_dir, home) = home();
    let mut writer = create(&home).unwrap();
    writer.append(say("one")).unwrap();
    assert_eq!(open(&home).unwrap_err().code(), "SESSION_OPEN_ELSEWHERE");
    let again = create(&home).unwrap_err();
    assert_eq!(again.code(), "SESSION_OPEN_ELSEWHERE");
    assert_eq!(stored(&home), ["one"]);
    drop(writer);
    assert!(open(&home).is_ok());
    let again = create(&home).unwrap_err();
    assert_eq!(again.code(), "SESSION_EXISTS");
}

#[cfg(unix)]
#[test]
fn files_are_for_their_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let (_dir, home) = home();
    let _writer = create(&home).unwrap();
    for file in [home.session_file(&"s".into()), home.lock_file(&"s".into())] {
        let mode = file.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{file:?}");
    }
}

#[test]
fn a_torn_tail_is_cut_off_at_every_byte() {
    let (_dir, home) = home();
    let path = home.session_file(&"s".into());
    let mut writer = create(&home).unwrap();
    writer.append(say("kept")).unwrap();
    let kept = fs::read(&path).unwrap();
    writer.append(say("torn é\n")).unwrap();
    let all = fs::read(&path).unwrap();
    drop(writer);
    for cut in kept.len()..=all.len() {
        fs::write(&path, all.get(..cut).unwrap()).unwrap();
        let (mut writer, recovered) = open(&home).unwrap();
        let whole = cut + 1 >= all.len();
        let torn = recovered
            .notices
            .iter()
            .any(|n| n.problem == Problem::TornTail);
        assert_eq!(torn, !whole && cut > kept.len(), "{cut}");
        assert_eq!(
            fs::read(&path).unwrap(),
            if whole { &all } else { &kept }.clone()
        );
        writer.append(say("next")).unwrap();
        drop(writer);
        let expected: &[&str] = if whole {
            &["kept", "torn é\n", "next"]
        } else {
            &["kept", "next"]
        };
        assert_eq!(stored(&home), expected, "{cut}");
    }
}

#[test]
fn events_written_together_are_there_together_or_not_at_all() {
    let (_dir, home) = home();
    let mut writer = create(&home).unwrap();
    writer.append(say("before")).unwrap();
    let path = home.session_file(&"s".into());
    let start = fs::metadata(&path).unwrap().len();
    writer
        .append_all(vec![say("one"), say("two"), say("three")])
        .unwrap();
    drop(writer);
    let whole = fs::read(&path).unwrap();
    for len in usize::try_from(start).unwrap()..whole.len() {
        fs::write(&path, whole.get(..len).unwrap()).unwrap();
        let (mut writer, recovered) = open(&home).unwrap();
        // A last line that lacks nothing but its line feed is there.
        let expected: &[&str] = if len == whole.len() - 1 {
            &["before", "one", "two", "three"]
        } else {
            &["before"]
        };
        assert_eq!(texts(writer.session()), expected, "{len} bytes");
        assert_eq!(texts(&recovered.session), expected, "{len} bytes");
        writer.append(say("after")).unwrap();
        drop(writer);
        assert_eq!(stored(&home).last().unwrap(), "after");
        assert_eq!(stored(&home).len(), expected.len() + 1);
    }
}

#[test]
fn an_answer_stays_where_the_end_of_its_turn_is_torn() {
    let (_dir, home) = home();
    let mut writer = create(&home).unwrap();
    writer.append(say("question")).unwrap();
    let words = vec![Block::text("answer")];
    let answer = Message::new(Role::Assistant, Source::person(), words);
    let answer = Payload::step(MessageKind::Assistant, answer, 1, 1);
    let end = Payload::LogOnly {
        kind: "turn/end".to_owned(),
        data: json!({"turn": 1}),
    };
    let answered = [answer, end].map(|payload| NewEvent::plain(Millis(3), payload));
    writer.append_all(answered.into()).unwrap();
    drop(writer);
    let path = home.session_file(&"s".into());
    let whole = fs::read(&path).unwrap();
    let mut lines = whole.split_inclusive(|byte| *byte == b'\n');
    let end = whole.len() - lines.next_back().unwrap().len();
    for len in end..whole.len() - 1 {
        fs::write(&path, &whole[..len]).unwrap();
        let (_, recovered) = open(&home).unwrap();
        assert_eq!(texts(&recovered.session), ["question", "answer"]);
        let problems: Vec<_> = recovered.notices.iter().map(|n| &n.problem).collect();
        let torn = [&Problem::TornTail];
        assert_eq!(problems, torn.get(usize::from(len == end)..).unwrap());
        assert_eq!(fs::read(&path).unwrap(), whole[..end]);
    }
}

#[test]
fn damage_in_the_last_batch_cuts_nothing_off() {
    let (_dir, home) = home();
    let mut writer = create(&home).unwrap();
    writer
        .append_all(vec![say("one"), say("two"), say("three")])
        .unwrap();
    drop(writer);
    let path = home.session_file(&"s".into());
    let whole = fs::read_to_string(&path).unwrap();
    for damaged in 1..4 {
        let lines = whole.split_inclusive('\n').enumerate();
        let text: String = lines
            .map(|(at, line)| {
                if at == damaged {
                    line.replacen('{', "[", 1)
                } else {
                    line.to_owned()
                }
            })
            .collect();
        fs::write(&path, &text).unwrap();
        drop(open(&home).unwrap());
        assert_eq!(fs::read_to_string(&path).unwrap(), text, "line {damaged}");
    }
}

#[test]
fn an_unfinished_batch_is_told_with_its_place() {
    let (_dir, home) = home();
    let mut writer = create(&home).unwrap();
    writer.append_all(vec![say("one"), say("two")]).unwrap();
    drop(writer);
    let path = home.session_file(&"s".into());
    let text = fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    fs::write(&path, lines.iter().take(2).copied().collect::<String>()).unwrap();
    let (_, recovered) = open(&home).unwrap();
    let notice = recovered.notices.first().unwrap();
    assert_eq!(notice.problem, Problem::TornBatch);
    assert_eq!(notice.line, 2);
    assert_eq!(Some(notice.offset), lines.first().map(|l| l.len() as u64));
    assert_eq!(fs::read_to_string(&path).unwrap(), *lines.first().unwrap());
}

#[test]
fn only_a_log_that_holds_nothing_is_removed() {
    let (_dir, home) = home();
    let path = home.session_file(&"s".into());
    let id = "s".into();
    assert!(remove_empty(&home, &id).unwrap());
    let writer = create(&home).unwrap();
    assert_eq!(
        remove_empty(&home, &id).unwrap_err().code(),
        "SESSION_OPEN_ELSEWHERE"
    );
    drop(writer);
    let empty = fs::read_to_string(&path).unwrap();
    assert!(remove_empty(&home, &id).unwrap());
    assert!(!path.exists());
    for (content, removed) in [("garbage\n", false), ("", true), ("{\"seq\":0,", true)] {
        fs::write(&path, format!("{empty}{content}")).unwrap();
        assert_eq!(remove_empty(&home, &id).unwrap(), removed, "{content:?}");
        assert_eq!(path.exists(), !removed, "{content:?}");
    }
    let mut writer = create(&home).unwrap();
    writer.append(say("something")).unwrap();
    drop(writer);
    assert!(!remove_empty(&home, &id).unwrap());
    assert_eq!(stored(&home), ["something"]);
}

#[test]
fn damage_in_the_middle_stays_as_it_is_and_appends_go_behind_it() {
    let (_dir, home) = home();
    let path = home.session_file(&"s".into());
    let mut writer = create(&home).unwrap();
    for text in ["zero", "one", "two"] {
        writer.append(say(text)).unwrap();
    }
    drop(writer);
    let damaged = fs::read_to_string(&path)
        .unwrap()
        .replacen("\"one\"", "\"one", 1);
    fs::write(&path, &damaged).unwrap();
    let (mut writer, recovered) = open(&home).unwrap();
    assert_eq!(recovered.notices.len(), 1);
    assert_eq!(texts(writer.session()), ["zero", "two"]);
    assert_eq!(writer.append(say("three")).unwrap().seq, Seq(3));
    drop(writer);
    assert!(fs::read_to_string(&path).unwrap().starts_with(&damaged));
    let (_, recovered) = open(&home).unwrap();
    assert_eq!(texts(&recovered.session), ["zero", "two", "three"]);
    assert_eq!(recovered.notices.len(), 1);
}

#[test]
fn a_writer_tells_the_damage_that_stays_and_none_that_it_mended() {
    let (_dir, home) = home();
    let path = home.session_file(&"s".into());
    let mut writer = create(&home).unwrap();
    for text in ["zero", "one", "two"] {
        writer.append(say(text)).unwrap();
    }
    assert_eq!(writer.damage(), None);
    drop(writer);
    let text = fs::read_to_string(&path).unwrap();
    let torn = text.trim_end().strip_suffix('}').unwrap();
    fs::write(&path, torn).unwrap();
    assert_eq!(open(&home).unwrap().0.damage(), None, "it was cut off");
    let damaged = fs::read_to_string(&path).unwrap();
    let damaged = damaged.replacen("\"zero\"", "\"zero", 1);
    fs::write(&path, damaged).unwrap();
    let (mut writer, _) = open(&home).unwrap();
    writer.append(say("more")).unwrap();
    let damage = writer.damage().unwrap();
    assert_eq!(damage.problems, 1);
    assert!(damage.first.starts_with("line 2 "), "{}", damage.first);
}

#[test]
fn a_session_whose_creation_was_stopped_needs_no_hand() {
    let (_dir, home) = home();
    home.create().unwrap();
    let path = home.session_file(&"s".into());
    for left in ["", "{\"type\":\"sess"] {
        fs::write(&path, left).unwrap();
        assert_eq!(open(&home).unwrap_err().code(), "SESSION_NOT_FOUND");
        assert!(!path.exists());
        fs::write(&path, left).unwrap();
        drop(create(&home).unwrap());
        assert!(open(&home).is_ok());
    }
}

#[test]
fn a_session_is_there_with_its_first_events_or_not_at_all() {
    let (_dir, home) = home();
    let path = home.session_file(&"s".into());
    let first = || vec![say("one"), say("two")];
    let (writer, events) = SessionWriter::create(&home, header(), first()).unwrap();
    assert_eq!(writer.session().events(), events);
    assert_eq!(stored(&home), ["one", "two"]);
    drop(writer);
    let whole = fs::read(&path).unwrap();
    // Killed after so many bytes.
    for written in [0, 1, whole.len() / 2, whole.len()] {
        fs::remove_file(&path).unwrap();
        fs::write(nameless(&path), whole.get(..written).unwrap()).unwrap();
        assert_eq!(crate::store::list_files(&home).unwrap(), []);
        assert_eq!(open(&home).unwrap_err().code(), "SESSION_NOT_FOUND");
        let (mut writer, _) = SessionWriter::create(&home, header(), first()).unwrap();
        writer.append(say("three")).unwrap();
        assert_eq!(stored(&home), ["one", "two", "three"]);
        assert!(!nameless(&path).exists());
    }
    fs::remove_file(&path).unwrap();
    fs::write(nameless(&path), whole).unwrap();
    assert!(remove_empty(&home, &"s".into()).unwrap());
    assert!(!nameless(&path).exists());
}

#[test]
fn first_events_that_are_refused_leave_no_file() {
    let (_dir, home) = home();
    let mut wrong = say("one");
    wrong.source_event_seqs = Some(vec![Seq(7)]);
    SessionWriter::create(&home, header(), vec![wrong]).unwrap_err();
    let left = fs::read_dir(home.sessions_dir()).unwrap().count();
    assert_eq!(left, 0);
}

#[test]
fn a_file_that_holds_another_session_is_refused() {
    let (_dir, home) = home();
    drop(create(&home).unwrap());
    fs::rename(
        home.session_file(&"s".into()),
        home.session_file(&"t".into()),
    )
    .unwrap();
    let error = SessionWriter::open(&home, &"t".into()).unwrap_err();
    assert_eq!(error.code(), "SESSION_WRONG_ID");
    assert_eq!(open(&home).unwrap_err().code(), "SESSION_NOT_FOUND");
}

#[test]
fn an_event_against_the_rules_stores_none_of_its_batch() {
    let (_dir, home) = home();
    let mut writer = create(&home).unwrap();
    writer.append(say("one")).unwrap();
    let bad = NewEvent::replacing(
        Millis(2),
        Payload::user(Message::person("x")),
        (Seq(7), Seq(7)),
        vec![Seq(0)],
    );
    let error = writer.append_all(vec![say("two"), bad]).unwrap_err();
    assert_eq!(error.code(), "SESSION_EVENT_REFUSED");
    assert_eq!(texts(writer.session()), ["one"]);
    writer.append(say("three")).unwrap();
    assert_eq!(stored(&home), ["one", "three"]);
}

#[test]
fn an_event_that_would_not_read_back_is_refused() {
    let (_dir, home) = home();
    let mut writer = create(&home).unwrap();
    let deep = (0..200).fold(json!(1), |inner, _| json!([inner]));
    for payload in [
        Payload::log_only("step/start", deep),
        Payload::log_only(
            "user/message",
            json!({"role": "user", "source": {"kind": "user"}, "content": []}),
        ),
    ] {
        let error = writer
            .append(NewEvent::plain(Millis(2), payload))
            .unwrap_err();
        assert_eq!(error.code(), "SESSION_NOT_STORABLE");
    }
    assert_eq!(writer.session().events().len(), 0);
    assert_eq!(stored(&home), [""; 0]);
}

#[test]
fn a_log_that_others_changed_or_removed_is_not_written() {
    let (_dir, home) = home();
    let path = home.session_file(&"s".into());
    let mut writer = create(&home).unwrap();
    writer.append(say("one")).unwrap();
    let longer = [fs::read(&path).unwrap(), b"\n".to_vec()].concat();
    fs::write(&path, &longer).unwrap();
    let error = writer.append(say("two")).unwrap_err();
    assert_eq!(error.code(), "SESSION_CHANGED_OUTSIDE");
    assert_eq!(fs::read(&path).unwrap(), longer);
    drop(writer);
    let (mut writer, _) = open(&home).unwrap();
    fs::remove_file(&path).unwrap();
    if cfg!(unix) {
        let error = writer.append(say("two")).unwrap_err();
        assert_eq!(error.code(), "SESSION_CHANGED_OUTSIDE");
    }
}
