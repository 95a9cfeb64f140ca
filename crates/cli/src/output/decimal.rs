//! Numbers in decimal digits as `Display` writes them, but for a last digit now and then, and quicker.

use std::fmt::Display;
use std::io::Write;

/// Appends a whole number.
pub fn append_integer(number: impl itoa::Integer, out: &mut Vec<u8>) {
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

/// Appends the shortest decimal fraction that is read back as `number`, without an exponent. Of two that are as
/// near, it may be another one than `Display` takes.
pub fn append_float(number: impl zmij::Float + Display, out: &mut Vec<u8>) {
    let mut buffer = zmij::Buffer::new();
    let text = buffer.format(number);
    let Some((digits, exponent)) = text.split_once('e') else {
        return out.extend_from_slice(text.strip_suffix(".0").unwrap_or(text).as_bytes());
    };
    match exponent.strip_prefix('-') {
        Some(places) => append_fraction(digits, places, out),
        None => {
            // A very large number. A vector takes whatever is written to it.
            let _ = write!(out, "{number}");
        }
    }
}

/// Appends `digits`, one of which is before the point, shifted by `places` to the right.
fn append_fraction(digits: &str, places: &str, out: &mut Vec<u8>) {
    let places: usize = places.parse().unwrap_or_else(|_| unreachable!("an exponent is a number"));
    let magnitude = digits.trim_start_matches('-');
    out.extend_from_slice(&digits.as_bytes()[..digits.len() - magnitude.len()]);
    out.extend_from_slice(b"0.");
    out.extend(std::iter::repeat_n(b'0', places.saturating_sub(1)));
    out.extend(magnitude.bytes().filter(|&byte| byte != b'.'));
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

    /// Whether a text is what `Display` writes, or has another last digit and is read back as the same number.
    fn is_usual<N: Display + FromStr>(text: &str, number: &N) -> bool {
        let usual = number.to_string();
        let is_as_near = || {
            text.len() == usual.len()
                && text[..text.len() - 1] == usual[..usual.len() - 1]
                && text.parse::<N>().is_ok_and(|read| read.to_string() == usual)
        };
        text == usual || is_as_near()
    }

    #[test]
    fn numbers_of_every_size_are_written_as_usual() {
        let powers = (-320..309).map(|power| 10f64.powi(power));
        let numbers = powers.flat_map(|power| [power, -1.5 * power, power / 3.0]);
        let special = [0.0, -0.0, 1.0, f64::MAX, f64::MIN_POSITIVE, f64::INFINITY, f64::NAN];
        for number in numbers.chain(special) {
            assert!(is_usual(&text(|out| append_float(number, out)), &number), "{number}");
            let number = number as f32;
            assert!(is_usual(&text(|out| append_float(number, out)), &number), "{number}");
        }
        assert_eq!(text(|out| append_integer(u64::MAX, out)), u64::MAX.to_string());
    }

    proptest! {
        #[test]
        fn any_bits_are_written_as_usual(bits: u64, narrow: u32) {
            let (number, single) = (f64::from_bits(bits), f32::from_bits(narrow));
            prop_assert!(is_usual(&text(|out| append_float(number, out)), &number));
            prop_assert!(is_usual(&text(|out| append_float(single, out)), &single));
            prop_assert_eq!(text(|out| append_integer(bits, out)), bits.to_string());
        }
    }
}
