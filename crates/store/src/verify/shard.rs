//! Checks the degrees of a shard against those of the whole graph.

use std::ops::Range;

use tegula_machine::threads::Cancel;

use crate::Result;
use crate::graph::{DegreeReader, Graph};
use crate::packed::CHUNK;
use crate::rows::Direction;

impl Graph {
    /// Checks that a shard has as many edges as the whole graph into each of its targets, none into
    /// other vertices, and no more out of any vertex. Does nothing for a graph that is no shard.
    pub(super) fn verify_shard(&self, cancel: &Cancel) -> Result<()> {
        let Some(partition) = self.partition() else { return Ok(()) };
        let targets = partition.vertices();
        let out = BothDegrees::open(self, Direction::Forward)?;
        let into = BothDegrees::open(self, Direction::Reverse)?;
        for first in (0..self.vertex_count() as usize).step_by(CHUNK) {
            cancel.check()?;
            let chunk = first..(first + CHUNK).min(self.vertex_count() as usize);
            // The other edges of a source lead to targets of other ranks.
            out.check(chunk.clone(), |_, own, whole| own <= whole)?;
            into.check(chunk, |vertex, own, whole| {
                own == if targets.contains(&vertex) { whole } else { 0 }
            })?;
        }
        Ok(())
    }
}

/// The degrees in a shard and in the whole graph.
struct BothDegrees<'g> {
    graph: &'g Graph,
    direction: Direction,
    own: DegreeReader,
    whole: DegreeReader,
}

impl BothDegrees<'_> {
    fn open(graph: &Graph, direction: Direction) -> Result<BothDegrees<'_>> {
        let (own, whole) = (graph.own_degrees(direction)?, graph.whole_degrees(direction)?);
        Ok(BothDegrees { graph, direction, own, whole })
    }

    /// Checks the degrees of a range of vertices: `is_right` gets a vertex, its degree in the shard
    /// and that in the whole graph.
    fn check(
        &self,
        vertices: Range<usize>,
        is_right: impl Fn(u64, u32, u32) -> bool,
    ) -> Result<()> {
        let first = vertices.start as u64;
        let (own, whole) = (self.own.read(vertices.clone())?, self.whole.read(vertices)?);
        let mut degrees = (first..).zip(own.into_iter().zip(whole));
        let Some((vertex, (own, whole))) =
            degrees.find(|&(vertex, (own, whole))| !is_right(vertex, own, whole))
        else {
            return Ok(());
        };
        let edges = match self.direction {
            Direction::Forward => "out of",
            Direction::Reverse => "into",
        };
        Err(self.graph.damaged_vertices(format!(
            "the shard has {own} edges {edges} vertex {vertex}, and the whole graph has {whole}"
        )))
    }
}
