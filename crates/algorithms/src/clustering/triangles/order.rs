//! The order of vertices by degree, and lists of later neighbours.

use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};

use tegula_engine::traverse::Neighbours;
use tegula_engine::{Graph, Result, ShortId, huge};

/// The order of vertices by ascending number of stored edges, then by dense id.
///
/// Lists and marks are indexed by dense ids, not by places in this order: the ids of neighbours
/// usually lie close to each other, because the import saw to it.
pub(super) struct Order {
    /// The number of stored edges of each vertex, by dense id.
    degrees: Vec<u32>,
}

impl Order {
    /// Finds the order of a graph. Takes 4 bytes a vertex.
    pub fn of(graph: &Graph, vertex_count: u32) -> Result<Order> {
        let mut degrees: Vec<u32> = huge::with_capacity(vertex_count as usize);
        degrees.resize(vertex_count as usize, 0);
        let is_directed = !graph.manifest().undirected;
        graph.for_each_degrees(|first, out, into| {
            let degrees = degrees[first as usize..].iter_mut();
            for (degree, (&out, &into)) in degrees.zip(out.iter().zip(into)) {
                // Degrees beyond 32 bits count as equal: any order is correct.
                *degree = if is_directed { out.saturating_add(into) } else { out };
            }
            Ok(())
        })?;
        Ok(Order { degrees })
    }

    /// Puts the later neighbours of a vertex into `later`, which it clears first.
    pub fn later(&self, neighbours: &Neighbours<'_>, later: &mut Vec<Later>) {
        later.clear();
        let own = self.place(neighbours.vertex);
        neighbours.for_each(|neighbour| {
            if self.place(neighbour.id) > own {
                later.push(Later::new(neighbour.id.0, neighbour.is_mutual));
            }
        });
    }

    /// Returns a number that ascends in this order.
    #[inline]
    pub fn place(&self, vertex: ShortId) -> u64 {
        u64::from(self.degrees[vertex.index()]) << 32 | u64::from(vertex.0)
    }
}

/// A later neighbour: its dense id, and whether edges lead both ways.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Later(u32);

impl Later {
    /// The most vertices that a graph may have.
    pub const VERTICES_MAX: u64 = 1 << 31;

    fn new(id: u32, is_mutual: bool) -> Later {
        Later(id | u32::from(is_mutual) << 31)
    }

    /// Returns the dense id.
    #[inline(always)]
    pub fn index(self) -> usize {
        (self.0 & (u32::MAX >> 1)) as usize
    }

    /// Returns in how many directions edges lead: 1 or 2.
    #[inline(always)]
    pub fn directions(self) -> u32 {
        1 + (self.0 >> 31)
    }
}

/// The lists of a range of dense ids, which several workers fill at the same time.
pub(super) struct Lists {
    ids: Range<usize>,
    /// Where each list begins, and where the last ends.
    offsets: Vec<u64>,
    entries: Vec<AtomicU32>,
}

impl Lists {
    /// Makes empty lists of these lengths, for the ids from `first` on.
    pub fn of(first: usize, lengths: &[u32]) -> Lists {
        let mut offsets = huge::with_capacity(lengths.len() + 1);
        let mut end = 0;
        offsets.push(0);
        for &length in lengths {
            end += u64::from(length);
            offsets.push(end);
        }
        let mut entries = huge::with_capacity(end as usize);
        entries.resize_with(end as usize, AtomicU32::default);
        Lists { ids: first..first + lengths.len(), offsets, entries }
    }

    /// Returns the ids that have lists.
    pub fn ids(&self) -> &Range<usize> {
        &self.ids
    }

    /// Fills the list of a vertex.
    pub fn fill(&self, vertex: usize, later: &[Later]) {
        let slots = self.slots(vertex);
        assert_eq!(slots.len(), later.len(), "rows are as they were counted");
        slots.iter().zip(later).for_each(|(slot, later)| slot.store(later.0, Ordering::Relaxed));
    }

    /// Returns the list of a vertex.
    #[inline]
    pub fn list(&self, vertex: usize) -> List<'_> {
        List(self.slots(vertex))
    }

    fn slots(&self, vertex: usize) -> &[AtomicU32] {
        let index = vertex - self.ids.start;
        &self.entries[self.offsets[index] as usize..self.offsets[index + 1] as usize]
    }
}

/// The later neighbours of a vertex.
#[derive(Clone, Copy)]
pub(super) struct List<'l>(&'l [AtomicU32]);

impl<'l> List<'l> {
    /// Returns the number of entries.
    pub fn len(self) -> usize {
        self.0.len()
    }

    /// Iterates over all entries.
    #[inline(always)]
    pub fn iter(self) -> impl Iterator<Item = Later> + 'l {
        self.0.iter().map(|slot| Later(slot.load(Ordering::Relaxed)))
    }

    /// Iterates over all entries, `count` at a time.
    #[inline(always)]
    pub fn blocks(
        self,
        count: usize,
    ) -> impl Iterator<Item = impl Iterator<Item = Later> + 'l> + 'l {
        self.0.chunks(count).map(|block| List(block).iter())
    }
}
