#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use super::*;

#[test]
fn a_session_takes_little_beside_its_strings() {
    let mut builder = Builder::with_capacity(0);
    for at in 0..10_000 {
        let cwd = format!("/home/someone/work/project-{}", at % 300);
        let header = Header::new(format!("{at:036}"), Millis(at), Some(cwd));
        builder.push(&NewRow {
            title: Some("Fix the flaky login test"),
            ..NewRow::new(&header)
        });
    }
    let index = builder.finish();
    let footprint = index.footprint();
    assert!(footprint.beside <= 104 * index.len(), "{footprint:?}");
    // One directory a session is the worst case.
    let mut builder = Builder::with_capacity(0);
    for at in 0..10_000 {
        let header = Header::new(format!("{at}"), Millis(at), Some(format!("/{at}")));
        builder.push(&NewRow::new(&header));
    }
    let index = builder.finish();
    let footprint = index.footprint();
    assert!(footprint.beside <= 144 * index.len(), "{footprint:?}");
}

#[test]
fn a_label_that_is_no_clean_line_is_shown_as_one_and_kept_as_it_is() {
    let header = Header::new("1", Millis(0), None);
    let mut builder = Builder::with_capacity(1);
    builder.push(&NewRow {
        title: Some("red\u{1b}[31m\nalert"),
        ..NewRow::new(&header)
    });
    let index = builder.finish();
    let entry = index.get(0).unwrap();
    assert_eq!(entry.label, "red\u{1b}[31m\nalert");
    assert_eq!(entry.display, "red alert");
    assert_eq!(entry.reference().label, entry.label);
    assert_eq!(index.display(&index.rows[0]), "red alert");
}

#[test]
fn a_copy_with_changes_equals_a_table_made_at_once() {
    let header = |id: &str, at, cwd: &str| Header::new(id, Millis(at), Some(cwd.to_owned()));
    let headers = [
        header("a", 3, "/x"),
        header("b", 2, "/y"),
        header("c", 1, "/x"),
    ];
    let forked = Header {
        parent_session: Some("a".into()),
        ..header("d", 2, "/z")
    };
    let mut builder = Builder::with_capacity(3);
    for header in &headers {
        builder.push(&NewRow::new(header));
    }
    let first = builder.finish();
    let gone = first.find(&"b".into()).unwrap();
    let mut builder = Builder::without(&first, &[gone]);
    builder.push(&NewRow::new(&forked));
    let changed = builder.finish();

    let mut builder = Builder::with_capacity(3);
    for header in [&forked, &headers[2], &headers[0]] {
        builder.push(&NewRow::new(header));
    }
    let at_once = builder.finish();
    assert!(changed.iter().eq(at_once.iter()));
    let ids: Vec<_> = changed.iter().map(|entry| entry.id).collect();
    assert_eq!(ids, ["a", "d", "c"]);
    assert_eq!(changed.get(1).unwrap().parent, Some("a"));
    assert_eq!(changed.letters, at_once.letters);
    assert_eq!(changed.shapes, at_once.shapes);
    assert_eq!(changed.tags, at_once.tags);
}

/// A table of so many sessions with a title each.
fn titled(sessions: i64) -> Index {
    let mut builder = Builder::default();
    for at in 0..sessions {
        push(&mut builder, at, &format!("Title {at}"));
    }
    builder.finish()
}

fn push(builder: &mut Builder, at: i64, title: &str) {
    let header = Header::new(format!("{at:04}"), Millis(at), None);
    builder.push(&NewRow {
        title: Some(title),
        ..NewRow::new(&header)
    });
}

#[test]
fn a_change_of_one_row_computes_nothing_for_the_others() {
    let index = titled(1000);
    let before = letters::SHAPED.get();
    let row = index.find(&"0500".into()).unwrap();
    let mut builder = Builder::without(&index, &[row]);
    push(&mut builder, 500, "Renamed");
    let changed = builder.finish();
    assert_eq!(letters::SHAPED.get(), before + 1);
    assert_eq!(changed.len(), 1000);
    assert_eq!(changed.get(row).unwrap().label, "Renamed");
}

#[test]
fn text_that_rows_no_longer_have_does_not_pile_up() {
    let mut index = titled(10);
    let strings = index.footprint().strings;
    for _ in 0..100 {
        let mut builder = Builder::without(&index, &[5]);
        push(&mut builder, 4, "Title 4");
        index = builder.finish();
        assert!(index.text.len() <= 2 * strings, "{}", index.text.len());
    }
    assert_eq!(index.footprint().strings, strings);
    let titles: Vec<_> = index.iter().map(|entry| entry.label.to_owned()).collect();
    assert_eq!(titles[5], "Title 4");
    assert!(index.iter().eq(titled(10).iter()));
}

#[test]
fn rows_come_to_stand_newest_first_in_whichever_order_they_are_added() {
    let mut builder = Builder::without(&titled(6), &[0, 3]);
    for at in [9, 2, 7, 5, 8] {
        push(&mut builder, at, "New");
    }
    let ids: Vec<String> = builder.finish().iter().map(|e| e.id.to_owned()).collect();
    let newest_first = [9, 8, 7, 5, 4, 3, 2, 1, 0];
    assert_eq!(ids, newest_first.map(|at| format!("{at:04}")));
}

#[test]
fn the_rows_of_sessions_are_found_among_many() {
    let index = titled(1000);
    let ids = ["0998", "none", "0003"].into();
    assert_eq!(index.rows_of(&ids), [1, 996]);
}
