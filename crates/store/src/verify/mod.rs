//! Reads every byte of a graph, checks every checksum and every id.

mod edge_facts;
mod edge_sum;
mod rows;

use tegula_machine::threads::{Cancel, Progress, Unit};
use tegula_machine::{Error, Result};

use crate::graph::{Graph, VertexOrder, file_names};
use crate::rows::Rows;
use crate::tiles::{SourceSet, Tile};
use edge_facts::EdgeFacts;

/// Tiles that are read at a time.
const TILES_PER_READ: usize = 16;

/// What was checked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Checked {
    /// Files, the manifest included.
    pub files: u64,
    /// Bytes of them.
    pub bytes: u64,
    /// Tiles.
    pub tiles: u64,
    /// Edges.
    pub edges: u64,
}

impl Graph {
    /// Bytes that [`Graph::verify`] holds: 12 a vertex, what is read at a time, the sources of a cell, and the index of
    /// the rows.
    pub fn verify_size(&self) -> u64 {
        let directions = self.manifest().row_layouts().map(|(direction, _)| direction);
        let rows = directions.map(|direction| Rows::size(self, direction) + rows::CACHE_SIZE).max();
        // Those of the tiles, those that are listed, and the list.
        let bits = if self.manifest().lists_sources() { 1 << self.grid().segment_log2 } else { 0 };
        let sources = 3 * bits / 8;
        12 * u64::from(self.vertex_count()) + sources + rows.unwrap_or(0)
    }

    /// Reads every byte of the graph, checks every checksum, every id range, that degrees, tables and
    /// tiles agree, that rows hold the same edges, and that the manifest says of all of them what they are.
    ///
    /// # Errors
    /// [`Error::Corrupt`] for the first part that is damaged.
    pub fn verify(&self, progress: &dyn Progress, cancel: &Cancel) -> Result<Checked> {
        let total = self.manifest().files.iter().map(|file| file.bytes).sum();
        progress.begin("verifying", Some(total), Unit::Bytes);
        for entry in self.manifest().files.iter().filter(|file| file.checksum.is_some()) {
            cancel.check()?;
            self.block_file(&entry.name)?.verify()?;
            progress.advance(entry.bytes);
        }
        self.verify_ids(cancel)?;
        let (edges, facts) = self.verify_tiles(progress, cancel)?;
        progress.end();
        facts.check(self)?;
        for (direction, _) in self.manifest().row_layouts() {
            let sum = rows::verify(self, direction, progress, cancel)?;
            if sum.is_some_and(|sum| sum != facts.sum()) {
                return Err(Error::Corrupt {
                    path: self.directory().join(direction.files().data),
                    part: "its rows".into(),
                    detail: "they hold other edges than the tiles".into(),
                });
            }
        }
        Ok(Checked {
            files: self.manifest().files.len() as u64 + 1,
            bytes: total,
            tiles: self.tiles().len() as u64,
            edges,
        })
    }

    /// Original ids ascend, dense ids are each taken once.
    fn verify_ids(&self, cancel: &Cancel) -> Result<()> {
        let mut taken = vec![false; self.vertex_count() as usize];
        let mut previous = None;
        self.original_ids()?.for_each_chunk(|ids, dense| -> Result<()> {
            cancel.check()?;
            for (index, dense) in dense.iter().enumerate() {
                let id = ids.get(index);
                if previous.as_ref().is_some_and(|previous| *previous >= id) {
                    return Err(self.damaged_vertices(format!("id {id} is out of order")));
                }
                previous = Some(id);
                if std::mem::replace(&mut taken[dense.index()], true) {
                    return Err(self.damaged_vertices(format!("two vertices are {}", dense.0)));
                }
            }
            Ok(())
        })
    }

    /// Counts the edges of all tiles, and sums them up.
    fn verify_tiles(&self, progress: &dyn Progress, cancel: &Cancel) -> Result<(u64, EdgeFacts)> {
        let mut left = Left {
            out_degrees: self.out_degrees()?,
            in_degrees: self.in_degrees()?,
            sources: self
                .manifest()
                .lists_sources()
                .then(|| SourceSet::new(1 << self.grid().segment_log2)),
            facts: EdgeFacts::new(self.manifest()),
        };
        self.verify_order(&left)?;
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
                self.verify_tile(index, tile, weights, &mut left)
                    .map_err(|detail| self.damaged_tile(index, detail))?;
                let ended = cells.next_if(|cell| cell.tiles.end == index + 1);
                if let Some((cell, sources)) = ended.zip(left.sources.as_mut()) {
                    self.verify_sources(cell, sources)?;
                    sources.clear();
                }
                edges += u64::from(entry.summary.edge_count);
                progress.advance(u64::from(entry.size) + 4 * u64::from(entry.weight_count));
            }
        }
        if left.out_degrees.iter().chain(&left.in_degrees).any(|&degree| degree != 0) {
            return Err(self.damaged_vertices("the degrees do not fit the edges".into()));
        }
        Ok((edges, left.facts))
    }

    /// That the vertices are in the order that the manifest names, as far as degrees tell.
    fn verify_order(&self, degrees: &Left) -> Result<()> {
        let order = &self.manifest().order.name;
        let degree = |vertex: usize| {
            u64::from(degrees.out_degrees[vertex]) + u64::from(degrees.in_degrees[vertex])
        };
        let is_so = match VertexOrder::named(order) {
            Some(VertexOrder::Given) => self.manifest().file(file_names::ORDER).is_none(),
            Some(VertexOrder::Degree) => {
                (1..self.vertex_count() as usize).all(|vertex| degree(vertex - 1) >= degree(vertex))
            }
            Some(VertexOrder::Dfs) => true,
            None => false,
        };
        if is_so {
            return Ok(());
        }
        Err(self.untrue("order", format!("the vertices are in another order than `{order}`")))
    }

    /// Takes the edges of a tile off the degrees.
    fn verify_tile(
        &self,
        index: usize,
        tile: Tile<'_>,
        weights: &[f32],
        left: &mut Left,
    ) -> Result<(), String> {
        let entry = &self.tiles()[index];
        let summary = &entry.summary;
        let segment_size = 1 << self.grid().segment_log2;
        let mut edges = 0u32;
        let mut fault = None;
        let entries =
            tile.for_each_edge(summary, self.vertex_count(), |entry, source, target| {
                let is_inside = summary.may_hold(source)
                    && (summary.target_first..=summary.target_last).contains(&target);
                if let (true, Some(sources)) = (is_inside, &mut left.sources) {
                    sources.insert(source & (segment_size - 1));
                }
                if is_inside && left.take(source, target, weights.get(entry).copied()) {
                    edges += 1;
                } else {
                    fault.get_or_insert_with(|| {
                        format!("edge {source} to {target} does not belong")
                    });
                }
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
        Error::Corrupt { path: self.directory().to_owned(), part: "its vertices".into(), detail }
    }
}

/// Edges of each vertex that have not come along yet, and what is known of those that have.
struct Left {
    out_degrees: Vec<u32>,
    in_degrees: Vec<u32>,
    /// Those of the cell at hand, counted from the first of their segment, where they are listed.
    sources: Option<SourceSet>,
    facts: EdgeFacts,
}

impl Left {
    /// Takes an edge off; whether its ends have one left.
    fn take(&mut self, source: u32, target: u32, weight: Option<f32>) -> bool {
        let ends =
            (self.out_degrees.get_mut(source as usize), self.in_degrees.get_mut(target as usize));
        let (Some(out), Some(into)) = ends else { return false };
        if *out == 0 || *into == 0 {
            return false;
        }
        (*out, *into) = (*out - 1, *into - 1);
        self.facts.add(source, target, weight.unwrap_or(1.0));
        true
    }
}
