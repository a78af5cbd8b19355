//! Numbers, sizes and ages as people read them.

pub(super) use crate::figures::counted;
use crate::figures::thousands;
use crate::session::Millis;

const UNITS: [&str; 4] = ["KB", "MB", "GB", "TB"];

/// A size in bytes: `512 B`, `12.3 KB`, `1.2 MB`. One KB is 1,024 bytes.
#[must_use]
pub fn human_bytes(bytes: u64) -> String {
    let (unit, name) = unit_of(bytes);
    if unit == 1 {
        format!("{bytes} B")
    } else {
        format!("{} {name}", tenths(bytes, unit))
    }
}

/// How much of how much, both in the unit of the whole: `61.2 of 64.0 KB`.
#[must_use]
pub fn human_share(used: u64, of: u64) -> String {
    let (unit, name) = unit_of(of);
    if unit == 1 {
        format!("{used} of {of} B")
    } else {
        format!("{} of {} {name}", tenths(used, unit), tenths(of, unit))
    }
}

/// The bytes of a unit and its name: the largest in which the size, rounded to
/// tenths, is at least 1.0 and less than 1,024.0.
fn unit_of(bytes: u64) -> (u64, &'static str) {
    let mut chosen = (1, "B");
    let mut unit = 1_u64;
    for name in UNITS {
        let outgrown = if unit == 1 {
            bytes >= 1024
        } else {
            rounded_tenths(bytes, unit) >= 10_240
        };
        if !outgrown {
            break;
        }
        unit *= 1024;
        chosen = (unit, name);
    }
    chosen
}

fn rounded_tenths(bytes: u64, unit: u64) -> u128 {
    (u128::from(bytes) * 10 + u128::from(unit / 2)) / u128::from(unit)
}

fn tenths(bytes: u64, unit: u64) -> String {
    let tenths = rounded_tenths(bytes, unit);
    format!("{}.{}", tenths / 10, tenths % 10)
}

/// A count with a comma at every third digit: `1,204`.
#[must_use]
pub fn human_count(count: usize) -> String {
    thousands(count as u64)
}

/// How long ago `then` was at `now`, in its largest whole unit: `now`,
/// `5 min`, `2 h`, `12 d`, `3 y`. What lies ahead is `now`.
#[must_use]
pub fn human_age(then: Millis, now: Millis) -> String {
    let seconds = now.0.saturating_sub(then.0).max(0) / 1000;
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86_400);
    match (minutes, hours, days) {
        (0, ..) => "now".to_owned(),
        (_, 0, _) => format!("{minutes} min"),
        (.., 0) => format!("{hours} h"),
        _ if days < 365 => format!("{days} d"),
        _ => format!("{} y", days / 365),
    }
}

/// A number of tokens, short: `128k`, `1.0M`.
#[must_use]
pub fn tokens(tokens: u64) -> String {
    match tokens {
        0..1_000 => tokens.to_string(),
        1_000..1_000_000 => format!("{}k", tokens / 1_000),
        _ => format!("{}.{}M", tokens / 1_000_000, tokens % 1_000_000 / 100_000),
    }
}

/// The time of day of a moment, such as `14:02:11`.
#[must_use]
pub fn clock(moment: Millis, zone: &jiff::tz::TimeZone) -> String {
    told(moment, zone, "%H:%M:%S")
}

/// A moment as it can stand in the name of a file, such as `20261202-140211`.
#[must_use]
pub fn stamp(moment: Millis, zone: &jiff::tz::TimeZone) -> String {
    told(moment, zone, "%Y%m%d-%H%M%S")
}

fn told(moment: Millis, zone: &jiff::tz::TimeZone, form: &str) -> String {
    let moment = jiff::Timestamp::from_millisecond(moment.0);
    let moment = moment.map(|moment| moment.to_zoned_datetime(zone.clone()));
    moment.map_or_else(
        |_| String::new(),
        |moment| moment.strftime(form).to_string(),
    )
}

/// The spinner as it looks at a moment.
#[must_use]
pub fn spinner(now: Millis) -> char {
    const FRAMES: [char; 10] = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
    let frame = usize::try_from(now.0.rem_euclid(1_000) / 100).unwrap_or(0);
    FRAMES.get(frame).copied().unwrap_or('⠋')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_change_unit_where_the_rounded_number_would_reach_1024() {
        let cases = [
            (0, "0 B"),
            (512, "512 B"),
            (1023, "1023 B"),
            (1024, "1.0 KB"),
            (12_595, "12.3 KB"),
            (1024 * 1024 - 1, "1.0 MB"),
            (1_258_291, "1.2 MB"),
            (u64::MAX, "16777216.0 TB"),
        ];
        for (bytes, text) in cases {
            assert_eq!(human_bytes(bytes), text);
        }
    }

    #[test]
    fn a_share_is_told_in_the_unit_of_the_whole() {
        assert_eq!(human_share(62_669, 65_536), "61.2 of 64.0 KB");
        assert_eq!(human_share(100, 65_536), "0.1 of 64.0 KB");
        assert_eq!(human_share(5, 900), "5 of 900 B");
    }

    #[test]
    fn a_count_agrees_with_its_noun() {
        assert_eq!(counted(1, "message"), "1 message");
        assert_eq!(counted(1000, "message"), "1,000 messages");
    }

    #[test]
    fn ages_are_told_in_their_largest_whole_unit() {
        let hour = 3_600_000;
        let cases = [
            (-5, "now"),
            (59_999, "now"),
            (60_000, "1 min"),
            (2 * hour, "2 h"),
            (24 * hour, "1 d"),
            (12 * 24 * hour, "12 d"),
            (800 * 24 * hour, "2 y"),
        ];
        for (ago, text) in cases {
            assert_eq!(human_age(Millis(0), Millis(ago)), text);
        }
        assert_eq!(human_age(Millis(i64::MIN), Millis(i64::MAX)), "292471208 y");
    }
}
