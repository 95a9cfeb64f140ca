//! Numbers of shortest paths, and the dependencies of the vertices on them.

/// Base of the exponent of path counts, which may exceed `f64`.
const BASE: f64 = f64::from_bits((1023 + 500) << 52);
/// A power of two, so scaling rounds nothing.
const SCALE: f64 = 1.0 / BASE;

/// A number of paths: `factor * BASE^power`, with a factor from 1 to below [`BASE`].
#[derive(Debug, Clone, Copy)]
pub(super) struct PathCount {
    factor: f64,
    power: u32,
}

impl PathCount {
    /// A single path.
    pub(super) const ONE: PathCount = PathCount { factor: 1.0, power: 0 };

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

/// `BASE^-power`; 0 where a product with it would be negligible.
#[inline]
fn base_to_minus(power: u32) -> f64 {
    match power {
        0 => 1.0,
        1 => SCALE,
        2 => SCALE * SCALE,
        _ => 0.0,
    }
}

/// The number of paths from a source to each vertex, and the dependency of each vertex.
pub(super) struct PathCounts {
    /// The factor of the number of shortest paths to it. Once its dependency is known: (1 +
    /// dependency) / factor, still to be divided by the power of [`BASE`].
    paths: Vec<f64>,
    /// The powers of [`BASE`] of these counts.
    powers: Vec<u32>,
    /// The dependency: the fraction of the paths to a vertex that lead through it, summed over all
    /// vertices. Until [`PathCounts::depend`], what [`PathCounts::add_behind`] added.
    dependencies: Vec<f64>,
}

impl PathCounts {
    /// Starts with no paths.
    pub(super) fn new(vertex_count: usize) -> PathCounts {
        PathCounts {
            paths: vec![0.0; vertex_count],
            powers: vec![0; vertex_count],
            dependencies: vec![0.0; vertex_count],
        }
    }

    /// Bytes held.
    pub(super) fn size(vertex_count: u64) -> u64 {
        (8 + 4 + 8) * vertex_count
    }

    /// The number of paths to a vertex.
    #[inline]
    pub(super) fn get(&self, index: usize) -> PathCount {
        PathCount { factor: self.paths[index], power: self.powers[index] }
    }

    /// Replaces the paths to a vertex by `count` paths.
    #[inline]
    pub(super) fn set(&mut self, index: usize, count: PathCount) {
        (self.paths[index], self.powers[index]) = (count.factor, count.power);
    }

    /// Adds `count` paths to a vertex.
    #[inline]
    pub(super) fn add(&mut self, index: usize, count: PathCount) {
        self.set(index, self.get(index).plus(count));
    }

    /// What a vertex behind, whose dependency is known, adds for each of `own` paths.
    #[inline]
    pub(super) fn for_each_path(&self, own: PathCount, behind: usize) -> f64 {
        // At least as many paths lead to it as to the vertex before it.
        self.paths[behind] * base_to_minus(self.powers[behind] - own.power)
    }

    /// Adds to a vertex what a vertex behind it, whose dependency is known, adds for each path.
    #[inline]
    pub(super) fn add_behind(&mut self, index: usize, behind: usize) {
        self.dependencies[index] += self.for_each_path(self.get(index), behind);
    }

    /// Sets the dependency of a vertex after [`PathCounts::add_behind`] for all vertices behind it.
    #[inline]
    pub(super) fn finish_dependency(&mut self, index: usize) {
        self.depend(index, self.dependencies[index]);
    }

    /// Sets the dependency of a vertex to `each_path` for each path to it.
    #[inline]
    pub(super) fn depend(&mut self, index: usize, each_path: f64) {
        self.dependencies[index] = self.paths[index] * each_path;
        self.paths[index] = (1.0 + self.dependencies[index]) / self.paths[index];
    }

    /// Returns the dependency of a vertex, and removes it and its paths.
    #[inline]
    pub(super) fn take(&mut self, index: usize) -> f64 {
        (self.paths[index], self.powers[index]) = (0.0, 0);
        std::mem::take(&mut self.dependencies[index])
    }
}
