//! The edges at each vertex, in any direction.

use tegula_engine::traverse::{RowsJob, RunAhead, Traversal};
use tegula_engine::{Result, Row, ShortId};

/// Shows the edges at the vertices of an order, one vertex after the other. In a directed graph,
/// these are the edges of both directions.
pub(super) struct Arcs<'r, O> {
    forward: Traversal<'r, O>,
    reverse: Option<Traversal<'r, O>>,
    /// Factor for the weight of a loop, as both of its ends are at the vertex. In a directed graph,
    /// each direction shows the loop once.
    loop_factor: f64,
}

impl<'r, O: RunAhead + Clone> Arcs<'r, O> {
    pub(super) fn new(job: &RowsJob<'r>, order: O) -> Arcs<'r, O> {
        let reverse = job.reverse_traversal(order.clone());
        let loop_factor = if reverse.is_some() { 1.0 } else { 2.0 };
        Arcs { forward: job.traversal(order), reverse, loop_factor }
    }

    /// Shows the other end and the weight of each edge at the next vertex. Returns this vertex, or
    /// `None` after the last one. Without weights, each weight is 1.
    pub(super) fn next_vertex(
        &mut self,
        mut visit: impl FnMut(ShortId, f64),
    ) -> Result<Option<ShortId>> {
        let Some((row, _)) = self.forward.next_row()? else { return Ok(None) };
        let vertex = row.source();
        show(&row, self.loop_factor, &mut visit)?;
        if let Some(reverse) = &mut self.reverse
            && let Some((row, _)) = reverse.next_row()?
        {
            show(&row, self.loop_factor, &mut visit)?;
        }
        Ok(Some(vertex))
    }
}

fn show(row: &Row<'_>, loop_factor: f64, visit: &mut impl FnMut(ShortId, f64)) -> Result<()> {
    let source = row.source();
    row.for_each_weighted(|target, weight| {
        let weight = f64::from(weight);
        visit(target, if target == source { loop_factor * weight } else { weight });
    })?;
    Ok(())
}
