//! Vertices in units, and units in communities.

use tegula_engine::{ShortId, huge};
use tegula_machine::memory::prefetch;

/// A partition of the vertices into units, which move as one, and of the units into communities. The numbers of both
/// count from 0 and are below the number of units.
pub(super) struct Partition {
    /// Where each dense id is.
    places: Vec<Place>,
    /// The vertices by unit, ascending within each.
    members: Vec<ShortId>,
    /// Where those of each unit begin, and the last end.
    starts: Vec<u32>,
    /// The weights at each unit: the sum of those at its vertices.
    pub(super) strengths: Vec<f64>,
    /// The community of each unit.
    pub(super) communities: Vec<u32>,
    /// The weights at each community.
    pub(super) totals: Vec<f64>,
    /// How many units each community has.
    pub(super) sizes: Vec<u32>,
}

/// Where a vertex is. Both are asked for of the other end of each edge, so they lie side by side.
#[derive(Debug, Clone, Copy)]
struct Place {
    unit: u32,
    /// That of the unit.
    community: u32,
}

impl Partition {
    /// Every vertex alone, by the weights at each.
    pub(super) fn singletons(strengths: Vec<f64>) -> Partition {
        let count = strengths.len() as u32;
        let mut places = huge::with_capacity(count as usize);
        places.extend((0..count).map(|id| Place { unit: id, community: id }));
        Partition {
            places,
            members: (0..count).map(ShortId).collect(),
            starts: (0..=count).collect(),
            communities: (0..count).collect(),
            totals: strengths.clone(),
            sizes: vec![1; count as usize],
            strengths,
        }
    }

    /// Bytes that it holds, and [regroups](Partition::regroup) in.
    pub(super) fn size(vertex_count: u64) -> u64 {
        (8 + 4 + 4 + 8 + 4 + 8 + 4 + 12) * vertex_count
    }

    pub(super) fn unit_count(&self) -> u32 {
        self.strengths.len() as u32
    }

    pub(super) fn community_count(&self) -> usize {
        self.sizes.iter().filter(|&&size| size > 0).count()
    }

    /// The vertices of a unit.
    pub(super) fn members(&self, unit: u32) -> &[ShortId] {
        let ends = &self.starts[unit as usize..][..2];
        &self.members[ends[0] as usize..ends[1] as usize]
    }

    /// Begins to read where a vertex is.
    #[inline]
    pub(super) fn prefetch(&self, vertex: ShortId) {
        prefetch(&self.places, vertex.index());
    }

    /// The unit of a vertex.
    #[inline]
    pub(super) fn unit(&self, vertex: ShortId) -> u32 {
        self.places[vertex.index()].unit
    }

    /// The community of a vertex.
    #[inline]
    pub(super) fn community(&self, vertex: ShortId) -> u32 {
        self.places[vertex.index()].community
    }

    /// A unit joins another community. Takes the time of its vertices.
    pub(super) fn join(&mut self, unit: u32, community: u32) {
        let strength = self.strengths[unit as usize];
        let before = std::mem::replace(&mut self.communities[unit as usize], community);
        let [start, end] = [unit, unit + 1].map(|unit| self.starts[unit as usize] as usize);
        for vertex in &self.members[start..end] {
            self.places[vertex.index()].community = community;
        }
        for (community, change, count) in [(before, -strength, u32::MAX), (community, strength, 1)]
        {
            let size = &mut self.sizes[community as usize];
            *size = size.wrapping_add(count);
            self.totals[community as usize] += change;
        }
        if self.sizes[before as usize] == 0 {
            // What rounding has left.
            self.totals[before as usize] = 0.0;
        }
    }

    /// Makes units of groups of units that are in the same community. The number of a group is below that of units.
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

    /// Sets out members, totals and sizes by units and communities.
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

/// Numbers without gaps for those that occur, by their first occurrence; and how many there are.
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
