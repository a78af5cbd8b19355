//! How long a server asks to wait, as its headers tell.

use std::time::Duration;

use jiff::Timestamp;
use jiff::fmt::rfc2822;

/// How long to wait from `now` on; `None` where no header tells.
///
/// `retry-after-ms` and `retry-after` are what is asked. Else the limits that
/// are used up tell when they begin anew, and the last of them counts.
pub(super) fn told<'a>(
    header: impl Fn(&str) -> Option<&'a str>,
    now: Timestamp,
) -> Option<Duration> {
    let number = |name| header(name)?.trim().parse::<f64>().ok();
    if let Some(wait) = number("retry-after-ms").and_then(|ms| seconds(ms / 1000.0)) {
        return Some(wait);
    }
    if let Some(text) = header("retry-after") {
        let text = text.trim();
        let wait = text.parse().ok().and_then(seconds);
        if let Some(wait) =
            wait.or_else(|| Some(until(rfc2822::parse(text).ok()?.timestamp(), now)))
        {
            return Some(wait);
        }
    }
    LIMITS
        .iter()
        .filter(|(remaining, _)| number(remaining).is_some_and(|left| left <= 0.0))
        .filter_map(|(_, reset)| reset_in(header(reset)?.trim(), now))
        .max()
}

/// What is left of a limit, and when it begins anew.
const LIMITS: &[(&str, &str)] = &[
    ("x-ratelimit-remaining", "x-ratelimit-reset"),
    (
        "x-ratelimit-remaining-requests",
        "x-ratelimit-reset-requests",
    ),
    ("x-ratelimit-remaining-tokens", "x-ratelimit-reset-tokens"),
    (
        "anthropic-ratelimit-requests-remaining",
        "anthropic-ratelimit-requests-reset",
    ),
    (
        "anthropic-ratelimit-tokens-remaining",
        "anthropic-ratelimit-tokens-reset",
    ),
    (
        "anthropic-ratelimit-input-tokens-remaining",
        "anthropic-ratelimit-input-tokens-reset",
    ),
    (
        "anthropic-ratelimit-output-tokens-remaining",
        "anthropic-ratelimit-output-tokens-reset",
    ),
];

/// A time as `6m0s`, as a date, as Unix seconds or milliseconds, or as plain
/// seconds from now: a number of more than a year is a point in time.
fn reset_in(text: &str, now: Timestamp) -> Option<Duration> {
    if let Ok(number) = text.parse::<f64>() {
        #[allow(clippy::cast_precision_loss)]
        let now = now.as_millisecond() as f64;
        return match number {
            _ if number > 1e11 => seconds((number - now) / 1000.0),
            _ if number > 3.2e7 => seconds(number - now / 1000.0),
            _ => seconds(number),
        };
    }
    duration(text).or_else(|| Some(until(text.parse().ok()?, now)))
}

fn until(then: Timestamp, now: Timestamp) -> Duration {
    Duration::try_from(then.duration_since(now)).unwrap_or_default()
}

/// What has passed already is no wait; what is no number of seconds is none
/// that was told.
fn seconds(seconds: f64) -> Option<Duration> {
    let seconds = if seconds < 0.0 { 0.0 } else { seconds };
    Duration::try_from_secs_f64(seconds).ok()
}

/// A length of time as `1h2m3.5s` or `20ms`.
pub(super) fn duration(text: &str) -> Option<Duration> {
    let mut rest = text;
    let mut total = 0.0;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, after) = rest.split_at_checked(digits)?;
        let unit = after.find(|c: char| c.is_ascii_digit());
        let (unit, after) = after.split_at_checked(unit.unwrap_or(after.len()))?;
        total += number.parse::<f64>().ok()?
            * match unit {
                "d" => 86_400.0,
                "h" => 3_600.0,
                "m" => 60.0,
                "s" => 1.0,
                "ms" => 0.001,
                _ => return None,
            };
        rest = after;
    }
    if text.is_empty() {
        None
    } else {
        seconds(total)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn wait(headers: &[(&str, &'static str)]) -> Option<f64> {
        let now: Timestamp = "2026-12-01T12:00:00Z".parse().unwrap();
        let header = |name: &str| headers.iter().find(|(n, _)| *n == name).map(|(_, v)| *v);
        told(header, now).map(|wait| wait.as_secs_f64())
    }

    #[test]
    fn what_is_asked_counts_first() {
        assert_eq!(wait(&[("retry-after", "7")]), Some(7.0));
        assert_eq!(wait(&[("retry-after", "0.5")]), Some(0.5));
        assert_eq!(
            wait(&[("retry-after", "Tue, 01 Dec 2026 12:00:30 GMT")]),
            Some(30.0)
        );
        assert_eq!(
            wait(&[("retry-after-ms", "1500"), ("retry-after", "2")]),
            Some(1.5)
        );
        assert_eq!(
            wait(&[
                ("retry-after", "3"),
                ("x-ratelimit-remaining", "0"),
                ("x-ratelimit-reset", "60")
            ]),
            Some(3.0)
        );
    }

    #[test]
    fn of_the_limits_that_are_used_up_the_last_counts() {
        assert_eq!(
            wait(&[
                ("x-ratelimit-remaining-requests", "0"),
                ("x-ratelimit-reset-requests", "1s"),
                ("x-ratelimit-remaining-tokens", "0"),
                ("x-ratelimit-reset-tokens", "6m0s"),
            ]),
            Some(360.0)
        );
        assert_eq!(
            wait(&[
                ("x-ratelimit-remaining-requests", "12"),
                ("x-ratelimit-reset-requests", "1s"),
            ]),
            None
        );
        assert_eq!(
            wait(&[
                ("anthropic-ratelimit-tokens-remaining", "0"),
                ("anthropic-ratelimit-tokens-reset", "2026-12-01T12:00:05Z"),
            ]),
            Some(5.0)
        );
    }

    #[test]
    fn a_reset_may_be_a_point_in_time() {
        let reset = |at| wait(&[("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", at)]);
        assert_eq!(reset("1796126410"), Some(10.0));
        assert_eq!(reset("1796126410000"), Some(10.0));
        assert_eq!(reset("10"), Some(10.0));
        assert_eq!(reset("20ms"), Some(0.02));
    }

    #[test]
    fn what_makes_no_sense_tells_nothing_and_the_past_is_no_wait() {
        assert_eq!(wait(&[]), None);
        for text in ["soon", "", "NaN", "1x", "inf"] {
            assert_eq!(wait(&[("retry-after", text)]), None, "{text:?}");
        }
        assert_eq!(wait(&[("retry-after", "-5")]), Some(0.0));
        assert_eq!(
            wait(&[("retry-after", "Tue, 01 Dec 2026 11:00:00 GMT")]),
            Some(0.0)
        );
    }
}
