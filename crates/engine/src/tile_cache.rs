//! Which tiles stay in memory between scans, and how the others stream by.
//!
//! Tiles are read in *groups*: consecutive tiles of one part, about 1 MiB. As many groups as the
//! budget allows are *resident*: read once and kept. The scans of a run visit all groups in the same
//! order every time, so there is nothing that a replacement policy could learn; the resident groups are
//! spread evenly over the file, so that reading the others overlaps with processing at every moment.

use std::ops::Range;
use std::sync::OnceLock;

use tegula_machine::Result;
use tegula_machine::disk::{Frame, Lease, Pending};
use tegula_store::graph::Graph;

/// Bytes of tiles and weights at which a group is closed.
const GROUP_SIZE_TARGET: u64 = 1 << 20;
/// Edges of a batch above which it is processed in several parts. A part is the unit of work of a
/// worker: about 4 ms.
const PART_EDGES_TARGET: u64 = 1 << 22;
/// Bytes on their way to each worker: enough to keep an SSD busy while a part is processed.
const STREAM_SIZE_PER_WORKER: u64 = 12 << 20;

/// Consecutive tiles that are read together.
#[derive(Debug, Clone)]
pub struct Group {
    /// As a range of [`Graph::tiles`].
    pub tiles: Range<usize>,
    /// Bytes of the frames that hold its tiles and, where they are wanted, its weights.
    pub size: u64,
    is_resident: bool,
}

/// A part of a batch: the unit of work of one worker.
#[derive(Debug, Clone)]
pub struct Part {
    /// Index of the batch.
    pub batch: usize,
    /// Number of the part within its batch.
    pub number: usize,
    /// Parts of its batch: a function of the graph alone.
    pub count: usize,
    /// As a range of the groups.
    pub groups: Range<usize>,
}

/// The tiles of a graph for the duration of a run.
pub struct TileCache<'g> {
    graph: &'g Graph,
    parts: Vec<Part>,
    groups: Vec<Group>,
    resident: Vec<OnceLock<Tiles>>,
    has_weights: bool,
    stream_size: u64,
    _lease: Lease,
}

/// The bytes of a group.
pub struct Tiles {
    tiles: Frame,
    weights: Option<Frame>,
}

/// A group on its way.
pub struct PendingTiles {
    tiles: Pending,
    weights: Option<Pending>,
}

impl<'g> TileCache<'g> {
    /// Bytes without which no scan can run: a group on its way and one at work for each worker.
    pub fn size_min(graph: &Graph, threads: usize, has_weights: bool) -> u64 {
        let (_, groups) = cut(graph, has_weights);
        let largest = groups.iter().map(|group| group.size).max().unwrap_or(0);
        2 * largest * threads as u64
    }

    /// Plans which groups stay in memory. `budget` is at least [`TileCache::size_min`]; `lease` counts
    /// what else the run holds, until the cache is dropped.
    pub fn new(
        graph: &'g Graph,
        threads: usize,
        has_weights: bool,
        budget: u64,
        lease: Lease,
    ) -> TileCache<'g> {
        let (parts, mut groups) = cut(graph, has_weights);
        let total: u64 = groups.iter().map(|group| group.size).sum();
        let workers = threads as u64;
        let minimum = TileCache::size_min(graph, threads, has_weights);
        let stream = (STREAM_SIZE_PER_WORKER * workers).min(budget / 2).max(minimum);
        // Groups are taken as they come, each time the share of bytes kept so far falls behind.
        let room = if total <= budget { total } else { budget.saturating_sub(stream) };
        let (mut seen, mut kept) = (0u64, 0u64);
        for group in &mut groups {
            seen += group.size;
            let due = (u128::from(seen) * u128::from(room) / u128::from(total.max(1))) as u64;
            group.is_resident = kept + group.size <= due || total <= budget;
            if group.is_resident {
                kept += group.size;
            }
        }
        let resident = groups.iter().map(|_| OnceLock::new()).collect();
        let stream_size = stream / workers;
        TileCache { graph, parts, groups, resident, has_weights, stream_size, _lease: lease }
    }

    /// The graph.
    pub fn graph(&self) -> &'g Graph {
        self.graph
    }

    /// All parts, in the order of the file.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// All groups, in the order of the file.
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// Bytes that each worker may have on their way and at work.
    pub fn stream_size(&self) -> u64 {
        self.stream_size
    }

    /// The group, if it is in memory already.
    pub fn get(&self, group: usize) -> Option<&Tiles> {
        self.resident[group].get()
    }

    /// Asks for a group that is not in memory.
    pub fn request(&self, group: usize) -> PendingTiles {
        let tiles = self.groups[group].tiles.clone();
        let reader = self.graph.reader();
        let request = self.graph.tiles_request(tiles.clone());
        let weights = if self.has_weights { self.graph.weights_request(tiles) } else { None };
        PendingTiles {
            tiles: reader.read(request.file, request.offset, request.len),
            weights: weights.map(|request| reader.read(request.file, request.offset, request.len)),
        }
    }

    /// Waits for a group and checks every tile of it.
    ///
    /// # Errors
    /// Those of reading; [`tegula_machine::Error::Corrupt`] when a checksum differs.
    pub fn receive(&self, group: usize, pending: PendingTiles) -> Result<Tiles> {
        let weights = pending.weights.map(Pending::wait);
        let tiles = Tiles { tiles: pending.tiles.wait()?, weights: weights.transpose()? };
        for index in self.groups[group].tiles.clone() {
            self.graph.check_tile(index, self.tile_bytes(&tiles, group, index))?;
            if tiles.weights.is_some() {
                let weights = self.weight_bytes(&tiles, group, index);
                self.graph.check_weights(index, weights)?;
            }
        }
        Ok(tiles)
    }

    /// Keeps a group that is meant to stay; drops any other.
    pub fn keep(&self, group: usize, tiles: Tiles) {
        if self.groups[group].is_resident {
            // Another worker cannot have read it: a group belongs to one part.
            let _ = self.resident[group].set(tiles);
        }
    }

    /// The bytes of a tile of the group.
    pub fn tile_bytes<'t>(&self, tiles: &'t Tiles, group: usize, index: usize) -> &'t [u8] {
        let entries = self.graph.tiles();
        let first = &entries[self.groups[group].tiles.start];
        let start = (entries[index].offset - first.offset) as usize;
        &tiles.tiles[start..start + entries[index].size as usize]
    }

    /// The bytes of a tile's weights; none where weights are not wanted.
    pub fn weight_bytes<'t>(&self, tiles: &'t Tiles, group: usize, index: usize) -> &'t [u8] {
        let Some(weights) = &tiles.weights else { return &[] };
        let entries = self.graph.tiles();
        let first = &entries[self.groups[group].tiles.start];
        let start = (entries[index].weights_offset - first.weights_offset) as usize;
        &weights[start..start + 4 * entries[index].weight_count as usize]
    }
}

/// The most targets of a batch, once for all of its parts but the last: what was reduced for them waits for
/// the parts before.
pub fn waiting_targets_max(graph: &Graph) -> u64 {
    let (parts, _) = cut(graph, false);
    let waiting = parts.iter().map(|part| {
        let targets = graph.batches()[part.batch].targets(graph.vertex_count());
        targets.len() as u64 * (part.count as u64 - 1)
    });
    waiting.max().unwrap_or(0)
}

/// Cuts the tiles into parts and groups: a function of the graph alone.
fn cut(graph: &Graph, has_weights: bool) -> (Vec<Part>, Vec<Group>) {
    let (mut parts, mut groups): (Vec<Part>, Vec<Group>) = (Vec::new(), Vec::new());
    for batch in 0..graph.batches().len() {
        let first_part = parts.len();
        let mut part_start = groups.len();
        let (mut part_edges, mut open) = (0u64, None::<Group>);
        for index in graph.batch_tiles(batch) {
            let entry = &graph.tiles()[index];
            let weights = if has_weights { 4 * u64::from(entry.weight_count) } else { 0 };
            // The size in the files until all groups are cut.
            let group =
                open.get_or_insert(Group { tiles: index..index, size: 0, is_resident: false });
            group.tiles.end = index + 1;
            group.size += u64::from(entry.size) + weights;
            part_edges += u64::from(entry.summary.edge_count);
            let is_full = part_edges >= PART_EDGES_TARGET;
            if is_full || group.size >= GROUP_SIZE_TARGET {
                groups.extend(open.take());
            }
            if is_full {
                let number = parts.len() - first_part;
                parts.push(Part { batch, number, count: 0, groups: part_start..groups.len() });
                (part_start, part_edges) = (groups.len(), 0);
            }
        }
        groups.extend(open);
        if part_start < groups.len() || parts.len() == first_part {
            let number = parts.len() - first_part;
            parts.push(Part { batch, number, count: 0, groups: part_start..groups.len() });
        }
        let count = parts.len() - first_part;
        parts[first_part..].iter_mut().for_each(|part| part.count = count);
    }
    let reader = graph.reader();
    for group in &mut groups {
        let tiles = reader.frame_size(&graph.tiles_request(group.tiles.clone()));
        let weights = graph.weights_request(group.tiles.clone()).filter(|_| has_weights);
        group.size = tiles + weights.map_or(0, |request| reader.frame_size(&request));
    }
    (parts, groups)
}
