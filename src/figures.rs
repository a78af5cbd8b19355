//! How figures are written wherever a person or a model reads them.

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
    fn a_price_names_what_is_known_of_it() {
        assert_eq!(price(None, None), None);
        assert_eq!(price(Some(0.25), None).unwrap(), "$0.25/-");
        assert_eq!(price(Some(3.0), Some(15.0)).unwrap(), "$3/$15");
    }
}
