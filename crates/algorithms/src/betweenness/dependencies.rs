//! What depends on each vertex, for one source.

use tegula_engine::traverse::{Listed, Neighbourhoods, RowsJob};
use tegula_engine::{Result, ShortId};
use tegula_store::rows::Direction;

/// No level.
const NONE: u32 = u32::MAX;
/// Where a level has a vertex with so many paths, all of the level are scaled down: there is room for the sums of the
/// next.
const PATHS_MAX: f64 = f64::from_bits((1023 + 500) << 52);
/// By what they are scaled; a power of two, so nothing is rounded.
const SCALE: f64 = 1.0 / PATHS_MAX;
/// Not less than this is left: such a vertex counts for nothing beside the others of its level.
const PATHS_MIN: f64 = f64::from_bits((1023 - 900) << 52);

/// A search from a source, and what depends on the vertices that it reached.
pub(super) struct Dependencies {
    /// In which level each vertex was reached.
    levels: Vec<u32>,
    /// How many shortest paths lead to it, scaled with its level. Once what depends on it is known: that and 1, for
    /// each path.
    paths: Vec<f64>,
    /// The sum over all vertices of the part of the paths to them that leads through it.
    dependencies: Vec<f64>,
    /// The vertices that were reached, by level, ascending within each.
    reached: Vec<ShortId>,
    /// Where each level begins among them, and the last ends.
    starts: Vec<usize>,
    /// By what the paths of each level were scaled, beyond what those of the level before were.
    scales: Vec<f64>,
    edges: u64,
}

impl Dependencies {
    pub(super) fn new(vertex_count: u32) -> Dependencies {
        let count = vertex_count as usize;
        Dependencies {
            levels: vec![NONE; count],
            paths: vec![0.0; count],
            dependencies: vec![0.0; count],
            reached: Vec::with_capacity(count),
            starts: Vec::new(),
            scales: Vec::new(),
            edges: 0,
        }
    }

    /// Bytes that they hold. A path has as many levels as vertices.
    pub(super) fn size(vertex_count: u64) -> u64 {
        (4 + 8 + 8 + 4 + 8 + 8) * vertex_count
    }

    /// Searches from a source, and comes back.
    pub(super) fn find(&mut self, source: ShortId, job: &RowsJob<'_>) -> Result<()> {
        self.levels[source.index()] = 0;
        self.paths[source.index()] = 1.0;
        self.reached.push(source);
        self.starts.extend([0, 1]);
        self.scales.push(1.0);
        while self.starts[self.starts.len() - 2] < self.reached.len() {
            self.search_level(job)?;
        }
        for level in (0..self.starts.len() - 2).rev() {
            self.come_back(level, job)?;
        }
        Ok(())
    }

    /// Adds what depends on each vertex, but for the source, and is ready for another one. Returns the edges that were
    /// followed.
    pub(super) fn add_to(&mut self, sums: &mut [f64]) -> u64 {
        for vertex in &self.reached {
            let index = vertex.index();
            if self.levels[index] > 0 {
                sums[index] += self.dependencies[index];
            }
            (self.levels[index], self.paths[index]) = (NONE, 0.0);
        }
        self.reached.clear();
        self.starts.clear();
        self.scales.clear();
        std::mem::take(&mut self.edges)
    }

    /// Finds the vertices behind the last level, and the paths to them.
    fn search_level(&mut self, job: &RowsJob<'_>) -> Result<()> {
        let (start, end) = (self.starts[self.starts.len() - 2], self.reached.len());
        let next = self.starts.len() as u32 - 1;
        let mut found = self.reached.split_off(end);
        let order = Listed::new(&self.reached[start..end]);
        let mut neighbourhoods = Neighbourhoods::along(job, Direction::Forward, order);
        let mut paths_max = 0.0f64;
        while let Some(neighbours) = neighbourhoods.next_vertex()? {
            let paths = self.paths[neighbours.vertex.index()];
            self.edges += neighbours.edge_count() as u64;
            neighbours.for_each(|neighbour| {
                let index = neighbour.id.index();
                if self.levels[index] == NONE {
                    self.levels[index] = next;
                    found.push(neighbour.id);
                }
                if self.levels[index] == next {
                    self.paths[index] += paths;
                    paths_max = paths_max.max(self.paths[index]);
                }
            });
        }
        let scale = if paths_max >= PATHS_MAX { SCALE } else { 1.0 };
        if scale < 1.0 {
            for vertex in &found {
                let paths = &mut self.paths[vertex.index()];
                *paths = (*paths * scale).max(PATHS_MIN);
            }
        }
        self.scales.push(scale);
        found.sort_unstable();
        self.reached.append(&mut found);
        self.starts.push(self.reached.len());
        Ok(())
    }

    /// Finds what depends on the vertices of a level, where that is known of those behind them.
    fn come_back(&mut self, level: usize, job: &RowsJob<'_>) -> Result<()> {
        let vertices = &self.reached[self.starts[level]..self.starts[level + 1]];
        let (next, scale) = (level as u32 + 1, self.scales[level + 1]);
        let mut neighbourhoods =
            Neighbourhoods::along(job, Direction::Forward, Listed::new(vertices));
        while let Some(neighbours) = neighbourhoods.next_vertex()? {
            self.edges += neighbours.edge_count() as u64;
            let mut each_path = 0.0;
            neighbours.for_each(|neighbour| {
                let index = neighbour.id.index();
                if self.levels[index] == next {
                    each_path += self.paths[index];
                }
            });
            let index = neighbours.vertex.index();
            let paths = self.paths[index];
            self.dependencies[index] = paths * scale * each_path;
            self.paths[index] = (1.0 + self.dependencies[index]) / paths;
        }
        Ok(())
    }
}
