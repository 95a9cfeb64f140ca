//! Cuts the batches of a graph into contiguous ranges of about the same cost.

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

/// Cuts batches with these numbers of edges and targets among `ranks`, so that the dearest rank is
/// as cheap as possible. Takes a few passes over the batches. A rank gets no batch if there are
/// fewer batches than ranks.
pub(super) fn cut(batches: &[(u64, u64)], ranks: usize, balance: Balance) -> Vec<Range<usize>> {
    let cost = |&(edges, targets): &(u64, u64)| {
        balance.edge * edges as f64 + balance.vertex * targets as f64
    };
    let costs: Vec<f64> = batches.iter().map(cost).collect();
    let total: f64 = costs.iter().sum();
    let dearest = costs.iter().copied().fold(0.0, f64::max);
    let (mut low, mut high) = (dearest.max(total / ranks as f64), total);
    for _ in 0..STEPS {
        let middle = low.midpoint(high);
        match count_of(&costs, middle) <= ranks {
            true => high = middle,
            false => low = middle,
        }
    }
    let mut rest = Rest { costs: &costs, next: 0, total };
    (0..ranks).map(|rank| rest.take(ranks - rank, high)).collect()
}

/// Returns the number of ranks that suffice if none may cost more than `limit`.
fn count_of(costs: &[f64], limit: f64) -> usize {
    let (mut count, mut filled) = (1, 0.0);
    for cost in costs {
        if filled + cost > limit {
            (count, filled) = (count + 1, 0.0);
        }
        filled += cost;
    }
    count
}

/// The batches that no rank has yet.
struct Rest<'c> {
    costs: &'c [f64],
    next: usize,
    total: f64,
}

impl Rest<'_> {
    /// Takes the batches of the next of `ranks` ranks: about an even share, but at most what
    /// costs `limit`, and at least what the other ranks have no room for.
    fn take(&mut self, ranks: usize, limit: f64) -> Range<usize> {
        let start = self.next;
        let even = self.total / ranks as f64;
        let mut filled = 0.0;
        while let Some(&cost) = self.costs.get(self.next) {
            let is_even = filled + cost <= limit && filled + cost / 2.0 <= even;
            // The last test goes through all that is left, so it comes last.
            if ranks > 1 && !is_even && count_of(&self.costs[self.next..], limit) < ranks {
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
        let cuts = cut(&[(5, 1); 12], 4, Balance::EDGES);
        assert_eq!(cuts, [0..3, 3..6, 6..9, 9..12]);
    }

    #[test]
    fn a_target_costs_what_the_balance_says() {
        let batches = [(0, 30), (0, 10), (0, 10), (0, 10)];
        let balance = Balance { edge: 1.0, vertex: 2.0 };
        assert_eq!(cut(&batches, 2, balance), [0..1, 1..4]);
    }

    proptest! {
        #[test]
        fn ranges_cover_all_batches_and_the_dearest_is_as_cheap_as_possible(
            edges in prop::collection::vec(0..50u64, 0..10),
            ranks in 1..6usize,
        ) {
            let batches: Vec<(u64, u64)> = edges.iter().map(|&edges| (edges, 64)).collect();
            let cuts = cut(&batches, ranks, Balance::EDGES);
            prop_assert_eq!(cuts.len(), ranks);
            let mut next = 0;
            for range in &cuts {
                prop_assert_eq!(range.start, next);
                next = range.end;
            }
            prop_assert_eq!(next, batches.len());
            let dearest = costs_of(&batches, &cuts).into_iter().max().unwrap_or(0);
            prop_assert_eq!(dearest, least_dearest(&edges, ranks));
        }
    }

    /// Tries every cut.
    fn least_dearest(edges: &[u64], ranks: usize) -> u64 {
        if ranks == 1 {
            return edges.iter().sum();
        }
        let splits = (0..=edges.len()).map(|first| {
            let own: u64 = edges[..first].iter().sum();
            own.max(least_dearest(&edges[first..], ranks - 1))
        });
        splits.min().unwrap_or(0)
    }
}
