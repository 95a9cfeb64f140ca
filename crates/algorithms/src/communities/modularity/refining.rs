//! Splits communities into groups of units that are linked well.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use tegula_engine::Result;
use tegula_machine::threads::lock;

use super::links::{Links, SpareLinks};
use super::network::Network;
use super::partition::Partition;

/// A unit that is to join a group.
#[derive(Debug, Clone, Copy)]
struct Merger {
    unit: u32,
    group: u32,
    links: f64,
}

/// Groups of units within communities. A group has the number of its first unit.
struct Groups {
    of_units: Vec<u32>,
    sizes: Vec<u32>,
    /// The sum of the weights at each group.
    totals: Vec<f64>,
    /// Each group's weights to the rest of its community, added up.
    links_outside: Vec<f64>,
}

/// Returns the group of each unit. A unit that is still alone joins the group of its community by
/// which it gains most. Unit and group must be linked to the rest of the community at least as well
/// as at random. As in [`moving`](super::moving), the units of a step are looked at together, and
/// merged one after the other.
pub(super) fn refine(network: &Network<'_>, partition: &Partition, seed: u64) -> Result<Vec<u32>> {
    let count = partition.unit_count();
    let mut groups = Groups {
        of_units: (0..count).collect(),
        sizes: vec![1; count as usize],
        totals: partition.strengths.clone(),
        links_outside: links_within(network, partition)?,
    };
    let spare = SpareLinks::new(count);
    for step in network.steps(count, seed) {
        let pieces = network.pieces(partition, step.units());
        let mergers = Mutex::new(Vec::new());
        network.job.for_each(pieces.len(), |index| {
            let found = spare
                .with(|links| groups.find_mergers(network, partition, &pieces[index], links))?;
            lock(&mergers).push((index, found));
            Ok(())
        })?;
        let mut mergers = mergers.into_inner().unwrap_or_default();
        mergers.sort_unstable_by_key(|&(index, _)| index);
        for merger in mergers.into_iter().flat_map(|(_, mergers)| mergers) {
            groups.merge(merger);
        }
    }
    Ok(groups.of_units)
}

/// Returns the weights between each unit and the others of its community.
fn links_within(network: &Network<'_>, partition: &Partition) -> Result<Vec<f64>> {
    let count = partition.unit_count();
    let within: Vec<AtomicU64> = (0..count).map(|_| AtomicU64::new(0)).collect();
    let pieces = network.pieces(partition, 0..count);
    network.job.for_each(pieces.len(), |index| {
        // Only one worker looks at a unit, so the addition need not be atomic.
        network.for_each_arc(partition, &pieces[index], |unit, target, weight| {
            let is_within = partition.unit(target) != unit
                && partition.community(target) == partition.communities[unit as usize];
            if is_within {
                let sum = &within[unit as usize];
                let links = f64::from_bits(sum.load(Ordering::Relaxed)) + weight;
                sum.store(links.to_bits(), Ordering::Relaxed);
            }
        })
    })?;
    Ok(within.into_iter().map(|sum| f64::from_bits(sum.into_inner())).collect())
}

/// Returns the bytes that refining takes.
pub(super) fn size(vertex_count: u64) -> u64 {
    (4 + 4 + 8 + 8) * vertex_count
}

impl Groups {
    /// Returns whether a group is linked to the rest of its community at least as well as at
    /// random.
    fn is_linked_well(&self, network: &Network<'_>, group: u32, community: f64) -> bool {
        let total = self.totals[group as usize];
        self.links_outside[group as usize] >= network.expected(total, community - total)
    }

    /// Finds which of some units would join a group.
    fn find_mergers(
        &self,
        network: &Network<'_>,
        partition: &Partition,
        units: &[u32],
        links: &mut Links,
    ) -> Result<Vec<Merger>> {
        let community = |unit: u32| partition.communities[unit as usize];
        let group = |unit: u32, target| {
            (partition.community(target) == community(unit))
                .then(|| self.of_units[partition.unit(target) as usize])
        };
        let mut mergers = Vec::new();
        network.for_each_unit(partition, units, links, group, |unit, links| {
            let total = partition.totals[community(unit) as usize];
            let is_alone = self.of_units[unit as usize] == unit && self.sizes[unit as usize] == 1;
            if !is_alone || !self.is_linked_well(network, unit, total) {
                return;
            }
            let strength = partition.strengths[unit as usize];
            let mut best: Option<(f64, Merger)> = None;
            for (group, weight) in links.iter() {
                if !self.is_linked_well(network, group, total) {
                    continue;
                }
                let gain = network.gain(weight, strength, self.totals[group as usize]);
                let is_better = best.is_none_or(|(most, merger)| {
                    gain > most || gain == most && network.draw(group) < network.draw(merger.group)
                });
                if gain >= 0.0 && is_better {
                    best = Some((gain, Merger { unit, group, links: weight }));
                }
            }
            mergers.extend(best.map(|(_, merger)| merger));
        })?;
        Ok(mergers)
    }

    /// Lets a unit join a group, unless another unit has joined it or the group is empty by now.
    fn merge(&mut self, merger: Merger) {
        let (unit, group) = (merger.unit as usize, merger.group as usize);
        if self.sizes[unit] != 1 || self.sizes[group] == 0 {
            return;
        }
        self.of_units[unit] = merger.group;
        self.sizes[unit] = 0;
        self.sizes[group] += 1;
        self.totals[group] += self.totals[unit];
        self.links_outside[group] += self.links_outside[unit] - 2.0 * merger.links;
    }
}
