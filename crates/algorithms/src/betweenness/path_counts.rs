//! Numbers of shortest paths, and what depends on the vertices that they lead through.

/// Numbers of paths have a power of this as a factor, so that they may be any.
const BASE: f64 = f64::from_bits((1023 + 500) << 52);
/// A power of two, so nothing is rounded.
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

/// The paths from a source to each vertex, and what depends on it.
pub(super) struct PathCounts {
    /// How many shortest paths lead to it, without the power. Once what depends on it is known: that and 1, for each
    /// path, to be divided by the power.
    paths: Vec<f64>,
    /// The powers of [`BASE`] in these numbers.
    powers: Vec<u32>,
    /// The sum over all vertices of the part of the paths to them that leads through it.
    dependencies: Vec<f64>,
}

impl PathCounts {
    /// No paths.
    pub(super) fn new(vertex_count: usize) -> PathCounts {
        PathCounts {
            paths: vec![0.0; vertex_count],
            powers: vec![0; vertex_count],
            dependencies: vec![0.0; vertex_count],
        }
    }

    /// Bytes that they hold.
    pub(super) fn size(vertex_count: u64) -> u64 {
        (8 + 4 + 8) * vertex_count
    }

    /// How many paths lead to a vertex.
    #[inline]
    pub(super) fn get(&self, index: usize) -> PathCount {
        PathCount { factor: self.paths[index], power: self.powers[index] }
    }

    /// So many paths lead to a vertex, and no others.
    #[inline]
    pub(super) fn set(&mut self, index: usize, count: PathCount) {
        (self.paths[index], self.powers[index]) = (count.factor, count.power);
    }

    /// So many further paths lead to a vertex.
    #[inline]
    pub(super) fn add(&mut self, index: usize, count: PathCount) {
        self.set(index, self.get(index).plus(count));
    }

    /// What depends on a vertex with `own` paths for each of these, by way of one behind it for which that is known.
    #[inline]
    pub(super) fn for_each_path(&self, own: PathCount, behind: usize) -> f64 {
        // No fewer paths lead to it than to what is before it.
        self.paths[behind] * base_to_minus(self.powers[behind] - own.power)
    }

    /// So much depends on a vertex for each path that leads to it.
    #[inline]
    pub(super) fn depend(&mut self, index: usize, each_path: f64) {
        self.dependencies[index] = self.paths[index] * each_path;
        self.paths[index] = (1.0 + self.dependencies[index]) / self.paths[index];
    }

    /// What depends on a vertex, which then has no paths.
    #[inline]
    pub(super) fn take(&mut self, index: usize) -> f64 {
        (self.paths[index], self.powers[index]) = (0.0, 0);
        self.dependencies[index]
    }
}
