//! Figures of the manifest about edges, computed once more from the edges.

use super::edge_sum::EdgeSum;
use crate::graph::{EqualWeight, Graph, Manifest, file_names};
use crate::tiles::Repeats;
use crate::{Error, Result};

/// Figures of edges, which are added in the order of the tiles. Holds 1 MiB at most.
#[derive(Debug, Default)]
pub(super) struct EdgeFacts {
    loops: u64,
    repeats: Repeats,
    /// Whether all weights are equal. No weight is added if there is nothing to compare with.
    equal_weight: EqualWeight,
    /// The `equal_weight` of the manifest; in a shard, that of the whole graph.
    claimed: Option<f32>,
    sum: EdgeSum,
    /// The sum over the reversed edges, in an undirected graph, where both must agree.
    reversed: Option<EdgeSum>,
}

impl Graph {
    /// Returns the error for a wrong field of the manifest.
    pub(super) fn untrue(&self, field: &str, detail: String) -> Error {
        let path = self.directory().join(file_names::MANIFEST);
        Error::corrupt(path, format!("`{field}`"), detail)
    }
}

impl EdgeFacts {
    pub fn new(manifest: &Manifest) -> EdgeFacts {
        let reversed = manifest.undirected.then(EdgeSum::default);
        let of_whole =
            manifest.partition.as_ref().and_then(|partition| partition.whole.equal_weight);
        let claimed = manifest.equal_weight.or(of_whole);
        EdgeFacts { reversed, claimed, ..EdgeFacts::default() }
    }

    /// Adds an edge; its weight is 1 in an unweighted graph.
    #[inline]
    pub fn add(&mut self, source: u64, target: u64, weight: f32) {
        self.loops += u64::from(source == target);
        self.repeats.add(source, target);
        if self.claimed.is_some() {
            self.equal_weight.add(weight);
        }
        self.sum.add(source, target, weight);
        if let Some(reversed) = &mut self.reversed {
            reversed.add(target, source, weight);
        }
    }

    /// The sum of all edges.
    pub fn sum(&self) -> EdgeSum {
        self.sum
    }

    /// Checks the manifest of a graph against these figures.
    pub fn check(&self, graph: &Graph) -> Result<()> {
        let manifest = graph.manifest();
        for (field, said, found) in [
            ("loops", manifest.loops, self.loops),
            ("duplicates", manifest.duplicates, self.repeats.count()),
        ] {
            if said != found {
                return Err(graph.untrue(field, format!("it says {said}, but there are {found}")));
            }
        }
        if let Some(claimed) = self.claimed {
            let is_true = match self.equal_weight {
                // Another shard may have the edges.
                EqualWeight::NoEdge => manifest.partition.is_some(),
                EqualWeight::All(weight) => weight.to_bits() == claimed.to_bits(),
                EqualWeight::Differs => false,
            };
            if !is_true {
                let detail = format!("it says {claimed}, but not every edge has that weight");
                return Err(graph.untrue("equal_weight", detail));
            }
        }
        if self.reversed.is_some_and(|reversed| reversed != self.sum) {
            let detail = "there are edges that are not stored in both directions".to_owned();
            return Err(graph.untrue("undirected", detail));
        }
        Ok(())
    }
}
