//! Verifies a graph: reads every byte, checks every checksum and every id.

mod edge_facts;
mod edge_sum;
mod rows;
mod shard;

use tegula_machine::threads::{Cancel, Progress, ProgressUnit};

use crate::graph::{Graph, IdType, VertexOrder, file_names};
use crate::rows::Rows;
use crate::tiles::{SourceSet, Tile};
use crate::{Error, Result};
use edge_facts::EdgeFacts;
use edge_sum::VertexSum;

/// Tiles per read.
const TILES_PER_READ: usize = 16;

/// Figures of what was checked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Checked {
    /// Files, the manifest included.
    pub files: u64,
    /// Bytes of the files.
    pub bytes: u64,
    /// Tiles.
    pub tiles: u64,
    /// Edges.
    pub edges: u64,
}

impl Graph {
    /// Bytes that [`Graph::verify`] holds beside the tables of an open graph: the sources of a cell
    /// and, for rows, their index, a cache and 8 bytes a vertex.
    pub fn verify_size(&self) -> u64 {
        let directions = self.manifest().row_layouts().map(|(direction, _)| direction);
        let degrees = 8 * self.vertex_count();
        let rows = directions
            .map(|direction| Rows::size(self, direction) + rows::CACHE_SIZE + degrees)
            .max();
        // Bits for the sources of the tiles, bits for the listed sources, and the list.
        let bits = if self.manifest().lists_sources() { 1 << self.grid().segment_log2 } else { 0 };
        let sources = 3 * bits / 8;
        sources + rows.unwrap_or(0)
    }

    /// Reads every byte of the graph and checks every checksum and every range of ids. Checks that
    /// degrees, tables and tiles agree, that rows hold the same edges, that the manifest is right
    /// about them, and that the degrees of a shard fit those of the whole graph.
    ///
    /// # Errors
    /// [`Error::Corrupt`](tegula_machine::Error::Corrupt) for the first part that is damaged.
    pub fn verify(&self, progress: &dyn Progress, cancel: &Cancel) -> Result<Checked> {
        let total = self.manifest().files.iter().map(|file| file.bytes).sum();
        progress.begin("verifying", Some(total), ProgressUnit::Bytes);
        for entry in self.manifest().files.iter().filter(|file| file.checksum.is_some()) {
            cancel.check()?;
            self.block_file(&entry.name)?.verify()?;
            progress.advance(entry.bytes);
        }
        self.verify_ids(cancel)?;
        self.verify_shard(cancel)?;
        let (edges, facts) = self.verify_tiles(progress, cancel)?;
        progress.end();
        facts.check(self)?;
        for (direction, _) in self.manifest().row_layouts() {
            let sum = rows::verify(self, direction, progress, cancel)?;
            if sum.is_some_and(|sum| sum != facts.sum()) {
                return Err(Error::corrupt(
                    self.directory().join(direction.files().data),
                    "its rows",
                    "they hold other edges than the tiles",
                ));
            }
        }
        Ok(Checked {
            // One more, because the manifest does not name itself.
            files: self.manifest().files.len() as u64 + 1,
            bytes: total,
            tiles: self.tiles().len() as u64,
            edges,
        })
    }

    /// Checks that original ids ascend and that each dense id occurs once.
    fn verify_ids(&self, cancel: &Cancel) -> Result<()> {
        let ids = self.original_ids()?;
        if self.manifest().ids != IdType::Range {
            let mut previous = None;
            ids.for_each_chunk(|ids, _| -> Result<()> {
                cancel.check()?;
                for id in (0..ids.len()).map(|index| ids.get(index)) {
                    if previous.as_ref().is_some_and(|previous| *previous >= id) {
                        return Err(self.damaged_vertices(format!("id {id} is out of order")));
                    }
                    previous = Some(id);
                }
                Ok(())
            })?;
        }
        if ids.are_dense() {
            return Ok(());
        }
        // The runs cover each id once if every end of a run is the start of another, except for
        // both ends of the whole.
        let (mut starts, mut ends) = (VertexSum::default(), VertexSum::default());
        ends.add(0, 1);
        starts.add(self.vertex_count(), 1);
        ids.for_each_run(|run| -> Result<()> {
            cancel.check()?;
            starts.add(run.start, 1);
            ends.add(run.end, 1);
            Ok(())
        })?;
        match starts == ends {
            true => Ok(()),
            false => Err(self.damaged_vertices("two vertices have the same dense id".into())),
        }
    }

    /// Checks all tiles. Returns the number of their edges and figures of them.
    fn verify_tiles(&self, progress: &dyn Progress, cancel: &Cancel) -> Result<(u64, EdgeFacts)> {
        let degrees = self.verify_degrees(cancel)?;
        let lists_sources = self.manifest().lists_sources();
        let mut found = Found {
            sources: lists_sources.then(|| SourceSet::new(1 << self.grid().segment_log2)),
            ends: EndSums::default(),
            facts: EdgeFacts::new(self.manifest()),
        };
        let mut edges = 0;
        let mut first = 0;
        let mut cells = self.cells().iter().peekable();
        while first < self.tiles().len() {
            cancel.check()?;
            let range = first..(first + TILES_PER_READ).min(self.tiles().len());
            first = range.end;
            let tiles = self.read_tiles(range.clone(), true).wait()?;
            for index in range {
                let entry = &self.tiles()[index];
                let (tile, weights) = tiles.get(self, index);
                self.verify_tile(index, tile, weights, &mut found)
                    .map_err(|detail| self.damaged_tile(index, detail))?;
                let ended = cells.next_if(|cell| cell.tiles.end == index + 1);
                if let Some((cell, sources)) = ended.zip(found.sources.as_mut()) {
                    self.verify_sources(cell, sources)?;
                    sources.clear();
                }
                edges += u64::from(entry.summary.edge_count);
                progress.advance(u64::from(entry.size) + 4 * u64::from(entry.weight_count));
            }
        }
        if found.ends != degrees {
            return Err(self.damaged_vertices("the degrees do not fit the edges".into()));
        }
        Ok((edges, found.facts))
    }

    /// Checks the vertex order named in the manifest, as far as degrees allow. Returns the sums of
    /// the ends of edges, computed from the degrees.
    fn verify_degrees(&self, cancel: &Cancel) -> Result<EndSums> {
        let order = &self.manifest().order.name;
        let mut ends = EndSums::default();
        let (mut descends, mut before) = (true, (0, u64::MAX));
        self.for_each_degrees(|first, out, into| {
            cancel.check()?;
            // A gap means that vertices without edges were skipped.
            descends &= first == before.0;
            for (vertex, (&out, &into)) in (first..).zip(out.iter().zip(into)) {
                ends.add(vertex, out, into);
                let degree = u64::from(out) + u64::from(into);
                descends &= degree <= before.1;
                before = (vertex + 1, degree);
            }
            Ok(())
        })?;
        let is_so = match VertexOrder::named(order) {
            Some(VertexOrder::Given) => self.manifest().file(file_names::ORDER).is_none(),
            Some(VertexOrder::Degree) => descends,
            Some(VertexOrder::Dfs) => true,
            None => false,
        };
        // In a shard, the degrees count its edges alone.
        if is_so || self.partition().is_some() {
            return Ok(ends);
        }
        Err(self.untrue("order", format!("the vertices are in another order than `{order}`")))
    }

    /// Checks the edges of a tile and adds them to `found`.
    fn verify_tile(
        &self,
        index: usize,
        tile: Tile<'_>,
        weights: &[f32],
        found: &mut Found,
    ) -> Result<(), String> {
        let entry = &self.tiles()[index];
        let (summary, origin) = (&entry.summary, self.origin_of(entry));
        let targets = u64::from(summary.target_first)..=u64::from(summary.target_last);
        let mut edges = 0u32;
        let mut fault = None;
        let entries = self.for_each_edge(index, tile, |entry, source, target| {
            // `local` counts from the segment's start, so it is below 2^24.
            let local = (source - origin.source) as u32;
            if !summary.may_hold(local) || !targets.contains(&(target - origin.target)) {
                // The visit cannot end early, so the first fault is kept.
                fault.get_or_insert_with(|| {
                    format!("edge {source} to {target} lies outside of the tile's range")
                });
                return;
            }
            found.sources.iter_mut().for_each(|sources| sources.insert(local));
            found.ends.add_edge(source, target);
            found.facts.add(source, target, weights.get(entry).copied().unwrap_or(1.0));
            edges += 1;
        })?;
        if let Some(fault) = fault {
            return Err(fault);
        }
        if self.is_weighted() && entries != entry.weight_count as usize {
            return Err(format!("{entries} entries have {} weights", entry.weight_count));
        }
        if edges != summary.edge_count || edges != tile.edge_count() {
            return Err(format!("it holds {edges} edges, not {}", summary.edge_count));
        }
        Ok(())
    }

    fn damaged_vertices(&self, detail: String) -> Error {
        Error::corrupt(self.directory(), "its vertices", detail)
    }
}

/// Figures of the edges seen so far.
struct Found {
    /// The sources of the current cell, counted from the first of their segment, in a graph that
    /// lists them.
    sources: Option<SourceSet>,
    ends: EndSums,
    facts: EdgeFacts,
}

/// Sums over the ends of edges, in any order.
#[derive(Debug, Default, PartialEq, Eq)]
struct EndSums {
    sources: VertexSum,
    targets: VertexSum,
}

impl EndSums {
    /// Adds the ends at a vertex with these degrees.
    fn add(&mut self, vertex: u64, out: u32, into: u32) {
        self.sources.add(vertex, out);
        self.targets.add(vertex, into);
    }

    fn add_edge(&mut self, source: u64, target: u64) {
        self.sources.add(source, 1);
        self.targets.add(target, 1);
    }
}
