//! The work of one worker on one part, in the scan of one segment.

use tegula_store::graph::TileEntry;
use tegula_store::tiles::{Tile, WINDOW_LOG2};

use super::ExternalStep;
use crate::job::PartWork;
use crate::parts::Part;
use crate::process::kernel::KernelInput;
use crate::program::Program;
use crate::superstep::accumulators::Accumulators;

/// The work of one worker on one part. Its accumulators wait between segments.
pub struct ExternalPart<'s, 'g, P: Program> {
    step: &'s ExternalStep<'g, P>,
    part: Part,
    /// `None` until there is a tile to process.
    accumulators: Option<Accumulators<P>>,
}

impl<'s, 'g, P: Program> ExternalPart<'s, 'g, P> {
    /// Begins or resumes a part. The messages of the segment must be in memory.
    pub fn new(step: &'s ExternalStep<'g, P>, part: &Part) -> ExternalPart<'s, 'g, P> {
        ExternalPart { step, part: part.clone(), accumulators: None }
    }
}

impl<P: Program> PartWork for ExternalPart<'_, '_, P> {
    fn process(
        &mut self,
        tile: Tile<'_>,
        entry: &TileEntry,
        weights: &[f32],
    ) -> Result<(), String> {
        let ExternalPart { step, part, accumulators } = self;
        let accumulators = accumulators.get_or_insert_with(|| step.group.take_up(step.graph, part));
        let first = step.graph.batches()[part.batch].target_first as usize >> WINDOW_LOG2;
        let window = entry.window(step.graph.origin_of(entry)) - first;
        step.instructions.run(KernelInput {
            program: &step.execution.program,
            tile,
            weights,
            messages: step.exchange.messages(),
            accumulators: accumulators.window(window),
        })?;
        accumulators.spill_when_due(window);
        Ok(())
    }

    /// Returns false once it has the reductions of earlier segments, which it would lose.
    fn is_restartable(&self) -> bool {
        self.accumulators.is_none()
    }

    fn end(self: Box<Self>) {
        let ExternalPart { step, part, accumulators } = *self;
        let first_part = step.first_part_of(part.batch);
        step.group.put_down(step.graph, &part, first_part, step.position.segment, accumulators);
    }
}
