//! Parses amounts of memory as users write them.

/// Parses a size: `512MiB`, `4GB`, `1.5g`, `65536`. A single letter means the binary unit, as `MiB`
/// does; `MB` is a million bytes.
///
/// ```
/// use tegula_machine::memory::parse_size;
///
/// assert_eq!(parse_size("1.5 GiB"), Ok(3 << 29));
/// assert_eq!(parse_size("4GB"), Ok(4_000_000_000));
/// assert!(parse_size("plenty").is_err());
/// ```
///
/// # Errors
/// Says what to write instead.
pub fn parse_size(text: &str) -> Result<u64, String> {
    let refuse = || format!("`{text}` is not a size; write for example 512MiB or 4GB");
    let text_trimmed = text.trim();
    let unit_at =
        text_trimmed.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text_trimmed.len());
    let (number, unit) = text_trimmed.split_at(unit_at);
    let unit = unit.trim().to_ascii_lowercase();
    let (letter, base) = match unit.strip_suffix('b') {
        None => (unit.strip_suffix('i').unwrap_or(&unit), 1024u64),
        Some(rest) => match rest.strip_suffix('i') {
            Some(letter) => (letter, 1024),
            None => (rest, 1000),
        },
    };
    let power = match letter {
        "" => 0,
        "k" => 1,
        "m" => 2,
        "g" => 3,
        "t" => 4,
        _ => return Err(refuse()),
    };
    let factor = base.pow(power);
    if let Ok(whole) = number.parse::<u64>() {
        return whole.checked_mul(factor).ok_or_else(|| format!("`{text}` is too large a size"));
    }
    match number.parse::<f64>() {
        Ok(value) if value * factor as f64 <= u64::MAX as f64 / 2.0 => {
            Ok((value * factor as f64) as u64)
        }
        Ok(_) => Err(format!("`{text}` is too large a size")),
        Err(_) => Err(refuse()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_users_write_them() {
        for (text, size) in [
            ("0", 0),
            ("65536", 65536),
            ("10b", 10),
            ("1k", 1024),
            ("512MiB", 512 << 20),
            ("512 mib", 512 << 20),
            ("4GB", 4_000_000_000),
            ("1.5g", 3 << 29),
            ("2TiB", 2 << 40),
        ] {
            assert_eq!(parse_size(text), Ok(size), "{text}");
        }
        for text in ["", "MiB", "-1", "4 parsecs", "1e3", "4GBB", "20000000TiB", "1.2.3"] {
            assert!(parse_size(text).is_err(), "{text}");
        }
    }
}
