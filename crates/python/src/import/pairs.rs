//! Files of raw pairs, which an import reads quickest. Nobody but the import reads them, so they are
//! not synced to the disk.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, UInt32Type, UInt64Type};
use arrow_schema::DataType;
use tegula_store::Error;
use tegula_tables::{Result, RowSink, RowWriter};

/// Writes rows of a source, a target and maybe a weight. Ids have 32 or 64 bits, weights 32.
pub struct PairsFile {
    path: PathBuf,
    file: File,
    /// The bytes of the rows that are written next.
    rows: Vec<u8>,
    length: u64,
}

impl PairsFile {
    /// Begins a file.
    ///
    /// # Errors
    /// Those of the system.
    pub fn create(path: &Path) -> Result<PairsFile> {
        let file = File::create_new(path).map_err(Error::io("create", path))?;
        Ok(PairsFile { path: path.to_owned(), file, rows: Vec::new(), length: 0 })
    }

    fn add<const N: usize>(
        &mut self,
        ends: impl Iterator<Item = ([u8; N], [u8; N])>,
        weights: Option<&[f32]>,
    ) {
        let mut weights = weights.into_iter().flatten();
        for (source, target) in ends {
            self.rows.extend_from_slice(&source);
            self.rows.extend_from_slice(&target);
            if let Some(weight) = weights.next() {
                self.rows.extend_from_slice(&weight.to_le_bytes());
            }
        }
    }
}

impl RowSink for PairsFile {
    fn write(&mut self, rows: &RecordBatch) -> tegula_store::Result<()> {
        self.rows.clear();
        let (sources, targets) = (rows.column(0), rows.column(1));
        let weights = rows.columns().get(2).map(|weights| weights.as_primitive::<Float32Type>());
        let weights = weights.map(|weights| &weights.values()[..]);
        if *sources.data_type() == DataType::UInt32 {
            let [sources, targets] = [sources, targets].map(|ids| ids.as_primitive::<UInt32Type>());
            let ends = sources.values().iter().zip(targets.values());
            self.add(
                ends.map(|(source, target)| (source.to_le_bytes(), target.to_le_bytes())),
                weights,
            );
        } else {
            let [sources, targets] = [sources, targets].map(|ids| ids.as_primitive::<UInt64Type>());
            let ends = sources.values().iter().zip(targets.values());
            self.add(
                ends.map(|(source, target)| (source.to_le_bytes(), target.to_le_bytes())),
                weights,
            );
        }
        self.file.write_all(&self.rows).map_err(Error::io("write", &self.path))?;
        self.length += self.rows.len() as u64;
        Ok(())
    }
}

impl RowWriter for PairsFile {
    fn finish(self: Box<Self>) -> Result<u64> {
        Ok(self.length)
    }
}
