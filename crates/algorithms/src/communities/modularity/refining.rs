//! Splits communities into groups of units that are linked well.

use std::cell::Cell;
use std::sync::Mutex;

use tegula_engine::Result;
use tegula_machine::threads::lock;

use super::links::{Links, SpareLinks};
use super::network::Network;
use super::partition::Partition;

/// A group of units within a community.
#[derive(Debug, Clone, Copy)]
struct Group {
    /// The group that the first unit of this group is in by now.
    joined: u32,
    /// The number of units; 0 if the only unit has joined another group.
    size: u32,
    /// The sum of the weights at the group.
    total: f64,
    /// The weights to the rest of its community.
    links_outside: f64,
}

/// The groups of whole communities, which one worker forms.
struct Groups<'g> {
    /// The units of the communities, one community after the other.
    units: &'g [u32],
    /// Where each unit of the graph is in the order of all units by community.
    places: &'g [u32],
    /// The place of the first unit.
    first: u32,
    /// Group `index` has the number `first + index`. It began as unit `index`.
    groups: &'g [Cell<Group>],
}

/// Units by community, ascending within each.
struct ByCommunity {
    units: Vec<u32>,
    /// The place of each unit in `units`.
    places: Vec<u32>,
}

/// Returns the group of each unit, and the sum of the weights between communities. A unit that is
/// still alone joins the group of its community by which it gains most. Unit and group must be
/// linked to the rest of the community at least as well as at random. The units of a community come
/// one after the other; workers have different communities.
pub(super) fn refine(network: &Network<'_>, partition: &Partition) -> Result<(Vec<u32>, f64)> {
    let ByCommunity { units, places } = ByCommunity::new(partition);
    let mut groups: Vec<Group> = (0..)
        .zip(&units)
        .map(|(place, &unit)| {
            let total = partition.strengths[unit as usize];
            Group { joined: place, size: 1, total, links_outside: 0.0 }
        })
        .collect();
    let spare = SpareLinks::new(partition.unit_count());
    let pieces = network.communities(partition, &units);
    let mut left = &mut groups[..];
    let mut first = 0;
    let parts: Vec<_> = pieces
        .iter()
        .map(|piece| {
            let (own, rest) = std::mem::take(&mut left).split_at_mut(piece.len());
            left = rest;
            let part = (first, Mutex::new(own));
            first += piece.len() as u32;
            part
        })
        .collect();
    let between = network.map_indexed(pieces.len(), |index| {
        let (first, own) = &parts[index];
        let mut own = lock(own);
        // In cells, because one closure reads the groups while another one changes them.
        let groups = Cell::from_mut(&mut **own).as_slice_of_cells();
        let groups = Groups { units: pieces[index], places: &places, first: *first, groups };
        spare.with(|links| groups.form(network, partition, links))
    })?;
    drop(parts);
    let joined = places.iter().map(|&place| units[groups[place as usize].joined as usize]);
    Ok((joined.collect(), between.into_iter().sum()))
}

/// Returns the bytes that refining takes.
pub(super) fn size(vertex_count: u64) -> u64 {
    // Units by community, their places, groups, and the result.
    (4 + 4 + size_of::<Group>() as u64 + 4) * vertex_count
}

impl ByCommunity {
    fn new(partition: &Partition) -> ByCommunity {
        let communities = &partition.communities;
        let mut next = Vec::with_capacity(communities.len());
        let mut start = 0;
        for size in &partition.sizes {
            next.push(start);
            start += size;
        }
        let mut units = vec![0; communities.len()];
        let place = |(&community, unit): (&u32, u32)| {
            let next: &mut u32 = &mut next[community as usize];
            units[*next as usize] = unit;
            *next += 1;
            *next - 1
        };
        let places = communities.iter().zip(0..).map(place).collect();
        ByCommunity { units, places }
    }
}

impl Groups<'_> {
    /// Forms the groups. Returns the sum of the weights to other communities.
    fn form(&self, network: &Network<'_>, partition: &Partition, links: &mut Links) -> Result<f64> {
        let mut between = 0.0;
        network.for_each_arc(partition, self.units, |unit, target, weight| {
            if partition.community(target) != partition.communities[unit as usize] {
                between += weight;
            } else if partition.unit(target) != unit {
                self.change(self.places[unit as usize], |group| group.links_outside += weight);
            }
        })?;
        let group = |unit: u32, target| {
            (partition.community(target) == partition.communities[unit as usize])
                .then(|| self.group(self.places[partition.unit(target) as usize]).joined)
        };
        network.for_each_unit(partition, self.units, links, group, |unit, links| {
            let total = partition.totals[partition.communities[unit as usize] as usize];
            let place = self.places[unit as usize];
            if let Some((group, weight)) = self.best(network, place, total, links) {
                self.join(place, group, weight);
            }
        })?;
        Ok(between)
    }

    fn group(&self, number: u32) -> Group {
        self.groups[(number - self.first) as usize].get()
    }

    fn change(&self, number: u32, change: impl FnOnce(&mut Group)) {
        let mut group = self.group(number);
        change(&mut group);
        self.groups[(number - self.first) as usize].set(group);
    }

    /// Returns the group by which the unit at a place gains most, and the links between them.
    fn best(
        &self,
        network: &Network<'_>,
        place: u32,
        community: f64,
        links: &Links,
    ) -> Option<(u32, f64)> {
        // Whether a group is linked to the rest of its community at least as well as at random.
        let is_linked_well = |group: &Group| {
            group.links_outside >= network.expected(group.total, community - group.total)
        };
        let unit = self.group(place);
        if unit.joined != place || unit.size != 1 || !is_linked_well(&unit) {
            return None;
        }
        let mut best: Option<(f64, u32, f64)> = None;
        for (number, weight) in links.iter() {
            let group = self.group(number);
            if !is_linked_well(&group) {
                continue;
            }
            let gain = network.gain(weight, unit.total, group.total);
            let is_better = best.is_none_or(|(most, other, _)| {
                gain > most || gain == most && network.draw(number) < network.draw(other)
            });
            if gain >= 0.0 && is_better {
                best = Some((gain, number, weight));
            }
        }
        best.map(|(_, number, weight)| (number, weight))
    }

    /// Lets the only unit of a group join another group.
    fn join(&self, place: u32, group: u32, links: f64) {
        let unit = self.group(place);
        self.change(group, |group| {
            group.size += 1;
            group.total += unit.total;
            // The links between the two were outside of each of them.
            group.links_outside += unit.links_outside - 2.0 * links;
        });
        self.change(place, |own| (own.joined, own.size) = (group, 0));
    }
}
