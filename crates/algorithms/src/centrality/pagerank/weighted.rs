//! PageRank by the weights of edges, as a program.

use tegula_engine::{Activity, ApplyTo, Next, Program, Sum, VertexId};
use zerocopy::{FromBytes, Immutable, IntoBytes};

use super::program::{PageRank, Sums, dangling};

/// The program. Each vertex starts with its [`OutWeight`].
#[derive(Debug, Clone)]
pub struct WeightedPageRank {
    walk: PageRank,
    /// Bytes of memory for reading the out-weights, if they lie on disk.
    reading: u64,
}

/// The state of a vertex.
#[derive(Debug, Clone, Copy, PartialEq, FromBytes, IntoBytes, Immutable)]
#[repr(C)]
pub struct WeightedRank {
    /// Its rank.
    pub rank: f32,
    /// The sum of the weights of its edges.
    pub out_weight: OutWeight,
}

/// The sum of the weights of a vertex's out-edges, to 24 binary digits. It may be too great or too
/// small for an `f32`. So it has the digits of an `f32`, one more bit for the exponent, and no
/// sign.
#[derive(Debug, Clone, Copy, PartialEq, FromBytes, IntoBytes, Immutable)]
#[repr(transparent)]
pub struct OutWeight(u32);

/// Binary digits of an `f64` that an [`OutWeight`] lacks.
const DIGITS_LESS: u32 = f64::MANTISSA_DIGITS - f32::MANTISSA_DIGITS;

/// What is subtracted from the exponent: 2^-150 becomes 0, and the least weight above 0 is 2^-149.
const BIAS: u64 = (1023 - 150) << (f32::MANTISSA_DIGITS - 1);

impl OutWeight {
    /// Returns the nearest out-weight to a sum of at least 0.
    pub(super) fn of(sum: f64) -> OutWeight {
        if sum == 0.0 {
            return OutWeight(0);
        }
        // A carry may reach the exponent, which gives the next power of two.
        let nearest = (sum.to_bits() + (1 << (DIGITS_LESS - 1))) >> DIGITS_LESS;
        OutWeight((nearest - BIAS) as u32)
    }

    /// Returns the sum, or a number above 0 if the sum is 0.
    #[inline(always)]
    fn divisor(self) -> f64 {
        f64::from_bits((u64::from(self.0) + BIAS) << DIGITS_LESS)
    }
}

impl WeightedPageRank {
    /// Makes a walk that differs from plain PageRank only in the choice of an edge.
    pub(super) fn new(walk: PageRank, reading: u64) -> WeightedPageRank {
        WeightedPageRank { walk, reading }
    }

    /// Returns the walk, as the iterations have left it.
    pub(super) fn into_walk(self) -> PageRank {
        self.walk
    }
}

impl Program for WeightedPageRank {
    type State = WeightedRank;
    /// The rank divided by the sum. Only its product with a weight is within the range of an `f32`.
    type Reduction = Sum<f64>;
    type Weight = f32;
    type Aggregate = Sums;

    const APPLY_TO: ApplyTo = ApplyTo::All;

    fn size(&self) -> u64 {
        self.walk.size() + self.reading
    }

    /// Starts a vertex of which nothing is known: a run that resumes takes all states from its
    /// checkpoint.
    fn init(&self, vertex: VertexId, degree: u32, sums: &mut Sums) -> (WeightedRank, Activity) {
        let nothing = WeightedRank { rank: 0.0, out_weight: OutWeight(0) };
        self.init_from(nothing, vertex, degree, sums)
    }

    fn init_from(
        &self,
        known: WeightedRank,
        _vertex: VertexId,
        _degree: u32,
        sums: &mut Sums,
    ) -> (WeightedRank, Activity) {
        let rank = self.walk.first_rank();
        // Only a sum of 0 has the number 0, so the number serves as a degree.
        sums.dangling += dangling(known.out_weight.0, f64::from(rank));
        (WeightedRank { rank, ..known }, Activity::Active)
    }

    fn begin_iteration(&mut self, iteration: u64, sums: &Sums) -> Next {
        self.walk.begin_iteration(iteration, sums)
    }

    #[inline(always)]
    fn signal(&self, _vertex: VertexId, state: &WeightedRank, _degree: u32) -> Option<f64> {
        // If all edges weigh 0, so do the products of this with their weights.
        Some(f64::from(state.rank) / state.out_weight.divisor())
    }

    #[inline(always)]
    fn along(&self, message: f64, weight: f32) -> f64 {
        message * f64::from(weight)
    }

    #[inline(always)]
    fn apply(
        &self,
        vertex: VertexId,
        _degree: u32,
        state: &mut WeightedRank,
        reduced: f64,
        sums: &mut Sums,
    ) -> Activity {
        self.walk.step(vertex, &mut state.rank, reduced, sums);
        sums.dangling += dangling(state.out_weight.0, f64::from(state.rank));
        Activity::Active
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn an_out_weight_is_as_precise_as_an_f32(exponent in -149..=170, digits in 1.0..2.0f64) {
            let sum = digits * 2f64.powi(exponent);
            let error = (OutWeight::of(sum).divisor() / sum - 1.0).abs();
            prop_assert!(error <= 2f64.powi(-24), "{}", error);
            prop_assert!(OutWeight::of(sum).0 > 0);
        }
    }

    #[test]
    fn an_out_weight_of_0_divides_without_infinity() {
        assert_eq!(OutWeight::of(0.0), OutWeight(0));
        assert_eq!(1.0 / OutWeight(0).divisor() * 0.0, 0.0);
        assert_eq!(
            OutWeight::of(f64::from(f32::from_bits(1))).divisor(),
            f64::from(f32::from_bits(1))
        );
    }
}
