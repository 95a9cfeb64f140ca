//! Files for tests of readers: plain, compressed, and Parquet.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use arrow_array::{ArrayRef, RecordBatch};
use parquet::arrow::ArrowWriter;
use parquet::file::properties::WriterProperties;

/// Writes a file of this name, and returns its path.
///
/// # Panics
/// If it cannot be written.
pub fn put(folder: impl AsRef<Path>, name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder.as_ref().join(name);
    fs::write(&path, bytes).expect("the temporary folder is writable");
    path
}

/// Writes a Parquet file of this name, with `group_rows` rows in each row group, and returns its
/// path.
///
/// # Panics
/// If the columns have different lengths, or if it cannot be written.
pub fn put_table(
    folder: impl AsRef<Path>,
    name: &str,
    columns: Vec<(&str, ArrayRef)>,
    group_rows: usize,
) -> PathBuf {
    let path = folder.as_ref().join(name);
    let batch = RecordBatch::try_from_iter(columns).expect("columns of one length");
    let properties =
        WriterProperties::builder().set_max_row_group_row_count(Some(group_rows)).build();
    let file = fs::File::create(&path).expect("the temporary folder is writable");
    let mut writer =
        ArrowWriter::try_new(file, batch.schema(), Some(properties)).expect("a known schema");
    writer.write(&batch).expect("the disk takes it");
    writer.close().expect("the disk takes it");
    path
}

/// Returns the bytes as `gzip` compresses them.
///
/// # Panics
/// If memory does not suffice.
pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).expect("memory takes it");
    encoder.finish().expect("memory takes it")
}
