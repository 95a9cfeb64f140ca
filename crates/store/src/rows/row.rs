//! The row of one vertex, as it is shown to whoever follows its edges.

use std::ops::ControlFlow;

use tegula_machine::Result;

use super::extent::RowExtent;
use super::opened::Rows;
use super::references::Visited;
use super::unpacked::UnpackedRows;
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
        /// What was visited before, in a visit of several.
        visited: Option<Visited<'b>>,
    },
    Unpacked(&'b [ShortId]),
}

impl<'b> Row<'b> {
    /// The row that lies at an extent, whose bytes and weights these are.
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

    /// One that is a plain list.
    #[inline(always)]
    pub(super) fn unpacked(unpacked: &'b UnpackedRows, source: ShortId) -> Row<'b> {
        let (targets, weights) = unpacked.row(source);
        Row { source, neighbours: Neighbours::Unpacked(targets), weights }
    }

    /// With what was visited before.
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

    /// The weight of an edge, counted from 0 in the order of the visit; 1 where weights are not read.
    #[inline(always)]
    pub fn weight(&self, edge: usize) -> f32 {
        self.weights.get(edge).map_or(1.0, |&weight| f32::from_le_bytes(weight))
    }

    /// The weights of all edges, where they are read, and bytes behind those.
    pub(super) fn weights(&self) -> &[[u8; 4]] {
        self.weights
    }

    /// Shows all neighbours.
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

    /// Shows all neighbours with the weights of their edges, which are 1 where weights are not read; returns how many
    /// there are.
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

    /// Folds the neighbours until `step` breaks. What is folded stays in registers, where what a closure
    /// changes outside of itself goes through memory for each edge.
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
