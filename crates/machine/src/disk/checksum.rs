//! The checksum of everything on disk.

use crc_fast::{CrcAlgorithm, Digest};

/// Returns the CRC-32C (Castagnoli; "CRC-32/ISCSI"), computed by carry-less multiplication where
/// the machine has it.
pub fn crc32c(bytes: &[u8]) -> u32 {
    // The crate widens every checksum to 64 bits; a 32-bit one loses nothing here.
    crc_fast::checksum(CrcAlgorithm::Crc32Iscsi, bytes) as u32
}

/// The [`crc32c`] of bytes that come in pieces.
#[derive(Debug, Clone)]
pub struct Crc32c(Digest);

impl Crc32c {
    /// Adds the next bytes.
    pub fn add(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// Returns the checksum of all bytes so far.
    pub fn get(&self) -> u32 {
        self.0.finalize() as u32
    }
}

impl Default for Crc32c {
    fn default() -> Crc32c {
        Crc32c(Digest::new(CrcAlgorithm::Crc32Iscsi))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_does_not_depend_on_the_pieces() {
        let bytes: Vec<u8> = (0..=255).collect();
        let mut pieces = Crc32c::default();
        bytes.chunks(7).for_each(|piece| pieces.add(piece));
        assert_eq!(pieces.get(), crc32c(&bytes));
        assert_eq!(crc32c(b"123456789"), 0xe306_9283);
    }
}
