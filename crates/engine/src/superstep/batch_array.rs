//! Arrays over all vertices that several workers write, each its own batch.

use std::ops::Range;

use tegula_store::graph::Graph;
use tegula_store::tiles::{Batch, WINDOW_SIZE};

/// An array, cut into ranges that have one owner at a time.
pub struct BatchArray<T> {
    values: Vec<T>,
    /// Where the values begin, to reach a range without touching the others.
    base: *mut T,
}

// SAFETY: a shared array gives ranges to callers that guarantee exclusive use of them. That sends
// values to other threads and nothing more.
unsafe impl<T: Send> Sync for BatchArray<T> {}
// SAFETY: `base` points into `values`, which move with it.
unsafe impl<T: Send> Send for BatchArray<T> {}

impl<T> BatchArray<T> {
    /// Wraps values whose number no longer changes.
    pub fn new(mut values: Vec<T>) -> BatchArray<T> {
        let base = values.as_mut_ptr();
        BatchArray { values, base }
    }

    /// Returns all values, for a caller with exclusive access.
    pub fn all(&mut self) -> &mut [T] {
        &mut self.values
    }

    /// Returns the values when no range is in use any more.
    pub fn into_inner(self) -> Vec<T> {
        self.values
    }

    /// Returns a range to its owner.
    ///
    /// # Safety
    /// Nobody else may use a value of the range, nor borrow the array exclusively, while this is in
    /// use.
    ///
    /// # Panics
    /// When the range does not lie within the array.
    #[expect(clippy::mut_from_ref, reason = "the caller vouches for the range")]
    pub unsafe fn range(&self, range: Range<usize>) -> &mut [T] {
        assert!(range.start <= range.end && range.end <= self.values.len());
        // SAFETY: it lies within the values, and the caller vouches for the rest.
        unsafe { std::slice::from_raw_parts_mut(self.base.add(range.start), range.len()) }
    }
}

/// Returns the targets of a batch as indices of its accumulators, which begin with its first
/// window.
pub fn accumulator_range(graph: &Graph, batch: &Batch) -> Range<usize> {
    let targets = batch.targets(graph.vertex_count());
    let first = targets.start as usize & (WINDOW_SIZE - 1);
    first..first + (targets.end - targets.start) as usize
}

/// The targets of a batch, and the words of their bits. A word belongs to one batch.
#[derive(Debug, Clone)]
pub struct BatchRanges {
    /// The range in arrays with a value per vertex.
    pub targets: Range<usize>,
    /// The range in arrays with a bit per vertex.
    pub words: Range<usize>,
}

impl BatchRanges {
    /// Returns the ranges of all batches; no two overlap.
    pub fn of(graph: &Graph) -> impl Iterator<Item = BatchRanges> + '_ {
        graph.batches().iter().map(|batch| {
            let targets = batch.targets(graph.vertex_count());
            let targets = targets.start as usize..targets.end as usize;
            let words = targets.start / 64..targets.end.div_ceil(64);
            BatchRanges { targets, words }
        })
    }
}
