//! The out- and in-degrees of the vertices.

use std::ops::Range;

use super::file_names;
use super::opened::Graph;
use crate::packed::{Array, CHUNK, Unordered};
use crate::rows::Direction;
use crate::{Error, Result};

/// Files of the out- and in-degrees that a directory's own edges give.
const OWN: [&str; 2] = [file_names::OUT_DEGREES, file_names::IN_DEGREES];
/// The same of the graph of which the directory holds a shard.
const WHOLE: [&str; 2] = [file_names::WHOLE_OUT_DEGREES, file_names::WHOLE_IN_DEGREES];

/// Degrees of a graph, on disk.
pub struct DegreeReader(Array<Unordered>);

impl DegreeReader {
    /// Reads the degrees of a range of vertices, which the graph must have. Takes 4 bytes each, and
    /// about one more while it reads.
    pub fn read(&self, vertices: Range<usize>) -> Result<Vec<u32>> {
        self.0.read(vertices)
    }
}

impl Graph {
    /// Opens the out-degrees by dense id, to be read range by range.
    pub fn degree_reader(&self) -> Result<DegreeReader> {
        Ok(DegreeReader(self.array(self.degrees_name(Direction::Forward))?))
    }

    /// The out-degrees by dense id: 4 bytes a vertex.
    pub fn out_degrees(&self) -> Result<Vec<u32>> {
        self.degrees(Direction::Forward)
    }

    /// Reads the degrees of a direction by dense id: 4 bytes a vertex.
    pub(crate) fn degrees(&self, direction: Direction) -> Result<Vec<u32>> {
        self.array::<Unordered>(self.degrees_name(direction))?.read_all()
    }

    /// The greatest degree of a direction. Streams the degrees: 1 ms for 4 million vertices.
    pub fn degree_max(&self, direction: Direction) -> Result<u32> {
        let mut max = 0;
        self.array::<Unordered>(self.degrees_name(direction))?.for_each_chunk(|_, degrees| {
            max = degrees.iter().copied().fold(max, u32::max);
            Ok::<_, Error>(())
        })?;
        Ok(max)
    }

    /// The file with the degrees of a direction. In-degrees that equal the out-degrees may have no
    /// file.
    fn degrees_name(&self, direction: Direction) -> &'static str {
        self.degrees_name_in(if self.is_for_ranks() { WHOLE } else { OWN }, direction)
    }

    fn degrees_name_in(
        &self,
        [out, into]: [&'static str; 2],
        direction: Direction,
    ) -> &'static str {
        match direction {
            Direction::Reverse if self.manifest().file(into).is_some() => into,
            Direction::Forward | Direction::Reverse => out,
        }
    }

    /// Opens the degrees that the edges of this directory have.
    pub(crate) fn own_degrees(&self, direction: Direction) -> Result<DegreeReader> {
        Ok(DegreeReader(self.array(self.degrees_name_in(OWN, direction))?))
    }

    /// Opens the degrees that the whole graph has, if this is a shard of it.
    pub(crate) fn whole_degrees(&self, direction: Direction) -> Result<DegreeReader> {
        let name = match self.partition() {
            Some(_) => self.degrees_name_in(WHOLE, direction),
            None => self.degrees_name(direction),
        };
        Ok(DegreeReader(self.array(name)?))
    }

    /// Visits the out-degrees that the edges of this directory have: in a shard, only those
    /// into its targets. A range without such edges may be skipped.
    pub fn for_each_own_degrees(
        &self,
        mut visit: impl FnMut(u64, &[u32]) -> Result<()>,
    ) -> Result<()> {
        let out = self.array::<Unordered>(file_names::OUT_DEGREES)?;
        let vertex_count = self.vertex_count() as usize;
        for first in (0..vertex_count).step_by(CHUNK) {
            if !out.is_empty_at(first) {
                let vertices = first..(first + CHUNK).min(vertex_count);
                visit(first as u64, &out.read(vertices)?)?;
            }
        }
        Ok(())
    }

    /// Visits out- and in-degrees, up to 65,536 vertices at a time: `visit` gets the first vertex
    /// and the degrees from there on. Skips chunks in which no vertex has an edge.
    pub fn for_each_degrees(
        &self,
        mut visit: impl FnMut(u64, &[u32], &[u32]) -> Result<()>,
    ) -> Result<()> {
        let array = |direction| self.array::<Unordered>(self.degrees_name(direction));
        let (out, into) = (array(Direction::Forward)?, array(Direction::Reverse)?);
        for first in (0..self.vertex_count() as usize).step_by(CHUNK) {
            let vertices = first..(first + CHUNK).min(self.vertex_count() as usize);
            if !(out.is_empty_at(first) && into.is_empty_at(first)) {
                visit(first as u64, &out.read(vertices.clone())?, &into.read(vertices)?)?;
            }
        }
        Ok(())
    }

    /// The in-degrees by dense id: 4 bytes a vertex.
    pub fn in_degrees(&self) -> Result<Vec<u32>> {
        self.degrees(Direction::Reverse)
    }
}
