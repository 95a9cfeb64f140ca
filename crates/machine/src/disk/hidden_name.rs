//! The hidden names of what is not finished: `.PLACE.unfinished-PROCESS-LETTERS`.

use std::collections::hash_map::RandomState;
use std::ffi::{OsStr, OsString};
use std::hash::BuildHasher;

/// What stands between the name of the place and the id of the process.
const UNFINISHED: &str = ".unfinished-";
/// Letters at the end that tell a name from others of the same process.
const LETTERS: usize = 6;
/// Ends the hidden name of what is to be replaced while it is set aside.
pub const OLD: &str = "-old";

/// A hidden name for something that is to be called `place`.
pub fn hidden_name(place: &OsStr) -> OsString {
    let mut random = RandomState::new().hash_one(0);
    let mut name = OsString::from(".");
    name.push(place);
    name.push(format!("{UNFINISHED}{}-", std::process::id()));
    for _ in 0..LETTERS {
        let letter = char::from(b'a' + (random % 26) as u8);
        name.push(letter.to_string());
        random /= 26;
    }
    name
}

/// Whether a name is a hidden one of something that was to be called `place`.
pub fn is_hidden_name(name: &OsStr, place: &OsStr) -> bool {
    let rest = name.as_encoded_bytes().strip_prefix(b".");
    let rest = rest.and_then(|rest| rest.strip_prefix(place.as_encoded_bytes()));
    let rest = rest.and_then(|rest| rest.strip_prefix(UNFINISHED.as_bytes()));
    let Some(rest) = rest.and_then(|rest| std::str::from_utf8(rest).ok()) else { return false };
    let Some((process, letters)) = rest.strip_suffix(OLD).unwrap_or(rest).split_once('-') else {
        return false;
    };
    !process.is_empty()
        && process.bytes().all(|byte| byte.is_ascii_digit())
        && letters.len() == LETTERS
        && letters.bytes().all(|byte| byte.is_ascii_alphanumeric())
}
