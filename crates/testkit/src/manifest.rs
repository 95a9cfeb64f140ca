//! Deliberate changes of the manifests of graph directories, with a matching checksum.

use std::fs;
use std::path::Path;

/// The text before the checksum.
const SEAL: &str = ",\n  \"crc32c\": \"";

/// Returns the text of a manifest whose object is `body` without its last brace.
pub fn sealed(body: &str) -> String {
    format!("{body}{SEAL}{:08x}\"\n}}\n", crc32c(body.as_bytes()))
}

/// Changes the object of a manifest (without its checksum and its last brace), and updates the
/// checksum.
///
/// # Panics
/// If there is no manifest with a checksum.
pub fn edit_manifest(directory: &Path, change: impl FnOnce(&str) -> String) {
    let path = directory.join("manifest.json");
    let text = fs::read_to_string(&path).expect("a manifest");
    let (body, _) = text.rsplit_once(SEAL).expect("a checksum");
    fs::write(path, sealed(&change(body))).expect("a folder that is written to");
}

/// CRC-32C (Castagnoli), bit by bit.
fn crc32c(bytes: &[u8]) -> u32 {
    let shifted = |sum: u32| if sum & 1 == 1 { sum >> 1 ^ 0x82F6_3B78 } else { sum >> 1 };
    let step = |sum: u32, &byte: &u8| (0..8).fold(sum ^ u32::from(byte), |sum, _| shifted(sum));
    !bytes.iter().fold(!0, step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_matches_rfc_3720() {
        assert_eq!(crc32c(&[0; 32]), 0x8A91_36AA);
        assert_eq!(crc32c(b"123456789"), 0xE306_9283);
    }
}
