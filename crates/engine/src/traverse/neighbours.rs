//! Neighbours in either direction of the edges: the simple undirected graph beneath any graph.

use tegula_store::graph::Graph;
use tegula_store::rows::{Direction, UnpackedRows};
use tegula_store::{Result, ShortId};

use super::{RowsJob, RunAhead, Traversal};

/// Yields the neighbours of the vertices of an order, vertex by vertex. Holds 4 bytes for each
/// edge of a vertex, in either direction, unless the rows are unpacked.
pub struct Neighbourhoods<'r, O> {
    /// Edges from a vertex, or the edges of the only direction followed.
    forward: Side<'r, O>,
    /// Edges to a vertex, if they differ from those from it.
    reverse: Option<Side<'r, O>>,
}

/// The rows of a direction, and the latest of them.
struct Side<'r, O> {
    traversal: Traversal<'r, O>,
    is_ascending: bool,
    latest: Latest<'r>,
}

/// The latest row of a side.
enum Latest<'r> {
    /// It lies in unpacked rows that ascend.
    InPlace(&'r UnpackedRows, &'r [ShortId]),
    /// A copy, sorted if the rows do not ascend.
    Copied(Vec<ShortId>),
}

/// The neighbours of a vertex.
#[derive(Debug, Clone, Copy)]
pub struct Neighbours<'n> {
    /// The vertex.
    pub vertex: ShortId,
    forward: &'n [ShortId],
    reverse: Option<&'n [ShortId]>,
}

/// A neighbour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Neighbour {
    /// Its id.
    pub id: ShortId,
    /// Whether there are edges in both directions.
    pub is_mutual: bool,
}

/// Returns the largest number of stored edges of a vertex, both directions together. Streams the
/// degrees.
pub fn edges_of_a_vertex_max(graph: &Graph) -> Result<u64> {
    let mut max = 0;
    let is_directed = !graph.manifest().undirected;
    graph.for_each_degrees(|_, out, into| {
        let ends = out
            .iter()
            .zip(into)
            .map(|(&out, &into)| u64::from(out) + if is_directed { u64::from(into) } else { 0 });
        max = ends.fold(max, u64::max);
        Ok(())
    })?;
    Ok(max)
}

impl<O> Neighbourhoods<'_, O> {
    /// Returns the bytes of neighbourhoods if no vertex has more [edges](edges_of_a_vertex_max)
    /// than `edges_max`. Copies grow by doubling.
    pub fn size(edges_max: u64) -> u64 {
        2 * size_of::<ShortId>() as u64 * edges_max
    }
}

impl<'r, O: RunAhead> Neighbourhoods<'r, O> {
    /// Makes the neighbourhoods along edges of one direction only.
    ///
    /// # Panics
    /// When the job has no rows of this direction.
    pub fn along(job: &RowsJob<'r>, direction: Direction, order: O) -> Neighbourhoods<'r, O> {
        Neighbourhoods { forward: Side::new(job.traversal_of(direction, order)), reverse: None }
    }
}

impl<'r, O: RunAhead + Clone> Neighbourhoods<'r, O> {
    /// Makes the neighbourhoods of the vertices of `order`, in all directions for which the job has
    /// rows. The order must know all its vertices from the start.
    pub fn new(job: &RowsJob<'r>, order: O) -> Neighbourhoods<'r, O> {
        let reverse = job.reverse_traversal(order.clone()).map(Side::new);
        Neighbourhoods { forward: Side::new(job.traversal(order)), reverse }
    }
}

impl<O: RunAhead> Neighbourhoods<'_, O> {
    /// Returns the neighbours of the next vertex; `None` after the last.
    pub fn next_vertex(&mut self) -> Result<Option<Neighbours<'_>>> {
        let Some(vertex) = self.forward.advance()? else { return Ok(None) };
        if let Some(reverse) = &mut self.reverse {
            reverse.advance()?;
        }
        let reverse = self.reverse.as_ref().map(Side::row);
        Ok(Some(Neighbours { vertex, forward: self.forward.row(), reverse }))
    }
}

impl<'r, O: RunAhead> Side<'r, O> {
    fn new(traversal: Traversal<'r, O>) -> Side<'r, O> {
        let is_ascending = traversal.rows().is_ascending();
        let latest = match traversal.rows().unpacked() {
            Some(unpacked) if is_ascending => Latest::InPlace(unpacked, &[]),
            _ => Latest::Copied(Vec::new()),
        };
        Side { traversal, is_ascending, latest }
    }

    #[inline]
    fn advance(&mut self) -> Result<Option<ShortId>> {
        match &mut self.latest {
            Latest::InPlace(unpacked, row) => {
                let next = self.traversal.next_vertex()?;
                *row = next.map_or(&[], |vertex| unpacked.row(vertex).0);
                Ok(next)
            }
            Latest::Copied(copy) => {
                copy.clear();
                let Some((row, _)) = self.traversal.next_row()? else { return Ok(None) };
                row.for_each(|target| copy.push(target))?;
                let source = row.source();
                if !self.is_ascending {
                    copy.sort_unstable();
                }
                Ok(Some(source))
            }
        }
    }

    fn row(&self) -> &[ShortId] {
        match &self.latest {
            Latest::InPlace(_, row) => row,
            Latest::Copied(copy) => copy,
        }
    }
}

impl Neighbours<'_> {
    /// Returns the number of stored edges of the vertex, with duplicates and loops, in both
    /// directions.
    pub fn edge_count(&self) -> usize {
        self.forward.len() + self.reverse.map_or(0, <[ShortId]>::len)
    }

    /// Returns the ends of its edges by direction, both ascending. The second list is empty if the
    /// first has both directions.
    pub fn sides(&self) -> [&[ShortId]; 2] {
        [self.forward, self.reverse.unwrap_or_default()]
    }

    /// Yields the neighbour at the other end of each edge, with duplicates.
    pub fn ends(&self) -> impl Iterator<Item = ShortId> {
        self.forward.iter().chain(self.reverse.unwrap_or_default()).copied()
    }

    /// Appends each neighbour once, by ascending id, without the vertex itself. It has no branch
    /// that depends on the rows, and takes about 3 ns an edge.
    pub fn append_to(&self, ids: &mut Vec<ShortId>) {
        let [forward, reverse] = self.sides();
        let start = ids.len();
        ids.resize(start + self.edge_count(), self.vertex);
        let found = &mut ids[start..];
        let (mut from, mut to, mut count) = (0, 0, 0);
        // A place is overwritten until its id is new.
        let mut last = self.vertex;
        let mut see = |id: ShortId| {
            found[count] = id;
            count += usize::from(id != last && id != self.vertex);
            last = id;
        };
        while from < forward.len() && to < reverse.len() {
            let (one, other) = (forward[from], reverse[to]);
            from += usize::from(one <= other);
            to += usize::from(other <= one);
            see(one.min(other));
        }
        forward[from..].iter().chain(&reverse[to..]).for_each(|&id| see(id));
        ids.truncate(start + count);
    }

    /// Calls `visit` with each neighbour once, by ascending id, without the vertex itself.
    #[inline]
    pub fn for_each(&self, mut visit: impl FnMut(Neighbour)) {
        // `last` is the last id seen. It starts as the vertex itself, which is never visited. The
        // vertex itself may also come between two others, so each id is compared with it too.
        let mut last = self.vertex;
        let mut see = |id, is_mutual| {
            if id != last && id != self.vertex {
                visit(Neighbour { id, is_mutual });
            }
            last = id;
        };
        let Some(reverse) = self.reverse else {
            self.forward.iter().for_each(|&id| see(id, true));
            return;
        };
        let (mut from, mut to) = (0, 0);
        // Each step takes the lesser of the two next ids, from both sides if they are equal. Which
        // side has it cannot be predicted, so no branch depends on that.
        while from < self.forward.len() && to < reverse.len() {
            let (one, other) = (self.forward[from], reverse[to]);
            from += usize::from(one <= other);
            to += usize::from(other <= one);
            see(one.min(other), one == other);
        }
        self.forward[from..].iter().chain(&reverse[to..]).for_each(|&id| see(id, false));
    }
}
