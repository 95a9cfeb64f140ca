//! `tegula run pagerank`.

use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float32Array};
use arrow_schema::{DataType, Field};
use clap::Args;
use serde::Serialize;
use tegula_algorithms::pagerank::{PageRank, PageRankConfig, Stop};
use tegula_engine::{Estimate, Graph, RunOptions, RunStatistics};
use tegula_machine::threads::Cancel;
use tegula_store::VertexId;

use super::seeds::Seeds;
use super::top::{Name, TotalOrder, greatest};
use super::{Answer, CHUNK, Edges, Runnable, SideFiles, Weights, side_table};
use crate::errors::Result;
use crate::output::Columns;
use crate::report::{Facts, Grid};

/// Options of `tegula run pagerank`.
#[derive(Debug, Args)]
pub struct PageRankArgs {
    /// Probability of following an edge, within 0..1.
    #[arg(long, value_name = "D", default_value_t = PageRankConfig::DAMPING)]
    #[arg(value_parser = probability)]
    damping: f64,
    /// Run exactly N iterations.
    #[arg(long, value_name = "N", conflicts_with_all = ["tolerance", "max_iterations"])]
    iterations: Option<u64>,
    /// Stop when the ranks change by no more than this in an iteration (L1). If that is never so, there is a
    /// warning.
    #[arg(long, value_name = "T", default_value_t = PageRankConfig::TOLERANCE)]
    #[arg(value_parser = not_negative)]
    tolerance: f64,
    /// The most iterations towards the tolerance.
    #[arg(long, value_name = "N", default_value_t = PageRankConfig::ITERATIONS_MAX)]
    max_iterations: u64,
    /// Jump to the vertices of this table only: a row for each, its id and, if it is not 1, its weight.
    /// Tables are read as inputs are: text, also as .gz and .zst, Parquet, `-`. A header may name `vertex` and
    /// `weight` or `rank`, so that ranks of another run will do.
    #[arg(long, value_name = "FILE")]
    personalize: Option<PathBuf>,
}

fn probability(text: &str) -> std::result::Result<f64, String> {
    match text.parse() {
        Ok(value) if (0.0..1.0).contains(&value) => Ok(value),
        _ => Err("it must be a number from 0 to below 1".into()),
    }
}

fn not_negative(text: &str) -> std::result::Result<f64, String> {
    match text.parse() {
        Ok(value) if value >= 0.0 => Ok(value),
        _ => Err("it must be a number of at least 0".into()),
    }
}

impl PageRankArgs {
    fn config(&self) -> PageRankConfig {
        let stop = match self.iterations {
            Some(iterations) => Stop::Iterations(iterations),
            None => {
                Stop::Tolerance { tolerance: self.tolerance, iterations_max: self.max_iterations }
            }
        };
        PageRankConfig { damping: self.damping, stop }
    }
}

impl Runnable for PageRankArgs {
    const NAME: &'static str = "pagerank";
    type Answer = Ranks;
    type Files = Seeds;
    const WEIGHTS: Weights =
        Weights::Ignored { instead: "all edges of a vertex are equally likely" };

    fn edges(&self) -> Edges {
        Edges::Tiles {
            why: "pagerank adds up all edges in a fixed order",
            instead: "use --executor scan or auto",
        }
    }

    fn iterations(&self) -> Option<u64> {
        self.iterations
    }

    fn read_files(&self, graph: &Graph, options: &RunOptions<'_>) -> Result<Seeds> {
        match &self.personalize {
            Some(path) => Ok(Seeds::read(path, graph, options)?),
            None => Ok(Seeds::default()),
        }
    }

    fn estimate(&self, graph: &Graph, seeds: &Seeds, threads: usize) -> Result<Estimate> {
        let estimate = tegula_engine::estimate::<PageRank>(graph, threads);
        if self.personalize.is_none() {
            return Ok(estimate);
        }
        let shares = PageRank::seeds_size(graph.vertex_count());
        // The seeds become sums of double precision, and those become shares, before there is more.
        let reading = seeds.reading_size.max(seeds.size() + 3 * shares);
        let vertex_bytes = estimate.vertex_bytes + shares;
        Ok(side_table::with_reading(Estimate { vertex_bytes, ..estimate }, reading))
    }

    fn run(
        &self,
        graph: &Graph,
        seeds: Seeds,
        options: &RunOptions<'_>,
    ) -> Result<(Ranks, RunStatistics)> {
        let (config, vertex_count) = (self.config(), graph.vertex_count());
        let program = match self.personalize {
            None => PageRank::new(config, vertex_count),
            Some(_) => PageRank::personalized(config, vertex_count, seeds.as_slice())?,
        };
        drop(seeds);
        let outcome = tegula_engine::run(graph, program, options)?;
        let ranks = Ranks {
            ranks: outcome.states,
            change: outcome.program.change(),
            converged: outcome.program.has_converged(),
        };
        Ok((ranks, outcome.statistics))
    }
}

/// What PageRank found.
pub struct Ranks {
    ranks: Vec<f32>,
    change: f64,
    converged: Option<bool>,
}

/// What is said of all ranks.
#[derive(Debug, Serialize)]
pub struct Summary {
    /// Change of the ranks in the last iteration (L1); none without an iteration.
    change: Option<f64>,
    /// Whether that is within the tolerance; none with `--iterations`, which asks for no tolerance.
    converged: Option<bool>,
    /// Of all ranks: 1 but for rounding.
    sum: f64,
    /// The greatest ranks.
    top: Vec<Ranked>,
}

/// A vertex and its rank.
#[derive(Debug, Serialize)]
pub struct Ranked {
    vertex: Name,
    rank: f32,
}

impl Columns for Ranks {
    fn fields(&self, _id: DataType) -> Vec<Field> {
        vec![Field::new("rank", DataType::Float32, false)]
    }

    fn arrays(
        &self,
        _graph: &Graph,
        vertices: &[VertexId],
        _cancel: &Cancel,
    ) -> Result<Vec<ArrayRef>> {
        let ranks = vertices.iter().map(|vertex| self.ranks[vertex.index()]);
        Ok(vec![Arc::new(Float32Array::from_iter_values(ranks))])
    }
}

impl Answer for Ranks {
    type Summary = Summary;

    fn summary(&self, graph: &Graph, top: usize, cancel: &Cancel) -> Result<Summary> {
        let rank = |vertex: VertexId| Some(TotalOrder(self.ranks[vertex.index()]));
        let top = greatest(graph, top, rank, cancel)?;
        // From 0, since the sum of nothing is -0.
        let mut sum = 0.0;
        for ranks in self.ranks.chunks(CHUNK) {
            cancel.check()?;
            sum = ranks.iter().fold(sum, |sum, &rank| sum + f64::from(rank));
        }
        Ok(Summary {
            change: self.change.is_finite().then_some(self.change),
            converged: self.converged,
            sum,
            top: top.into_iter().map(|(vertex, rank)| Ranked { vertex, rank: rank.0 }).collect(),
        })
    }

    fn facts(summary: &Summary, facts: &mut Facts) {
        if let Some(change) = summary.change {
            facts.add("last change (L1)", format!("{change:.2e}"));
        }
        facts.add("sum of ranks", format!("{:.6}", summary.sum));
    }

    fn warning(&self) -> Option<String> {
        let change = self.change;
        (self.converged == Some(false)).then(|| {
            format!(
                "the ranks have not converged: the last iteration changed them by {change:.2e} (L1), \
                 more than --tolerance; --max-iterations allows for more"
            )
        })
    }

    fn list(summary: &Summary) -> Grid {
        let mut grid = Grid::new(&["vertex", "rank"]);
        for Ranked { vertex, rank } in &summary.top {
            grid.add([vertex.to_string(), rank.to_string()]);
        }
        grid
    }
}
