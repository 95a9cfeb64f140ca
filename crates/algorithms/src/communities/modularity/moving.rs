//! Moves units to the communities to which they are linked best.

use tegula_engine::traverse::VertexSet;
use tegula_engine::{Result, ShortId};

use super::links::{Links, SpareLinks};
use super::network::Network;
use super::partition::Partition;

/// The most sweeps over the units of a level.
const SWEEPS_MAX: u64 = 32;

/// A unit that is to move.
#[derive(Debug, Clone, Copy)]
struct Move {
    unit: u32,
    /// The community to join; `None` for one of its own.
    community: Option<u32>,
    /// The weights to that community, minus the weights to the present one.
    links: f64,
}

/// Moves units until none gains by it. All workers together look at the units of a
/// [step](Network::steps). These move one after the other, if the move is still a gain. Neighbours
/// are seldom in one step, as each would move to where the other has just left. Returns whether a
/// unit has moved.
pub(super) fn move_units(network: &Network<'_>, partition: &mut Partition) -> Result<bool> {
    let count = partition.unit_count();
    let spare = SpareLinks::new(count);
    // Units whose surroundings have changed since they were looked at.
    let waiting = VertexSet::full(count);
    let mut empty: Vec<u32> =
        (0..count).filter(|&unit| partition.sizes[unit as usize] == 0).collect();
    for sweep in 0..SWEEPS_MAX {
        let mut has_moved = false;
        for step in network.steps(count, sweep, |unit| waiting.contains(ShortId(unit))) {
            // Before the step: its own moves may let these units wait again.
            step.iter().for_each(|&unit| waiting.remove(ShortId(unit)));
            let pieces = network.pieces(partition, step.into_iter());
            let moves = network.map(&pieces, |units| {
                spare.with(|links| find_moves(network, partition, units, links))
            })?;
            let mut moved: Vec<u32> = Vec::new();
            for wanted in moves.into_iter().flatten() {
                if carry_out(network, partition, wanted, &mut empty) {
                    moved.push(wanted.unit);
                }
            }
            let_wait_around(network, partition, &moved, &waiting)?;
            has_moved |= !moved.is_empty();
        }
        if !has_moved {
            return Ok(sweep > 0);
        }
    }
    Ok(true)
}

/// Returns the bytes that moving takes: for waiting units and empty communities.
pub(super) fn size(vertex_count: u64) -> u64 {
    VertexSet::size(vertex_count) + 4 * vertex_count
}

/// Finds which of some units would gain by a move.
fn find_moves(
    network: &Network<'_>,
    partition: &Partition,
    units: &[u32],
    links: &mut Links,
) -> Result<Vec<Move>> {
    let mut moves = Vec::new();
    let community = |_, target| Some(partition.community(target));
    network.for_each_unit(partition, units, links, community, |unit, links| {
        moves.extend(best_move(network, partition, unit, links));
    })?;
    Ok(moves)
}

/// Finds the community by which a unit would gain most.
fn best_move(
    network: &Network<'_>,
    partition: &Partition,
    unit: u32,
    links: &Links,
) -> Option<Move> {
    let own = partition.communities[unit as usize];
    let strength = partition.strengths[unit as usize];
    let rest = partition.totals[own as usize] - strength;
    let own_gain = network.gain(links.to(own), strength, rest);
    let mut best = (own_gain, None);
    for (community, weight) in links.iter().filter(|&(community, _)| community != own) {
        let gain = network.gain(weight, strength, partition.totals[community as usize]);
        let is_better = match best.1 {
            _ if gain > best.0 => true,
            Some(other) if gain == best.0 => network.draw(community) < network.draw(other),
            _ => false,
        };
        if is_better {
            best = (gain, Some(community));
        }
    }
    let is_alone = partition.sizes[own as usize] == 1;
    // In a community of its own, a unit gains 0.
    if best.0 < 0.0 && !is_alone {
        return Some(Move { unit, community: None, links: -links.to(own) });
    }
    let community = best.1?;
    Some(Move { unit, community: Some(community), links: links.to(community) - links.to(own) })
}

/// Moves a unit if this is a gain after the moves before it. Returns whether it has moved.
fn carry_out(
    network: &Network<'_>,
    partition: &mut Partition,
    wanted: Move,
    empty: &mut Vec<u32>,
) -> bool {
    let Move { unit, community, links } = wanted;
    let own = partition.communities[unit as usize];
    let strength = partition.strengths[unit as usize];
    let is_alone = partition.sizes[own as usize] == 1;
    let Some(community) = community else {
        // Moves before this one may have left the unit alone already.
        let Some(&free) = empty.last().filter(|_| !is_alone) else { return false };
        empty.pop();
        partition.join(unit, free);
        return true;
    };
    let rest = partition.totals[own as usize] - strength;
    let total = partition.totals[community as usize];
    // Of two lone units that would join each other, one has done so, and its place is empty.
    let is_left = partition.sizes[community as usize] == 0;
    if is_left || network.gain(links, strength, total - rest) <= 0.0 {
        return false;
    }
    partition.join(unit, community);
    if is_alone {
        empty.push(own);
    }
    true
}

/// Lets the units wait that are linked to moved ones and in other communities.
fn let_wait_around(
    network: &Network<'_>,
    partition: &Partition,
    moved: &[u32],
    waiting: &VertexSet,
) -> Result<()> {
    let pieces = network.pieces(partition, moved.iter().copied());
    network.map(&pieces, |units| {
        network.for_each_arc(partition, units, |unit, target, _| {
            if partition.community(target) != partition.communities[unit as usize] {
                waiting.insert(ShortId(partition.unit(target)));
            }
        })
    })?;
    Ok(())
}
