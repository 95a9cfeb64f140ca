//! Dependencies of the vertices for one source, with path lengths in hops.

use tegula_engine::traverse::{Listed, Neighbourhoods, RowsJob, Sequential};
use tegula_engine::{Result, ShortId};
use tegula_store::rows::Direction;

use super::path_counts::{PathCount, PathCounts};
use super::sources::Search;

/// Level of a vertex that is not reached.
const NONE: u32 = u32::MAX;

/// A search from a source, level by level.
pub(super) struct ByHops {
    /// The level in which each vertex was reached.
    levels: Vec<u32>,
    counts: PathCounts,
    /// The vertices reached, by level, ascending within each level.
    reached: Vec<ShortId>,
    /// The start of each level in `reached`, and the end of the last level.
    starts: Vec<usize>,
    edges: u64,
}

impl Search for ByHops {
    const NEEDS_WEIGHTS: bool = false;

    fn new(vertex_count: u32) -> ByHops {
        let count = vertex_count as usize;
        ByHops {
            levels: vec![NONE; count],
            counts: PathCounts::new(count),
            reached: Vec::with_capacity(count),
            starts: Vec::new(),
            edges: 0,
        }
    }

    fn size(vertex_count: u64, edges_max: u64) -> u64 {
        // A path has at most as many levels as vertices.
        let vertices = (4 + 4 + 8) * vertex_count + PathCounts::size(vertex_count);
        vertices + Neighbourhoods::<Sequential>::size(edges_max)
    }

    fn find(&mut self, source: ShortId, job: &RowsJob<'_>) -> Result<bool> {
        self.levels[source.index()] = 0;
        self.counts.set(source.index(), PathCount::ONE);
        self.reached.push(source);
        self.starts.extend([0, 1]);
        while self.starts[self.starts.len() - 2] < self.reached.len() {
            self.search_level(job)?;
        }
        for level in (0..self.starts.len() - 2).rev() {
            self.come_back(level, job)?;
        }
        Ok(true)
    }

    fn add_to(&mut self, sums: &mut [f64]) -> u64 {
        for vertex in &self.reached {
            let index = vertex.index();
            let depends = self.counts.take(index);
            if self.levels[index] > 0 {
                sums[index] += depends;
            }
            self.levels[index] = NONE;
        }
        self.reached.clear();
        self.starts.clear();
        std::mem::take(&mut self.edges)
    }
}

impl ByHops {
    /// Finds the vertices behind the last level and counts the paths to them.
    fn search_level(&mut self, job: &RowsJob<'_>) -> Result<()> {
        let (start, end) = (self.starts[self.starts.len() - 2], self.reached.len());
        let next = self.starts.len() as u32 - 1;
        let mut found = self.reached.split_off(end);
        let order = Listed::new(&self.reached[start..end]);
        let mut neighbourhoods = Neighbourhoods::along(job, Direction::Forward, order);
        while let Some(neighbours) = neighbourhoods.next_vertex()? {
            let paths = self.counts.get(neighbours.vertex.index());
            self.edges += neighbours.edge_count() as u64;
            neighbours.for_each(|neighbour| {
                let index = neighbour.id.index();
                if self.levels[index] == NONE {
                    self.levels[index] = next;
                    found.push(neighbour.id);
                }
                if self.levels[index] == next {
                    self.counts.add(index, paths);
                }
            });
        }
        found.sort_unstable();
        self.reached.append(&mut found);
        self.starts.push(self.reached.len());
        Ok(())
    }

    /// Finds the dependencies of the vertices of a level from those of the next level.
    fn come_back(&mut self, level: usize, job: &RowsJob<'_>) -> Result<()> {
        let vertices = &self.reached[self.starts[level]..self.starts[level + 1]];
        let next = level as u32 + 1;
        let mut neighbourhoods =
            Neighbourhoods::along(job, Direction::Forward, Listed::new(vertices));
        while let Some(neighbours) = neighbourhoods.next_vertex()? {
            self.edges += neighbours.edge_count() as u64;
            let index = neighbours.vertex.index();
            let own = self.counts.get(index);
            let mut each_path = 0.0;
            neighbours.for_each(|neighbour| {
                let behind = neighbour.id.index();
                if self.levels[behind] == next {
                    each_path += self.counts.for_each_path(own, behind);
                }
            });
            self.counts.depend(index, each_path);
        }
        Ok(())
    }
}
