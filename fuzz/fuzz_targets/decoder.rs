//! The decoder of streams: whatever comes, however it is cut, it gives the
//! same events, and none that is longer than the limit.

#![no_main]

use ibid::model::decoder::{DecodeError, Decoder, Event, Framing};
use libfuzzer_sys::fuzz_target;

const LIMIT: usize = 64;

fn decode<'a>(
    framing: Framing,
    pieces: impl Iterator<Item = &'a [u8]>,
) -> (Vec<[String; 2]>, Result<(), DecodeError>) {
    let mut decoder = Decoder::with_limit(framing, LIMIT);
    let mut events = Vec::new();
    let mut take = |event: Event<'_>| events.push([event.name, event.data].map(str::to_owned));
    let mut outcome = Ok(());
    for piece in pieces {
        outcome = outcome.and_then(|()| decoder.feed(piece, &mut take));
    }
    outcome = outcome.and_then(|()| decoder.end(&mut take));
    (events, outcome)
}

fuzz_target!(|input: (u8, &[u8])| {
    let (cut, bytes) = input;
    for framing in [Framing::Sse, Framing::Lines] {
        let whole = decode(framing, std::iter::once(bytes));
        let pieces = decode(framing, bytes.chunks(usize::from(cut).max(1)));
        assert_eq!(whole, pieces);
        for event in &whole.0 {
            assert!(event.iter().map(String::len).sum::<usize>() <= LIMIT);
        }
    }
});
