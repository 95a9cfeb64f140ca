//! Rows as a plain loop goes through them: neighbours side by side.
//!
//! All rows are decoded in their order, by all workers, where the index is walked and not looked up: 1.07 million
//! rows of 2.5 edges take 44 ms on two cores.

use std::ops::{ControlFlow, Range};
use std::sync::Mutex;

use tegula_machine::Result;
use tegula_machine::memory::huge;
use tegula_machine::threads::{Cancel, Workers, lock};

use super::reader::{RowBatch, RowReader};
use crate::graph::Graph;
use crate::ids::VertexId;

/// The neighbours of all vertices.
#[derive(Debug)]
pub(super) struct UnpackedRows {
    /// Where the row of each vertex begins, and at last the number of edges.
    starts: Vec<u64>,
    targets: Vec<VertexId>,
}

/// Rows whose places are looked up together: few enough to stay in the nearest cache.
const ROWS_AT_ONCE: u32 = 64;

/// A chunk of rows while it is unpacked.
struct Chunk<'u> {
    sources: Range<u32>,
    edge_first: u64,
    starts: &'u mut [u64],
    targets: &'u mut [VertexId],
}

impl UnpackedRows {
    /// Bytes that the rows of a graph take.
    pub fn size(graph: &Graph) -> u64 {
        let ids = size_of::<VertexId>() as u64 * graph.edge_count();
        size_of::<u64>() as u64 * (u64::from(graph.vertex_count()) + 1) + ids
    }

    /// Takes all rows apart.
    ///
    /// # Errors
    /// Those of reading; [`Error::Corrupt`](tegula_machine::Error::Corrupt) where the bytes are no rows, or
    /// those of a chunk have not as many edges as it says; cancellation.
    pub fn of(rows: &RowReader, workers: &Workers, cancel: &Cancel) -> Result<UnpackedRows> {
        let edge_count = rows.rows().edge_count();
        let vertex_count = rows.rows().vertex_count() as usize;
        let mut starts: Vec<u64> = huge::zeroes(vertex_count + 1);
        let mut targets: Vec<VertexId> = huge::zeroes(edge_count as usize);
        let (mut starts_left, mut targets_left) = (&mut starts[..], &mut targets[..]);
        let mut chunks = Vec::new();
        for (sources, edges) in rows.rows().chunks() {
            let starts = starts_left.split_off_mut(..sources.len()).unwrap_or_default();
            let count = (edges.end - edges.start) as usize;
            let targets = targets_left.split_off_mut(..count).unwrap_or_default();
            chunks.push(Mutex::new(Chunk { sources, edge_first: edges.start, starts, targets }));
        }
        workers.for_each(chunks.len(), cancel, &|index| lock(&chunks[index]).unpack(rows))?;
        drop(chunks);
        starts[vertex_count] = edge_count;
        Ok(UnpackedRows { starts, targets })
    }

    /// Places of the edges of a vertex among those of all rows.
    #[inline(always)]
    pub fn edges(&self, source: VertexId) -> Range<u64> {
        self.starts[source.index()]..self.starts[source.index() + 1]
    }

    /// The neighbours at these places.
    #[inline(always)]
    pub fn targets(&self, edges: &Range<u64>) -> &[VertexId] {
        &self.targets[edges.start as usize..edges.end as usize]
    }
}

impl Chunk<'_> {
    fn unpack(&mut self, rows: &RowReader) -> Result<()> {
        let mut sources = Vec::with_capacity(ROWS_AT_ONCE as usize);
        let mut batch = RowBatch::default();
        let (mut next, mut place) = (self.sources.start, 0);
        while next < self.sources.end {
            let end = self.sources.end.min(next + ROWS_AT_ONCE);
            sources.clear();
            sources.extend((next..end).map(VertexId));
            let done = rows.for_each_row(&sources, &mut batch, |row| {
                self.starts[row.source().index() - self.sources.start as usize] =
                    self.edge_first + place as u64;
                let end =
                    row.try_fold(place, |place, target| match self.targets.get_mut(place) {
                        Some(free) => {
                            *free = target;
                            ControlFlow::Continue(place + 1)
                        }
                        None => ControlFlow::Break(usize::MAX),
                    })?;
                if end == usize::MAX {
                    return Err(self.damaged(rows));
                }
                place = end;
                Ok(ControlFlow::Continue(()))
            })?;
            next += done as u32;
        }
        if place == self.targets.len() { Ok(()) } else { Err(self.damaged(rows)) }
    }

    fn damaged(&self, rows: &RowReader) -> tegula_machine::Error {
        let Range { start, end } = self.sources;
        let count = self.targets.len();
        rows.rows().damaged_file(format!("the rows of {start}..{end} have not {count} edges"))
    }
}
