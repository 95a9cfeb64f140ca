//! Reads every row and checks that the layout holds what the graph holds.

use tegula_machine::Result;
use tegula_machine::disk::Targets;
use tegula_machine::threads::{Cancel, Progress, Unit};

use super::edge_sum::EdgeSum;
use crate::graph::Graph;
use crate::ids::VertexId;
use crate::rows::{Row, RowBatch, RowExtent, RowReader};

/// Bytes of cache through which rows are read.
pub(super) const CACHE_SIZE: u64 = 4 << 20;

/// Rows that are read at a time.
const ROWS_PER_READ: u32 = 1024;

/// Checks all rows of a graph and sums up their edges; `None` where it has none. Every row decodes, is
/// sorted, and has as many edges and weights as its vertex has out-edges; the rows together lead to each
/// vertex as often as it has in-edges. Holds 8 bytes a vertex, the index and 4 MiB.
///
/// # Errors
/// [`tegula_machine::Error::Corrupt`] for the first row that is damaged; those of reading.
pub(super) fn verify(
    graph: &Graph,
    progress: &dyn Progress,
    cancel: &Cancel,
) -> Result<Option<EdgeSum>> {
    let Some(reader) = RowReader::open(graph, true, CACHE_SIZE, &Targets::default())? else {
        return Ok(None);
    };
    progress.begin("verifying rows", Some(graph.edge_count()), Unit::Edges);
    let (out_degrees, in_degrees) = (graph.out_degrees()?, graph.in_degrees()?);
    let mut check = Check { reader: &reader, out_degrees, in_degrees, sum: EdgeSum::default() };
    let mut batch = RowBatch::default();
    let vertices = graph.vertex_count();
    let vertices_from = |first: u32, count: u32| {
        let end = vertices.min(first.saturating_add(count));
        (first..end).map(VertexId)
    };
    for first in (0..vertices).step_by(ROWS_PER_READ as usize) {
        cancel.check()?;
        reader.prefetch(vertices_from(first, 4 * ROWS_PER_READ));
        let sources: Vec<VertexId> = vertices_from(first, ROWS_PER_READ).collect();
        let mut rest = &sources[..];
        while !rest.is_empty() {
            let count = reader.get(rest, &mut batch)?;
            for index in 0..count {
                let edges = check.row(&reader.row(&batch, index))?;
                progress.advance(edges);
            }
            rest = &rest[count..];
        }
    }
    progress.end();
    match check.in_degrees.iter().position(|&left| left != 0) {
        None => Ok(Some(check.sum)),
        Some(target) => {
            let detail = format!("the rows do not lead to vertex {target} as often as it says");
            Err(reader.rows().damaged_file(detail))
        }
    }
}

struct Check<'r> {
    reader: &'r RowReader,
    out_degrees: Vec<u32>,
    /// Edges that are still to come.
    in_degrees: Vec<u32>,
    sum: EdgeSum,
}

impl Check<'_> {
    /// Checks a row; returns how many edges it has.
    fn row(&mut self, row: &Row<'_>) -> Result<u64> {
        let rows = self.reader.rows();
        let source = row.source();
        let damaged = |detail: String| Err(rows.damaged(source, detail));
        let (mut edges, mut before) = (0u64, None);
        let mut fault = None;
        let (in_degrees, sum) = (&mut self.in_degrees, &mut self.sum);
        row.for_each(|target| {
            let key = rows.sort_key(source, target);
            if before.is_some_and(|before| before > key) {
                fault.get_or_insert_with(|| format!("its neighbour {} is out of order", target.0));
            }
            before = Some(key);
            match &mut in_degrees[target.index()] {
                0 => {
                    fault.get_or_insert_with(|| {
                        format!("its neighbour {} has no such edge", target.0)
                    });
                }
                left => *left -= 1,
            }
            sum.add(source.0, target.0, row.weight(edges as usize));
            edges += 1;
        })?;
        if let Some(fault) = fault {
            return damaged(fault);
        }
        let expected = u64::from(self.out_degrees[source.index()]);
        if edges != expected {
            return damaged(format!("it has {edges} edges, not {expected}"));
        }
        let weights = RowExtent::weight_bytes(&rows.extent(source));
        let weights = (weights.end - weights.start) / 4;
        if rows.weights().is_some() && weights != edges {
            return damaged(format!("it has {weights} weights for {edges} edges"));
        }
        Ok(edges)
    }
}
