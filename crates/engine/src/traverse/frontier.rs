//! Frontiers: lists of vertices whose rows are followed together and lead to the next frontier.

use std::sync::Mutex;

use tegula_machine::threads::lock;
use tegula_store::rows::{Direction, Row};
use tegula_store::{Result, ShortId};

use super::{Neighbourhoods, Neighbours, RowsJob, RunAhead, Traversal};

/// The most vertices of a frontier that one worker takes at a time. So a frontier with no more
/// vertices is followed by a single worker.
pub const FRONTIER_STRETCH: usize = 1 << 10;

/// Listed vertices. An exact order: all upcoming vertices are known.
#[derive(Debug, Clone)]
pub struct Listed<'l> {
    left: &'l [ShortId],
    /// How many of `left` are announced.
    announced: usize,
}

impl<'l> Listed<'l> {
    /// Makes an order of these vertices as listed. If they ascend, rows are read in file order.
    pub fn new(vertices: &'l [ShortId]) -> Listed<'l> {
        Listed { left: vertices, announced: 0 }
    }
}

impl RunAhead for Listed<'_> {
    fn take(&mut self, count: usize, taken: &mut Vec<ShortId>) {
        let (first, left) = self.left.split_at(count.min(self.left.len()));
        taken.extend_from_slice(first);
        self.announced = self.announced.saturating_sub(first.len());
        self.left = left;
    }

    fn upcoming(&self, reach: usize) -> impl Iterator<Item = ShortId> + Clone {
        // More vertices may be announced than `reach` allows now.
        let end = self.left.len().min(reach).max(self.announced);
        self.left[self.announced..end].iter().copied()
    }

    fn announce(&mut self, count: usize) -> usize {
        let own = count.min(self.left.len() - self.announced);
        self.announced += own;
        count - own
    }
}

impl<'j> RowsJob<'j> {
    /// Follows the edges of a frontier in each of the `directions`. It calls `visit` with the row
    /// of each vertex, and returns the vertices that `visit` adds, by ascending id. Several workers
    /// take part, each with its own vertices.
    ///
    /// # Errors
    /// Errors of reading; cancellation; a panic of `visit`.
    ///
    /// # Panics
    /// When the job has no rows of a direction.
    pub fn follow(
        &self,
        frontier: &[ShortId],
        directions: &[Direction],
        visit: impl Fn(&Row<'_>, &mut Vec<ShortId>) -> Result<()> + Sync,
    ) -> Result<Vec<ShortId>> {
        self.for_each_stretch(frontier, |stretch, found| {
            for &direction in directions {
                let order = Listed::new(stretch);
                let mut traversal: Traversal<'j, _> = self.traversal_of(direction, order);
                while let Some((row, _)) = traversal.next_row()? {
                    visit(&row, found)?;
                }
            }
            Ok(())
        })
    }

    /// Does the same with the neighbours of each vertex in both directions.
    pub fn follow_neighbours(
        &self,
        frontier: &[ShortId],
        visit: impl Fn(&Neighbours<'_>, &mut Vec<ShortId>) + Sync,
    ) -> Result<Vec<ShortId>> {
        self.for_each_stretch(frontier, |stretch, found| {
            let mut neighbourhoods = Neighbourhoods::new(self, Listed::new(stretch));
            while let Some(neighbours) = neighbourhoods.next_vertex()? {
                visit(&neighbours, found);
            }
            Ok(())
        })
    }

    fn for_each_stretch(
        &self,
        frontier: &[ShortId],
        visit: impl Fn(&[ShortId], &mut Vec<ShortId>) -> Result<()> + Sync,
    ) -> Result<Vec<ShortId>> {
        let next = Mutex::new(Vec::new());
        self.for_each(frontier.len().div_ceil(FRONTIER_STRETCH), |index| {
            let mut found = Vec::new();
            let end = frontier.len().min((index + 1) * FRONTIER_STRETCH);
            visit(&frontier[index * FRONTIER_STRETCH..end], &mut found)?;
            lock(&next).append(&mut found);
            Ok(())
        })?;
        let mut next = next.into_inner().unwrap_or_default();
        // Workers end in any order.
        next.sort_unstable();
        Ok(next)
    }
}
