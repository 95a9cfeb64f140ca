//! The interface of all ways of updating messages.

use tegula_engine::traverse::{RowsJob, StateValue, UnitStates};
use tegula_engine::{Instructions, Result};

/// A way of updating the messages in an iteration, and the beliefs that follow from them.
pub trait MessageUpdate: Sync {
    /// The type of messages and beliefs.
    type Value: StateValue + Into<f64>;
    /// The number of stores of messages, which iterations use in turn.
    const STORES: u64;

    /// Returns the number of values that a store has for each end of an edge.
    fn entry_width(&self) -> usize;

    /// Returns the number of log odds of a vertex: one for each of its states except the first,
    /// against the first.
    fn width(&self) -> usize;

    /// Returns the bytes that a worker takes if a vertex has at most `ends_max` ends of edges.
    fn worker_size(&self, ends_max: u64) -> u64;

    /// Writes the log odds of a vertex before any message.
    fn prior(&self, vertex: usize, log_odds: &mut [Self::Value]);

    /// Updates the messages at the vertices of a unit, and computes their beliefs from the incoming
    /// ones. At first, `next` has the beliefs of these vertices before the present ones; they are
    /// replaced by the next ones. Returns the greatest change of a belief.
    fn update(
        &self,
        iteration: &Iteration<'_, Self::Value>,
        messages: &mut UnitStates<'_, Self::Value>,
        next: &mut [Self::Value],
    ) -> Result<f64>;
}

/// What the workers share in an iteration.
pub struct Iteration<'r, V> {
    /// The source of rows.
    pub job: &'r RowsJob<'r>,
    /// The number of the iteration, from 0.
    pub number: u64,
    /// The present beliefs of all vertices, as log odds.
    pub log_odds: &'r [V],
    /// The instructions that inner loops may use.
    pub instructions: Instructions,
}
