//! Cuts the batches of a graph into contiguous ranges, with costs in proportion to given shares.

use std::ops::Range;

/// The cost of a rank in any unit: what it takes for each edge into its targets, and for each
/// target.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Balance {
    /// The cost of an edge.
    pub edge: f64,
    /// The cost of a target: its arrays, and its messages to other ranks.
    pub vertex: f64,
}

impl Balance {
    /// Edges alone.
    pub const EDGES: Balance = Balance { edge: 1.0, vertex: 0.0 };
}

/// Steps of the search for the least cost of the dearest rank: each halves the error.
const STEPS: usize = 64;

/// Cuts batches with these numbers of edges and targets among ranks, in proportion to their
/// `shares`, which are positive. The greatest ratio of cost to share is as small as possible. Takes
/// a few passes over the batches. A rank may get no batch.
pub(super) fn cut(batches: &[(u64, u64)], shares: &[f64], balance: Balance) -> Vec<Range<usize>> {
    let cost = |&(edges, targets): &(u64, u64)| {
        balance.edge * edges as f64 + balance.vertex * targets as f64
    };
    let costs: Vec<f64> = batches.iter().map(cost).collect();
    let total: f64 = costs.iter().sum();
    let least_share = shares.iter().copied().fold(f64::INFINITY, f64::min);
    // The first rank could take all at this cost.
    let (mut low, mut high) = (total / shares.iter().sum::<f64>(), total / least_share);
    for _ in 0..STEPS {
        let middle = low.midpoint(high);
        match fits(&costs, shares, middle) {
            true => high = middle,
            false => low = middle,
        }
    }
    // Of the two limits, only `high` is known to fit.
    let mut rest = Rest { costs: &costs, next: 0, total };
    (0..shares.len()).map(|rank| rest.take(&shares[rank..], high)).collect()
}

/// Whether ranks with these shares suffice if none may cost more than `limit` for a share of 1.
fn fits(costs: &[f64], shares: &[f64], limit: f64) -> bool {
    let mut shares = shares.iter();
    let (mut room, mut filled) = (0.0, 0.0);
    costs.iter().all(|cost| {
        while filled + cost > room {
            match shares.next() {
                Some(share) => (room, filled) = (limit * share, 0.0),
                None => return false,
            }
        }
        filled += cost;
        true
    })
}

/// The batches that no rank has yet.
struct Rest<'c> {
    costs: &'c [f64],
    next: usize,
    total: f64,
}

impl Rest<'_> {
    /// Takes the batches of the first of the ranks that are left: about its share of what is left,
    /// but at most what `limit` allows, and at least what the other ranks have no room for.
    fn take(&mut self, shares: &[f64], limit: f64) -> Range<usize> {
        let start = self.next;
        let (share, others) = (shares[0], &shares[1..]);
        let fair = self.total * share / shares.iter().sum::<f64>();
        let mut filled = 0.0;
        while let Some(&cost) = self.costs.get(self.next) {
            let is_fair = filled + cost <= limit * share && filled + cost / 2.0 <= fair;
            // The last test goes through all that is left, so it comes last.
            if !others.is_empty() && !is_fair && fits(&self.costs[self.next..], others, limit) {
                break;
            }
            filled += cost;
            self.next += 1;
        }
        self.total -= filled;
        start..self.next
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn costs_of(batches: &[(u64, u64)], cuts: &[Range<usize>]) -> Vec<u64> {
        cuts.iter()
            .map(|range| batches[range.clone()].iter().map(|(edges, _)| edges).sum())
            .collect()
    }

    #[test]
    fn even_batches_are_shared_out_evenly() {
        let cuts = cut(&[(5, 1); 12], &[1.0; 4], Balance::EDGES);
        assert_eq!(cuts, [0..3, 3..6, 6..9, 9..12]);
    }

    #[test]
    fn a_target_costs_what_the_balance_says() {
        let batches = [(0, 30), (0, 10), (0, 10), (0, 10)];
        let balance = Balance { edge: 1.0, vertex: 2.0 };
        assert_eq!(cut(&batches, &[1.0; 2], balance), [0..1, 1..4]);
    }

    #[test]
    fn a_rank_with_twice_the_share_gets_twice_as_much() {
        let cuts = cut(&[(5, 1); 12], &[1.0, 2.0, 1.0], Balance::EDGES);
        assert_eq!(cuts, [0..3, 3..9, 9..12]);
    }

    proptest! {
        #[test]
        fn ranges_cover_all_batches_and_the_dearest_is_as_cheap_as_possible(
            edges in prop::collection::vec(0..50u64, 0..10),
            shares in prop::collection::vec(1..5u64, 1..6),
        ) {
            let batches: Vec<(u64, u64)> = edges.iter().map(|&edges| (edges, 64)).collect();
            let numbers: Vec<f64> = shares.iter().map(|&share| share as f64).collect();
            let cuts = cut(&batches, &numbers, Balance::EDGES);
            prop_assert_eq!(cuts.len(), shares.len());
            let mut next = 0;
            for range in &cuts {
                prop_assert_eq!(range.start, next);
                next = range.end;
            }
            prop_assert_eq!(next, batches.len());
            let costs = costs_of(&batches, &cuts).into_iter().zip(&shares);
            let dearest = costs.map(|(cost, share)| cost * 60 / share).max().unwrap_or(0);
            prop_assert_eq!(dearest, least_dearest(&edges, &shares));
        }
    }

    /// Tries every cut. Costs are multiplied by 60, which every share divides.
    fn least_dearest(edges: &[u64], shares: &[u64]) -> u64 {
        let cost = |own: &[u64]| own.iter().sum::<u64>() * 60 / shares[0];
        if shares.len() == 1 {
            return cost(edges);
        }
        let splits = (0..=edges.len())
            .map(|first| cost(&edges[..first]).max(least_dearest(&edges[first..], &shares[1..])));
        splits.min().unwrap_or(0)
    }
}
