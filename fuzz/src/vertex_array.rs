//! The files of vertex arrays, beside a shard of a graph.

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use tegula_store::graph::{Graph, file_names};

use crate::block_file::mend;
use crate::graph::block_file;
use crate::scratch::folder;
use crate::{answer, choice, shard};

/// The name of the array.
pub const NAME: &str = "values";

/// The rank of the shard. The file of its array is named after it.
const RANK: usize = 1;

/// Bytes of the head, and of a block (log2).
pub const HEAD: usize = 48;
const BLOCK_LOG2: u32 = 16;

/// The folder of the array.
static FOLDER: LazyLock<&Path> = LazyLock::new(|| {
    let file = folder().join(format!("{NAME}.rank-{RANK}.array"));
    fs::write(&file, "").expect("a folder that is written to");
    folder()
});

/// A shard beside the file of an array.
pub struct Beside {
    pub graph: Graph,
    /// The folder of the file.
    pub folder: &'static Path,
    /// Chooses the type of the values.
    pub choice: u8,
    /// The payload of the file, if the fuzzer's bytes are that.
    pub payload: Option<Vec<u8>>,
}

/// Opens the shard beside the file of an array. The lowest bit of the first byte says whether
/// `data` is the whole file or its payload, the others choose the type of the values.
pub fn open(data: &[u8]) -> Option<Beside> {
    let (choice, content) = choice(data)?;
    let (payload, bytes) = match choice & 1 {
        1 => {
            let mut bytes = content.to_vec();
            mend(&mut bytes, true);
            (None, bytes)
        }
        _ => (Some(content.to_vec()), block_file(content, BLOCK_LOG2).0),
    };
    let path = FOLDER.join(format!("{NAME}.rank-{RANK}.array"));
    let graph = answer(shard::of(RANK).open_beside(path, bytes))?;
    let graph = answer(graph.for_ranks())?;
    Some(Beside { graph, folder: &FOLDER, choice: choice >> 1, payload })
}

/// The payload of an array with values of `size` bytes.
pub fn payload(size: u32) -> Vec<u8> {
    let directory = shard::of(RANK);
    let manifest = directory.manifest().to_string();
    let graph = directory.open_with_manifest(manifest.as_bytes()).expect("a shard");
    let graph = graph.for_ranks().expect("a shard");
    let table = graph.manifest().file(file_names::TILE_TABLE).expect("every graph has one");
    let checksum = table.checksum.expect("it is a block file");
    let own = graph.own_vertices();
    let mut bytes = b"TGARRAY1".to_vec();
    bytes.extend(graph.vertex_count().to_le_bytes());
    bytes.extend([checksum, size].map(u32::to_le_bytes).concat());
    bytes.extend([own.start, own.end - own.start, 0].map(u64::to_le_bytes).concat());
    assert_eq!(bytes.len(), HEAD);
    let values = (own.end - own.start) as usize * size as usize;
    bytes.extend((0..values).map(|place| place as u8));
    bytes
}

/// The whole file of an array.
pub fn file(size: u32) -> Vec<u8> {
    block_file(&payload(size), BLOCK_LOG2).0
}
