//! Graphs to measure on, and ways to run the command on them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rustix::fs::statvfs;
use serde_json::Value;

use super::disk::read_sequentially;
use super::figure::{Figure, median};
use super::graphs::Made;
use crate::tegula::command::{Tegula, number, vertex, whole};
use crate::tegula::page_cache::PageCache;
use crate::tegula::scratch::{Scratch, remove};
use crate::tegula::{Result, units};

/// The scale of targets.
pub const SCALE: u32 = 24;
/// The memory budget of runs from disk at this scale.
pub const DISK_MEMORY: u64 = 512 << 20;
/// Reads of a tile file that measure the rate of the disk.
const DISK_READS: usize = 3;

/// How thoroughly everything is measured.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    pub scale: u32,
    pub rounds: usize,
    pub is_quick: bool,
    /// Log2 of the vertices of a graph beyond memory, where it does not follow from the scale.
    pub vertices_log2: Option<u32>,
}

/// A generated and imported R-MAT graph.
#[derive(Debug, Clone)]
pub struct Prepared {
    pub scale: u32,
    /// Raw pairs of 32-bit ids.
    pub pairs: PathBuf,
    /// The graph directory.
    pub graph: PathBuf,
    pub vertices: u64,
    pub edges: u64,
    pub bytes_per_edge: f64,
    /// The vertex with the greatest rank, which has nearly the most edges.
    pub hub: String,
}

impl Prepared {
    pub fn tiles(&self) -> PathBuf {
        self.graph.join("tiles.data")
    }
}

/// The place of all measurements: the command, its files, and the graphs made so far.
pub struct Lab<'a> {
    pub root: &'a Path,
    pub settings: Settings,
    pub tegula: Tegula,
    pub scratch: Scratch,
    pub cache: PageCache,
    /// The rate of the disk, measured on the first R-MAT graph.
    pub disk_bytes_per_second: Option<f64>,
    /// Remarks for readers of the figures.
    pub remarks: Vec<String>,
    prepared: BTreeMap<u32, Prepared>,
    /// Graphs with rows.
    pub made: Vec<Made>,
}

impl<'a> Lab<'a> {
    /// Builds the command and makes a scratch folder.
    pub fn open(root: &'a Path, settings: Settings) -> Result<Lab<'a>> {
        Ok(Lab {
            root,
            settings,
            tegula: Tegula::build(root)?,
            scratch: Scratch::new("bench", false)?,
            cache: PageCache::detect(),
            disk_bytes_per_second: None,
            remarks: Vec::new(),
            prepared: BTreeMap::new(),
            made: Vec::new(),
        })
    }

    /// Returns the R-MAT graph of a scale, which is made on first use.
    pub fn rmat(&mut self, scale: u32) -> Result<Prepared> {
        if let Some(prepared) = self.prepared.get(&scale) {
            return Ok(prepared.clone());
        }
        let pairs = self.scratch.join(&format!("rmat-{scale}.bin32"));
        self.generate(scale, &pairs)?;
        let graph = self.scratch.join(&format!("rmat-{scale}.tegula"));
        let report = self.tegula.json(&["import", text(&pairs)?, "-o", text(&graph)?])?;
        let ranks = self.pagerank(&graph, 2, None)?;
        let prepared = Prepared {
            scale,
            vertices: whole(&report, "/vertices")?,
            edges: whole(&report, "/edges")?,
            bytes_per_edge: number(&report, "/bytes_per_edge/tiles")?,
            hub: vertex(&ranks, "/summary/top/0/vertex")?,
            pairs,
            graph,
        };
        if self.disk_bytes_per_second.is_none() {
            self.disk_bytes_per_second = Some(self.disk_rate(&prepared)?);
        }
        self.prepared.insert(scale, prepared.clone());
        Ok(prepared)
    }

    /// Returns tiles of the R-MAT graph of a scale in both directions, made on first use.
    pub fn rmat_both_ways(&mut self, scale: u32) -> Result<PathBuf> {
        let pairs = self.rmat(scale)?.pairs;
        let graph = self.scratch.join(&format!("rmat-{scale}-both-ways.tegula"));
        if !graph.exists() {
            self.tegula.json(&["import", text(&pairs)?, "-o", text(&graph)?, "--undirected"])?;
        }
        Ok(graph)
    }

    /// Removes the R-MAT graph of a scale.
    pub fn forget(&mut self, scale: u32) -> Result<()> {
        if let Some(prepared) = self.prepared.remove(&scale) {
            remove(&prepared.pairs)?;
            remove(&prepared.graph)?;
        }
        Ok(())
    }

    /// Whether the disk has `needed` bytes for a graph. If not, adds a remark.
    pub fn has_room(&mut self, needed: u64, graph: &str) -> Result<bool> {
        let disk = statvfs(self.scratch.path())?;
        let free = disk.f_bavail * disk.f_frsize;
        if free < needed {
            let (needed, free) = (units::bytes(needed as f64), units::bytes(free as f64));
            self.leave_out(&format!(
                "{graph} needs {needed} of disk, and {free} are free. `TEGULA_SCRATCH` may name a folder of \
                 another disk."
            ));
        }
        Ok(free >= needed)
    }

    /// Writes the edges of an R-MAT graph, in the format that the file's ending tells.
    pub fn generate(&self, scale: u32, file: &Path) -> Result<()> {
        let scale = scale.to_string();
        self.tegula.json(&["generate", "rmat", "--scale", &scale, "-o", text(file)?])?;
        Ok(())
    }

    fn disk_rate(&self, prepared: &Prepared) -> Result<f64> {
        let mut rates = Vec::new();
        for _ in 0..DISK_READS {
            self.cache.drop(&prepared.graph)?;
            let read = read_sequentially(&prepared.tiles())?;
            rates.push(read.bytes as f64 / read.seconds);
        }
        Ok(median(&rates))
    }

    /// Runs PageRank, in memory or within a budget and from a cold disk.
    pub fn pagerank(&self, graph: &Path, iterations: u64, memory: Option<u64>) -> Result<Value> {
        self.run("pagerank", graph, memory, &["--iterations", &iterations.to_string()])
    }

    /// Runs an algorithm, in memory or within a budget and from a cold disk.
    pub fn run(
        &self,
        algorithm: &str,
        graph: &Path,
        memory: Option<u64>,
        options: &[&str],
    ) -> Result<Value> {
        let budget = memory.map(|bytes| bytes.to_string());
        let mut arguments = vec!["run", algorithm, text(graph)?];
        arguments.extend(options);
        if let Some(budget) = &budget {
            arguments.extend(["--memory", budget]);
            self.cache.drop(graph)?;
        }
        self.tegula.json(&arguments)
    }

    /// Returns the budget of runs from disk: 512 MiB at scale 24, and in proportion at other
    /// scales. Small graphs get at least what a run needs, because the needs do not shrink with
    /// them.
    pub fn disk_memory(&self, prepared: &Prepared) -> Result<u64> {
        let memory = (DISK_MEMORY << prepared.scale) >> SCALE;
        if prepared.scale >= SCALE {
            return Ok(memory);
        }
        let mut needed = 0;
        for (algorithm, options) in
            [("pagerank", vec![]), ("wcc", vec![]), ("bfs", vec!["--source", &prepared.hub])]
        {
            let options = [options, vec!["--estimate"]].concat();
            let estimate = self.run(algorithm, &prepared.graph, None, &options)?;
            needed = needed.max(whole(&estimate, "/needed_bytes")?);
        }
        Ok(memory.max(needed + needed / 16))
    }

    /// Adds a remark that says why something is left out, and says it on the terminal at once.
    pub fn leave_out(&mut self, why: &str) {
        let remark = format!("NOT MEASURED: {why}");
        eprintln!("  {remark}");
        self.remarks.push(remark);
    }

    /// Gives a figure its targets, if the scale is the one that they are for.
    pub fn with_targets(&self, figure: Figure, set: impl Fn(Figure) -> Figure) -> Figure {
        if self.settings.scale == SCALE { set(figure) } else { figure }
    }
}

/// Returns a path as an argument; fails where it is not UTF-8.
pub fn text(path: &Path) -> Result<&str> {
    path.to_str().ok_or_else(|| format!("{} is not UTF-8", path.display()).into())
}
