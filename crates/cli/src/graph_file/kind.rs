//! The kind of a column's cells.

/// The kind of all cells of a column. A later kind includes the earlier ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Signed 64-bit integers.
    Integer,
    /// Finite numbers.
    Number,
    /// Any text.
    Text,
}

impl Kind {
    /// Returns the kind of a cell. Digits that a number would not keep are text: `007`, and ids of
    /// 2^63 and above.
    pub fn of(cell: &str) -> Kind {
        let digits = cell.strip_prefix('-').unwrap_or(cell);
        if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
            let has_zeros = digits.starts_with('0') && digits.len() > 1;
            return match (has_zeros, cell.parse::<i64>(), cell.parse::<u64>()) {
                (false, Ok(_), _) => Kind::Integer,
                (true, _, _) | (false, Err(_), Ok(_)) => Kind::Text,
                // A large number from a table whose numbers have no exponents.
                (false, Err(_), Err(_)) => Kind::Number,
            };
        }
        match cell.parse::<f64>() {
            // `inf` and `NaN` parse, too.
            Ok(number) if number.is_finite() => Kind::Number,
            Ok(_) | Err(_) => Kind::Text,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_a_number_only_if_the_number_keeps_every_digit() {
        for (kind, cells) in [
            (Kind::Integer, &["0", "-0", "7", "-12", "9223372036854775807"][..]),
            (Kind::Number, &["0.5", "-1.5", "1e-9", "2.0", "100000000000000000000"]),
            (Kind::Text, &["", "-", "007", "18446744073709551615", "NaN", "inf", "1e999", "true"]),
        ] {
            cells.iter().for_each(|cell| assert_eq!(Kind::of(cell), kind, "{cell}"));
        }
    }
}
