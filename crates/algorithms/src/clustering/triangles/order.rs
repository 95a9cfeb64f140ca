//! The order of vertices by degree, and lists of later neighbours.

use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};

use tegula_engine::traverse::Neighbours;
use tegula_engine::{Graph, Result, huge};

/// The order of vertices by ascending number of stored edges, then by dense id.
pub(super) struct Order {
    /// The place of each vertex, by dense id.
    places: Vec<u32>,
}

impl Order {
    /// Finds the order of a graph. Takes 8 bytes a vertex, of which 4 stay.
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
        let mut by_degree: Vec<u32> = huge::with_capacity(vertex_count as usize);
        by_degree.extend(0..vertex_count);
        // The sort is stable, so vertices of one degree stay in the order of their ids.
        by_degree.sort_by_key(|&vertex| degrees[vertex as usize]);
        // The degrees are not needed any more.
        let mut places = degrees;
        for (place, vertex) in (0..).zip(by_degree) {
            places[vertex as usize] = place;
        }
        Ok(Order { places })
    }

    /// Returns the place of a vertex.
    #[inline]
    pub fn place(&self, vertex: usize) -> u32 {
        self.places[vertex]
    }

    /// Puts the later neighbours of a vertex into `later`, which it clears first.
    pub fn later(&self, neighbours: &Neighbours<'_>, later: &mut Vec<Later>) {
        later.clear();
        let own = self.place(neighbours.vertex.index());
        neighbours.for_each(|neighbour| {
            let place = self.place(neighbour.id.index());
            if place > own {
                later.push(Later::new(place, neighbour.is_mutual));
            }
        });
    }

    /// Brings values by place into the order of dense ids.
    pub fn by_vertex<V: Copy>(&self, by_place: &[V]) -> Vec<V> {
        let mut values = huge::with_capacity(by_place.len());
        values.extend(self.places.iter().map(|&place| by_place[place as usize]));
        values
    }
}

/// A later neighbour: its place, and whether edges lead both ways.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Later(u32);

impl Later {
    /// The most vertices that a graph may have.
    pub const VERTICES_MAX: u64 = 1 << 31;

    fn new(place: u32, is_mutual: bool) -> Later {
        Later(place | u32::from(is_mutual) << 31)
    }

    /// Returns the place.
    #[inline(always)]
    pub fn place(self) -> usize {
        (self.0 & (u32::MAX >> 1)) as usize
    }

    /// Returns in how many directions edges lead: 1 or 2.
    #[inline(always)]
    pub fn directions(self) -> u32 {
        1 + (self.0 >> 31)
    }
}

/// The lists of a range of places, which several workers fill at the same time.
pub(super) struct Lists {
    places: Range<usize>,
    /// Where each list begins, and where the last ends.
    offsets: Vec<u64>,
    entries: Vec<AtomicU32>,
}

impl Lists {
    /// Makes empty lists of these lengths, for the places from `first` on.
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
        Lists { places: first..first + lengths.len(), offsets, entries }
    }

    /// Returns the places that have lists.
    pub fn places(&self) -> &Range<usize> {
        &self.places
    }

    /// Fills the list of a place.
    pub fn fill(&self, place: usize, later: &[Later]) {
        let slots = self.slots(place);
        assert_eq!(slots.len(), later.len(), "rows are as they were counted");
        slots.iter().zip(later).for_each(|(slot, later)| slot.store(later.0, Ordering::Relaxed));
    }

    /// Returns the list of a place.
    #[inline]
    pub fn list(&self, place: usize) -> List<'_> {
        List(self.slots(place))
    }

    fn slots(&self, place: usize) -> &[AtomicU32] {
        let index = place - self.places.start;
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
