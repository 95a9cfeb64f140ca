//! A depth-first order of visits: a path with stored neighbours.

#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use tegula_store::ShortId;

use super::{RunAhead, VertexSet};

/// Most upcoming vertices shown, and most announced ones remembered: rows further ahead would leave
/// the cache before their turn.
const AHEAD_MAX: usize = 256;
/// Upcoming vertices shown at first, until it is known how many of them are visited.
const AHEAD: usize = 16;
/// Stored neighbours examined per shown vertex: visited ones take time too.
const LOOKED_AT: usize = 16;
/// Least number of stored neighbours: 256 KiB.
const ROOM_MIN: usize = 1 << 16;
/// Rows of the greatest length that can be stored.
const ROWS_MIN: u64 = 4;

/// Depth first: visits the neighbours of a vertex in the order of its row. Before the next
/// neighbour comes all that is reached from the last one and was not visited before. The neighbours
/// of vertices on the path are stored. So where nothing new is reached from a vertex, the order
/// knows which vertex follows (A. Roy et al., University of Cambridge Computer Laboratory,
/// Technical Report 823, 2012). If the path mostly leads on instead, stored neighbours are a bad
/// guess, and few are shown.
///
/// For each row: [leave](DepthFirst::leave) until there is nothing to leave,
/// [enter](DepthFirst::enter) its vertex, [push](DepthFirst::push) all neighbours. At the end,
/// leave the remaining vertices. A root is any vertex that is entered while the order is empty:
/// [nest](super::Nested) it in an order of roots.
///
/// The vertices on the path may have as many stored neighbours as the graph has edges. If there is
/// no [room](DepthFirst::room), the neighbours nearest to the root are forgotten. Their vertices
/// come again, and their rows are read again. The order of visits does not change. With room for
/// four times the longest row, all rows together are read at most three times: before a vertex is
/// forgotten, neighbours reached from one of its neighbours have filled three quarters of the room.
#[derive(Debug)]
pub struct DepthFirst<'v> {
    visited: &'v VertexSet,
    /// The path from the root to the latest vertex: its first `depth` vertices. Those after them
    /// are not left yet.
    path: Vec<Step>,
    depth: usize,
    /// Neighbours that were not visited when they were stored; the next one is at the end.
    stored: VecDeque<ShortId>,
    room: usize,
    /// How many of the last neighbours are still in the order of the row and not reversed. They
    /// belong to the latest vertex.
    fresh: usize,
    /// No vertex before this place on the path has stored neighbours.
    oldest: usize,
    /// Vertices with forgotten neighbours.
    forgotten: VertexSet,
    announced: VertexSet,
    /// Announced vertices that are not forgotten yet, the latest last.
    remembered: VecDeque<ShortId>,
    /// How many upcoming vertices are shown. It grows when an announced one is visited, and shrinks
    /// when one is forgotten before.
    ahead: usize,
}

/// A vertex on the path.
#[derive(Debug, Clone, Copy)]
struct Step {
    vertex: ShortId,
    stored: u32,
}

impl<'v> DepthFirst<'v> {
    /// Returns how many neighbours to store if the longest row has `longest` of them.
    pub fn room(longest: u64) -> usize {
        ROOM_MIN.max(usize::try_from(longest.saturating_mul(ROWS_MIN)).unwrap_or(usize::MAX))
    }

    /// Returns the bytes of an order with `room` for neighbours, without the set of visited
    /// vertices.
    pub fn size(vertex_count: u64, room: usize) -> u64 {
        let (path, sets) = (size_of::<Step>() as u64 * vertex_count, VertexSet::size(vertex_count));
        path + 2 * sets + (size_of::<ShortId>() * (room + AHEAD_MAX)) as u64
    }

    /// Makes an empty path over `vertex_count` vertices with room for `room` stored neighbours, at
    /// least one. It enters vertices that are not in `visited`, and adds them.
    pub fn new(visited: &'v VertexSet, vertex_count: u32, room: usize) -> DepthFirst<'v> {
        // A step counts its neighbours in 32 bits.
        let room = room.clamp(1, u32::MAX as usize);
        DepthFirst {
            visited,
            path: Vec::with_capacity(vertex_count as usize),
            depth: 0,
            stored: VecDeque::with_capacity(room),
            room,
            fresh: 0,
            oldest: 0,
            forgotten: VertexSet::new(vertex_count),
            announced: VertexSet::new(vertex_count),
            remembered: VecDeque::with_capacity(AHEAD_MAX),
            ahead: AHEAD,
        }
    }

    /// Leaves a vertex from which all was visited, a child before its parent. Then the parent is
    /// the [latest](DepthFirst::latest) on the path.
    #[inline]
    pub fn leave(&mut self) -> Option<ShortId> {
        let left = (self.path.len() > self.depth).then(|| self.path.pop());
        left.flatten().map(|step| step.vertex)
    }

    /// Returns the latest vertex on the path.
    #[inline]
    pub fn latest(&self) -> Option<ShortId> {
        self.path.last().map(|step| step.vertex)
    }

    /// Enters the vertex of the current row. Returns false if it was entered before and its row is
    /// read again.
    ///
    /// # Panics
    /// When there are vertices to [leave](DepthFirst::leave).
    #[inline]
    pub fn enter(&mut self, vertex: ShortId) -> bool {
        assert_eq!(self.path.len(), self.depth, "vertices are to be left");
        if self.announced.contains(vertex) {
            self.announced.remove(vertex);
            self.ahead = AHEAD_MAX.min(self.ahead + 1);
        }
        let is_new = self.visited.insert(vertex);
        if is_new {
            self.path.push(Step { vertex, stored: 0 });
            self.depth += 1;
        }
        is_new
    }

    /// Stores the next neighbour of the vertex entered last. Returns false if it was visited
    /// before.
    ///
    /// # Panics
    /// When the path is empty.
    #[inline]
    pub fn push(&mut self, neighbour: ShortId) -> bool {
        let is_new = !self.visited.contains(neighbour);
        if is_new {
            self.store(neighbour);
        }
        is_new
    }

    fn store(&mut self, neighbour: ShortId) {
        let top = self.depth - 1;
        // The neighbours of this vertex fill the room. Those stored come first, so they stay.
        if self.fresh == self.room {
            self.forgotten.insert(self.path[top].vertex);
            return;
        }
        if self.stored.len() == self.room {
            while self.path[self.oldest].stored == 0 {
                self.oldest += 1;
            }
            let oldest = &mut self.path[self.oldest];
            oldest.stored -= 1;
            self.forgotten.insert(oldest.vertex);
            self.stored.pop_front();
        }
        self.stored.push_back(neighbour);
        self.path[top].stored += 1;
        self.fresh += 1;
    }

    /// Reverses the neighbours of the latest vertex, so that the first is taken first.
    fn turn(&mut self) {
        let first = self.stored.len() - std::mem::take(&mut self.fresh);
        // The range may lie in two pieces of the queue, so it is no slice to reverse.
        let mut fresh = self.stored.range_mut(first..);
        while let (Some(one), Some(other)) = (fresh.next(), fresh.next_back()) {
            std::mem::swap(one, other);
        }
    }

    /// Returns the next vertex to visit from the vertex at the end of the path.
    fn next_of_latest(&mut self) -> Option<ShortId> {
        let step = &mut self.path[self.depth - 1];
        while step.stored > 0 {
            step.stored -= 1;
            let next = self.stored.pop_back();
            if next.is_some_and(|next| !self.visited.contains(next)) {
                return next;
            }
        }
        // Its row is read again, and brings back the neighbours that were forgotten.
        let is_forgotten = self.forgotten.contains(step.vertex);
        self.forgotten.remove(step.vertex);
        is_forgotten.then_some(step.vertex)
    }
}

impl RunAhead for DepthFirst<'_> {
    /// Takes one vertex at a time, because a visit may add vertices that come before all others.
    fn take(&mut self, _count: usize, taken: &mut Vec<ShortId>) {
        self.turn();
        while self.depth > 0 {
            if let Some(next) = self.next_of_latest() {
                taken.push(next);
                break;
            }
            self.depth -= 1;
        }
        // Other vertices may come to the places that the path has left, and store neighbours there.
        self.oldest = self.oldest.min(self.depth.saturating_sub(1));
    }

    fn upcoming(&self, reach: usize) -> impl Iterator<Item = ShortId> + Clone {
        let looked_at = LOOKED_AT * self.ahead;
        let stored = self.stored.iter().rev().take(looked_at).copied();
        let stored = stored.filter(|&vertex| !self.visited.contains(vertex));
        let again = self.path[..self.depth.min(self.oldest + 1)].iter().rev().take(looked_at);
        let again = again.map(|step| step.vertex).filter(|&v| self.forgotten.contains(v));
        let shown = stored.chain(again).take(self.ahead.min(reach));
        shown.filter(|&vertex| !self.announced.contains(vertex))
    }

    fn announce(&mut self, count: usize) -> usize {
        // All are collected before any is announced, because a vertex may be stored several times.
        let shown: Vec<ShortId> = self.upcoming(usize::MAX).take(count).collect();
        for &vertex in &shown {
            if self.remembered.len() == AHEAD_MAX
                && let Some(first) = self.remembered.pop_front()
                && self.announced.contains(first)
            {
                self.announced.remove(first);
                self.ahead = (self.ahead - 1).max(1);
            }
            self.announced.insert(vertex);
            self.remembered.push_back(vertex);
        }
        count - shown.len()
    }
}
