//! Numbers in decimal digits.

use std::fmt::{Display, LowerExp};
use std::io::Write;

/// Writes a float in the fewest digits that read back as the same float. Below 1e-5 and from 1e16
/// on, it has an exponent.
pub fn decimal(value: impl Display + LowerExp) -> String {
    let scientific = format!("{value:e}");
    let exponent = scientific.split_once('e').and_then(|(_, exponent)| exponent.parse().ok());
    match exponent {
        // Infinities and NaN have no exponent.
        Some(-5..=15) | None => value.to_string(),
        Some(..-5 | 16..) => scientific,
    }
}

/// Appends a whole number.
pub fn append_integer(number: impl itoa::Integer, out: &mut Vec<u8>) {
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

/// Appends the shortest decimal that is read back as `number`, with an exponent below 1e-5 and from
/// 1e16 on. It is faster than [`decimal`], but may choose another one of two equally near decimals.
pub fn append_float(number: impl zmij::Float + Display + LowerExp, out: &mut Vec<u8>) {
    let mut buffer = zmij::Buffer::new();
    let text = buffer.format(number);
    // `zmij` has other bounds there for single precision. Writing to a vector never fails.
    let _ = match text.split_once('e') {
        Some((_, "+13" | "+14" | "+15")) => write!(out, "{number}"),
        Some((mantissa, exponent)) => {
            write!(out, "{mantissa}e{}", exponent.trim_start_matches('+'))
        }
        None if text.trim_start_matches('-').starts_with("0.00000") => write!(out, "{number:e}"),
        _ => out.write_all(text.strip_suffix(".0").unwrap_or(text).as_bytes()),
    };
}

#[cfg(test)]
mod tests {
    use std::str::FromStr;

    use proptest::prelude::*;

    use super::*;

    fn text(append: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        append(&mut out);
        String::from_utf8(out).expect("digits")
    }

    /// Whether `text` is what `decimal` writes, or differs in the last digit and is read back as
    /// the same number.
    fn is_usual<N: Display + LowerExp + FromStr + Copy>(text: &str, number: N) -> bool {
        let usual = decimal(number);
        let mantissa = |text: &str| text.split('e').next().unwrap_or_default().len();
        let is_as_near = || {
            let last = mantissa(text) - 1;
            text.len() == usual.len()
                && text[..last] == usual[..last]
                && text[last + 1..] == usual[last + 1..]
                && text.parse::<N>().is_ok_and(|read| read.to_string() == number.to_string())
        };
        text == usual || is_as_near()
    }

    #[test]
    fn numbers_of_every_size_are_written_as_usual() {
        let powers = (-320..309).map(|power| 10f64.powi(power));
        let numbers = powers.flat_map(|power| [power, -1.5 * power, power / 3.0]);
        let special = [0.0, -0.0, 1.0, f64::MAX, f64::MIN_POSITIVE, f64::INFINITY, f64::NAN];
        for number in numbers.chain(special) {
            assert!(is_usual(&text(|out| append_float(number, out)), number), "{number}");
            let number = number as f32;
            assert!(is_usual(&text(|out| append_float(number, out)), number), "{number}");
        }
        assert_eq!(text(|out| append_integer(u64::MAX, out)), u64::MAX.to_string());
    }

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
    fn no_number_takes_many_digits() {
        for (number, written) in
            [(1.5e-76, "1.5e-76"), (-9.5e-6, "-9.5e-6"), (1e-5, "0.00001"), (1e16, "1e16")]
        {
            assert_eq!(text(|out| append_float(number, out)), written);
            let single = number as f32;
            let written = if number == 1.5e-76 { "0" } else { written };
            assert_eq!(text(|out| append_float(single, out)), written);
        }
        assert_eq!(text(|out| append_float(1.5e14_f32, out)), "150000000000000");
        assert_eq!(text(|out| append_float(f64::MIN_POSITIVE, out)), "2.2250738585072014e-308");
    }

    proptest! {
        #[test]
        fn any_bits_are_written_as_usual(bits: u64, narrow: u32) {
            let (number, single) = (f64::from_bits(bits), f32::from_bits(narrow));
            prop_assert!(is_usual(&text(|out| append_float(number, out)), number));
            prop_assert!(is_usual(&text(|out| append_float(single, out)), single));
            prop_assert_eq!(text(|out| append_integer(bits, out)), bits.to_string());
        }
    }
}
