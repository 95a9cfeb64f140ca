//! Checks tiles and their weights against the checksums in the table of tiles.

use tegula_machine::disk::crc32c;

use super::file_names;
use super::opened::Graph;
use crate::{Error, Result};

impl Graph {
    /// Checks the bytes of a tile against its checksum.
    pub(super) fn check_tile(&self, index: usize, bytes: &[u8]) -> Result<()> {
        if crc32c(bytes) == self.tiles()[index].checksum {
            return Ok(());
        }
        Err(self.damaged_tile(index, "its checksum differs".into()))
    }

    /// Checks the weights of a tile against their checksum.
    pub(super) fn check_weights(&self, index: usize, bytes: &[u8]) -> Result<()> {
        if crc32c(bytes) == self.tiles()[index].weights_checksum {
            return Ok(());
        }
        let path = self.opened_directory().join(file_names::WEIGHTS);
        let detail = "its checksum differs".to_owned();
        Err(Error::corrupt(path, format!("the weights of tile {index}"), detail))
    }

    /// Returns the error for a tile with invalid content.
    pub fn damaged_tile(&self, index: usize, detail: String) -> Error {
        let path = self.opened_directory().join(file_names::TILES);
        Error::corrupt(path, format!("tile {index}"), detail)
    }
}
