//! Reads every row and checks that the layout holds what the graph holds.

use tegula_machine::Result;
use tegula_machine::disk::Targets;
use tegula_machine::threads::{Cancel, Progress, Unit};

use super::edge_sum::EdgeSum;
use crate::graph::Graph;
use crate::ids::ShortId;
use crate::rows::{Direction, Row, RowBatch, RowExtent, RowPiece, RowReader};

/// Bytes of cache through which rows are read.
pub(super) const CACHE_SIZE: u64 = 4 << 20;

/// Rows that are read at a time.
const ROWS_PER_READ: u32 = 1024;

/// Checks all rows of a direction and sums up the edges of the graph that they hold. Every row decodes, is
/// sorted, and has as many edges and weights as its vertex has; the rows together lead to each vertex as
/// often as it has edges at their other end. Holds 8 bytes a vertex, the index and 4 MiB.
///
/// # Errors
/// [`tegula_machine::Error::Corrupt`] for the first row that is damaged; those of reading.
pub(super) fn verify(
    graph: &Graph,
    direction: Direction,
    progress: &dyn Progress,
    cancel: &Cancel,
) -> Result<Option<EdgeSum>> {
    let targets = Targets::default();
    let Some(reader) = RowReader::open(graph, direction, true, CACHE_SIZE, &targets)? else {
        return Ok(None);
    };
    let task = match direction {
        Direction::Forward => "verifying rows",
        Direction::Reverse => "verifying reverse rows",
    };
    progress.begin(task, Some(graph.edge_count()), Unit::Edges);
    let mut check = Check {
        reader: &reader,
        direction,
        degrees: graph.degrees(direction)?,
        left: graph.degrees(direction.opposite())?,
        sum: EdgeSum::default(),
    };
    let mut batch = RowBatch::default();
    let vertices = reader.rows().vertex_count();
    let vertices_from = |first: u32, count: u32| {
        let end = vertices.min(first.saturating_add(count));
        (first..end).map(ShortId)
    };
    // Long rows are read piece by piece, so that none has to be in memory.
    let long = reader.rows().long();
    let is_short = |vertex: &ShortId| long.binary_search(vertex).is_err();
    for first in (0..vertices).step_by(ROWS_PER_READ as usize) {
        cancel.check()?;
        reader.prefetch(vertices_from(first, 4 * ROWS_PER_READ).filter(is_short));
        let sources: Vec<ShortId> = vertices_from(first, ROWS_PER_READ).filter(is_short).collect();
        let mut rest = &sources[..];
        while !rest.is_empty() {
            let count = reader.get(rest, &mut batch)?;
            for index in 0..count {
                let mut seen = SeenRow::default();
                let row = reader.row(&batch, index);
                check.edges_of(&row, &mut seen)?;
                progress.advance(check.row(row.source(), &seen)?);
            }
            rest = &rest[count..];
        }
    }
    for &source in long {
        check.long_row(source, &mut batch, progress, cancel)?;
    }
    progress.end();
    match check.left.iter().position(|&left| left != 0) {
        None => Ok(Some(check.sum)),
        Some(target) => {
            let detail = format!("the rows do not lead to vertex {target} as often as it says");
            Err(reader.rows().damaged_file(detail))
        }
    }
}

struct Check<'r> {
    reader: &'r RowReader,
    direction: Direction,
    degrees: Vec<u32>,
    /// Edges of each vertex that are still to come in the rows of others.
    left: Vec<u32>,
    sum: EdgeSum,
}

/// What was seen of a row so far.
#[derive(Default)]
struct SeenRow {
    edges: u64,
    /// What grows along it, of the last edge.
    last: Option<(u32, bool)>,
    /// The least and the greatest neighbour in the last piece.
    targets: Option<(ShortId, ShortId)>,
}

impl SeenRow {
    /// Whether the last piece has edges, and they lead where it may lead.
    fn leads_within(&mut self, piece: &RowPiece) -> bool {
        let allowed = piece.targets();
        let targets = self.targets.take();
        targets.is_some_and(|(least, most)| least >= allowed.start && most < allowed.end)
    }
}

impl Check<'_> {
    /// Checks the edges of a row, or those in a piece of one.
    fn edges_of(&mut self, row: &Row<'_>, seen: &mut SeenRow) -> Result<()> {
        let rows = self.reader.rows();
        let source = row.source();
        let mut fault = None;
        let (left, sum) = (&mut self.left, &mut self.sum);
        let count = row.for_each_weighted(|target, weight| {
            let key = rows.sort_key(source, target);
            if seen.last.is_some_and(|last| last > key) {
                fault.get_or_insert_with(|| format!("its neighbour {} is out of order", target.0));
            }
            seen.last = Some(key);
            let (least, most) = seen.targets.unwrap_or((target, target));
            seen.targets = Some((least.min(target), most.max(target)));
            match &mut left[target.index()] {
                0 => {
                    fault.get_or_insert_with(|| {
                        format!("its neighbour {} has no such edge", target.0)
                    });
                }
                left => *left -= 1,
            }
            let (from, to) = self.direction.ends(source.0, target.0);
            sum.add(from.into(), to.into(), weight);
        })?;
        seen.edges += count as u64;
        match fault {
            Some(fault) => Err(rows.damaged(source, fault)),
            None => Ok(()),
        }
    }

    /// Checks a row in several pieces.
    fn long_row(
        &mut self,
        source: ShortId,
        batch: &mut RowBatch,
        progress: &dyn Progress,
        cancel: &Cancel,
    ) -> Result<()> {
        let rows = self.reader.rows();
        let mut seen = SeenRow::default();
        for piece in rows.pieces(source) {
            cancel.check()?;
            // A piece has an order of its own.
            seen.last = None;
            let before = seen.edges;
            let row = self.reader.piece(&piece, batch)?;
            self.edges_of(&row, &mut seen)?;
            if !seen.leads_within(&piece) {
                return Err(rows.damaged_piece(&piece));
            }
            progress.advance(seen.edges - before);
        }
        self.row(source, &seen).map(drop)
    }

    /// Checks what was seen of a row, all in all; returns how many edges it has.
    fn row(&self, source: ShortId, seen: &SeenRow) -> Result<u64> {
        let rows = self.reader.rows();
        let damaged = |detail: String| Err(rows.damaged(source, detail));
        let edges = seen.edges;
        let expected = u64::from(self.degrees[source.index()]);
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
