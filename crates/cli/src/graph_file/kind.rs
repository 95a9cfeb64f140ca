//! What the cells of a column are.

/// What all cells of a column are. A later kind holds what an earlier one holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Integers of 64 bits, with a sign.
    Integer,
    /// Finite numbers.
    Number,
    /// Any text.
    Text,
}

impl Kind {
    /// What a cell is. Digits that a number would not keep are text: `007`, and the ids above 2^63.
    pub fn of(cell: &str) -> Kind {
        let digits = cell.strip_prefix('-').unwrap_or(cell);
        if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
            let has_zeros = digits.starts_with('0') && digits.len() > 1;
            return match (has_zeros, cell.parse::<i64>(), cell.parse::<u64>()) {
                (false, Ok(_), _) => Kind::Integer,
                (true, _, _) | (false, Err(_), Ok(_)) => Kind::Text,
                // A large number of a table that writes its numbers without exponents.
                (false, Err(_), Err(_)) => Kind::Number,
            };
        }
        match cell.parse::<f64>() {
            Ok(number) if number.is_finite() => Kind::Number,
            Ok(_) | Err(_) => Kind::Text,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_a_number_only_if_the_number_keeps_all_of_it() {
        for (kind, cells) in [
            (Kind::Integer, &["0", "-0", "7", "-12", "9223372036854775807"][..]),
            (Kind::Number, &["0.5", "-1.5", "1e-9", "2.0", "100000000000000000000"]),
            (Kind::Text, &["", "-", "007", "18446744073709551615", "NaN", "inf", "1e999", "true"]),
        ] {
            cells.iter().for_each(|cell| assert_eq!(Kind::of(cell), kind, "{cell}"));
        }
    }
}
