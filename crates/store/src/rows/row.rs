//! The row of a vertex, as a visitor sees it.

use std::ops::ControlFlow;

use super::extent::RowExtent;
use super::opened::Rows;
use super::references::Visited;
use super::unpacked::UnpackedRows;
use crate::Result;
use crate::ids::ShortId;

/// The row of one vertex.
#[derive(Debug, Clone)]
pub struct Row<'b> {
    source: ShortId,
    neighbours: Neighbours<'b>,
    weights: &'b [[u8; 4]],
}

/// The neighbours of one vertex.
#[derive(Debug, Clone)]
enum Neighbours<'b> {
    Packed {
        rows: &'b Rows,
        extent: RowExtent,
        bytes: &'b [u8],
        /// The rows visited before, where a visit has several.
        visited: Option<Visited<'b>>,
    },
    Unpacked(&'b [ShortId]),
}

impl<'b> Row<'b> {
    /// The row at an extent, with its bytes and weights.
    #[inline(always)]
    pub(super) fn packed(
        rows: &'b Rows,
        extent: &RowExtent,
        bytes: &'b [u8],
        weights: &'b [[u8; 4]],
    ) -> Row<'b> {
        let extent = extent.clone();
        let source = extent.source;
        Row {
            source,
            neighbours: Neighbours::Packed { rows, extent, bytes, visited: None },
            weights,
        }
    }

    /// The row of a vertex as a plain list.
    #[inline(always)]
    pub(super) fn unpacked(unpacked: &'b UnpackedRows, source: ShortId) -> Row<'b> {
        let (targets, weights) = unpacked.row(source);
        Row { source, neighbours: Neighbours::Unpacked(targets), weights }
    }

    /// Lets the row copy from rows visited before.
    #[inline(always)]
    pub(super) fn after(mut self, before: Visited<'b>) -> Row<'b> {
        if let Neighbours::Packed { visited, .. } = &mut self.neighbours {
            *visited = Some(before);
        }
        self
    }

    /// The vertex.
    #[inline]
    pub fn source(&self) -> ShortId {
        self.source
    }

    /// The weight of an edge, or 1 if weights are not read. Edges count from 0 in visiting order.
    #[inline(always)]
    pub fn weight(&self, edge: usize) -> f32 {
        self.weights.get(edge).map_or(1.0, |&weight| f32::from_le_bytes(weight))
    }

    /// The weights of all edges, if they are read. The slice may be longer.
    pub(super) fn weights(&self) -> &[[u8; 4]] {
        self.weights
    }

    /// Visits all neighbours.
    ///
    /// # Errors
    /// [`Error::Corrupt`](tegula_machine::Error::Corrupt) where the bytes are no row.
    #[inline]
    pub fn for_each(&self, mut visit: impl FnMut(ShortId)) -> Result<()> {
        self.try_fold((), |(), target| {
            visit(target);
            ControlFlow::Continue(())
        })
    }

    /// Visits all neighbours with the weights of their edges, 1 if weights are not read. Returns
    /// the number of edges.
    ///
    /// # Errors
    /// As of [`Row::for_each`].
    #[inline]
    pub fn for_each_weighted(&self, mut visit: impl FnMut(ShortId, f32)) -> Result<usize> {
        self.try_fold(0, |edge, target| {
            visit(target, self.weight(edge));
            ControlFlow::Continue(edge + 1)
        })
    }

    /// Folds the neighbours until `step` breaks. The folded value stays in registers; variables
    /// that a closure captures would go through memory for each edge.
    ///
    /// # Errors
    /// As of [`Row::for_each`].
    #[inline(always)]
    pub fn try_fold<A>(
        &self,
        init: A,
        step: impl FnMut(A, ShortId) -> ControlFlow<A, A>,
    ) -> Result<A> {
        match &self.neighbours {
            Neighbours::Packed { rows, extent, bytes, visited } => {
                rows.try_fold(extent, bytes, *visited, init, step)
            }
            Neighbours::Unpacked(targets) => {
                let (mut folded, mut step) = (init, step);
                for &target in *targets {
                    match step(folded, target) {
                        ControlFlow::Continue(next) => folded = next,
                        ControlFlow::Break(last) => return Ok(last),
                    }
                }
                Ok(folded)
            }
        }
    }
}
