//! Checkpoints of a run in memory: copies of its states, written while the next iteration runs.

use std::sync::Arc;
use std::thread::JoinHandle;

use tegula_machine::Error as MachineError;
use tegula_machine::disk::{Pool, WriteBehind};
use tegula_machine::threads::start;
use tegula_store::Result;

use super::context::JobContext;
use crate::checkpoint::{Keeper, Resumed};
use crate::memory::pool_sizes;
use crate::options::RunOptions;
use crate::program::Program;
use crate::ranks::Ranks;
use crate::states::cut::Cut;
use crate::states::{StatesOnDisk, state_blocks};
use crate::superstep::Superstep;

/// Keeps checkpoints of a run in memory: copies of its states.
pub struct CheckpointWriter<'r, P: Program> {
    keeper: Keeper<'r>,
    states: Arc<StatesOnDisk<P::State>>,
    /// The checkpoint on its way to disk.
    keeping: Option<JoinHandle<Result<()>>>,
}

impl<'r, P: Program> CheckpointWriter<'r, P> {
    /// Opens the folders of the options. A run that resumes restores the states of its checkpoint.
    pub fn open(
        options: &RunOptions<'r>,
        step: &mut Superstep<'r, P>,
        threads: usize,
    ) -> Result<Option<CheckpointWriter<'r, P>>> {
        let Some(checkpoints) = &options.checkpoints else { return Ok(None) };
        let graph = step.graph;
        let state_size = size_of::<P::State>();
        let [read, write] = pool_sizes(graph, state_size, options.budget(), threads);
        let reader = graph.reader().with_pool(Pool::new(read));
        let writer = WriteBehind::start(&reader, write, graph.caching());
        let blocks = state_blocks(&Cut::of(graph), state_size);
        let states_in = |store| StatesOnDisk::<P::State>::new(store, Cut::of(graph));
        let ranks = step.exchange.ranks();
        let disk = (&reader, &writer);
        let resumed = checkpoints.resume::<P>(graph, blocks, disk, &|_| false, ranks)?;
        let mut in_place = None;
        if let Some((store, Resumed { iteration, aggregate })) = resumed {
            let states = states_in(store);
            let own = step.exchange.own_vertices();
            step.restore(iteration, aggregate, |all, active| states.read_all(&own, all, active))?;
            in_place = Some(states).filter(|_| checkpoints.resumes_in_place());
        }
        let first = step.execution.iterations_begun();
        let Some(keeper) = Keeper::of(options.checkpoints, graph, first) else { return Ok(None) };
        let states = match in_place {
            Some(states) => Some(states),
            None => checkpoints.create(blocks, (&reader, &writer), &|_| false)?.map(states_in),
        };
        Ok(states.map(|states| CheckpointWriter {
            keeper,
            states: Arc::new(states),
            keeping: None,
        }))
    }

    /// Keeps a checkpoint if one is due before an iteration that has begun and has done nothing
    /// yet.
    ///
    /// # Errors
    /// Failed writes of this checkpoint and of the one before; the failure of another rank.
    pub fn keep_if_due(
        &mut self,
        step: &mut Superstep<'_, P>,
        iteration: u64,
        context: &JobContext<'_>,
    ) -> Result<()> {
        if !self.keeper.is_due(iteration) {
            return Ok(());
        }
        // The other ranks wait until this one has the checkpoint before.
        self.finish()?;
        step.exchange.ranks().map_or(Ok(()), Ranks::await_checkpoints)?;
        // A resumed run has no buckets yet. So vertices whose turn has not come count as active.
        let active = step.all_active();
        let own = step.exchange.own_vertices();
        let all: &[P::State] = step.arrays.states.all();
        let cut = self.states.cut();
        let blocks = cut.blocks(&own);
        context.for_each(blocks.len(), &|index| {
            let block = blocks.start + index;
            let vertices = cut.vertices(block);
            let words = vertices.start / 64..vertices.end.div_ceil(64);
            self.states.write(block, &all[vertices], &active.words()[words])
        })?;
        let header = self.keeper.header(iteration, &step.execution.aggregate)?;
        // Boxed, so that the start of the thread is compiled once and not for each program.
        let keep: Box<dyn FnOnce() -> Result<()> + Send> = {
            let (states, header) = (Arc::clone(&self.states), header.clone());
            Box::new(move || Ok(states.store().keep_version(&header)?))
        };
        match start("tegula-checkpoint", keep) {
            Ok(keeping) => self.keeping = Some(keeping),
            // Without a thread, the next iteration waits for the writes.
            Err(_) => self.states.store().keep_version(&header)?,
        }
        Ok(())
    }

    /// Waits until the last checkpoint is safely on disk.
    pub fn finish(&mut self) -> Result<()> {
        let Some(keeping) = self.keeping.take() else { return Ok(()) };
        let detail = "the thread that wrote a checkpoint panicked";
        let lost = || MachineError::WorkerFailed { detail: detail.to_owned() };
        keeping.join().map_err(|_| lost())?
    }
}

impl<P: Program> Drop for CheckpointWriter<'_, P> {
    fn drop(&mut self) {
        // The run has ended with another result; nobody uses this one.
        let _ = self.finish();
    }
}
