//! How figures are written wherever a person or a model reads them.

use std::time::Duration;

/// A count with a comma at every third digit: `1,204`.
#[must_use]
pub(crate) fn thousands(count: u64) -> String {
    let digits = count.to_string();
    let mut out = String::with_capacity(digits.len() * 4 / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A count with its noun: `1 message`, `1,204 messages`.
#[must_use]
pub(crate) fn counted(count: usize, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", thousands(count as u64))
}

/// A time to wait in its two largest units, rounded up, as what is tried sooner
/// is tried in vain: `2 s`, `1 min 5 s`, `27 h 47 min`, `3 d 1 h`.
#[must_use]
pub(crate) fn wait(time: Duration) -> String {
    let seconds = time.as_millis().div_ceil(1000);
    let (minutes, hours) = (seconds.div_ceil(60), seconds.div_ceil(3600));
    let (larger, smaller) = match (seconds, minutes, hours) {
        (..60, ..) => return format!("{seconds} s"),
        (..3_600, ..) => ((seconds / 60, "min"), (seconds % 60, "s")),
        (_, ..2_880, _) => ((minutes / 60, "h"), (minutes % 60, "min")),
        _ => ((hours / 24, "d"), (hours % 24, "h")),
    };
    let (larger, smaller): (String, String) = [larger, smaller]
        .map(|(count, unit)| format!("{count} {unit}"))
        .into();
    if smaller.starts_with("0 ") {
        return larger;
    }
    format!("{larger} {smaller}")
}

/// US dollars for a million tokens, of requests and of answers: `$3/$15`;
/// `None` where neither is known.
#[must_use]
pub(crate) fn price(input: Option<f64>, output: Option<f64>) -> Option<String> {
    let part = |price: Option<f64>| price.map_or("-".to_owned(), |price| format!("${price}"));
    (input.is_some() || output.is_some()).then(|| format!("{}/{}", part(input), part(output)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_grouped_by_thousands() {
        assert_eq!(
            [0, 999, 1_000, 1_234_567].map(thousands),
            ["0", "999", "1,000", "1,234,567"]
        );
    }

    #[test]
    fn a_wait_is_told_in_the_units_of_people_and_never_too_short() {
        let rows = [
            (0, "0 s"),
            (1, "1 s"),
            (2_000, "2 s"),
            (59_001, "1 min"),
            (65_000, "1 min 5 s"),
            (3_600_000, "1 h"),
            (99_999_000, "27 h 47 min"),
            (172_800_000, "2 d"),
            (262_800_000, "3 d 1 h"),
        ];
        for (millis, told) in rows {
            assert_eq!(wait(Duration::from_millis(millis)), told, "{millis}");
        }
    }

    #[test]
    fn a_price_names_what_is_known_of_it() {
        assert_eq!(price(None, None), None);
        assert_eq!(price(Some(0.25), None).unwrap(), "$0.25/-");
        assert_eq!(price(Some(3.0), Some(15.0)).unwrap(), "$3/$15");
    }
}
