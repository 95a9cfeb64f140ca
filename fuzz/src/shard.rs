//! Readers of a shard of a partitioned graph.

use std::fmt::Write;
use std::num::NonZeroUsize;
use std::path::Path;
use std::slice;
use std::sync::LazyLock;

use tegula_engine::messages_to_receive;
use tegula_machine::disk::{Backend, Caching, Pool, Reader};
use tegula_machine::threads::{Cancel, Silent};
use tegula_store::commit::UnfinishedGraph;
use tegula_store::graph::{Graph, file_names, shard_name};
use tegula_store::partition::{Balance, Shards, split};

use crate::graph::{self, Directory, KINDS};
use crate::scratch::folder;
use crate::{answer, choice};

/// The number of ranks.
pub const RANKS: usize = 2;

/// The vertices of the graph that is partitioned. Its small grid cuts them into four batches.
const VERTICES: u32 = 200;

/// The block files of a shard.
pub const FILES: &[&str] = &[
    file_names::TILE_TABLE,
    file_names::OUT_DEGREES,
    file_names::IN_DEGREES,
    file_names::WHOLE_OUT_DEGREES,
    file_names::WHOLE_IN_DEGREES,
];

/// The shards by rank.
static SHARDS: LazyLock<[Directory; RANKS]> = LazyLock::new(|| {
    let kind = KINDS[7];
    let whole = [open(Directory::make("partitioned", &kind, &edges(kind.prefix)).path())];
    let whole = Shards::of(&whole).expect("a whole graph");
    let output = folder().join("ranks");
    let unfinished = UnfinishedGraph::create(&output, true).expect("a new folder");
    let into = (&[1.0; RANKS][..], Balance::EDGES);
    split(whole, into, unfinished, 1 << 20, &Silent, &Cancel::default()).expect("shards");
    let shards = [0, 1].map(|rank| Directory::read(output.join(shard_name(rank))));
    assert!(shards.iter().all(|shard| !shard.tiles().is_empty()));
    shards
});

/// Weighted edges of the graph that is partitioned.
fn edges(prefix: &str) -> String {
    (0..VERTICES).fold(String::new(), |mut text, source| {
        for target in [source * 7 + 3, source * source, source + 1].map(|id| id % VERTICES) {
            let weight = target % 5 + 1;
            writeln!(text, "{prefix}{source}\t{prefix}{target}\t{weight}")
                .expect("memory takes it");
        }
        text
    })
}

fn open(path: &Path) -> Graph {
    let reader = Reader::open(Backend::Threads(NonZeroUsize::MIN), Pool::new(4 << 20));
    Graph::open(path, &reader.expect("a reader"), Caching::PageCache).expect("a graph")
}

/// The shard of a rank.
pub fn of(rank: usize) -> &'static Directory {
    &SHARDS[rank]
}

/// Reads the shard of rank 1 with another manifest or another content of a file. The first byte
/// chooses which.
pub fn read(data: &[u8]) {
    let Some((choice, content)) = choice(data) else { return };
    let shard = of(1);
    let opened = match usize::from(choice) % (1 + FILES.len()) {
        0 => shard.open_with_manifest(content),
        file if shard.content(FILES[file - 1]).is_some() => {
            shard.open_with(FILES[file - 1], content)
        }
        _ => return,
    };
    let Some(graph) = answer(opened) else { return };
    graph::read(&graph);
    answer(Shards::of(slice::from_ref(&graph)).map(|shards| assert!(shards.whole().vertices > 0)));
    let Some(graph) = answer(graph.for_ranks()) else { return };
    let own = graph.own_vertices();
    assert!(own.start <= own.end && own.end <= graph.vertex_count());
    answer(graph::read_ids(&graph));
    answer(graph.for_each_own_degrees(|first, degrees| {
        assert!(first + degrees.len() as u64 <= graph.vertex_count());
        Ok(())
    }));
    answer(messages_to_receive(&graph, &Cancel::default()));
}
