//! Reads every byte of a graph, checks every checksum and every id.

use super::opened::Graph;
use crate::error::{Error, Result};
use crate::progress::{Cancel, Progress, Unit};
use crate::tiles::{Entries, Tile, WINDOW_SIZE};

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
    /// Reads every byte of the graph, checks every checksum, every id range and that degrees,
    /// tables and tiles agree. Holds 12 bytes a vertex.
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
        let checked = Checked {
            files: self.manifest().files.len() as u64 + 1,
            bytes: total,
            tiles: self.tiles().len() as u64,
            edges: self.verify_tiles(progress, cancel)?,
        };
        progress.end();
        Ok(checked)
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

    fn verify_tiles(&self, progress: &dyn Progress, cancel: &Cancel) -> Result<u64> {
        let (mut out_degrees, mut in_degrees) = (self.out_degrees()?, self.in_degrees()?);
        let mut edges = 0;
        let mut first = 0;
        while first < self.tiles().len() {
            cancel.check()?;
            let range = first..(first + TILES_PER_READ).min(self.tiles().len());
            first = range.end;
            let request = self.tiles_request(range.clone());
            let frame = self.reader().read(request.file, request.offset, request.len).wait()?;
            for index in range.clone() {
                let entry = &self.tiles()[index];
                let start = (entry.offset - self.tiles()[range.start].offset) as usize;
                let bytes = &frame[start..start + entry.size as usize];
                self.check_tile(index, bytes)?;
                edges += u64::from(entry.summary.edge_count);
                self.verify_tile(index, bytes, &mut out_degrees, &mut in_degrees)
                    .map_err(|detail| self.damaged_tile(index, detail))?;
                progress.advance(u64::from(entry.size));
            }
            drop(frame);
            self.verify_weights(range, progress)?;
        }
        if out_degrees.iter().chain(&in_degrees).any(|&degree| degree != 0) {
            return Err(self.damaged_vertices("the degrees do not fit the edges".into()));
        }
        Ok(edges)
    }

    fn verify_weights(&self, range: std::ops::Range<usize>, progress: &dyn Progress) -> Result<()> {
        let Some(request) = self.weights_request(range.clone()) else { return Ok(()) };
        let frame = self.reader().read(request.file, request.offset, request.len).wait()?;
        for index in range.clone() {
            let entry = &self.tiles()[index];
            let start = (entry.weights_offset - self.tiles()[range.start].weights_offset) as usize;
            let size = 4 * entry.weight_count as usize;
            self.check_weights(index, &frame[start..start + size])?;
            progress.advance(size as u64);
        }
        Ok(())
    }

    /// Takes the edges of a tile off the degrees.
    fn verify_tile(
        &self,
        index: usize,
        bytes: &[u8],
        out_degrees: &mut [u32],
        in_degrees: &mut [u32],
    ) -> Result<(), String> {
        let entry = &self.tiles()[index];
        let summary = &entry.summary;
        let tile = Tile::parse(bytes)?;
        let window = summary.target_first as usize & !(WINDOW_SIZE - 1);
        let (mut edges, mut entries) = (0u32, 0u32);
        let mut fault = None;
        let mut take = |source: u32, target: usize| {
            let is_inside = summary.may_hold(source)
                && (summary.target_first as usize..=summary.target_last as usize).contains(&target);
            if !is_inside || out_degrees[source as usize] == 0 || in_degrees[target] == 0 {
                fault.get_or_insert_with(|| format!("edge {source} to {target} does not belong"));
                return;
            }
            out_degrees[source as usize] -= 1;
            in_degrees[target] -= 1;
            edges += 1;
        };
        for strip in tile.strips(self.vertex_count()) {
            let strip = strip?;
            entries += strip.count() as u32;
            let base = window + strip.target_start();
            match strip.entries() {
                Entries::Masks => strip.visit_masks(|_, source, mask| {
                    (0..16).filter(|bit| mask >> bit & 1 == 1).for_each(|bit| {
                        take(source, base + bit);
                    });
                }),
                Entries::Row | Entries::Singles => {
                    strip.visit_singles(|_, source, target| take(source, window + target));
                }
            }
        }
        if let Some(fault) = fault {
            return Err(fault);
        }
        if self.is_weighted() && entries != entry.weight_count {
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
