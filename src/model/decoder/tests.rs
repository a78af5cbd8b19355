#![allow(clippy::unwrap_used)]

use std::time::Instant;

use proptest::prelude::*;

use super::*;

/// The events of a stream that comes in these pieces, each as `name|data`,
/// and the error behind them, if there is one.
fn decode(decoder: &mut Decoder, pieces: &[&[u8]]) -> Vec<String> {
    let mut told = Vec::new();
    let mut take = |event: Event<'_>| told.push(format!("{}|{}", event.name, event.data));
    let mut taken = Ok(());
    for piece in pieces {
        taken = taken.and_then(|()| decoder.feed(piece, &mut take));
    }
    taken = taken.and_then(|()| decoder.end(&mut take));
    told.extend(taken.err().map(|error| error.to_string()));
    told
}

fn sse(stream: &str) -> Vec<String> {
    decode(&mut Decoder::new(Framing::Sse), &[stream.as_bytes()])
}

fn lines(stream: &str) -> Vec<String> {
    decode(&mut Decoder::new(Framing::Lines), &[stream.as_bytes()])
}

#[test]
fn an_event_ends_with_a_blank_line_whatever_ends_a_line() {
    for end in ["\n", "\r\n", "\r"] {
        let stream = ["data: a", "", "data: b", "", ""].join(end);
        assert_eq!(sse(&stream), ["|a", "|b"], "{end:?}");
    }
    assert_eq!(sse("data: a\r\r\ndata: b\n\r\n"), ["|a", "|b"]);
}

#[test]
fn data_of_several_lines_is_joined_with_line_feeds() {
    assert_eq!(sse("data: a\ndata:\ndata:  b\n\n"), ["|a\n\n b"]);
}

#[test]
fn an_event_may_have_a_name() {
    assert_eq!(
        sse("event: ping\ndata: {}\n\ndata: x\n\n"),
        ["ping|{}", "|x"]
    );
    assert_eq!(sse("event: lost\n\ndata: x\n\n"), ["|x"]);
}

#[test]
fn comments_other_fields_and_needless_blank_lines_are_no_events() {
    let stream = ": keep-alive\n\n\nid: 7\nretry: 10\ndatas: no\n:\ndata\n\n";
    assert_eq!(sse(stream), ["|"]);
}

#[test]
fn only_a_byte_order_mark_at_the_start_is_passed_over() {
    assert_eq!(sse("\u{feff}data: a\n\n\u{feff}data: b\n\n"), ["|a"]);
    assert_eq!(sse("data: \u{feff}a\n\n"), ["|\u{feff}a"]);
    assert_eq!(lines("\u{feff}{}\n\u{feff}{}\n"), ["|{}", "|\u{feff}{}"]);
}

#[test]
fn the_last_event_counts_without_its_end() {
    assert_eq!(sse("data: a\n\ndata: [DONE]"), ["|a", "|[DONE]"]);
    assert_eq!(sse("data: a\n"), ["|a"]);
    assert_eq!(lines("{}\n[1]"), ["|{}", "|[1]"]);
}

#[test]
fn json_lines_are_events_and_blank_lines_none() {
    assert_eq!(lines("{}\r\n\n \t\n[1]\r[2]\n"), ["|{}", "|[1]", "|[2]"]);
}

#[test]
fn bytes_that_are_no_utf8_are_an_error_and_not_replaced() {
    let mut decoder = Decoder::new(Framing::Sse);
    let stream = b"data: a\n\ndata: \xf0\x9f\n\ndata: b\n\n";
    assert_eq!(
        decode(&mut decoder, &[stream]),
        ["|a", "an event that is no UTF-8"]
    );
    assert_eq!(
        decode(&mut decoder, &[b"data: c\n\n"]),
        ["an event that is no UTF-8"],
        "the error stays"
    );
}

#[test]
fn an_event_that_is_too_long_is_an_error_in_bounded_memory() {
    let chunk = vec![b'x'; 64 * 1024];
    for framing in [Framing::Sse, Framing::Lines] {
        let mut decoder = Decoder::new(framing);
        let mut fed = 0;
        let error = loop {
            if let Err(error) = decoder.feed(&chunk, |_| {}) {
                break error;
            }
            fed += chunk.len();
        };
        assert_eq!(error, DecodeError::TooLong { limit: MAX_EVENT });
        assert!(fed <= MAX_EVENT);
        assert_eq!(decoder.line.capacity(), 0, "what was held is given back");
    }
}

#[test]
fn the_bound_counts_all_lines_of_an_event() {
    let mut decoder = Decoder::with_limit(Framing::Sse, 20);
    let told = decode(
        &mut decoder,
        &[b"data: 0123\n\n", &b"data: 01234\n".repeat(3)],
    );
    assert_eq!(told, ["|0123", "an event of more than 20 bytes"]);
}

#[test]
fn ten_times_the_bytes_take_no_hundred_times_as_long() {
    // One byte a piece, no end of a line: the worst for a buffer.
    let time = |len: usize| {
        let mut decoder = Decoder::new(Framing::Sse);
        let begin = Instant::now();
        for _ in 0..len {
            decoder.feed(b"x", |_| {}).unwrap();
        }
        begin.elapsed()
    };
    let best = |len| (0..3).map(|_| time(len)).min().unwrap();
    let (small, large) = (best(100_000), best(1_000_000));
    assert!(large < small * 50, "{small:?}, {large:?}");
}

/// Streams made of what matters to a decoder.
fn stream() -> impl Strategy<Value = Vec<u8>> {
    let token = prop::sample::select(vec![
        "data:",
        "data: ",
        "data: x\n\n",
        "event: e",
        "event: e\n",
        ":",
        " ",
        "\n",
        "\n",
        "\r",
        "\r\n",
        "\n\n",
        "\u{feff}",
        "é",
        "\u{1f642}",
        "{\"a\":1}",
        "[DONE]",
        "x",
    ]);
    prop::collection::vec(token, 0..40).prop_map(|tokens| tokens.concat().into_bytes())
}

proptest! {
    #[test]
    fn the_events_are_the_same_however_the_bytes_are_cut(
        bytes in prop_oneof![stream(), prop::collection::vec(any::<u8>(), 0..60)],
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
        limit in 4_usize..80,
    ) {
        for framing in [Framing::Sse, Framing::Lines] {
            let whole = decode(&mut Decoder::with_limit(framing, limit), &[&bytes]);
            let mut places: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
            places.sort_unstable();
            let mut pieces: Vec<&[u8]> = Vec::new();
            let mut from = 0;
            for place in places {
                pieces.push(&bytes[from..place]);
                pieces.push(&[]);
                from = place;
            }
            pieces.push(&bytes[from..]);
            prop_assert_eq!(&whole, &decode(&mut Decoder::with_limit(framing, limit), &pieces));
            let single: Vec<&[u8]> = bytes.chunks(1).collect();
            prop_assert_eq!(&whole, &decode(&mut Decoder::with_limit(framing, limit), &single));
        }
    }
}
