//! A rank's shard of a graph that is partitioned among ranks.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::file_names;
use super::manifest::{FORMAT_VERSION_OF_PARTITIONS, Manifest};

/// Returns the name of a rank's directory in the folder of a partitioned graph.
pub fn shard_name(rank: usize) -> String {
    format!("rank-{rank}.tegula")
}

/// Says which shard of which graph a directory holds: the edges into a contiguous range of targets.
/// The directory has all vertices of the graph, with the same ids and dense ids, and all batches;
/// the batches of other ranks are empty.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Partition {
    /// The number of the rank, from 0.
    pub rank: u32,
    /// The first target of each rank, and the number of vertices.
    pub cuts: Vec<u64>,
    /// The manifest of the graph that was partitioned.
    pub whole: Box<Manifest>,
}

impl Partition {
    /// Number of ranks, at least 1.
    pub fn ranks(&self) -> usize {
        self.cuts.len().saturating_sub(1)
    }

    /// The targets of a rank, which are also the vertices whose states it keeps.
    ///
    /// # Panics
    /// When there is no such rank.
    pub fn vertices_of(&self, rank: usize) -> Range<u64> {
        self.cuts[rank]..self.cuts[rank + 1]
    }

    /// The targets of this rank.
    pub fn vertices(&self) -> Range<u64> {
        self.vertices_of(self.rank as usize)
    }

    /// The files that a shard has and other graphs have not: the degrees of the whole graph.
    pub(super) fn file_names(&self) -> impl Iterator<Item = &'static str> {
        let has_in_degrees = self.whole.file(file_names::IN_DEGREES).is_some();
        let in_degrees = has_in_degrees.then_some(file_names::WHOLE_IN_DEGREES);
        [file_names::WHOLE_OUT_DEGREES].into_iter().chain(in_degrees)
    }

    /// Whether it fits the manifest of its directory.
    pub(super) fn is_sound(&self, shard: &Manifest) -> bool {
        let whole = &*self.whole;
        (self.rank as usize) < self.ranks()
            && self.cuts.first() == Some(&0)
            && self.cuts.last() == Some(&whole.vertices)
            && self.cuts.is_sorted()
            // Of an edge between two ranks, a shard has one direction only.
            && !shard.undirected
            && whole.partition.is_none()
            && whole.has_known_files()
            && whole.has_sound_weight()
            && (whole.vertices, whole.weighted, whole.ids, whole.grid, whole.batches)
                == (shard.vertices, shard.weighted, shard.ids, shard.grid, shard.batches)
    }
}

impl Manifest {
    /// The manifest of a shard of this graph.
    pub(crate) fn of_shard(&self, partition: Partition, loops: u64, duplicates: u64) -> Manifest {
        Manifest {
            format_version: self.format_version.max(FORMAT_VERSION_OF_PARTITIONS),
            undirected: false,
            equal_weight: None,
            loops,
            duplicates,
            partition: Some(partition),
            ..self.without_rows()
        }
    }
}
