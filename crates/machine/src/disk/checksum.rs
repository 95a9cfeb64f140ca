//! The checksum of everything on disk.

use crc_fast::CrcAlgorithm;

/// CRC-32C (Castagnoli; "CRC-32/ISCSI"), by carry-less multiplication where the machine has it.
pub fn crc32c(bytes: &[u8]) -> u32 {
    // The crate widens every checksum to 64 bits; a 32-bit one loses nothing here.
    crc_fast::checksum(CrcAlgorithm::Crc32Iscsi, bytes) as u32
}
