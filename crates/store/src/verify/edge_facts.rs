//! Figures of the manifest about edges, computed once more from the edges.

use super::edge_sum::EdgeSum;
use crate::graph::{CommonWeight, Graph, Manifest, file_names};
use crate::tiles::Repeats;
use crate::{Error, Result};

/// Figures of edges, which are added in the order of the tiles. Holds 1 MiB at most.
#[derive(Debug, Default)]
pub(super) struct EdgeFacts {
    loops: u64,
    repeats: Repeats,
    common: CommonWeight,
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
        EdgeFacts { reversed, ..EdgeFacts::default() }
    }

    /// Adds an edge; its weight is 1 in an unweighted graph.
    #[inline]
    pub fn add(&mut self, source: u64, target: u64, weight: f32) {
        self.loops += u64::from(source == target);
        self.repeats.add(source, target);
        self.common.add(&[weight]);
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
        // Writers of version 8 to 10 did not look.
        if let Some(said) = manifest.equal_weight
            && self.common.get().map(f32::to_bits) != Some(said.to_bits())
        {
            let detail = format!("it says {said}, but some edge has another weight");
            return Err(graph.untrue("equal_weight", detail));
        }
        if self.reversed.is_some_and(|reversed| reversed != self.sum) {
            let detail = "there are edges that are not stored in both directions".to_owned();
            return Err(graph.untrue("undirected", detail));
        }
        Ok(())
    }
}
