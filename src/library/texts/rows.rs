//! The numbers of the messages in the tables.
//!
//! The higher, the newer, roughly: an answer that looks at the highest numbers
//! first looks at the newest messages first, without sorting. What is newer
//! than all there is goes on top; all else goes below the rest. So
//! the first build, which takes the newest sessions first, grows downwards,
//! and what is said later grows upwards. Numbers without gaps keep the index small.

use rusqlite::Connection;

use crate::session::Millis;

/// Where numbers begin: low enough to be short in the index, and with room
/// for more messages below than any disk holds.
const FIRST: i64 = 1 << 27;

/// The numbers of some messages of one session.
#[derive(Debug)]
pub(super) struct RowRange {
    pub(super) start: i64,
    len: i64,
    when: Millis,
}

impl RowRange {
    /// Numbers for that many messages of a session that was last active then;
    /// [`Rows::assign`] gives them.
    pub(super) fn new(len: usize, when: Millis) -> Self {
        Self {
            start: 0,
            len: i64::try_from(len).unwrap_or(i64::MAX),
            when,
        }
    }
}

/// Which numbers are taken.
#[derive(Debug)]
pub(super) struct Rows {
    /// The lowest that is taken.
    bottom: i64,
    /// The lowest above all that are taken.
    top: i64,
    /// When the highest was said; `None` while there is none.
    newest: Option<Millis>,
}

impl Rows {
    pub(super) fn read(connection: &Connection) -> Result<Self, rusqlite::Error> {
        let ends = "SELECT id, time FROM texts_messages WHERE id IN \
             ((SELECT min(id) FROM texts_messages), (SELECT max(id) FROM texts_messages)) \
             ORDER BY id";
        let mut statement = connection.prepare_cached(ends)?;
        let ends = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let ends: Vec<(i64, i64)> = ends.collect::<Result<_, _>>()?;
        Ok(match (ends.first(), ends.last()) {
            (Some((bottom, _)), Some((highest, time))) => Self {
                bottom: *bottom,
                top: highest + 1,
                newest: Some(Millis(*time)),
            },
            _ => Self {
                bottom: FIRST,
                top: FIRST,
                newest: None,
            },
        })
    }

    /// Gives numbers to ranges that come newest first.
    pub(super) fn assign<'a>(&mut self, ranges: impl Iterator<Item = &'a mut RowRange>) {
        let mut above = Vec::new();
        for range in ranges {
            let is_newer = self.newest.is_none_or(|newest| range.when >= newest);
            if is_newer || self.bottom <= range.len {
                above.push(range);
            } else {
                self.bottom -= range.len;
                range.start = self.bottom;
            }
        }
        above.reverse();
        above.sort_by_key(|range| range.when);
        for range in above {
            range.start = self.top;
            self.top += range.len;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assign(rows: &mut Rows, whens: &[i64]) -> Vec<i64> {
        let mut ranges: Vec<RowRange> = whens
            .iter()
            .map(|when| RowRange::new(10, Millis(*when)))
            .collect();
        rows.assign(ranges.iter_mut());
        ranges.iter().map(|range| range.start - FIRST).collect()
    }

    #[test]
    fn newer_sessions_have_higher_numbers_whichever_way_they_come() {
        let empty = || Rows {
            bottom: FIRST,
            top: FIRST,
            newest: None,
        };
        assert_eq!(assign(&mut empty(), &[30, 20, 10]), [20, 10, 0]);
        assert_eq!(assign(&mut empty(), &[20, 20]), [10, 0]);
        let mut rows = Rows {
            newest: Some(Millis(30)),
            ..empty()
        };
        assert_eq!(assign(&mut rows, &[40, 30, 20, 10]), [10, 0, -10, -20]);
        assert_eq!(assign(&mut rows, &[50, 5]), [20, -30]);
    }

    #[test]
    fn no_number_is_below_one() {
        let mut rows = Rows {
            bottom: 10,
            top: 20,
            newest: Some(Millis(9)),
        };
        assert_eq!(assign(&mut rows, &[8]), [20 - FIRST]);
        assert_eq!(rows.bottom, 10);
    }
}
