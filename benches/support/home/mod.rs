//! Makes up a home full of other tools' sessions, as long and as mixed as
//! those that the tools write: mostly noise, some dialogue, forks, subagents'
//! sessions, and files without a message. The same plan makes the same home.

mod claude_code;
mod codex;
mod dsh;
mod gemini;
mod noise;
mod opencode;
mod random;

use std::fs::{self, File, FileTimes};
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::time::{Duration, SystemTime};

use self::noise::Noise;
use self::random::Random;

/// What to make.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// How many sessions, of all kinds.
    pub sessions: usize,
    /// How many bytes they take, about.
    pub bytes: u64,
    /// Another seed, another home.
    pub seed: u64,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            sessions: 10_000,
            bytes: 5_000_000_000,
            seed: 1,
        }
    }
}

impl Plan {
    /// The plan of `--sessions`, `--bytes` and `--seed` among these arguments;
    /// bytes may end in `K`, `M` or `G`.
    pub fn of_args(args: impl Iterator<Item = String>) -> Self {
        let mut plan = Self::default();
        let args: Vec<String> = args.collect();
        for pair in args.windows(2) {
            match &*pair[0] {
                "--sessions" => plan.sessions = number(&pair[1]).try_into().unwrap(),
                "--bytes" => plan.bytes = number(&pair[1]),
                "--seed" => plan.seed = number(&pair[1]),
                _ => {}
            }
        }
        plan
    }
}

fn number(text: &str) -> u64 {
    let (digits, unit) = match text.as_bytes().last() {
        Some(b'K') => (&text[..text.len() - 1], 1_000),
        Some(b'M') => (&text[..text.len() - 1], 1_000_000),
        Some(b'G') => (&text[..text.len() - 1], 1_000_000_000),
        _ => (text, 1),
    };
    digits.parse::<u64>().unwrap() * unit
}

/// What was made.
#[derive(Clone, Copy, Debug, Default)]
pub struct Made {
    /// Sessions that a list shows, forks among them.
    pub sessions: usize,
    pub forks: usize,
    pub subagents: usize,
    pub stubs: usize,
    pub bytes: u64,
}

/// What a session is beside others.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    Session,
    /// Goes on from the session of this id and its first prompt.
    Fork(String, String),
    /// Made by an agent of the session of this id.
    Subagent(String),
    /// Without a message.
    Stub,
}

/// One session to make.
#[derive(Clone, Debug)]
struct About {
    id: String,
    kind: Kind,
    cwd: String,
    /// The first prompt.
    prompt: String,
    title: Option<String>,
    /// In milliseconds since 1970, as is the next.
    created_at: i64,
    updated_at: i64,
    /// How long its file is to be.
    bytes: u64,
}

/// One tool's way of writing sessions.
trait Tool {
    /// Writes the file of one session, and gives its length.
    fn write(&mut self, about: &About, random: &mut Random) -> io::Result<u64>;

    /// Writes what stands beside the sessions.
    fn finish(&mut self) -> io::Result<u64> {
        Ok(0)
    }
}

/// The last moment of any session: 2026-12-01T00:00:00Z.
const END: i64 = 1_796_083_200_000;
const DAY: i64 = 86_400_000;

/// Of 100 sessions, so many are Claude Code's, Codex's, and so on.
const SHARES: [u64; 5] = [52, 28, 10, 5, 5];

/// Fills `home`, which must be empty.
///
/// # Errors
/// When something can't be written.
pub fn make(home: &Path, plan: &Plan) -> io::Result<Made> {
    let mut random = Random::new(plan.seed);
    let mut tools: [Box<dyn Tool>; 5] = [
        Box::new(claude_code::ClaudeCode::new(home)),
        Box::new(codex::Codex::new(home)),
        Box::new(gemini::Gemini::new(home)),
        Box::new(dsh::Dsh::new(home)),
        Box::new(opencode::Opencode::new(home)?),
    ];
    let mut latest: [Option<About>; 5] = Default::default();
    let weights: Vec<u64> = (0..plan.sessions).map(|_| random.weight()).collect();
    let all: u64 = weights.iter().sum::<u64>().max(1);
    let mut made = Made::default();
    for (at, weight) in (0i64..).zip(weights) {
        let tool = random.share(&SHARES);
        let count = i64::try_from(plan.sessions).unwrap();
        // Oldest first, over two years.
        let created_at = END - 730 * DAY + 729 * DAY * at / count;
        let bytes = u128::from(plan.bytes) * u128::from(weight) / u128::from(all);
        let kind = kind(latest[tool].as_ref(), &mut random);
        match kind {
            Kind::Session => made.sessions += 1,
            Kind::Fork(..) => {
                made.sessions += 1;
                made.forks += 1;
            }
            Kind::Subagent(_) => made.subagents += 1,
            Kind::Stub => made.stubs += 1,
        }
        let is_new = kind == Kind::Session;
        let about = About {
            id: random.uuid(),
            cwd: match &latest[tool] {
                Some(parent) if !is_new => parent.cwd.clone(),
                _ => random.cwd(),
            },
            kind,
            prompt: random.prompt(),
            title: random.one_in(3).then(|| random.title()),
            created_at,
            updated_at: created_at + 60_000 + i64::try_from(random.below(8 * 3_600_000)).unwrap(),
            bytes: u64::try_from(bytes).unwrap(),
        };
        made.bytes += tools[tool].write(&about, &mut random)?;
        if is_new {
            latest[tool] = Some(about);
        }
    }
    for tool in &mut tools {
        made.bytes += tool.finish()?;
    }
    Ok(made)
}

/// Of 100 sessions, 15 are subagents', 4 forks and 4 stubs.
fn kind(parent: Option<&About>, random: &mut Random) -> Kind {
    let Some(parent) = parent else {
        return Kind::Session;
    };
    match random.below(100) {
        0..15 => Kind::Subagent(parent.id.clone()),
        15..19 => Kind::Fork(parent.id.clone(), parent.prompt.clone()),
        19..23 => Kind::Stub,
        _ => Kind::Session,
    }
}

/// Writes a file by way of `write`, sets when it was last written, and gives
/// its length.
fn file(
    path: &Path,
    updated_at: i64,
    write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> io::Result<u64> {
    fs::create_dir_all(path.parent().unwrap())?;
    let mut out = BufWriter::with_capacity(1 << 16, File::create(path)?);
    write(&mut out)?;
    let file = out.into_inner()?;
    let updated_at = Duration::from_millis(updated_at.unsigned_abs());
    let times = FileTimes::new().set_modified(SystemTime::UNIX_EPOCH + updated_at);
    file.set_times(times)?;
    Ok(file.metadata()?.len())
}

/// Writes turns with noise between them until the file is as long as it is to
/// be. `turn` gives the lines of one turn, which it is told the number of.
fn turns(
    out: &mut impl Write,
    about: &About,
    noise: &Noise,
    random: &mut Random,
    mut turn: impl FnMut(u64, &mut Random) -> Vec<u8>,
) -> io::Result<()> {
    let mut left = about.bytes;
    for number in 0.. {
        let lines = turn(number, random);
        out.write_all(&lines)?;
        // About one byte in sixteen is dialogue.
        let len = (lines.len() as u64 * 15).min(left);
        let written = noise.write(out, len, random)? + lines.len() as u64;
        left = left.saturating_sub(written);
        if left == 0 {
            break;
        }
    }
    Ok(())
}

/// A moment as RFC 3339 has it.
fn timestamp(millis: i64) -> String {
    let moment = jiff::Timestamp::from_millisecond(millis).unwrap();
    moment.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}

/// A JSON value as one line.
fn line(value: &serde_json::Value) -> Vec<u8> {
    let mut line = serde_json::to_vec(value).unwrap();
    line.push(b'\n');
    line
}
