//! Katz centrality as a program.

use tegula_engine::{Activity, Aggregate, ApplyTo, Next, Program, Sum, VertexId};
use zerocopy::{FromBytes, Immutable, IntoBytes};

/// Katz centrality; the states are the values before they are scaled.
#[derive(Debug, Clone)]
pub struct Katz {
    alpha: f64,
    tolerance: f64,
    iterations_max: u64,
    /// The factor that gives the values the norm 1.
    scale: f32,
    change: f64,
}

/// Sums over all vertices.
#[derive(Debug, Clone, Copy, Default, FromBytes, IntoBytes, Immutable)]
#[repr(C)]
pub struct Sums {
    values: f64,
    squares: f64,
    change: f64,
}

impl Aggregate for Sums {
    fn merge(&mut self, next: Sums) {
        self.values += next.values;
        self.squares += next.squares;
        self.change += next.change;
    }

    fn to_bytes(&self) -> Vec<u8> {
        self.as_bytes().to_vec()
    }

    fn from_bytes(bytes: &[u8]) -> Option<Sums> {
        Sums::read_from_bytes(bytes).ok()
    }
}

impl Sums {
    fn add(&mut self, value: f32) {
        let value = f64::from(value);
        self.values += value;
        self.squares += value * value;
    }
}

impl Katz {
    /// Creates the program for an alpha of at least 0.
    pub fn new(alpha: f64, tolerance: f64, iterations_max: u64) -> Katz {
        Katz { alpha, tolerance, iterations_max, scale: 1.0, change: f64::INFINITY }
    }

    /// The factor that gives the states the norm 1.
    pub fn scale(&self) -> f32 {
        self.scale
    }

    /// The change of the values in the last iteration, as a fraction of their sum; infinite before
    /// the first.
    pub fn change(&self) -> f64 {
        self.change
    }
}

impl Program for Katz {
    type State = f32;
    type Reduction = Sum<f32>;
    type Weight = ();
    type Aggregate = Sums;

    const APPLY_TO: ApplyTo = ApplyTo::All;

    fn init(&self, _vertex: VertexId, _degree: u32, sums: &mut Sums) -> (f32, Activity) {
        sums.add(1.0);
        (1.0, Activity::Active)
    }

    fn begin_iteration(&mut self, iteration: u64, sums: &Sums) -> Next {
        self.scale = (1.0 / sums.squares.sqrt()) as f32;
        if iteration > 0 || sums.values == 0.0 {
            // Without values, nothing changes.
            self.change = sums.change / sums.values.max(f64::MIN_POSITIVE);
        }
        // A value that exceeds `f32` becomes infinite, and so does its square.
        let has_bound = sums.squares.is_finite() && (iteration == 0 || self.change.is_finite());
        if !has_bound {
            self.change = f64::INFINITY;
        }
        // The first change is infinite, and so may the tolerance be.
        let is_within = iteration > 0 && self.change <= self.tolerance;
        let is_done = iteration >= self.iterations_max || is_within;
        match is_done || !has_bound {
            true => Next::Stop,
            false => Next::Continue,
        }
    }

    #[inline(always)]
    fn signal(&self, _vertex: VertexId, value: &f32, _degree: u32) -> Option<f32> {
        Some(*value)
    }

    #[inline(always)]
    fn apply(
        &self,
        _vertex: VertexId,
        _degree: u32,
        value: &mut f32,
        reduced: f64,
        sums: &mut Sums,
    ) -> Activity {
        let before = f64::from(*value);
        *value = (1.0 + self.alpha * reduced) as f32;
        sums.add(*value);
        sums.change += (f64::from(*value) - before).abs();
        Activity::Active
    }
}
