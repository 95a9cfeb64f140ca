//! Graphs that are cut for ranks.

use std::fs;
use std::path::{Path, PathBuf};

use crate::bench::lab::{Lab, text};
use crate::tegula::command::{number, whole};
use crate::tegula::scratch::remove;
use crate::tegula::{Result, units};

/// A graph that `tegula partition` has cut.
#[derive(Debug, Clone)]
pub struct Cut {
    /// The folder of all shards.
    pub folder: PathBuf,
    pub vertices: f64,
    pub edges: f64,
    /// By rank.
    pub shards: Vec<Shard>,
}

/// The part of a rank.
#[derive(Debug, Clone, Copy)]
pub struct Shard {
    pub vertices: f64,
    pub edges: f64,
    pub tile_bytes: f64,
}

impl Lab<'_> {
    /// Returns the folder of the shards of a graph that is cut for a number of ranks.
    pub fn cut_folder(&self, ranks: usize) -> PathBuf {
        self.scratch.join(&format!("cut-{ranks}"))
    }

    /// Cuts a graph for a number of ranks.
    pub fn cut(&self, graph: &Path, ranks: usize) -> Result<Cut> {
        let folder = self.cut_folder(ranks);
        let count = ranks.to_string();
        let cut = ["partition", text(graph)?, "--ranks", &count, "-o", text(&folder)?, "--force"];
        let report = self.tegula.json(&cut)?;
        let shard = |rank: usize| -> Result<Shard> {
            let tiles = folder.join(format!("rank-{rank}.tegula")).join("tiles.data");
            Ok(Shard {
                vertices: number(&report, &format!("/ranks/{rank}/vertices"))?,
                edges: number(&report, &format!("/ranks/{rank}/edges"))?,
                tile_bytes: fs::metadata(tiles)?.len() as f64,
            })
        };
        Ok(Cut {
            shards: (0..ranks).map(shard).collect::<Result<_>>()?,
            vertices: whole(&report, "/vertices")? as f64,
            edges: whole(&report, "/edges")? as f64,
            folder,
        })
    }
}

impl Cut {
    /// Returns the number of ranks.
    pub fn ranks(&self) -> usize {
        self.shards.len()
    }

    /// Returns the greatest value that a shard has.
    pub fn most(&self, value: impl Fn(&Shard) -> f64) -> f64 {
        self.shards.iter().map(value).fold(0.0, f64::max)
    }

    /// Returns a sentence on how unevenly the edges are cut.
    pub fn unevenness(&self) -> String {
        let mean = self.edges / self.ranks() as f64;
        let most = units::three_digits(self.most(|shard| shard.edges) / mean.max(1.0));
        let idle = self.shards.iter().filter(|shard| shard.edges == 0.0).count();
        let idle = match idle {
            0 => String::new(),
            _ => format!("; ranks without edges, since cuts lie between batches: {idle}"),
        };
        format!("the largest shard has {most} times the mean of edges{idle}")
    }

    /// Removes all shards.
    pub fn discard(self) -> Result<()> {
        Ok(remove(&self.folder)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_without_edges_are_told() {
        let shards = [3.0, 1.0].map(|edges| Shard { vertices: 1.0, edges, tile_bytes: 1.0 });
        let mut cut =
            Cut { folder: "cut".into(), vertices: 2.0, edges: 4.0, shards: shards.to_vec() };
        assert_eq!(cut.unevenness(), "the largest shard has 1.50 times the mean of edges");
        cut.shards = [4.0, 0.0].map(|edges| Shard { edges, ..shards[0] }).to_vec();
        assert!(cut.unevenness().ends_with("between batches: 1"));
    }
}
