//! What ways of finding messages have in common.

use tegula_engine::traverse::{RowsJob, StateValue, UnitStates};
use tegula_engine::{Instructions, Result};

/// A way of finding the messages of an iteration, and what each vertex makes of those that it is told.
pub trait Telling: Sync {
    /// What messages and beliefs are kept as.
    type Value: StateValue + Into<f64>;
    /// How many stores of states there are: iterations take them in turn.
    const STORES: u64;

    /// Values that a store has for each end of an edge.
    fn entry_width(&self) -> usize;

    /// Log odds that a vertex has: those of its states but the first against its first.
    fn width(&self) -> usize;

    /// Bytes that a worker takes, where no vertex has more ends of edges.
    fn worker_size(&self, ends_max: u64) -> u64;

    /// Writes down what is known of a vertex by itself.
    fn prior(&self, vertex: usize, log_odds: &mut [Self::Value]);

    /// Finds the next messages at the vertices of a unit and adds up those that these are told. In `next` are the log
    /// odds that these vertices had before the present ones, which are replaced by the next ones. Returns the greatest
    /// change of a belief.
    ///
    /// # Errors
    /// Those of reading and writing.
    fn tell(
        &self,
        round: &Round<'_, Self::Value>,
        states: &mut UnitStates<'_, Self::Value>,
        next: &mut [Self::Value],
    ) -> Result<f64>;
}

/// What the workers share in an iteration.
pub struct Round<'r, V> {
    /// Where rows come from.
    pub job: &'r RowsJob<'r>,
    /// The number of the iteration, from 0.
    pub number: u64,
    /// The log odds of each vertex, as they were.
    pub log_odds: &'r [V],
    /// What inner loops may use.
    pub instructions: Instructions,
}
