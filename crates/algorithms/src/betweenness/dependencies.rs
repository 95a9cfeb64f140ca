//! What depends on each vertex, for one source.

use tegula_engine::traverse::{Listed, Neighbourhoods, RowsJob};
use tegula_engine::{Result, ShortId};
use tegula_store::rows::Direction;

/// No level.
const NONE: u32 = u32::MAX;
/// Numbers of paths have a power of this as a factor, so that they may be any.
const BASE: f64 = f64::from_bits((1023 + 500) << 52);
/// A power of two, so nothing is rounded.
const SCALE: f64 = 1.0 / BASE;

/// A number of paths: `factor * BASE^power`, with a factor from 1 to below [`BASE`].
#[derive(Debug, Clone, Copy)]
struct PathCount {
    factor: f64,
    power: u32,
}

impl PathCount {
    #[inline]
    fn plus(self, other: PathCount) -> PathCount {
        let (more, less) = if self.power >= other.power { (self, other) } else { (other, self) };
        let factor = more.factor + less.factor * base_to_minus(more.power - less.power);
        match factor >= BASE {
            true => PathCount { factor: factor * SCALE, power: more.power + 1 },
            false => PathCount { factor, power: more.power },
        }
    }
}

/// `BASE^-power`; 0 where what is multiplied by it counts for nothing.
#[inline]
fn base_to_minus(power: u32) -> f64 {
    match power {
        0 => 1.0,
        1 => SCALE,
        2 => SCALE * SCALE,
        _ => 0.0,
    }
}

/// A search from a source, and what depends on the vertices that it reached.
pub(super) struct Dependencies {
    /// In which level each vertex was reached.
    levels: Vec<u32>,
    /// How many shortest paths lead to it, without the power. Once what depends on it is known: that and 1, for each
    /// path, to be divided by the power.
    paths: Vec<f64>,
    /// The powers of [`BASE`] in these numbers.
    powers: Vec<u32>,
    /// The sum over all vertices of the part of the paths to them that leads through it.
    dependencies: Vec<f64>,
    /// The vertices that were reached, by level, ascending within each.
    reached: Vec<ShortId>,
    /// Where each level begins among them, and the last ends.
    starts: Vec<usize>,
    edges: u64,
}

impl Dependencies {
    pub(super) fn new(vertex_count: u32) -> Dependencies {
        let count = vertex_count as usize;
        Dependencies {
            levels: vec![NONE; count],
            paths: vec![0.0; count],
            powers: vec![0; count],
            dependencies: vec![0.0; count],
            reached: Vec::with_capacity(count),
            starts: Vec::new(),
            edges: 0,
        }
    }

    /// Bytes that they hold. A path has as many levels as vertices.
    pub(super) fn size(vertex_count: u64) -> u64 {
        (4 + 8 + 4 + 8 + 4 + 8) * vertex_count
    }

    /// Searches from a source, and comes back.
    pub(super) fn find(&mut self, source: ShortId, job: &RowsJob<'_>) -> Result<()> {
        self.levels[source.index()] = 0;
        self.paths[source.index()] = 1.0;
        self.reached.push(source);
        self.starts.extend([0, 1]);
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
            (self.levels[index], self.paths[index], self.powers[index]) = (NONE, 0.0, 0);
        }
        self.reached.clear();
        self.starts.clear();
        std::mem::take(&mut self.edges)
    }

    /// Finds the vertices behind the last level, and the paths to them.
    fn search_level(&mut self, job: &RowsJob<'_>) -> Result<()> {
        let (start, end) = (self.starts[self.starts.len() - 2], self.reached.len());
        let next = self.starts.len() as u32 - 1;
        let mut found = self.reached.split_off(end);
        let order = Listed::new(&self.reached[start..end]);
        let mut neighbourhoods = Neighbourhoods::along(job, Direction::Forward, order);
        while let Some(neighbours) = neighbourhoods.next_vertex()? {
            let paths = count(&self.paths, &self.powers, neighbours.vertex.index());
            self.edges += neighbours.edge_count() as u64;
            neighbours.for_each(|neighbour| {
                let index = neighbour.id.index();
                if self.levels[index] == NONE {
                    self.levels[index] = next;
                    found.push(neighbour.id);
                }
                if self.levels[index] == next {
                    let sum = count(&self.paths, &self.powers, index).plus(paths);
                    (self.paths[index], self.powers[index]) = (sum.factor, sum.power);
                }
            });
        }
        found.sort_unstable();
        self.reached.append(&mut found);
        self.starts.push(self.reached.len());
        Ok(())
    }

    /// Finds what depends on the vertices of a level, where that is known of those behind them.
    fn come_back(&mut self, level: usize, job: &RowsJob<'_>) -> Result<()> {
        let vertices = &self.reached[self.starts[level]..self.starts[level + 1]];
        let next = level as u32 + 1;
        let mut neighbourhoods =
            Neighbourhoods::along(job, Direction::Forward, Listed::new(vertices));
        while let Some(neighbours) = neighbourhoods.next_vertex()? {
            self.edges += neighbours.edge_count() as u64;
            let index = neighbours.vertex.index();
            let (paths, power) = (self.paths[index], self.powers[index]);
            let mut each_path = 0.0;
            neighbours.for_each(|neighbour| {
                let index = neighbour.id.index();
                if self.levels[index] == next {
                    // No fewer paths lead to it than to what is before it.
                    each_path += self.paths[index] * base_to_minus(self.powers[index] - power);
                }
            });
            self.dependencies[index] = paths * each_path;
            self.paths[index] = (1.0 + self.dependencies[index]) / paths;
        }
        Ok(())
    }
}

fn count(paths: &[f64], powers: &[u32], index: usize) -> PathCount {
    PathCount { factor: paths[index], power: powers[index] }
}
