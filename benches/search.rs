//! Full text: how fast it is taken up, and how fast a query is answered.
//!
//! `cargo bench --bench search [-- MEGABYTES]` makes up that much dialogue
//! (256 unless told otherwise: prose, code, Chinese), newest session first. It is
//! put into [`Texts`] and, in turns with that, into two bare FTS5 tables in
//! transactions of the same size: one with the trigram tokenizer of SQLite, as one would write it by
//! hand, and one that is given our tokens ready-made and keeps no text. Then a dozen
//! queries are answered by [`Texts::search`] and by bare SQL with the same
//! trigrams, which gives the newest hundred texts unranked.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::indexing_slicing,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a benchmark"
)]

use std::path::Path;
use std::time::{Duration, Instant};

use ibid::library::texts::{
    Depth, SessionTexts, TOKENIZER, Terms, TextMessage, TextQuery, Texts, Tokens,
};
use ibid::session::{Millis, Role, SessionId};
use ibid::stamp::Stamp;
use rusqlite::{Connection, params};
use rustix::time::{ClockId, clock_gettime};
use tokio_util::sync::CancellationToken;

/// The bound for indexing, as a multiple of bare FTS5.
const INDEXING: f64 = 2.0;
/// The bound for a query, beyond bare SQL.
const FRAME: f64 = 16.0;
const ROUNDS: usize = 21;
/// How much text is made up, and put in, at once.
const BATCH: usize = 4 * 1024 * 1024;
/// What the library puts into one transaction.
const TRANSACTION: usize = 512 * 1024;

/// A query as typed; its long words, for bare SQL; what must not be there.
const QUERIES: [(&str, &str, &[&str], Option<&str>); 13] = [
    ("rare word", "zanzibar", &["zanzibar"], None),
    ("common word", "function", &["function"], None),
    ("very common word", "the", &["the"], None),
    ("identifier", "login_test", &["login_test"], None),
    ("path in code", "foo::bar", &["foo::bar"], None),
    ("3-letter substring", "nzi", &["nzi"], None),
    ("common substring", "ing", &["ing"], None),
    ("Chinese, 2 characters", "登录", &["登录"], None),
    ("Chinese, 1 character", "登", &["登"], None),
    ("phrase", "\"change the path\"", &["change the path"], None),
    (
        "two words",
        "function zanzibar",
        &["function", "zanzibar"],
        None,
    ),
    ("with -not", "function -null", &["function"], Some("null")),
    ("nothing", "zanzibarlogin", &["zanzibarlogin"], None),
];

const WORDS: &str = "the to a of and in is it that for i you on this with be we not as can have \
    are if but or so an at from by test will do when there what use which was all one code then \
    file more now error how they should only after has would my some out just need up function \
    into get does also new line see me no first same here your than time run each other set like \
    data any its because make where been call add still two them type next value check work \
    think want works before name list result without path change case looks read write return \
    failed fails start both these once over every null string";
const SYLLABLES: &str = "con ver ta ment re ing er tion pro lo gi ca che in dex sto pa ra me ter \
    hand le que ry sch ed ul bal an ce net work sys tem ob ject mod el ize";

/// Numbers without an end, the same in every run.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    /// Small numbers often, great ones seldom, as words are used.
    fn zipf(&mut self, end: usize) -> usize {
        let share = (self.next() >> 11) as f64 / (1u64 << 53) as f64;
        ((end as f64).powf(share) as usize - 1).min(end - 1)
    }

    fn one_in(&mut self, many: usize) -> bool {
        self.below(many) == 0
    }
}

/// Makes dialogue up.
struct Writer {
    numbers: Numbers,
    words: Vec<String>,
    chinese: Vec<String>,
}

struct Session {
    id: SessionId,
    texts: Vec<String>,
    when: Millis,
}

impl Writer {
    fn new() -> Self {
        let mut numbers = Numbers(7);
        let syllables: Vec<&str> = SYLLABLES.split_whitespace().collect();
        let mut words: Vec<String> = WORDS.split_whitespace().map(str::to_owned).collect();
        while words.len() < 30_000 {
            let len = 2 + numbers.below(3);
            let mut word = String::new();
            for _ in 0..len {
                word.push_str(syllables[numbers.below(syllables.len())]);
            }
            if numbers.one_in(10) {
                word[..1].make_ascii_uppercase();
            }
            words.push(word);
        }
        let mut character = |_| char::from_u32(0x4e00 + numbers.zipf(4000) as u32).unwrap();
        let mut chinese: Vec<String> = (0..8000)
            .map(|at| (0..=(at % 3)).map(&mut character).collect())
            .collect();
        "登录".clone_into(&mut chinese[300]);
        Self {
            numbers,
            words,
            chinese,
        }
    }

    fn word(&mut self) -> &str {
        &self.words[self.numbers.zipf(self.words.len())]
    }

    fn identifier(&mut self) -> String {
        match self.numbers.below(400) {
            0 => return "login_test".to_owned(),
            1 => return "foo::bar".to_owned(),
            _ => {}
        }
        let join = [".", "_", "_", "::"][self.numbers.below(4)];
        let first = self.word().to_lowercase();
        format!("{first}{join}{}", self.word())
    }

    fn message(&mut self) -> String {
        let len = 40 + self.numbers.zipf(6000);
        let kind = self.numbers.below(10);
        let mut text = String::with_capacity(len + 200);
        while text.len() < len {
            match kind {
                0..6 => self.prose(&mut text),
                6..8 => self.code(&mut text),
                _ => self.chinese(&mut text),
            }
        }
        text
    }

    fn prose(&mut self, text: &mut String) {
        for _ in 0..6 + self.numbers.below(12) {
            text.push_str(self.word());
            text.push(' ');
        }
        if self.numbers.one_in(5000) {
            text.push_str("zanzibar ");
        }
        text.pop();
        text.push_str(if self.numbers.one_in(5) {
            ".\n\n"
        } else {
            ". "
        });
    }

    fn code(&mut self, text: &mut String) {
        let (a, b, c) = (self.identifier(), self.identifier(), self.identifier());
        let line = match self.numbers.below(4) {
            0 => format!("    let {a} = {b}({c}, {});\n", self.numbers.below(1000)),
            1 => format!("fn {a}(&self, {b}: &str) -> Option<{c}> {{\n"),
            2 => format!("        if {a} != self.{b} {{ return Err(\"{c}\".into()); }}\n"),
            _ => format!(
                "    at /src/{a}/{b}.rs:{} in {c}\n",
                self.numbers.below(900)
            ),
        };
        text.push_str(&line);
    }

    fn chinese(&mut self, text: &mut String) {
        for _ in 0..4 + self.numbers.below(8) {
            text.push_str(&self.chinese[self.numbers.zipf(self.chinese.len())]);
        }
        if self.numbers.one_in(3) {
            text.push_str(self.word());
        }
        text.push('，');
    }

    /// The session of this number; the greater, the older.
    fn session(&mut self, number: i64) -> Session {
        let messages = 2 + self.numbers.zipf(200);
        Session {
            id: format!("session-{number}").into(),
            texts: (0..messages).map(|_| self.message()).collect(),
            when: Millis(1_800_000_000_000 - number * 600_000),
        }
    }
}

/// Time on the wall and time of the processor.
#[derive(Clone, Copy, Default)]
struct Cost {
    wall: Duration,
    processor: Duration,
}

impl Cost {
    fn add(&mut self, work: impl FnOnce()) {
        let (wall, processor) = (Instant::now(), processor_time());
        work();
        self.wall += wall.elapsed();
        self.processor += processor_time().saturating_sub(processor);
    }
}

fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec as u32)
}

/// A bare FTS5 table in a file of its own.
struct Bare {
    connection: Connection,
    rows: i64,
}

impl Bare {
    fn new(path: &Path, options: &str) -> Self {
        let connection = Connection::open(path).unwrap();
        let create = format!(
            "PRAGMA page_size = 16384; PRAGMA journal_mode = wal; PRAGMA synchronous = normal;
             PRAGMA cache_size = -16384;
             CREATE VIRTUAL TABLE bare USING fts5(text, {options});"
        );
        connection.execute_batch(&create).unwrap();
        Self {
            connection,
            rows: 0,
        }
    }

    /// `len` is the text that each row stands for, in bytes.
    fn put<'a>(&mut self, rows: impl Iterator<Item = (&'a str, usize)>) {
        let mut rows = rows.peekable();
        while rows.peek().is_some() {
            let transaction = self.connection.transaction().unwrap();
            {
                let insert = "INSERT INTO bare (rowid, text) VALUES (?1, ?2)";
                let mut insert = transaction.prepare_cached(insert).unwrap();
                let mut room = TRANSACTION;
                while room > 0
                    && let Some((text, len)) = rows.next()
                {
                    self.rows += 1;
                    insert.execute(params![self.rows, text]).unwrap();
                    room = room.saturating_sub(len);
                }
            }
            transaction.commit().unwrap();
        }
    }

    /// The newest texts, which have the lowest numbers here.
    fn first_hundred(&self, words: &[&str], not: Option<&str>) -> usize {
        let mut trigrams: Vec<String> = Vec::new();
        let mut conditions = vec!["1".to_owned()];
        for word in words {
            let chars: Vec<char> = word.chars().collect();
            let all = chars
                .windows(3)
                .map(|three| three.iter().collect::<String>());
            trigrams.extend(all.map(|trigram| format!("\"{trigram}\"")));
            // One trigram alone is the match itself.
            if chars.len() != 3 {
                conditions.push(format!("text LIKE '%{word}%'"));
            }
        }
        conditions.extend(not.map(|not| format!("text NOT LIKE '%{not}%'")));
        if !trigrams.is_empty() {
            conditions.push(format!("bare MATCH '{}'", trigrams.join(" AND ")));
        }
        let sql = format!(
            "SELECT rowid, text FROM bare WHERE {} ORDER BY rowid LIMIT 100",
            conditions.join(" AND ")
        );
        let mut statement = self.connection.prepare_cached(&sql).unwrap();
        let mut rows = statement.query([]).unwrap();
        let mut count = 0;
        while let Some(row) = rows.next().unwrap() {
            std::hint::black_box(row.get_ref(1).unwrap().as_str().unwrap());
            count += 1;
        }
        count
    }
}

fn put(texts: &Texts, sessions: &[Session]) {
    let messages: Vec<Vec<TextMessage<'_>>> = sessions
        .iter()
        .map(|session| {
            let texts = session.texts.iter().map(|text| TextMessage {
                role: Role::User,
                when: session.when,
                cited: None,
                text,
            });
            texts.collect()
        })
        .collect();
    let batch: Vec<SessionTexts<'_>> = sessions
        .iter()
        .zip(&messages)
        .map(|(session, messages)| SessionTexts {
            id: &session.id,
            stamp: Stamp::default(),
            messages,
        })
        .collect();
    texts.put(&batch).unwrap();
}

fn main() {
    let megabytes = std::env::args()
        .find_map(|arg| arg.parse::<usize>().ok())
        .unwrap_or(256);
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let texts = Texts::open(Some(path("ours")));
    let trigram = "tokenize = 'trigram', detail = none";
    let mut trigram = Bare::new(&path("trigram"), trigram);
    let ready = format!("tokenize = '{TOKENIZER}', detail = none, content = ''");
    let mut ready = Bare::new(&path("ready"), &ready);
    index(megabytes, &texts, &mut trigram, &mut ready);
    for name in ["ours", "trigram", "ready"] {
        let size = std::fs::metadata(path(name)).unwrap().len();
        println!("  {name:8} {:8.2} bytes on disk for one of text", {
            size as f64 / (megabytes << 20) as f64
        });
    }
    println!("queries, ms; the difference is to be at most {FRAME}");
    for (name, query, words, not) in QUERIES {
        answer(name, query, &texts, || trigram.first_hundred(words, not));
    }
}

/// Puts the dialogue into all three, in turns.
fn index(megabytes: usize, texts: &Texts, trigram: &mut Bare, ready: &mut Bare) {
    let mut writer = Writer::new();
    let mut tokens = Tokens::new();
    let (mut our_cost, mut trigram_cost, mut ready_cost) = <(Cost, Cost, Cost)>::default();
    let (mut bytes, mut number) = (0, 0);
    while bytes < megabytes << 20 {
        let mut batch = Vec::new();
        let mut size = 0;
        while size < BATCH {
            let session = writer.session(number);
            size += session.texts.iter().map(String::len).sum::<usize>();
            number += 1;
            batch.push(session);
        }
        bytes += size;
        let all = || batch.iter().flat_map(|session| &session.texts);
        let made: Vec<(String, usize)> = all()
            .map(|text| (tokens.of_text(text).to_owned(), text.len()))
            .collect();
        our_cost.add(|| put(texts, &batch));
        trigram_cost.add(|| trigram.put(all().map(|text| (text.as_str(), text.len()))));
        ready_cost.add(|| ready.put(made.iter().map(|(tokens, len)| (tokens.as_str(), *len))));
    }
    println!(
        "{megabytes} MB of dialogue, {number} sessions, {} messages",
        trigram.rows
    );
    for (name, cost) in [("trigram", trigram_cost), ("our tokens", ready_cost)] {
        let ratio = our_cost.wall.as_secs_f64() / cost.wall.as_secs_f64();
        let verdict = if ratio <= INDEXING { "ok" } else { "MISSED" };
        println!(
            "  indexing {:.1?} / {:.1?} = {ratio:.2} of bare FTS5 with {name} (≤ {INDEXING}) \
             {verdict}; by processor time {:.2}",
            our_cost.wall,
            cost.wall,
            our_cost.processor.as_secs_f64() / cost.processor.as_secs_f64()
        );
    }
}

/// Asks both in turns.
fn answer(name: &str, query: &str, texts: &Texts, bare: impl Fn() -> usize) {
    let terms = Terms::parse(query);
    let ask = |depth| {
        let query = TextQuery {
            terms: &terms,
            admits: &|_| true,
            limit: 100,
            depth,
        };
        texts
            .search(&query, &CancellationToken::new())
            .unwrap()
            .unwrap()
    };
    let (mut ours, mut theirs, mut difference) = (Vec::new(), Vec::new(), Vec::new());
    let mut processor = Vec::new();
    let (mut hits, mut count) = (ask(Depth::First), bare());
    for _ in 0..ROUNDS {
        let (mut our_cost, mut bare_cost) = <(Cost, Cost)>::default();
        our_cost.add(|| hits = ask(Depth::First));
        bare_cost.add(|| count = bare());
        ours.push(ms(our_cost.wall));
        theirs.push(ms(bare_cost.wall));
        difference.push(ms(our_cost.wall) - ms(bare_cost.wall));
        processor.push(ms(our_cost.processor) - ms(bare_cost.processor));
    }
    let started = Instant::now();
    let all = ask(Depth::All);
    let to_the_end = ms(started.elapsed());
    for times in [&mut ours, &mut theirs, &mut difference, &mut processor] {
        times.sort_unstable_by(f64::total_cmp);
    }
    let (p50, max) = (difference[ROUNDS / 2], difference[ROUNDS - 1]);
    println!(
        "  {name:22} ours {:8.2}  bare {:8.2}  difference p50 {p50:8.2}, max {max:8.2} {}, by processor time \
         p50 {:8.2}, max {:8.2}  ({} sessions{}, bare {count} messages; to the end {to_the_end:.0} ms, {} sessions{})",
        ours[ROUNDS / 2],
        theirs[ROUNDS / 2],
        if max <= FRAME { "ok" } else { "MISSED" },
        processor[ROUNDS / 2],
        processor[ROUNDS - 1],
        hits.sessions,
        if hits.is_cut { "+" } else { "" },
        all.sessions,
        if all.is_cut { "+" } else { "" },
    );
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
