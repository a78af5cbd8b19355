//! Moments as programs write them.

/// How a moment is written by most, with a digit for each `0`.
const PLAIN: &[u8; 24] = b"0000-00-00T00:00:00.000Z";
/// The days before each month, in a year that begins in March.
const MONTH_DAYS: [i64; 12] = [306, 337, 0, 31, 61, 92, 122, 153, 184, 214, 245, 275];
/// The days from the beginning of March of the year 0 to that of 1970.
const EPOCH_DAYS: i64 = 719_468;
/// Days that every month has.
const SURE_DAYS: i64 = 28;

/// A moment in Unix milliseconds; `None` when it is none.
pub(super) fn millis(text: &str) -> Option<i64> {
    plain(text.as_bytes()).or_else(|| {
        let time: jiff::Timestamp = text.parse().ok()?;
        Some(time.as_millisecond())
    })
}

/// A moment in the form of most, without a look at a calendar; `None` also for
/// one that needs it.
fn plain(text: &[u8]) -> Option<i64> {
    let text: &[u8; 24] = text.try_into().ok()?;
    let is_plain = |(byte, form): (&u8, &u8)| match form {
        b'0' => byte.is_ascii_digit(),
        _ => byte == form,
    };
    if !text.iter().zip(PLAIN).all(is_plain) {
        return None;
    }
    let [
        y1,
        y2,
        y3,
        y4,
        _,
        m1,
        m2,
        _,
        d1,
        d2,
        _,
        h1,
        h2,
        _,
        n1,
        n2,
        _,
        s1,
        s2,
        _,
        f1,
        f2,
        f3,
        _,
    ] = text.map(|byte| i64::from(byte & 0xf));
    let year = y1 * 1000 + y2 * 100 + y3 * 10 + y4;
    let (month, day) = (m1 * 10 + m2, d1 * 10 + d2);
    let (hour, minute, second) = (h1 * 10 + h2, n1 * 10 + n2, s1 * 10 + s2);
    let is_sure = (1..=SURE_DAYS).contains(&day) && hour < 24 && minute < 60 && second < 60;
    let before = usize::try_from(month - 1).ok();
    let before = before.and_then(|month| MONTH_DAYS.get(month));
    let (true, Some(before)) = (is_sure, before) else {
        return None;
    };
    // The day of a leap year is the last of a year that begins in March.
    let year = if month < 3 { year - 1 } else { year };
    let days = 365 * year + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    let days = days + before + day - 1 - EPOCH_DAYS;
    let seconds = ((days * 24 + hour) * 60 + minute) * 60 + second;
    Some(seconds * 1000 + f1 * 100 + f2 * 10 + f3)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by_calendar(text: &str) -> Option<i64> {
        let time: jiff::Timestamp = text.parse().ok()?;
        Some(time.as_millisecond())
    }

    #[test]
    fn a_plain_moment_is_that_of_the_calendar() {
        for year in [
            "0000", "0001", "1900", "1969", "1970", "2000", "2024", "2026", "2100", "9999",
        ] {
            for month in 1..=12 {
                for day in [1, 28] {
                    let text = format!("{year}-{month:02}-{day:02}T23:04:59.807Z");
                    assert_eq!(plain(text.as_bytes()), by_calendar(&text), "{text}");
                    assert!(plain(text.as_bytes()).is_some(), "{text}");
                }
            }
        }
    }

    #[test]
    fn what_is_not_plain_is_looked_up() {
        for text in [
            "2026-12-01T20:34:12Z",
            "2026-12-31T20:34:12.870Z",
            "2024-02-29T20:34:12.870Z",
            "2026-12-01T20:34:12.870+02:00",
            "2026-12-01T20:34:60.870Z",
            "2026-02-30T20:34:12.870Z",
            "2026-00-01T20:34:12.870Z",
            "2026-13-01T20:34:12.870Z",
            "2026-12-00T20:34:12.870Z",
            "2026-12-01T24:34:12.870Z",
            "2026-12-01 20:34:12.870Z",
            "yesterday",
            "",
        ] {
            assert_eq!(plain(text.as_bytes()), None, "{text}");
            assert_eq!(millis(text), by_calendar(text), "{text}");
        }
    }
}
