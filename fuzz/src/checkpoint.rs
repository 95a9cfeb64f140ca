//! The reader of checkpoints. The fuzzer's bytes are the list of a version, or what lies beside it;
//! the checksums around them are made right.

use std::collections::HashMap;
use std::fs;
use std::num::NonZeroU64;
use std::path::PathBuf;
use std::sync::LazyLock;

use serde_json::json;
use tegula_engine::{Activity, Checkpoints, Graph, Message, Min, Program, VertexId};
use tegula_machine::disk::{Backend, Blocks, Caching, Pool, Reader, WriteBehind};

use crate::graph::{Directory, block_file};
use crate::scratch::folder;
use crate::{answer, choice};

/// The blocks of a checkpoint.
const BLOCKS: Blocks = Blocks { what: "states", count: 3, size: 64 };

/// Bytes of the head of a list, and of the entry of a block.
const HEAD: usize = 32;
const ENTRY: usize = 32;

/// A program of which only the type matters.
struct Nothing;

impl Program for Nothing {
    type State = u32;
    type Reduction = Min<u32>;
    type Weight = ();
    type Aggregate = ();

    fn init(&self, _vertex: VertexId, _degree: u32, (): &mut ()) -> (u32, Activity) {
        (0, Activity::Inactive)
    }

    fn signal(&self, _vertex: VertexId, _state: &u32, _degree: u32) -> Option<Message<Self>> {
        None
    }

    fn apply(
        &self,
        _vertex: VertexId,
        _degree: u32,
        _state: &mut u32,
        _reduced: u32,
        (): &mut (),
    ) -> Activity {
        Activity::Inactive
    }
}

/// The graph of the checkpoints, and the threads that would write blocks.
static SHARED: LazyLock<(Graph, WriteBehind, PathBuf)> = LazyLock::new(|| {
    let directory = Directory::new(0);
    let text = directory.manifest().to_string();
    let graph = directory.open_with_manifest(text.as_bytes()).expect("a graph");
    let reader = Reader::open(Backend::Memory(HashMap::new()), Pool::new(1 << 20));
    let writer = WriteBehind::start(&reader.expect("a reader"), 1 << 20, Caching::PageCache);
    let path = folder().join("checkpoint");
    fs::create_dir_all(&path).expect("a folder");
    fs::write(path.join("version-1"), "").expect("a folder that is written to");
    fs::write(path.join("blocks"), [7; 9 << 12]).expect("a folder that is written to");
    (graph, writer, path)
});

/// The header of a checkpoint of this run.
pub fn header() -> Vec<u8> {
    let (graph, _, _) = &*SHARED;
    let checksum = |name: &&str| graph.manifest().file(name).map(|file| file.checksum);
    let names = ["tiles.table", "vertices.ids", "vertices.strings", "vertices.order"];
    let files: Vec<_> = names.iter().filter_map(|name| Some((name, checksum(name)?))).collect();
    let version = "0.1.0";
    let header = json!({
        "version": version, "graph": files, "run": "fuzz", "iteration": 3, "aggregate": [],
    });
    header.to_string().into_bytes()
}

/// A list of blocks that were never written, with these bytes beside it.
pub fn list(beside: &[u8]) -> Vec<u8> {
    let head = [1, BLOCKS.count as u64, BLOCKS.size as u64, beside.len() as u64];
    let mut list: Vec<u8> = head.iter().flat_map(|number| number.to_le_bytes()).collect();
    assert_eq!(list.len(), HEAD);
    for _ in 0..BLOCKS.count {
        list.extend([0xff; 4]);
        list.extend([0; ENTRY - 4]);
    }
    list.extend(beside);
    list
}

/// Resumes from a checkpoint. The first byte chooses between its whole list and its header.
pub fn resume(data: &[u8]) {
    let Some((choice, bytes)) = choice(data) else { return };
    let (graph, writer, path) = &*SHARED;
    let payload = if choice & 1 == 1 { bytes.to_vec() } else { list(bytes) };
    let files = HashMap::from([
        (path.join("version-1"), block_file(&payload, 12).0),
        (path.join("blocks"), vec![7; 9 << 12]),
    ]);
    let reader = Reader::open(Backend::Memory(files), Pool::new(1 << 20)).expect("a reader");
    let checkpoints =
        Checkpoints { folder: None, every: NonZeroU64::MIN, resume: Some(path), run: "fuzz" };
    let is_held = |block| block == 1;
    let resumed =
        checkpoints.resume::<Nothing>(graph, BLOCKS, (&reader, writer), is_held, None);
    let Some(Some((store, _))) = answer(resumed) else { return };
    let mut bytes = [0; 64];
    for block in 0..BLOCKS.count {
        answer(store.read(block, &mut [&mut bytes]).map_err(Into::into));
    }
}
