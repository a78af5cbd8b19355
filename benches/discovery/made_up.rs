//! Very many sessions that nobody ever had.

use ibid::library::{CapturedLog, LogFile, LogFiles, Scanned, Stamp};
use ibid::reference::Cause;
use ibid::reference::projection::Capture;
use ibid::session::{Header, Millis, SessionId, Title};
use ibid::tool::Tool;
use tokio_util::sync::CancellationToken;

const VERBS: [&str; 16] = [
    "Fix", "Debug", "Rewrite", "Explain", "Review", "Speed up", "Migrate", "Test", "Remove",
    "Document", "Plan", "Split", "Port", "Profile", "Trace", "Rename",
];
const THINGS: [&str; 24] = [
    "flaky login test",
    "connection pool",
    "retry budget",
    "release script",
    "cache eviction",
    "migration to Postgres",
    "search index",
    "config loader",
    "CSV export",
    "payment webhook",
    "rate limiter",
    "session store",
    "date parser",
    "image upload",
    "Docker build",
    "CI on arm64",
    "memory leak",
    "auth middleware",
    "feature flags",
    "background jobs",
    "error messages",
    "terminal resize",
    "Unicode width",
    "invoice totals",
];
const TAILS: [&str; 12] = [
    "",
    "in staging",
    "after the upgrade",
    "again",
    "for the demo",
    "on Windows",
    "part two",
    "under load",
    "before Friday",
    "with fewer queries",
    "without downtime",
    "(draft)",
];
const CJK: [&str; 6] = [
    "修复登录页面的测试",
    "数据库连接池",
    "検索インデックスの更新",
    "로그인 오류 분석",
    "支付回调重试",
    "終端の幅 👩‍💻",
];

/// Sessions that are made up as they are asked for.
pub struct MadeUp {
    pub count: u64,
}

/// A fixed scramble of a number, so that every run sees the same sessions.
fn scramble(mut x: u64) -> u64 {
    x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

fn pick<'a>(words: &[&'a str], random: u64) -> &'a str {
    words[usize::try_from(random % words.len() as u64).unwrap()]
}

fn title(at: u64) -> String {
    let r = scramble(at);
    if r.is_multiple_of(20) {
        return format!("{} {}", pick(&CJK, r >> 8), r >> 52);
    }
    let (verb, thing) = (pick(&VERBS, r >> 8), pick(&THINGS, r >> 16));
    format!("{verb} the {thing} {}", pick(&TAILS, r >> 24))
        .trim()
        .to_owned()
}

pub fn cwd(at: u64) -> String {
    let r = scramble(at ^ 0xabcd) % 300;
    format!(
        "/home/sam/work/{}-{r}",
        pick(&["api", "web", "infra", "docs"], r)
    )
}

impl MadeUp {
    pub fn id(at: u64) -> String {
        let r = scramble(at ^ 0x1d);
        format!(
            "0197{:08x}-7{:03x}-8{:03x}-{:012x}",
            at,
            r & 0xfff,
            (r >> 12) & 0xfff,
            r >> 16
        )
    }

    fn log_file(at: u64) -> LogFile {
        LogFile {
            tool: Tool::Ibid,
            file: format!("{}.jsonl", Self::id(at)),
            id: Some(Self::id(at).into()),
            stamp: Self::stamp(at),
        }
    }

    fn stamp(at: u64) -> Stamp {
        Stamp {
            size: 1000 + at,
            mtime_ns: i64::try_from(at).unwrap() * 1_000_000_000,
            inode: at,
        }
    }
}

impl LogFiles for MadeUp {
    fn file_name(&self, id: &SessionId) -> Option<String> {
        Some(format!("{id}.jsonl"))
    }

    fn scan(&self, _: &CancellationToken) -> Result<Scanned, Cause> {
        Ok(Scanned {
            logs: (0..self.count).map(Self::log_file).collect(),
            notices: Vec::new(),
        })
    }

    fn find(&self, file: &str) -> Option<LogFile> {
        Some(Self::log_file(u64::from_str_radix(&file[4..12], 16).ok()?))
    }

    fn header(&self, file: &str) -> Result<Header, Cause> {
        let at = u64::from_str_radix(&file[4..12], 16).unwrap();
        let created_at = Millis(i64::try_from(at).unwrap() * 1000);
        Ok(Header::new(Self::id(at), created_at, Some(cwd(at))))
    }

    fn capture(&self, file: &str, _: Option<&SessionId>) -> Result<Option<CapturedLog>, Cause> {
        let at = u64::from_str_radix(&file[4..12], 16).unwrap();
        Ok(Some(CapturedLog {
            stamp: Self::stamp(at),
            capture: Capture {
                header: self.header(file)?,
                captured_through: None,
                damage: None,
                conversation: Vec::new(),
            },
            title: Some(Title {
                text: title(at),
                pinned: false,
            }),
        }))
    }
}
