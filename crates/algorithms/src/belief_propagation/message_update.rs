//! What ways of updating the messages have in common.

use tegula_engine::traverse::{RowsJob, StateValue, UnitStates};
use tegula_engine::{Instructions, Result};

/// A way of updating the messages in an iteration, and the beliefs that follow from them.
pub trait MessageUpdate: Sync {
    /// What messages and beliefs are kept as.
    type Value: StateValue + Into<f64>;
    /// How many stores of messages there are: iterations take them in turn.
    const STORES: u64;

    /// Values that a store has for each end of an edge.
    fn entry_width(&self) -> usize;

    /// Log odds that a vertex has: those of its states but the first against its first.
    fn width(&self) -> usize;

    /// Bytes that a worker takes, where no vertex has more ends of edges.
    fn worker_size(&self, ends_max: u64) -> u64;

    /// Writes down the log odds of a vertex before any message.
    fn prior(&self, vertex: usize, log_odds: &mut [Self::Value]);

    /// Updates the messages at the vertices of a unit, and finds their beliefs from the incoming ones. In `next` are
    /// the beliefs that these vertices had before the present ones, which are replaced by the next ones. Returns the
    /// greatest change of a belief.
    ///
    /// # Errors
    /// Those of reading and writing.
    fn update(
        &self,
        iteration: &Iteration<'_, Self::Value>,
        messages: &mut UnitStates<'_, Self::Value>,
        next: &mut [Self::Value],
    ) -> Result<f64>;
}

/// What the workers share in an iteration.
pub struct Iteration<'r, V> {
    /// Where rows come from.
    pub job: &'r RowsJob<'r>,
    /// The number of the iteration, from 0.
    pub number: u64,
    /// The beliefs of all vertices as they were, as log odds.
    pub log_odds: &'r [V],
    /// What inner loops may use.
    pub instructions: Instructions,
}
