//! Reads every row and checks that rows hold the edges of the graph.

use tegula_machine::disk::Targets;
use tegula_machine::threads::{Cancel, Progress, ProgressUnit};

use super::edge_sum::EdgeSum;
use crate::Result;
use crate::graph::Graph;
use crate::ids::ShortId;
use crate::rows::{Direction, Row, RowBatch, RowExtent, RowPiece, RowReader};

/// Bytes of the cache through which rows are read.
pub(super) const CACHE_SIZE: u64 = 4 << 20;

/// Rows per read.
const ROWS_PER_READ: u32 = 1024;

/// Checks all rows of a direction and returns the sum of their edges. Every row must decode, be
/// sorted, and have as many edges and weights as its vertex. All rows together must lead to each
/// vertex as often as its opposite degree says. Holds 8 bytes a vertex, the index and 4 MiB.
///
/// # Errors
/// [`tegula_machine::Error::Corrupt`] for the first row that is damaged.
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
    progress.begin(task, Some(graph.edge_count()), ProgressUnit::Edges);
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
    // Long rows are read piece by piece, so that none has to fit in memory.
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
            let detail = format!("the rows list vertex {target} less often than its degree says");
            Err(reader.rows().damaged_file(detail))
        }
    }
}

struct Check<'r> {
    reader: &'r RowReader,
    direction: Direction,
    degrees: Vec<u32>,
    /// For each vertex, edges that must still come in the rows of others.
    left: Vec<u32>,
    sum: EdgeSum,
}

/// Figures of a row so far.
#[derive(Default)]
struct SeenRow {
    edges: u64,
    /// The sort key of the last edge.
    last: Option<(u32, bool)>,
    /// The least and the greatest neighbour in the last piece.
    targets: Option<(ShortId, ShortId)>,
}

impl SeenRow {
    /// Whether the last piece has edges, all within its range of targets.
    fn leads_within(&mut self, piece: &RowPiece) -> bool {
        let allowed = piece.targets();
        let targets = self.targets.take();
        targets.is_some_and(|(least, most)| least >= allowed.start && most < allowed.end)
    }
}

impl Check<'_> {
    /// Checks the edges of a row, or of a piece.
    fn edges_of(&mut self, row: &Row<'_>, seen: &mut SeenRow) -> Result<()> {
        let rows = self.reader.rows();
        let source = row.source();
        let mut fault = None;
        let (left, sum) = (&mut self.left, &mut self.sum);
        let count = row.for_each_weighted(|target, weight| {
            let key = rows.sort_key(source, target);
            if seen.last.is_some_and(|last| last > key) {
                // The visit cannot end early, so the first fault is kept.
                fault.get_or_insert_with(|| format!("its neighbour {} is out of order", target.0));
            }
            seen.last = Some(key);
            let (least, most) = seen.targets.unwrap_or((target, target));
            seen.targets = Some((least.min(target), most.max(target)));
            match &mut left[target.index()] {
                0 => {
                    fault.get_or_insert_with(|| {
                        format!(
                            "with it, the rows list vertex {} more often than its degree says",
                            target.0
                        )
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
            // Each piece is sorted on its own.
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

    /// Checks the totals of a row and returns the number of its edges.
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
