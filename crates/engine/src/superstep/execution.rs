//! The execution of a program from iteration to iteration, wherever its arrays lie.

use tegula_store::Result;
use tegula_store::graph::TileEntry;
use tegula_store::tiles::{Origin, WINDOW_LOG2, WINDOW_SIZE};

use super::active_set::ActiveSet;
use super::exchange::Exchange;
use crate::program::{Message, Next, Program};
use crate::ranks::Standing;

/// A program and its state between two iterations, apart from the arrays over all vertices.
pub struct Execution<P: Program> {
    pub program: P,
    /// The sums of the last iteration, or of the initial states.
    pub aggregate: P::Aggregate,
    /// Vertices of each window that are not settled.
    pub open_targets: Vec<u32>,
    /// What the other ranks have left to do.
    pub others: Standing,
    /// Whether a rank needs the final states of its own vertices only.
    pub is_own_enough: bool,
    iterations_begun: u64,
    is_over: bool,
}

impl<P: Program> Execution<P> {
    /// Makes the execution of a program over `vertex_count` vertices, none of which is open yet.
    pub fn new(program: P, vertex_count: usize, is_own_enough: bool) -> Execution<P> {
        Execution {
            program,
            aggregate: P::Aggregate::default(),
            open_targets: vec![0; vertex_count.div_ceil(WINDOW_SIZE)],
            others: Standing::default(),
            is_own_enough,
            iterations_begun: 0,
            is_over: false,
        }
    }

    /// Resumes after some iterations with the sums of the last one. No vertex is open until
    /// [`Execution::restore`] has counted it.
    pub fn resume(&mut self, iterations_begun: u64, aggregate: P::Aggregate) {
        (self.iterations_begun, self.aggregate) = (iterations_begun, aggregate);
        self.open_targets.fill(0);
    }

    /// Counts a vertex whose state was restored; returns whether it is settled.
    pub fn restore(&mut self, vertex: usize, state: &P::State) -> bool {
        let is_settled = self.program.is_settled(state);
        self.open_targets[vertex >> WINDOW_LOG2] += u32::from(!is_settled);
        is_settled
    }

    /// Returns the number of iterations begun, including those before a checkpoint.
    pub fn iterations_begun(&self) -> u64 {
        self.iterations_begun
    }

    /// Begins an iteration with `active_count` active vertices on this rank and returns its number,
    /// from 0; `None` if the program is over.
    pub fn begin_iteration(&mut self, active_count: u64) -> Option<u64> {
        if self.is_over {
            return None;
        }
        let iteration = self.iterations_begun;
        let next = self.program.begin_iteration(iteration, &self.aggregate);
        self.is_over =
            active_count + self.others.active == 0 || next == Next::Stop || self.are_all_settled();
        if self.is_over {
            return None;
        }
        self.iterations_begun += 1;
        Some(iteration)
    }

    /// Returns whether no message can change anything any more.
    fn are_all_settled(&self) -> bool {
        P::SETTLING.is_possible() && !self.has_open_targets() && !self.others.has_open_targets
    }

    fn has_open_targets(&self) -> bool {
        self.open_targets.iter().any(|&open| open > 0)
    }

    /// Ends an iteration, after the vertices for the next one are known: takes the total of the
    /// sums, which come by ascending batch, over all ranks. `active` gets the summary of all ranks.
    ///
    /// # Errors
    /// The failure of another rank.
    pub fn agree(
        &mut self,
        exchange: &Exchange<'_, Message<P>>,
        sums: impl Iterator<Item = P::Aggregate>,
        active: &mut ActiveSet,
    ) -> Result<()> {
        let own = Standing {
            active: active.count(),
            has_open_targets: self.has_open_targets(),
            has_failed: self.program.has_failed(),
        };
        (self.aggregate, self.others) = exchange.agree(sums, own, active)?;
        if self.others.has_failed {
            self.program.fail();
        }
        Ok(())
    }

    /// Meets the other ranks again after the states were restored, with the sums of that time.
    ///
    /// # Errors
    /// The failure of another rank.
    pub fn rejoin(
        &mut self,
        exchange: &Exchange<'_, Message<P>>,
        active: &mut ActiveSet,
    ) -> Result<()> {
        // The restored sums are of all ranks already, so none are added.
        let restored = std::mem::take(&mut self.aggregate);
        self.agree(exchange, std::iter::empty(), active)?;
        self.aggregate = restored;
        Ok(())
    }

    /// Returns whether a tile, whose ids count from `origin`, may hold an active source and a
    /// target that is not settled.
    #[inline]
    pub fn needs(&self, tile: &TileEntry, origin: Origin, active: &ActiveSet) -> bool {
        self.open_targets[tile.window(origin)] > 0 && active.may_meet(&tile.summary, origin)
    }

    /// Takes the numbers of targets that settled in this iteration, by window from `first_window`
    /// on, and leaves zeroes.
    pub fn settle(&mut self, first_window: usize, newly_settled: &mut [u32]) {
        let open = &mut self.open_targets[first_window..];
        for (open, settled) in open.iter_mut().zip(newly_settled) {
            *open -= std::mem::take(settled);
        }
    }
}
