//! Label propagation that stops after some iterations.

use std::marker::PhantomData;

use serde::Serialize;
use tegula_engine::{
    Activity, Aggregate, Estimate, Graph, Min, Next, Number, Program, RunOptions, VertexId,
    VertexNumber,
};
use tegula_store::{Diagnostic, Hint};

use super::COMPONENTS;
use crate::algorithm::Found;
use crate::answer::{Facts, Figures, Groups, Values};
use crate::error::{Error, Result};
use crate::shared::id_order::has_order;
use crate::shared::original_ids::IdPositions;
use crate::shared::redirected::Redirection;

/// The smallest id within some hops of a vertex, as an id position. Unlike the name of a whole
/// component, such a label depends on what "smallest" means. Id positions give the same labels in
/// every vertex order.
pub(super) struct SmallestWithin<N> {
    id_positions: IdPositions,
    /// Bytes of the id positions.
    size: u64,
    iterations_max: u64,
    /// Whether the last iteration changed no label.
    has_converged: bool,
    number: PhantomData<fn() -> N>,
}

/// The number of labels that an iteration changed.
#[derive(Debug, Default)]
pub(super) struct Changes(u64);

impl Aggregate for Changes {
    fn merge(&mut self, next: Changes) {
        self.0 += next.0;
    }

    fn to_bytes(&self) -> Vec<u8> {
        self.0.to_le_bytes().to_vec()
    }

    fn from_bytes(bytes: &[u8]) -> Option<Changes> {
        Some(Changes(u64::from_le_bytes(bytes.try_into().ok()?)))
    }
}

impl<N: VertexNumber + Number> Program for SmallestWithin<N> {
    type State = N;
    type Reduction = Min<N>;
    type Weight = ();
    type Aggregate = Changes;

    const NAMES_VERTEX: bool = true;

    fn size(&self) -> u64 {
        self.size
    }

    fn init(&self, vertex: VertexId, _degree: u32, changes: &mut Changes) -> (N, Activity) {
        // So a run without iterations has not converged.
        changes.0 += 1;
        (N::of(self.id_positions.of_any(vertex).0), Activity::Active)
    }

    fn begin_iteration(&mut self, iteration: u64, changes: &Changes) -> Next {
        self.has_converged = changes.0 == 0;
        if iteration < self.iterations_max { Next::Continue } else { Next::Stop }
    }

    #[inline(always)]
    fn signal(&self, _: VertexId, label: &N, _degree: u32) -> Option<N> {
        Some(*label)
    }

    #[inline(always)]
    fn apply(
        &self,
        _: VertexId,
        _degree: u32,
        label: &mut N,
        smallest: N,
        changes: &mut Changes,
    ) -> Activity {
        let is_changed = smallest < *label;
        if is_changed {
            *label = smallest;
            changes.0 += 1;
        }
        Activity::when(is_changed)
    }

    #[inline(always)]
    fn is_news(&self, label: &N, message: N) -> bool {
        message < *label
    }
}

/// Whether every label is the smallest id of a whole component.
#[derive(Debug, Clone, Copy, Serialize)]
struct Reach {
    converged: bool,
}

impl Figures for Reach {
    fn facts(&self) -> Facts {
        Facts::default()
    }

    fn warning(&self) -> Option<Diagnostic> {
        (!self.converged).then(|| {
            let message = "the labels have not converged: each is the smallest id within as \
                many hops as there were iterations, and not that of a whole component";
            Diagnostic::from(message.to_owned()).hint(Hint::raise("max_iterations"))
        })
    }
}

/// Refuses a graph with an order of more vertices than there are [short](tegula_engine::ShortId)
/// ids: id positions lie in memory.
pub(super) fn check(graph: &Graph) -> Result<()> {
    if graph.has_short_ids() || !has_order(graph) {
        return Ok(());
    }
    Err(Error::TooManyVertices {
        what: "`max_iterations`",
        vertices: graph.vertex_count(),
        instead: Some(Box::new(Hint::leave_out("max_iterations"))),
        graph: graph.directory().to_owned(),
    })
}

/// Estimates the memory of [`run`].
pub(super) fn estimate(graph: &Graph, threads: usize) -> Result<Estimate> {
    let estimate = match graph.has_short_ids() {
        true => Redirection::MIRRORED.estimate::<SmallestWithin<u32>>(graph, threads),
        false => Redirection::MIRRORED.estimate::<SmallestWithin<u64>>(graph, threads),
    };
    let id_positions = IdPositions::size(graph)?;
    Ok(Estimate {
        vertex_bytes: estimate.vertex_bytes + id_positions,
        on_disk: estimate.on_disk.map(|arrays| arrays.with_bytes(id_positions)),
        ..estimate
    })
}

/// Finds the smallest id within `iterations_max` hops of each vertex.
pub(super) fn run<N: VertexNumber + Number>(
    graph: &Graph,
    iterations_max: u64,
    options: &RunOptions<'_>,
) -> Result<Found> {
    let program = SmallestWithin::<N> {
        id_positions: IdPositions::read(graph, &options.cancel)?,
        size: IdPositions::size(graph)?,
        iterations_max,
        has_converged: false,
        number: PhantomData,
    };
    let outcome = Redirection::MIRRORED.run(graph, program, options)?;
    let figures = Reach { converged: outcome.program.has_converged };
    drop(outcome.program);
    // Names need memory of their own, and no tiles.
    graph.reader().pool().trim();
    let names = Values::of(outcome.states, graph, &options.cancel)?;
    let groups = Groups { called: COMPONENTS, names, figures, memory: options.memory };
    Ok(Found::new(groups, outcome.statistics))
}
