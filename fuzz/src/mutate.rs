//! Changes lines of JSON as other programs, crashes and malice do.

use serde_json::{Number, Value};

/// Values that stand at the edge of what is allowed.
const NUMBERS: [i64; 8] = [0, 1, -1, 54, 4_294_967_296, i64::MAX, i64::MIN, 1_000_000_000_000];
const TEXTS: [&str; 8] = [
    "",
    "../../x",
    "a/b",
    "\u{1b}[31m\u{202e}",
    "<system-reminder>",
    "user",
    "assistant",
    "\0",
];

/// Random numbers that a seed decides.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 16).unwrap_or(0) % end.max(1)
    }

    fn one<'a, T>(&mut self, of: &'a [T]) -> Option<&'a T> {
        of.get(self.below(of.len()))
    }
}

/// Changes an input in place, half of the time by libFuzzer's own means, and
/// gives its new length.
pub fn mutate(data: &mut [u8], size: usize, max: usize, seed: u32) -> usize {
    let mut dice = Dice(u64::from(seed) << 20 | 0x9e37_79b9);
    if size == 0 || dice.below(4) == 0 {
        return libfuzzer_sys::fuzzer_mutate(data, size, max);
    }
    let mut lines: Vec<Vec<u8>> = data[..size]
        .split(|byte| *byte == b'\n')
        .map(<[u8]>::to_vec)
        .collect();
    for _ in 0..=dice.below(3) {
        change(&mut lines, &mut dice);
    }
    let new = lines.join(&b'\n');
    let length = new.len().min(max);
    data[..length].copy_from_slice(&new[..length]);
    length
}

fn change(lines: &mut Vec<Vec<u8>>, dice: &mut Dice) {
    let at = dice.below(lines.len());
    let other = dice.below(lines.len());
    match dice.below(12) {
        0 if lines.len() > 1 => drop(lines.remove(at)),
        1 => lines.insert(other, lines[at].clone()),
        2 => lines.swap(at, other),
        // Two records on one line, or one torn into another.
        3 if lines.len() > 1 => {
            let next = lines.remove(at);
            let into = other.min(lines.len() - 1);
            let cut = dice.below(lines[into].len() + 1);
            lines[into].truncate(cut);
            lines[into].extend(next);
        }
        4 => {
            let cut = dice.below(lines[at].len() + 1);
            lines[at].truncate(cut);
        }
        5 => {
            let place = dice.below(lines[at].len() + 1);
            let junk: &[u8] = [&b"\0\0\0\0"[..], b"\xef\xbb\xbf", b"\xff", b"{\"", b"\r", b"[[[["]
                [dice.below(6)];
            lines[at].splice(place..place, junk.iter().copied());
        }
        _ => values(lines, at, other, dice),
    }
}

/// Changes values inside a record; ids of other records are likely to be put
/// in, because links are what readers follow.
fn values(lines: &mut [Vec<u8>], at: usize, other: usize, dice: &mut Dice) {
    let Some((start, mut value)) = record(&lines[at]) else {
        return;
    };
    let mut texts = Vec::new();
    if let Some((_, value)) = record(&lines[other]) {
        gather(&value, &mut texts);
    }
    gather(&value, &mut texts);
    let count = count(&value);
    for _ in 0..=dice.below(2) {
        let mut left = dice.below(count);
        alter(&mut value, &mut left, &texts, dice);
    }
    if let Ok(new) = serde_json::to_vec(&value) {
        lines[at].truncate(start);
        lines[at].extend(new);
    }
}

/// The JSON that a line ends with, and where it begins: a statement of SQL or
/// a torn record can stand before it.
fn record(line: &[u8]) -> Option<(usize, Value)> {
    let start = line.iter().position(|byte| *byte == b'{')?;
    Some((start, serde_json::from_slice(&line[start..]).ok()?))
}

fn gather(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) if text.len() < 200 => texts.push(text.clone()),
        Value::Array(values) => values.iter().for_each(|value| gather(value, texts)),
        Value::Object(members) => members.values().for_each(|value| gather(value, texts)),
        _ => {}
    }
}

fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(values) => values.iter().map(count).sum(),
        Value::Object(members) => members.values().map(count).sum(),
        _ => 0,
    }
}

/// Changes the value at a place in the tree.
fn alter(value: &mut Value, left: &mut usize, texts: &[String], dice: &mut Dice) -> bool {
    if *left == 0 {
        replace(value, texts, dice);
        return true;
    }
    *left -= 1;
    match value {
        Value::Array(values) => values
            .iter_mut()
            .any(|value| alter(value, left, texts, dice)),
        Value::Object(members) => members
            .iter_mut()
            .any(|(_, value)| alter(value, left, texts, dice)),
        _ => false,
    }
}

fn replace(value: &mut Value, texts: &[String], dice: &mut Dice) {
    let kind = dice.below(10);
    *value = match (kind, value.take()) {
        (0..=4, Value::String(old)) => Value::String(dice.one(texts).cloned().unwrap_or(old)),
        (0..=3, Value::Number(old)) => Value::Number(old.as_i64().map_or(old, |old| {
            let near = i64::try_from(dice.below(9)).unwrap_or(0) - 4;
            Number::from(old.saturating_add(near))
        })),
        (0..=2, Value::Object(mut members)) => {
            let key = dice.one(&members.keys().cloned().collect::<Vec<_>>()).cloned();
            if let Some(key) = key {
                members.remove(&key);
            }
            Value::Object(members)
        }
        (0..=2, Value::Array(mut values)) => {
            let place = dice.below(values.len());
            if let Some(again) = values.get(place).cloned() {
                values.push(again);
            }
            Value::Array(values)
        }
        (5, _) => Value::from(NUMBERS[dice.below(NUMBERS.len())]),
        (6, _) => Value::from(TEXTS[dice.below(TEXTS.len())]),
        (7, old) => Value::Array(vec![old]),
        (8, _) => Value::Null,
        (9, _) => Value::Object(serde_json::Map::new()),
        (_, old) => Value::Array(vec![old.clone(), old]),
    };
}
