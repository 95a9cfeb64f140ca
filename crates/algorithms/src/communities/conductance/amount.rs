//! Amounts of edges: counted, or weighed.

use std::fmt::Debug;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow_array::{ArrayRef, Float64Array, UInt64Array};
use arrow_schema::DataType;
use serde::Serialize;

use crate::answer;
use crate::shared::exact_sum::{ExactSum, SharedSum};

/// An amount of edges. A sum is the same in any order.
pub trait Amount: Debug + Default + Copy + Ord + Serialize + Send + Sync + 'static {
    /// An amount that several threads add to.
    type Shared: Default + Send + Sync;
    /// Whether it uses weights.
    const IS_WEIGHED: bool;
    /// The type of a column of amounts.
    const TYPE: DataType;

    /// Returns the amount of `edges` edges, if they are counted.
    fn counted(edges: u64) -> Option<Self>;

    /// Adds an edge with this weight, which is at least 0.
    fn add(&mut self, weight: f32);

    /// Returns the sum of both.
    #[must_use]
    fn plus(self, other: Self) -> Self;

    /// Returns what is left without `part`.
    #[must_use]
    fn minus(self, part: Self) -> Self;

    /// Adds an edge to a shared amount.
    fn add_edge_to(shared: &Self::Shared, weight: f32);

    /// Adds this to a shared amount.
    fn add_to(self, shared: &Self::Shared);

    /// Returns the shared amount, after all additions.
    fn of_shared(shared: Self::Shared) -> Self;

    /// Returns the nearest number.
    fn to_f64(self) -> f64;

    /// Formats it for people.
    fn words(self) -> String;

    /// Makes a column of amounts.
    fn column(amounts: impl Iterator<Item = Self>) -> ArrayRef;
}

/// The number of edges.
impl Amount for u64 {
    type Shared = AtomicU64;
    const IS_WEIGHED: bool = false;
    const TYPE: DataType = DataType::UInt64;

    fn counted(edges: u64) -> Option<u64> {
        Some(edges)
    }

    #[inline(always)]
    fn add(&mut self, _weight: f32) {
        *self += 1;
    }

    fn plus(self, other: u64) -> u64 {
        self + other
    }

    fn minus(self, part: u64) -> u64 {
        self.saturating_sub(part)
    }

    #[inline(always)]
    fn add_edge_to(shared: &AtomicU64, _weight: f32) {
        shared.fetch_add(1, Ordering::Relaxed);
    }

    #[inline(always)]
    fn add_to(self, shared: &AtomicU64) {
        if self > 0 {
            shared.fetch_add(self, Ordering::Relaxed);
        }
    }

    fn of_shared(shared: AtomicU64) -> u64 {
        shared.into_inner()
    }

    fn to_f64(self) -> f64 {
        self as f64
    }

    fn words(self) -> String {
        self.to_string()
    }

    fn column(amounts: impl Iterator<Item = u64>) -> ArrayRef {
        Arc::new(UInt64Array::from_iter_values(amounts))
    }
}

/// The sum of their weights.
impl Amount for ExactSum {
    type Shared = SharedSum;
    const IS_WEIGHED: bool = true;
    const TYPE: DataType = DataType::Float64;

    fn counted(_edges: u64) -> Option<ExactSum> {
        None
    }

    #[inline(always)]
    fn add(&mut self, weight: f32) {
        ExactSum::add(self, weight);
    }

    fn plus(self, other: ExactSum) -> ExactSum {
        ExactSum::plus(self, other)
    }

    fn minus(self, part: ExactSum) -> ExactSum {
        ExactSum::minus(self, part)
    }

    #[inline(always)]
    fn add_edge_to(shared: &SharedSum, weight: f32) {
        shared.add(weight);
    }

    fn add_to(self, shared: &SharedSum) {
        shared.add_sum(self);
    }

    fn of_shared(shared: SharedSum) -> ExactSum {
        shared.into_inner()
    }

    fn to_f64(self) -> f64 {
        ExactSum::to_f64(self)
    }

    fn words(self) -> String {
        answer::number(ExactSum::to_f64(self))
    }

    fn column(amounts: impl Iterator<Item = ExactSum>) -> ArrayRef {
        Arc::new(Float64Array::from_iter_values(amounts.map(ExactSum::to_f64)))
    }
}
