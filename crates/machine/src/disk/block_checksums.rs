//! The CRC-32C of each block of a block file, as the footer of the file holds them.

use super::checksum::crc32c;

/// The checksums of the blocks of a file, in their order.
#[derive(Debug, Clone, Default)]
pub(super) struct BlockChecksums(Vec<u32>);

impl BlockChecksums {
    /// Reads the checksums in a footer.
    pub(super) fn of_footer(footer: &[u8]) -> BlockChecksums {
        let (sums, _) = footer.as_chunks::<4>();
        BlockChecksums(sums.iter().map(|&sum| u32::from_le_bytes(sum)).collect())
    }

    /// Returns the footer.
    pub(super) fn to_footer(&self) -> Vec<u8> {
        self.0.iter().flat_map(|sum| sum.to_le_bytes()).collect()
    }

    /// Adds the checksum of the next block.
    pub(super) fn add(&mut self, block: &[u8]) {
        self.0.push(crc32c(block));
    }

    /// Returns whether there is a block with this index, and `bytes` have its checksum.
    pub(super) fn fit(&self, index: u64, bytes: &[u8]) -> bool {
        let expected = usize::try_from(index).ok().and_then(|index| self.0.get(index));
        expected == Some(&crc32c(bytes))
    }
}
