//! Exit codes: one table for all commands, by the stable code of the error.

use std::fmt::Write as _;

/// Failed in a way that no other row tells.
pub(super) const FAILED: u8 = 1;
/// The arguments can't be used.
pub(super) const USAGE: u8 = 2;
/// The code of an answer that reached the limit of its length.
pub(super) const CUT: &str = "ANSWER_CUT";
/// The code of a mention in data that came on stdin.
pub(super) const PIPED_MENTION: &str = "ASK_PIPED_MENTION";
/// The code of a citation that no session fits.
pub(super) const CITE_NOT_FOUND: &str = "ASK_CITE_NOT_FOUND";
/// The code of a citation that several sessions fit.
pub(super) const CITE_AMBIGUOUS: &str = "ASK_CITE_AMBIGUOUS";

/// An exit code, what it means, and the codes of errors that give it. One that
/// ends in `*` stands for all that begin so; the first that fits counts.
struct Row {
    exit: u8,
    meaning: &'static str,
    codes: &'static [&'static str],
}

const ROWS: &[Row] = &[
    Row {
        exit: USAGE,
        meaning: "wrong arguments, or no prompt",
        codes: &["USAGE"],
    },
    Row {
        exit: 3,
        meaning: "no key, or the server does not take it",
        codes: &["MODEL_AUTH", "MODEL_KEY"],
    },
    Row {
        exit: 4,
        meaning: "too many requests, also after waiting, or no credit",
        codes: &["MODEL_RATE_LIMITED", "MODEL_QUOTA"],
    },
    Row {
        exit: 5,
        meaning: "network, time limit, overload, or an answer that broke off",
        codes: &[
            "MODEL_NETWORK",
            "MODEL_TIMEOUT",
            "MODEL_STREAM_ENDED",
            "MODEL_OVERLOADED",
        ],
    },
    Row {
        exit: 6,
        meaning: "the model or its provider's filter would not answer",
        codes: &["MODEL_REFUSED"],
    },
    Row {
        exit: 7,
        meaning: "the request is longer than the model takes",
        codes: &["CHAT_TOO_LONG", "MODEL_TOO_LONG"],
    },
    Row {
        exit: 9,
        meaning: "a session can't be cited, or which one is not clear",
        codes: &[
            "SESSION_REFERENCE_*",
            PIPED_MENTION,
            CITE_NOT_FOUND,
            CITE_AMBIGUOUS,
        ],
    },
    Row {
        exit: 8,
        meaning: "a session can't be opened or written, or the disk failed",
        codes: &["STORE_*", "SESSION_*", "NOT_SAVED"],
    },
    Row {
        exit: 10,
        meaning: "the answer was cut at the limit of its length; what came is kept",
        codes: &[CUT],
    },
];

/// The exit code for an error of this code.
pub(super) fn of(code: &str) -> u8 {
    let fits = |known: &&str| match known.strip_suffix('*') {
        Some(beginning) => code.starts_with(beginning),
        None => *known == code,
    };
    let row = ROWS.iter().find(|row| row.codes.iter().any(fits));
    row.map_or(FAILED, |row| row.exit)
}

/// The exit code of a program that this signal called off, as shells count.
pub(super) fn of_signal(number: i32) -> u8 {
    u8::try_from(number + 128).unwrap_or(FAILED)
}

/// The table for people, a row a line.
pub(super) fn table() -> String {
    let mut rows: Vec<(u8, &str)> = ROWS.iter().map(|row| (row.exit, row.meaning)).collect();
    rows.push((0, "done: the answer is whole"));
    rows.push((FAILED, "failed in any other way"));
    rows.push((
        130,
        "called off by Ctrl-C (129, 143: SIGHUP, SIGTERM); what came is kept",
    ));
    rows.sort_unstable();
    let mut table = "Exit codes:".to_owned();
    for (exit, meaning) in rows {
        // Writing to a String can't fail.
        let _ = write!(table, "\n  {exit:>3}  {meaning}");
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_failure_has_an_exit_code_of_its_own() {
        let rows = [
            ("USAGE", 2),
            ("MODEL_KEY", 3),
            ("MODEL_RATE_LIMITED", 4),
            ("MODEL_STREAM_ENDED", 5),
            ("MODEL_REFUSED", 6),
            ("CHAT_TOO_LONG", 7),
            ("MODEL_TOO_LONG", 7),
            ("STORE_FULL", 8),
            ("SESSION_OPEN_ELSEWHERE", 8),
            ("SESSION_REFERENCE_TOO_MANY", 9),
            ("ASK_CITE_AMBIGUOUS", 9),
            ("ANSWER_CUT", 10),
            ("MODEL_BAD_RESPONSE", 1),
            ("MODEL_REFUSED_NOT", 1),
            ("", 1),
        ];
        for (code, exit) in rows {
            assert_eq!(of(code), exit, "{code}");
        }
        assert_eq!(of_signal(2), 130);
    }

    #[test]
    fn every_exit_code_is_in_the_table_for_people_and_in_the_docs() {
        let docs = include_str!("../../docs/asking.md");
        let table = table();
        for row in ROWS {
            assert!(table.contains(&format!("{:>3}  {}", row.exit, row.meaning)));
            let line = format!("| {} | {} |", row.exit, row.meaning);
            assert!(docs.contains(&line), "{line}");
            for code in row.codes {
                assert!(docs.contains(&format!("`{code}`")), "{code}");
            }
        }
    }
}
