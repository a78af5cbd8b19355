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
    let mut builder = Builder::without(&first, &[gone].into());
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
}
