//! The edges at each vertex, whatever their direction.

use tegula_engine::traverse::{RowsJob, RunAhead, Traversal};
use tegula_engine::{Result, Row, ShortId};

/// Shows the edges at the vertices of an order, one vertex after the other: in a directed graph those in both
/// directions.
pub(super) struct Arcs<'r, O> {
    forward: Traversal<'r, O>,
    reverse: Option<Traversal<'r, O>>,
    /// By what the weight of a loop is multiplied: both of its ends are at the vertex. In a directed graph it is seen
    /// from either.
    loop_factor: f64,
}

impl<'r, O: RunAhead + Clone> Arcs<'r, O> {
    pub(super) fn new(job: &RowsJob<'r>, order: O) -> Arcs<'r, O> {
        let reverse = job.reverse_traversal(order.clone());
        let loop_factor = if reverse.is_some() { 1.0 } else { 2.0 };
        Arcs { forward: job.traversal(order), reverse, loop_factor }
    }

    /// Shows the other end and the weight of each edge at the next vertex, which is returned; `None` behind the last.
    /// Without weights each is 1.
    ///
    /// # Errors
    /// Those of reading; cancellation.
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
