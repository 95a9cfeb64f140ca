//! Numbers as people read them.

use tegula_tables::decimal;

/// Writes a computed number for people, without the last digits, which are noise.
pub fn number(value: f64) -> String {
    decimal(rounded(value))
}

/// Rounds to 9 digits, or to a whole number if that has more digits.
pub fn rounded(value: f64) -> f64 {
    let text = if value.abs() < 1e9 { format!("{value:.8e}") } else { format!("{value:.0}") };
    text.parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn computed_numbers_are_rounded() {
        assert_eq!(
            [0.0, 0.1 + 0.2, 2.0 / 3.0, -1e-7, 12_345_678_901.6].map(number),
            ["0", "0.3", "0.666666667", "-1e-7", "12345678902"]
        );
    }
}
