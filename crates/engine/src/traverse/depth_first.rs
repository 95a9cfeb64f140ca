//! A path with stored neighbours as an order of visits.

#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use tegula_store::ShortId;

use super::{RunAhead, VertexSet};

/// Upcoming vertices that are shown at the most, and announced ones that are remembered: by the time that what is
/// further down comes, it has been let go of.
const AHEAD_MAX: usize = 256;
/// Those that are shown until it is known how many of them come.
const AHEAD: usize = 16;
/// Stored neighbours that are looked at for one: those that were visited take time too.
const LOOKED_AT: usize = 16;
/// Neighbours that are stored, at the least: 256 KiB.
const ROOM_MIN: usize = 1 << 16;
/// How many rows of the greatest length are stored.
const ROWS_MIN: u64 = 4;

/// Depth first: the neighbours of a vertex, in the order of its row, each with all that is reached from it and was not
/// visited before. What the neighbours of the vertices on the path are is stored, so that it is known what follows a
/// vertex from which nothing new is reached (A. Roy et al., University of Cambridge Computer Laboratory, Technical
/// Report 823, 2012). Where the path mostly leads on instead, what is stored is a bad guess, and little of it is shown.
///
/// For each row: [leave](DepthFirst::leave) until there is nothing to leave, [enter](DepthFirst::enter) its vertex,
/// [push](DepthFirst::push) all neighbours. In the end, leave what is left. A root is any vertex that is entered while
/// the order has none: [nest](super::Nested) it in an order of those.
///
/// Stored neighbours of all that is on the path might be as many as edges, so those nearest to the root are forgotten
/// where there is no [room](DepthFirst::room): their vertices come once more, to have their rows read anew. That
/// changes nothing of the order of visits. With room for four times the longest row all rows together are read no more
/// than three times: before a vertex is forgotten, three quarters of the room were filled from one of its neighbours.
#[derive(Debug)]
pub struct DepthFirst<'v> {
    visited: &'v VertexSet,
    /// From the root to the latest vertex, the first `depth`; those behind were not left yet.
    path: Vec<Step>,
    depth: usize,
    /// Neighbours that were not visited when they were stored, those that come first at the end.
    stored: VecDeque<ShortId>,
    room: usize,
    /// Of the latest vertex, how many at the end are in the order of the row, and not the other way round.
    fresh: usize,
    /// No vertex nearer to the root has stored neighbours.
    oldest: usize,
    /// Vertices some of whose neighbours were forgotten.
    forgotten: VertexSet,
    announced: VertexSet,
    /// Those of them that are not forgotten yet, the latest last.
    remembered: VecDeque<ShortId>,
    /// How many upcoming ones are shown: more where one that was announced comes, fewer where it is forgotten before.
    ahead: usize,
}

/// A vertex on the path.
#[derive(Debug, Clone, Copy)]
struct Step {
    vertex: ShortId,
    stored: u32,
}

impl<'v> DepthFirst<'v> {
    /// How many neighbours are to be stored where the longest row has `longest`.
    pub fn room(longest: u64) -> usize {
        ROOM_MIN.max(usize::try_from(longest.saturating_mul(ROWS_MIN)).unwrap_or(usize::MAX))
    }

    /// Bytes of an order with `room` for neighbours, without those of the set of visited vertices.
    pub fn size(vertex_count: u64, room: usize) -> u64 {
        let (path, sets) = (size_of::<Step>() as u64 * vertex_count, VertexSet::size(vertex_count));
        path + 2 * sets + (size_of::<ShortId>() * (room + AHEAD_MAX)) as u64
    }

    /// An empty path among `vertex_count` vertices, with room for as many neighbours, and at least one. Enters what is
    /// not in `visited`, and adds it.
    pub fn new(visited: &'v VertexSet, vertex_count: u32, room: usize) -> DepthFirst<'v> {
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

    /// Leaves a vertex from which all was visited, a child before its parent. The parent is the
    /// [latest](DepthFirst::latest) on the path then.
    #[inline]
    pub fn leave(&mut self) -> Option<ShortId> {
        let left = (self.path.len() > self.depth).then(|| self.path.pop());
        left.flatten().map(|step| step.vertex)
    }

    /// The latest vertex on the path.
    #[inline]
    pub fn latest(&self) -> Option<ShortId> {
        self.path.last().map(|step| step.vertex)
    }

    /// Enters the vertex whose row it is. False where it was entered before, and its row is read once more.
    ///
    /// # Panics
    /// When there are vertices to be [left](DepthFirst::leave).
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

    /// Takes note of the next neighbour of the vertex that was entered last. False where it was visited before.
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

    /// Puts the neighbours of the latest vertex in the order in which they are taken.
    fn turn(&mut self) {
        let first = self.stored.len() - std::mem::take(&mut self.fresh);
        let mut fresh = self.stored.range_mut(first..);
        while let (Some(one), Some(other)) = (fresh.next(), fresh.next_back()) {
            std::mem::swap(one, other);
        }
    }

    /// What comes next of the vertex at the end of the path.
    fn next_of_latest(&mut self) -> Option<ShortId> {
        let step = &mut self.path[self.depth - 1];
        while step.stored > 0 {
            step.stored -= 1;
            let next = self.stored.pop_back();
            if next.is_some_and(|next| !self.visited.contains(next)) {
                return next;
            }
        }
        let is_forgotten = self.forgotten.contains(step.vertex);
        self.forgotten.remove(step.vertex);
        is_forgotten.then_some(step.vertex)
    }
}

impl RunAhead for DepthFirst<'_> {
    /// One at a time, since a visit may add what comes before all others.
    fn take(&mut self, _count: usize, taken: &mut Vec<ShortId>) {
        self.turn();
        while self.depth > 0 {
            if let Some(next) = self.next_of_latest() {
                taken.push(next);
                break;
            }
            self.depth -= 1;
        }
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
        // All before any is: the same may be stored several times.
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
