//! Figures with units.

/// Formats a whole number with separators: `1,234,567`.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats a number with three digits: `0.123`, `1.23`, `12.3`, `123`.
pub fn three_digits(number: f64) -> String {
    let digits = match number.abs() {
        ..1.0 => 3,
        ..10.0 => 2,
        ..100.0 => 1,
        _ => 0,
    };
    format!("{number:.digits$}")
}

/// Formats a time span: `850 µs`, `12.3 ms`, `3.20 s`.
pub fn seconds(seconds: f64) -> String {
    match seconds {
        ..0.001 => format!("{:.0} µs", seconds * 1e6),
        ..1.0 => format!("{} ms", three_digits(seconds * 1e3)),
        _ => format!("{} s", three_digits(seconds)),
    }
}

/// Formats bytes with a binary unit: `1.50 GiB`.
pub fn bytes(number: f64) -> String {
    const UNITS: [&str; 5] = ["bytes", "KiB", "MiB", "GiB", "TiB"];
    let (mut value, mut unit) = (number, 0);
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    let text = if unit == 0 { format!("{value:.0}") } else { three_digits(value) };
    format!("{text} {}", UNITS[unit])
}

/// Formats a number with a decimal prefix: `131 M`.
pub fn decimal(number: f64) -> String {
    match number {
        ..1e3 => three_digits(number),
        ..1e6 => format!("{} k", three_digits(number / 1e3)),
        ..1e9 => format!("{} M", three_digits(number / 1e6)),
        _ => format!("{} G", three_digits(number / 1e9)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_easily_read() {
        assert_eq!([0, 999, 1000, 1234567].map(count), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!(
            [0.1234, 1.234, 12.34, 1234.0].map(three_digits),
            ["0.123", "1.23", "12.3", "1234"]
        );
        assert_eq!([0.00085, 0.0123, 3.2].map(seconds), ["850 µs", "12.3 ms", "3.20 s"]);
        assert_eq!(
            [17.0, 1.5 * 1024.0, 512.0 * 1048576.0].map(bytes),
            ["17 bytes", "1.50 KiB", "512 MiB"]
        );
        assert_eq!([5.0, 131e6, 1.31e9].map(decimal), ["5.00", "131 M", "1.31 G"]);
    }
}
