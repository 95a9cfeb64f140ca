//! Reads ids that are integers, and weights, with the message for each fault.

use tegula_store::{Diagnostic, Hint};
use tegula_tables::read::text::{Excerpt, unsigned};

use crate::settings::{IDS_INTEGER, IDS_STRING};

/// Reads an unsigned 64-bit integer.
pub(in super::super) fn integer(text: &[u8]) -> Result<u64, Diagnostic> {
    unsigned(text).ok_or_else(|| no_integer(text))
}

/// What is wrong with an id that is no unsigned 64-bit integer.
fn no_integer(text: &[u8]) -> Diagnostic {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        let (what, hint) = match is_number(text) {
            true if text.contains(&b'.') => (
                "not written as an unsigned integer but with a fraction point; write the column \
                 with a type of integers",
                None,
            ),
            true => ("not written as an unsigned integer; write it with digits alone", None),
            false => ("not an integer", Some(strings().detail("if the ids are names"))),
        };
        let message = format!("the id {} is {what}", Excerpt(text));
        return Diagnostic::from(message).hint(hint);
    }
    if digits.len() < text.len() {
        let message =
            format!("the id {} is negative; ids that are integers are unsigned", Excerpt(text));
        return Diagnostic::from(message).hint(strings());
    }
    let message = format!("the id {} does not fit 64 bits", Excerpt(text));
    Diagnostic::from(message).hint(strings())
}

/// The hint to have ids read as strings.
fn strings() -> Hint {
    Hint::set([IDS_STRING])
}

/// Refuses an id with leading zeros, such as `007`, which would be the vertex `7`.
pub(in super::super) fn check_spelling(text: &[u8]) -> Result<(), Diagnostic> {
    if text.len() == 1 || text.first() != Some(&b'0') {
        return Ok(());
    }
    let zeros = text.iter().take_while(|&&byte| byte == b'0').count().min(text.len() - 1);
    let (id, same) = (Excerpt(text), Excerpt(&text[zeros..]));
    let problem = Diagnostic::from(format!("{id} would be the same vertex as {same}"));
    let apart = strings().detail("to keep them apart");
    Err(problem.hint(apart).hint(Hint::set([IDS_INTEGER]).detail("to make them one")))
}

/// Whether a text is a number that may mean an unsigned integer, in any notation: `7`, `007`, `+7`,
/// `7.0`, `1e3`. A negative or too large integer in plain digits counts as a name.
pub(super) fn is_like_integer(text: &[u8]) -> bool {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    let is_usual = digits.iter().all(u8::is_ascii_digit) && !digits.starts_with(b"0");
    let is_name = is_usual && integer(text).is_err();
    is_number(text) && !is_name
}

/// Whether a text is a number, which no name of a column is.
pub(super) fn is_number(text: &[u8]) -> bool {
    // The library also takes `nan` and `inf`, which may be names.
    text.iter().any(u8::is_ascii_digit) && weight(text).is_ok()
}

/// Reads a finite weight.
pub(in super::super) fn weight(text: &[u8]) -> Result<f32, String> {
    match fast_float2::parse::<f32, _>(text) {
        Ok(weight) if weight.is_finite() => Ok(weight),
        Ok(weight) if weight.is_infinite() => {
            let is_written_out = text.iter().any(u8::is_ascii_digit);
            let fault = if is_written_out { "too large" } else { "infinite" };
            let weight = Excerpt(text);
            Err(format!("the weight {weight} is {fault}; weights are 32-bit floats, up to 3.4e38"))
        }
        _ if text.is_empty() => Err("the weight is empty".to_owned()),
        _ => Err(format!("the weight {} is not a number", Excerpt(text))),
    }
}
