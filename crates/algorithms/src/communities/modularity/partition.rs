//! Vertices in units, and units in communities.

use tegula_engine::{ShortId, huge};
use tegula_machine::memory::prefetch;

/// A partition of the vertices of the graph, or of a contracted one, into units, which move as one,
/// and of the units into communities. Both have numbers from 0, below the number of units.
pub(super) struct Partition {
    /// The place of each vertex.
    places: Vec<Place>,
    /// The vertices by unit, ascending within each.
    members: Vec<ShortId>,
    /// Where the vertices of each unit begin, and where the last ones end.
    starts: Vec<u32>,
    /// The strength of each unit: the sum of the weights at its vertices.
    pub(super) strengths: Vec<f64>,
    /// The community of each unit.
    pub(super) communities: Vec<u32>,
    /// The sum of the weights at each community.
    pub(super) totals: Vec<f64>,
    /// The number of units in each community.
    pub(super) sizes: Vec<u32>,
}

/// The place of a vertex. Both numbers are read for the other end of each edge, so they lie side by
/// side.
#[derive(Debug, Clone, Copy)]
struct Place {
    unit: u32,
    /// The community of the unit.
    community: u32,
}

impl Partition {
    /// Makes a partition in which every vertex is a unit, with the weights at each vertex and its
    /// community: a number below that of vertices.
    pub(super) fn of_vertices(strengths: Vec<f64>, communities: Vec<u32>) -> Partition {
        let count = strengths.len() as u32;
        let mut places = huge::with_capacity(count as usize);
        let place = |(&community, unit)| Place { unit, community };
        places.extend(communities.iter().zip(0..).map(place));
        let mut partition = Partition {
            places,
            members: (0..count).map(ShortId).collect(),
            starts: (0..=count).collect(),
            strengths,
            communities,
            totals: Vec::new(),
            sizes: Vec::new(),
        };
        partition.add_up();
        partition
    }

    /// Returns the weights at each unit, and its community.
    pub(super) fn into_units(self) -> (Vec<f64>, Vec<u32>) {
        (self.strengths, self.communities)
    }

    /// Returns the bytes that it holds, also while it [regroups](Partition::regroup).
    pub(super) fn size(vertex_count: u64) -> u64 {
        (8 + 4 + 4 + 8 + 4 + 8 + 4 + 12) * vertex_count
    }

    pub(super) fn unit_count(&self) -> u32 {
        self.strengths.len() as u32
    }

    pub(super) fn community_count(&self) -> usize {
        self.sizes.iter().filter(|&&size| size > 0).count()
    }

    /// Returns the vertices of a unit.
    pub(super) fn members(&self, unit: u32) -> &[ShortId] {
        let ends = &self.starts[unit as usize..][..2];
        &self.members[ends[0] as usize..ends[1] as usize]
    }

    /// Prefetches the place of a vertex.
    #[inline]
    pub(super) fn prefetch(&self, vertex: ShortId) {
        prefetch(&self.places, vertex.index());
    }

    /// Returns the unit of a vertex.
    #[inline]
    pub(super) fn unit(&self, vertex: ShortId) -> u32 {
        self.places[vertex.index()].unit
    }

    /// Returns the community of a vertex.
    #[inline]
    pub(super) fn community(&self, vertex: ShortId) -> u32 {
        self.places[vertex.index()].community
    }

    /// Moves a unit to another community. Takes time in proportion to its vertices.
    pub(super) fn join(&mut self, unit: u32, community: u32) {
        let strength = self.strengths[unit as usize];
        let before = std::mem::replace(&mut self.communities[unit as usize], community);
        let [start, end] = [unit, unit + 1].map(|unit| self.starts[unit as usize] as usize);
        for vertex in &self.members[start..end] {
            self.places[vertex.index()].community = community;
        }
        // To wrapping additions, the greatest `u32` is -1.
        for (community, change, count) in [(before, -strength, u32::MAX), (community, strength, 1)]
        {
            let size = &mut self.sizes[community as usize];
            *size = size.wrapping_add(count);
            self.totals[community as usize] += change;
        }
        if self.sizes[before as usize] == 0 {
            // Remove what rounding has left.
            self.totals[before as usize] = 0.0;
        }
    }

    /// Makes units of groups of units, each within one community. A group has a number below that
    /// of units.
    pub(super) fn regroup(&mut self, groups: &[u32]) {
        let (numbers, count) = numbered(groups);
        let number = |unit: u32| numbers[groups[unit as usize] as usize];
        let mut strengths = vec![0.0; count as usize];
        let mut communities = vec![0; count as usize];
        for unit in 0..self.unit_count() {
            let group = number(unit) as usize;
            strengths[group] += self.strengths[unit as usize];
            communities[group] = self.communities[unit as usize];
        }
        self.places.iter_mut().for_each(|place| place.unit = number(place.unit));
        self.strengths = strengths;
        let (numbers, _) = numbered(&communities);
        communities.iter_mut().for_each(|community| *community = numbers[*community as usize]);
        for place in &mut self.places {
            place.community = communities[place.unit as usize];
        }
        self.communities = communities;
        self.count_again();
    }

    /// Lists the members of each unit again, and adds up the communities.
    fn count_again(&mut self) {
        let count = self.strengths.len();
        self.starts.clear();
        self.starts.resize(count + 1, 0);
        self.places.iter().for_each(|place| self.starts[place.unit as usize + 1] += 1);
        for unit in 0..count {
            self.starts[unit + 1] += self.starts[unit];
        }
        let mut next = self.starts.clone();
        for (vertex, place) in (0..).map(ShortId).zip(&self.places) {
            let next = &mut next[place.unit as usize];
            self.members[*next as usize] = vertex;
            *next += 1;
        }
        self.add_up();
    }

    /// Adds up the weights and the units of each community.
    fn add_up(&mut self) {
        let count = self.strengths.len();
        self.totals.clear();
        self.totals.resize(count, 0.0);
        self.sizes.clear();
        self.sizes.resize(count, 0);
        for (&community, strength) in self.communities.iter().zip(&self.strengths) {
            self.totals[community as usize] += strength;
            self.sizes[community as usize] += 1;
        }
    }
}

/// Numbers the groups that occur by their first occurrence, without gaps. Returns the numbers and
/// their count.
fn numbered(groups: &[u32]) -> (Vec<u32>, u32) {
    let most = groups.iter().max().map_or(0, |&most| most as usize + 1);
    let (mut numbers, mut next) = (vec![u32::MAX; most], 0);
    for &group in groups {
        let number = &mut numbers[group as usize];
        if *number == u32::MAX {
            *number = next;
            next += 1;
        }
    }
    (numbers, next)
}
