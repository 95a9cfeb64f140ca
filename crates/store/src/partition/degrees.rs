//! The degrees of a shard, counted from its tiles.

use std::ops::Range;
use std::path::Path;

use tegula_machine::threads::Cancel;

use super::shards::Shards;
use crate::graph::{GraphWriter, file_names};
use crate::packed::{CHUNK, PackedWriter, Unordered};
use crate::rows::Direction;
use crate::tiles::Repeats;
use crate::{Error, Result};

/// Counts of the edges of a shard.
#[derive(Debug, Default)]
pub(super) struct EdgeCounts {
    pub loops: u64,
    pub duplicates: u64,
}

/// Writes the out-degrees of the edges into some batches, and counts these edges. Reads the tiles
/// once for each range of segments whose degrees fit `memory` bytes, 4 bytes a source.
pub(super) fn write_out_degrees(
    shards: Shards<'_>,
    batches: &Range<usize>,
    (directory, writer): (&Path, &mut GraphWriter),
    memory: u64,
    cancel: &Cancel,
) -> Result<EdgeCounts> {
    let (grid, vertex_count) = (shards.whole().grid, shards.whole().vertices);
    let segments = grid.segment_count(vertex_count);
    let segment_size = size_of::<u32>() as u64 * u64::from(grid.source_count(0, vertex_count));
    if memory < segment_size {
        return Err(Error::over_budget("counting the degrees of a segment", segment_size, memory));
    }
    let at_once = (memory / segment_size.max(1)).clamp(1, u64::from(segments.max(1))) as u32;
    let path = directory.join(file_names::OUT_DEGREES);
    let mut file = PackedWriter::create(&path, Unordered)?;
    let mut counts = EdgeCounts::default();
    let mut repeats = Repeats::default();
    for first in (0..segments).step_by(at_once as usize) {
        let last = (first + at_once).min(segments) - 1;
        let start = grid.sources(first, vertex_count).start;
        let end = grid.sources(last, vertex_count).end;
        let mut degrees = vec![0u32; (end - start) as usize];
        let is_wanted = |cell: crate::tiles::Cell| (first..=last).contains(&cell.segment);
        shards.for_each_tile(batches, is_wanted, cancel, |graph, _, _, tiles, index| {
            let (tile, _) = tiles.get(graph, index);
            let visited = graph.for_each_edge(index, tile, |_, source, target| {
                degrees[(source - start) as usize] += 1;
                counts.loops += u64::from(source == target);
                repeats.add(source, target);
            });
            visited.map(drop).map_err(|detail| graph.damaged_tile(index, detail))
        })?;
        file.push(&degrees)?;
    }
    counts.duplicates = repeats.count();
    writer.add_block_file(file_names::OUT_DEGREES, file.finish()?);
    Ok(counts)
}

/// Writes the in-degrees of some targets; all others are 0.
pub(super) fn write_in_degrees(
    shards: Shards<'_>,
    targets: Range<u64>,
    (directory, writer): (&Path, &mut GraphWriter),
) -> Result<()> {
    let degrees = shards.first().whole_degrees(Direction::Reverse)?;
    let path = directory.join(file_names::IN_DEGREES);
    let mut file = PackedWriter::create(&path, Unordered)?;
    file.push_regular(0, targets.start)?;
    for first in targets.clone().step_by(CHUNK) {
        let end = (first + CHUNK as u64).min(targets.end);
        file.push(&degrees.read(first as usize..end as usize)?)?;
    }
    file.push_regular(0, shards.whole().vertices - targets.end)?;
    writer.add_block_file(file_names::IN_DEGREES, file.finish()?);
    Ok(())
}
