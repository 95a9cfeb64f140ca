//! Figures as people read them.

/// A whole number with separators: `1,234,567`.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number and its noun: `1 batch`, `2 batches`.
pub fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(number), if number == 1 { one } else { many })
}

/// A number that was computed, for people: without the last digits, which are noise.
pub fn number(value: f64) -> String {
    rounded(value).to_string()
}

/// The nearest number of 9 digits, or of more where these stand before the point.
pub fn rounded(value: f64) -> f64 {
    let text = if value.abs() < 1e9 { format!("{value:.8e}") } else { format!("{value:.0}") };
    text.parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_easily_read() {
        assert_eq!([0, 999, 1000, 1234567].map(count), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!(
            [1, 2].map(|number| counted(number, "batch", "batches")),
            ["1 batch", "2 batches"]
        );
        assert_eq!(
            [0.0, 0.1 + 0.2, 2.0 / 3.0, -1e-7, 12_345_678_901.6].map(number),
            ["0", "0.3", "0.666666667", "-0.0000001", "12345678902"]
        );
    }
}
