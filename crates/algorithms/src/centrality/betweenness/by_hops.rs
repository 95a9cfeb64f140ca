//! Dependencies of the vertices for one source, with path lengths in hops.
//!
//! A step between two levels needs the edges between them. In an undirected graph the vertices on
//! either side have these edges in their rows, so a step reads the side with fewer edges. While
//! levels are searched, the two sides are the last level and the vertices that are not reached
//! (Beamer, Asanović, Patterson, *Direction-Optimizing Breadth-First Search*, SC 2012); after that,
//! they are a level and the next one. Both ways add what belongs to a vertex in the order of its
//! neighbours' ids, so the bits are the same.

use std::ops::Range;

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
        let mut edges_of_last = self.edges_of(0, job);
        let mut edges_left = job.rows().rows().edge_count() as f64 - edges_of_last;
        while !self.level(self.last_level()).is_empty() {
            // Finding the vertices that are left takes a look at each vertex.
            let bottom_up = edges_left + self.levels.len() as f64;
            if bottom_up < edges_of_last && !job.is_directed() {
                self.search_bottom_up(job)?;
            } else {
                self.search_top_down(job)?;
            }
            self.starts.push(self.reached.len());
            edges_of_last = self.edges_of(self.last_level(), job);
            edges_left -= edges_of_last;
        }
        let mut edges_of_next = 0.0;
        for level in (0..self.last_level()).rev() {
            let edges = self.edges_of(level, job);
            if edges_of_next < edges && !job.is_directed() {
                self.push_dependencies(level, job)?;
            } else {
                self.pull_dependencies(level, job)?;
            }
            edges_of_next = edges;
        }
        Ok(true)
    }

    fn add_to(&mut self, sums: &mut [f64]) -> u64 {
        for vertex in &self.reached {
            let index = vertex.index();
            let depends = self.counts.take(index);
            // The source is an end of its paths, and so lies between no two others.
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
    /// The level that was found last, which is empty in the end.
    fn last_level(&self) -> usize {
        self.starts.len() - 2
    }

    /// The place of a level in `reached`.
    fn level(&self, level: usize) -> Range<usize> {
        self.starts[level]..self.starts[level + 1]
    }

    /// Returns about how many edges the vertices of a level have.
    fn edges_of(&self, level: usize, job: &RowsJob<'_>) -> f64 {
        let vertices = &self.reached[self.level(level)];
        vertices.iter().map(|&vertex| job.rows().degree(vertex)).sum()
    }

    /// Finds the next level by the edges of the last one, and counts the paths to its vertices.
    fn search_top_down(&mut self, job: &RowsJob<'_>) -> Result<()> {
        let next = self.last_level() as u32 + 1;
        let mut found = Vec::new();
        let order = Listed::new(&self.reached[self.level(self.last_level())]);
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
        // Ascending, so that the next step adds paths in the order in which the other way does.
        found.sort_unstable();
        self.reached.append(&mut found);
        Ok(())
    }

    /// Finds the next level by the edges of the vertices that are not reached, and counts the paths
    /// to its vertices.
    fn search_bottom_up(&mut self, job: &RowsJob<'_>) -> Result<()> {
        let next = self.last_level() as u32 + 1;
        let start = self.reached.len();
        let left = self.levels.iter().enumerate().filter(|&(_, &level)| level == NONE);
        // Reached or not, each vertex is listed once, so the list never grows beyond its first
        // room.
        self.reached.extend(left.map(|(index, _)| ShortId(index as u32)));
        let order = Listed::new(&self.reached[start..]);
        let mut neighbourhoods = Neighbourhoods::along(job, Direction::Forward, order);
        while let Some(neighbours) = neighbourhoods.next_vertex()? {
            self.edges += neighbours.edge_count() as u64;
            let index = neighbours.vertex.index();
            neighbours.for_each(|neighbour| {
                if self.levels[neighbour.id.index()] == next - 1 {
                    self.levels[index] = next;
                    self.counts.add(index, self.counts.get(neighbour.id.index()));
                }
            });
        }
        // The others are still not reached.
        let mut end = start;
        for at in start..self.reached.len() {
            let vertex = self.reached[at];
            self.reached[end] = vertex;
            end += usize::from(self.levels[vertex.index()] == next);
        }
        self.reached.truncate(end);
        Ok(())
    }

    /// Finds the dependencies of the vertices of a level by their edges.
    fn pull_dependencies(&mut self, level: usize, job: &RowsJob<'_>) -> Result<()> {
        let next = level as u32 + 1;
        let order = Listed::new(&self.reached[self.level(level)]);
        let mut neighbourhoods = Neighbourhoods::along(job, Direction::Forward, order);
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

    /// Finds the dependencies of the vertices of a level by the edges of the next level.
    fn push_dependencies(&mut self, level: usize, job: &RowsJob<'_>) -> Result<()> {
        let order = Listed::new(&self.reached[self.level(level + 1)]);
        let mut neighbourhoods = Neighbourhoods::along(job, Direction::Forward, order);
        while let Some(neighbours) = neighbourhoods.next_vertex()? {
            self.edges += neighbours.edge_count() as u64;
            let behind = neighbours.vertex.index();
            neighbours.for_each(|neighbour| {
                if self.levels[neighbour.id.index()] == level as u32 {
                    self.counts.add_behind(neighbour.id.index(), behind);
                }
            });
        }
        for vertex in &self.reached[self.level(level)] {
            self.counts.finish_dependency(vertex.index());
        }
        Ok(())
    }
}
