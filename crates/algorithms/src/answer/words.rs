//! Numbers as people read them.

use std::fmt::{Display, LowerExp};

/// Writes a float in the fewest digits that read back as the same float. Below 1e-5 and from 1e16
/// on, it has an exponent.
pub fn decimal(value: impl Display + LowerExp) -> String {
    let scientific = format!("{value:e}");
    let exponent = scientific.split_once('e').and_then(|(_, exponent)| exponent.parse().ok());
    match exponent {
        Some(-5..=15) | None => value.to_string(),
        Some(..-5 | 16..) => scientific,
    }
}

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
    fn floats_have_an_exponent_where_they_are_very_small_or_large() {
        for (value, told) in [
            (0.0, "0"),
            (-0.25, "-0.25"),
            (1e-5, "0.00001"),
            (9.5e-6, "9.5e-6"),
            (1.5e-76, "1.5e-76"),
            (1234567890123456.0, "1234567890123456"),
            (1e16, "1e16"),
            (f64::INFINITY, "inf"),
        ] {
            assert_eq!(decimal(value), told);
        }
        assert_eq!([1e-5_f32, 9.5e-6].map(decimal), ["0.00001", "9.5e-6"]);
    }

    #[test]
    fn computed_numbers_are_rounded() {
        assert_eq!(
            [0.0, 0.1 + 0.2, 2.0 / 3.0, -1e-7, 12_345_678_901.6].map(number),
            ["0", "0.3", "0.666666667", "-1e-7", "12345678902"]
        );
    }
}
