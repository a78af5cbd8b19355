//! Files that change while they are read.

use std::fs::{self, File};
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use ibid::reference::projection::capture;
use ibid::source::detect::read_file;

use super::{Person, claude};

/// Reads the file many times while `change` is done to it over and over. What
/// is read are always first messages of the file, in their order.
fn read_while(change: impl Fn(&mut File, usize) + Sync) {
    let person = Person::new();
    let name = ".claude/projects/-p/11111111-2222-4333-8444-555555555555.jsonl";
    let path = person.write(name, said(0));
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut file = File::options().append(true).open(&path).unwrap();
            let mut at = 1;
            while !is_over.load(Ordering::Relaxed) {
                change(&mut file, at);
                at += 1;
            }
        });
        for _ in 0..60 {
            // A file that is empty for the moment holds no session.
            let Ok(read) = read_file(&path) else { continue };
            let conversation = capture(&read.session).conversation;
            for (at, item) in conversation.iter().enumerate() {
                assert_eq!(&*item.text, format!("message {at}"));
            }
        }
        is_over.store(true, Ordering::Relaxed);
    });
    fs::remove_file(&path).unwrap();
    person.survives();
}

/// The record of a message, which answers the one before.
fn said(at: usize) -> String {
    let parent = match at.checked_sub(1) {
        Some(before) => format!("\"u{before}\""),
        None => "null".to_owned(),
    };
    claude(&format!("message {at}"))
        .replace("\"uuid\":\"u1\"", &format!("\"uuid\":\"u{at}\""))
        .replace("\"parentUuid\":null", &format!("\"parentUuid\":{parent}"))
}

#[test]
fn a_file_that_grows_gives_a_beginning_of_it() {
    read_while(|file, at| {
        // Its size must not run away from the reader.
        if at < 20_000 {
            file.write_all(said(at).as_bytes()).unwrap();
        }
    });
}

#[test]
fn a_file_that_is_cut_gives_what_is_left() {
    const ROUND: usize = 500;
    read_while(|file, at| {
        let at = at % ROUND;
        if at == 0 {
            file.set_len(0).unwrap();
        }
        file.write_all(said(at).as_bytes()).unwrap();
    });
}
