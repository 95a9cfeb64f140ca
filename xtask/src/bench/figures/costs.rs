//! The times of iterations beside their predictions, for each process and kind of graph. The
//! numbers in `engine::process::cost` are fitted to these times.

use std::collections::BTreeMap;

use serde_json::Value;

use super::executors::CNR_SOURCE;
use super::rows::edge_list;
use crate::bench::figure::{Figure, Ratio, Unit};
use crate::bench::graphs::{Made, Model, Recipe};
use crate::bench::lab::Lab;
use crate::tegula::Result;

/// The R-MAT graph with weights is made from text; its scale is lower by this.
const WEIGHTED_SMALLER_LOG2: u32 = 2;
/// Real graphs: the name, the source of searches, and the options of the import.
const REAL: [(&str, &str, &[&str]); 2] =
    [("cnr-2000", CNR_SOURCE, &[]), ("USA-road-FLA", "1", &["--undirected"])];

/// Seconds that the iterations of one process took in each round, and those predicted.
#[derive(Default)]
struct Seconds {
    taken: Vec<f64>,
    predicted: Vec<f64>,
    iterations: u64,
}

/// The iterations of one process in one run.
#[derive(Default)]
struct Sum {
    taken: f64,
    predicted: f64,
    iterations: u64,
}

/// Measures searches with every executor; each process of each graph is a figure.
pub fn all(lab: &mut Lab<'_>) -> Result<Vec<Figure>> {
    let scale = lab.settings.scale;
    let weighted = scale - WEIGHTED_SMALLER_LOG2;
    let recipes = [
        (Recipe::new(Model::Rmat(scale)), "bfs"),
        (Recipe::new(Model::Rmat(weighted)).undirected().weighted(), "sssp"),
        (Recipe::new(Model::Grid(1 << (scale / 2))).undirected(), "bfs"),
    ];
    let mut figures = Vec::new();
    for (recipe, algorithm) in recipes {
        let graph = lab.make(recipe)?;
        figures.extend(measured(lab, &graph, algorithm)?);
        // Other groups use the directed graph.
        if recipe.is_undirected {
            lab.discard(|made| made.title == graph.title)?;
        }
    }
    for (name, source, options) in REAL {
        if let Some(edges) = edge_list(lab, name) {
            let graph = lab.with_rows(name, &edges, options)?;
            let graph = Made { source: source.to_owned(), ..graph };
            figures.extend(measured(lab, &graph, "bfs")?);
        }
    }
    lab.remarks.push(
        "Sums over the iterations of a run with its files in the page cache; taking rows apart is part of \
         what was taken, and not of what was predicted. Predictions are those before iterations correct them."
            .to_owned(),
    );
    Ok(figures)
}

/// A figure for each process that the searches used, by executor.
fn measured(lab: &Lab<'_>, graph: &Made, algorithm: &str) -> Result<Vec<Figure>> {
    let mut by_process: BTreeMap<String, Seconds> = BTreeMap::new();
    for round in 0..=lab.settings.rounds {
        for executor in ["auto", "seek"] {
            let options = ["--source", graph.source.as_str(), "--executor", executor];
            let run = lab.run(algorithm, &graph.graph, None, &options)?;
            // The first run only brings the files into the page cache.
            if round > 0 {
                add(&run, executor, &mut by_process)?;
            }
        }
    }
    let figure = |(process, seconds): (String, Seconds)| {
        let Seconds { taken, predicted, iterations } = seconds;
        let count = iterations / taken.len().max(1) as u64;
        let title = format!("{algorithm}, {}, {process}", graph.title);
        Figure::new(title, Unit::Seconds, taken)
            .compared_with("predicted", predicted, Ratio::TimesAsLong)
            .note(format!("{count} iterations"))
    };
    Ok(by_process.into_iter().map(figure).collect())
}

/// Adds the iterations of a run to those of each process.
fn add(run: &Value, executor: &str, by_process: &mut BTreeMap<String, Seconds>) -> Result<()> {
    let list = |name: &str| {
        let list = run.pointer(name).and_then(Value::as_array);
        list.ok_or_else(|| format!("{run} has no {name}"))
    };
    let mut sums: BTreeMap<String, Sum> = BTreeMap::new();
    let iterations = list("/processes")?.iter().zip(list("/iteration_seconds")?);
    for ((process, taken), predicted) in iterations.zip(list("/predicted_seconds")?) {
        if let (Some(process), Some(taken), Some(predicted)) =
            (process.as_str(), taken.as_f64(), predicted.as_f64())
        {
            let sum = sums.entry(format!("{process} ({executor})")).or_default();
            sum.taken += taken;
            sum.predicted += predicted;
            sum.iterations += 1;
        }
    }
    for (process, Sum { taken, predicted, iterations }) in sums {
        let seconds = by_process.entry(process).or_default();
        seconds.taken.push(taken);
        seconds.predicted.push(predicted);
        seconds.iterations += iterations;
    }
    Ok(())
}
