//! The hidden names of unfinished files and folders: `.PLACE.unfinished-PROCESS-LETTERS`.

use std::collections::hash_map::RandomState;
use std::ffi::{OsStr, OsString};
use std::hash::BuildHasher;

/// Stands between the name of the place and the id of the process.
const UNFINISHED: &str = ".unfinished-";
/// Letters at the end, which differ between the names of one process.
const LETTERS: usize = 6;
/// The suffix of a file or folder that is set aside while it is replaced.
pub const OLD: &str = "-old";

/// Returns a new hidden name for something that will be called `place`.
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

/// Returns whether a name is a hidden name of something that was to be called `place`.
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
