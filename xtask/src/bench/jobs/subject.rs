//! Graphs for jobs: with both directions of each edge, as components by propagation need.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use super::job_files::{Job, mix};
use crate::bench::figures::rows::edge_list;
use crate::bench::lab::{Lab, text};
use crate::bench::random::{Random, sample};
use crate::tegula::Result;
use crate::tegula::command::{vertex, whole};
use crate::tegula::scratch::remove;

/// The seed of all random choices.
pub const SEED: u64 = 2019;
/// The sources that are drawn for a graph.
const SOURCES: usize = 256;
/// Edges a vertex of the uniform graph.
const UNIFORM_DEGREE: u64 = 16;

/// Which graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which {
    /// R-MAT of the scale that is measured.
    Rmat,
    /// The vertices and edges of R-MAT, but all pairs of vertices are equally likely.
    Uniform,
    /// A crawl of websites, the one graph of the paper's kind that is at hand.
    Cnr,
}

/// A graph, and what jobs on it need to know.
#[derive(Debug, Clone)]
pub struct Subject {
    pub title: String,
    pub graph: PathBuf,
    pub tile_bytes: u64,
    /// Vertices of the largest component, drawn at random.
    pub sources: Vec<String>,
    /// A vertex with many edges.
    pub hub: String,
    /// Iterations until components by propagation are found.
    wcc_iterations: u64,
}

impl Subject {
    /// Makes the graph unless it is there. Without its data there is a remark.
    pub fn of(lab: &mut Lab<'_>, which: Which) -> Result<Option<Subject>> {
        let scale = lab.settings.scale;
        let (title, graph) = match which {
            Which::Rmat => (format!("R-MAT {scale}"), lab.rmat_both_ways(scale)?),
            Which::Uniform => (format!("uniform 2^{scale}"), uniform(lab, scale)?),
            Which::Cnr => match crawl(lab)? {
                Some(graph) => ("cnr-2000".to_owned(), graph),
                None => return Ok(None),
            },
        };
        let propagated = lab.run("wcc", &graph, None, &["--method", "propagation"])?;
        let ranks = lab.pagerank(&graph, 2, None)?;
        Ok(Some(Subject {
            tile_bytes: fs::metadata(graph.join("tiles.data"))?.len(),
            sources: sources(lab, &graph, &vertex(&propagated, "/summary/top/0/component")?)?,
            hub: vertex(&ranks, "/summary/top/0/vertex")?,
            wcc_iterations: whole(&propagated, "/iterations")?,
            title,
            graph,
        }))
    }

    /// The R-MAT graph, which needs no data.
    pub fn rmat(lab: &mut Lab<'_>) -> Result<Subject> {
        Ok(Subject::of(lab, Which::Rmat)?.ok_or("R-MAT is generated")?)
    }

    /// Returns the paper's mix on this graph, the same in every run.
    pub fn mix(&self, count: usize) -> Vec<Job> {
        self.mix_from(count, &self.sources)
    }

    /// Returns the mix with searches from these sources.
    pub fn mix_from(&self, count: usize, sources: &[String]) -> Vec<Job> {
        mix(count, sources, self.wcc_iterations, &mut Random::new(SEED))
    }

    /// Returns the memory of a batch from disk: all vertex arrays and a quarter of the tiles.
    pub fn memory(&self, lab: &Lab<'_>, jobs: &[Job], jobs_max: usize) -> Result<u64> {
        Ok(lab.needed(&self.graph, jobs, jobs_max)? + self.tile_bytes / 4)
    }

    /// Returns the memory of a process with one of these jobs. It has the same share of the tiles
    /// as a batch.
    pub fn memory_alone(&self, lab: &Lab<'_>, jobs: &[Job]) -> Result<u64> {
        self.memory(lab, jobs, 1)
    }

    /// Returns the memory of a batch that holds all tiles. It is at most three quarters of what the
    /// machine has: jobs beyond that wait.
    pub fn memory_with_tiles(&self, lab: &Lab<'_>, jobs: &[Job], jobs_max: usize) -> Result<u64> {
        // Buffers of tiles are a little larger than the tiles.
        let tiles = self.tile_bytes + self.tile_bytes / 4;
        let machine = rustix::system::sysinfo();
        let most = machine.totalram * u64::from(machine.mem_unit) / 4 * 3;
        Ok(most.min(lab.needed(&self.graph, jobs, jobs_max)? + tiles))
    }

    /// Draws vertices within `hops` of the hub.
    pub fn sources_near(&self, lab: &Lab<'_>, hops: u64, count: usize) -> Result<Vec<String>> {
        let file = lab.scratch.join("distances.csv");
        let options = ["--source", &self.hub, "-o", text(&file)?, "--force"];
        lab.run("bfs", &self.graph, None, &options)?;
        let near = |distance: &str| distance.parse().is_ok_and(|distance: u64| distance <= hops);
        let drawn = drawn(&file, near, count, SEED + hops);
        remove(&file)?;
        drawn
    }
}

/// Draws vertices of the component of that name, the same in every run.
pub fn sources(lab: &Lab<'_>, graph: &Path, component: &str) -> Result<Vec<String>> {
    let file = lab.scratch.join("components.csv");
    lab.run("wcc", graph, None, &["-o", text(&file)?, "--force"])?;
    let drawn = drawn(&file, |name| name == component, SOURCES, SEED);
    remove(&file)?;
    drawn
}

/// Draws vertices of a table of two columns whose second one is wanted.
fn drawn(
    table: &Path,
    is_wanted: impl Fn(&str) -> bool,
    count: usize,
    seed: u64,
) -> Result<Vec<String>> {
    let mut failure = None;
    let lines = BufReader::new(File::open(table)?).lines().skip(1);
    let lines = lines.map_while(|line| line.map_err(|error| failure = Some(error)).ok());
    let vertices = lines.filter_map(|line| {
        let (vertex, value) = line.split_once(',')?;
        is_wanted(value).then(|| vertex.to_owned())
    });
    let drawn = sample(vertices, count, &mut Random::new(seed));
    match failure {
        Some(error) => Err(error.into()),
        None if drawn.is_empty() => Err(format!("{} names no source", table.display()).into()),
        None => Ok(drawn),
    }
}

fn uniform(lab: &Lab<'_>, scale: u32) -> Result<PathBuf> {
    let graph = lab.scratch.join("uniform.tegula");
    if graph.exists() {
        return Ok(graph);
    }
    let pairs = lab.scratch.join("uniform.bin32");
    let (vertices, edges) = (1u64 << scale, UNIFORM_DEGREE << scale);
    let [vertices, edges] = [vertices, edges].map(|number| number.to_string());
    let size = ["--vertices", &vertices, "--edges", &edges];
    lab.tegula.json(&[&["generate", "erdos-renyi", "-o", text(&pairs)?], &size[..]].concat())?;
    lab.tegula.json(&["import", text(&pairs)?, "-o", text(&graph)?, "--undirected"])?;
    remove(&pairs)?;
    Ok(graph)
}

fn crawl(lab: &mut Lab<'_>) -> Result<Option<PathBuf>> {
    let graph = lab.scratch.join("cnr-2000.tegula");
    if !graph.exists() {
        let Some(edges) = edge_list(lab, "cnr-2000") else { return Ok(None) };
        lab.tegula.json(&["import", text(&edges)?, "-o", text(&graph)?, "--undirected"])?;
    }
    Ok(Some(graph))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wanted_vertices_of_a_table_are_drawn() {
        let table = std::env::temp_dir().join(format!("tegula-drawn-{}", std::process::id()));
        fs::write(&table, "vertex,component\n1,0\n2,5\n3,0\n").unwrap();
        assert_eq!(drawn(&table, |name| name == "0", 9, SEED).unwrap(), ["1", "3"]);
        assert!(drawn(&table, |name| name == "7", 9, SEED).is_err());
        fs::remove_file(&table).unwrap();
    }
}
