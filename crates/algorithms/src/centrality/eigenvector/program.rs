//! The power method as a program.

use tegula_engine::{Activity, Aggregate, ApplyTo, Next, Program, Sum, VertexId};
use zerocopy::{FromBytes, Immutable, IntoBytes};

/// The power method; the states are the values times one common factor.
#[derive(Debug, Clone)]
pub struct Eigenvector {
    tolerance: f64,
    iterations_max: u64,
    start: f32,
    /// The factor that gives the states the norm 1.
    scale: f32,
    change: f64,
}

/// Sums of products over all vertices.
#[derive(Debug, Clone, Copy, Default, FromBytes, IntoBytes, Immutable)]
#[repr(C)]
pub struct Products {
    /// Each state times itself.
    squares: f64,
    /// Each state times the value before.
    with_before: f64,
    /// Each value before times itself: 1 but for rounding.
    before: f64,
}

impl Aggregate for Products {
    fn merge(&mut self, next: Products) {
        self.squares += next.squares;
        self.with_before += next.with_before;
        self.before += next.before;
    }

    fn to_bytes(&self) -> Vec<u8> {
        self.as_bytes().to_vec()
    }

    fn from_bytes(bytes: &[u8]) -> Option<Products> {
        Products::read_from_bytes(bytes).ok()
    }
}

impl Eigenvector {
    /// Creates the program for a graph of `vertex_count` vertices.
    pub fn new(vertex_count: u64, tolerance: f64, iterations_max: u64) -> Eigenvector {
        let start = 1.0 / (vertex_count.max(1) as f64).sqrt() as f32;
        // Without values, nothing changes.
        let change = if vertex_count == 0 { 0.0 } else { f64::INFINITY };
        Eigenvector { tolerance, iterations_max, start, scale: 1.0, change }
    }

    /// The factor that gives the states the norm 1.
    pub fn scale(&self) -> f32 {
        self.scale
    }

    /// The change of the values in the last iteration (L2); infinite before the first.
    pub fn change(&self) -> f64 {
        self.change
    }
}

impl Program for Eigenvector {
    type State = f32;
    type Reduction = Sum<f32>;
    type Weight = ();
    type Aggregate = Products;

    const APPLY_TO: ApplyTo = ApplyTo::All;

    fn init(&self, _vertex: VertexId, _degree: u32, _: &mut Products) -> (f32, Activity) {
        (self.start, Activity::Active)
    }

    fn begin_iteration(&mut self, iteration: u64, products: &Products) -> Next {
        if iteration > 0 {
            let norm = products.squares.sqrt();
            self.scale = (1.0 / norm) as f32;
            // The square of the difference, multiplied out.
            let square = 1.0 - 2.0 * products.with_before / norm + products.before;
            // Rounding may bring the square below 0.
            self.change = square.max(0.0).sqrt();
        }
        // The first change is infinite, and so may the tolerance be.
        let is_within = iteration > 0 && self.change <= self.tolerance;
        match iteration >= self.iterations_max || is_within {
            true => Next::Stop,
            false => Next::Continue,
        }
    }

    #[inline(always)]
    fn signal(&self, _vertex: VertexId, state: &f32, _degree: u32) -> Option<f32> {
        // The norm is known only after the last state, so the next message scales the state.
        Some(state * self.scale)
    }

    #[inline(always)]
    fn apply(
        &self,
        _vertex: VertexId,
        _degree: u32,
        state: &mut f32,
        reduced: f64,
        products: &mut Products,
    ) -> Activity {
        let before = f64::from(*state * self.scale);
        // The 1 on the diagonal adds the value itself.
        *state = (before + reduced) as f32;
        let next = f64::from(*state);
        products.squares += next * next;
        products.with_before += next * before;
        products.before += before * before;
        Activity::Active
    }
}
