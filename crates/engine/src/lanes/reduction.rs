//! How the messages of all lanes become one for each lane.

use std::marker::PhantomData;

use zerocopy::{FromBytes, Immutable, IntoBytes};

use crate::program::Reduction;

/// Reduces the messages of each lane as `R` does.
///
/// Its functions are plain loops over the lanes: a closure would not be compiled for the
/// instructions of the kernel.
#[derive(Debug)]
pub struct LaneReduction<R, const K: usize>(PhantomData<fn() -> R>);

/// The reduced messages to one target, for each lane. It is no plain array, because an accumulator
/// must be made [from](From) a message.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable)]
#[repr(transparent)]
pub struct LaneSums<A, const K: usize>(pub(super) [A; K]);

impl<A, const K: usize> LaneSums<A, K> {
    /// Returns the sum of each lane.
    #[inline(always)]
    pub fn lanes(&self) -> &[A; K] {
        &self.0
    }
}

impl<A: From<M> + Copy, M: Copy, const K: usize> From<[M; K]> for LaneSums<A, K> {
    #[inline(always)]
    fn from(messages: [M; K]) -> LaneSums<A, K> {
        let mut sums = [A::from(messages[0]); K];
        for lane in 1..K {
            sums[lane] = A::from(messages[lane]);
        }
        LaneSums(sums)
    }
}

impl<R: Reduction, const K: usize> Reduction for LaneReduction<R, K> {
    type Message = [R::Message; K];
    type Accumulator = LaneSums<R::Accumulator, K>;
    const IDENTITY: Self::Message = [R::IDENTITY; K];
    const IS_EXACT: bool = R::IS_EXACT;

    #[inline(always)]
    fn reduce(a: Self::Message, b: Self::Message) -> Self::Message {
        let mut reduced = a;
        for lane in 0..K {
            reduced[lane] = R::reduce(a[lane], b[lane]);
        }
        reduced
    }

    #[inline(always)]
    fn accumulate(a: Self::Accumulator, b: Self::Accumulator) -> Self::Accumulator {
        let mut sums = a;
        for lane in 0..K {
            sums.0[lane] = R::accumulate(a.0[lane], b.0[lane]);
        }
        sums
    }
}
