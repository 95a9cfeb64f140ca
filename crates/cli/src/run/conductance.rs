//! `tegula run conductance`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{Float64Array, UInt64Array};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use clap::Args;
use serde::Serialize;
use tegula_algorithms::conductance::{self, Conductances, NO_SET};
use tegula_engine::{Estimate, Graph, RunOptions, RunStatistics};
use tegula_store::{At, Cancel};

use super::{Answer, Edges, Runnable, Weights, id_lines};
use crate::errors::Result;
use crate::output::{RowWriter, Table, write_arrays};
use crate::report::{self, Facts, Grid};

/// Options of `tegula run conductance`.
#[derive(Debug, Args)]
pub struct ConductanceArgs {
    /// A file with a line for each vertex of a set: its id and the number of the set. A vertex is in one
    /// set at most; those that are not named are in none.
    #[arg(long, value_name = "FILE")]
    sets: PathBuf,
}

impl Runnable for ConductanceArgs {
    const NAME: &'static str = "conductance";
    type Answer = Sets;
    const WEIGHTS: Weights = Weights::Ignored { instead: "it counts edges" };

    fn edges(&self) -> Edges {
        Edges::Rows
    }

    fn estimate(&self, graph: &Graph, _threads: usize) -> Result<Estimate> {
        // Lines take more than the sets that they name.
        let estimate = conductance::estimate(graph, 0);
        let vertex_bytes = estimate.vertex_bytes + id_lines::size(&self.sets)?;
        Ok(Estimate { vertex_bytes, ..estimate })
    }

    fn check_input(&self, graph: &Graph, options: &RunOptions<'_>) -> Result<()> {
        if id_lines::is_file(&self.sets)? {
            read_sets(&self.sets, graph, options.memory)?;
        }
        Ok(())
    }

    fn run(&self, graph: &Graph, options: &RunOptions<'_>) -> Result<(Sets, RunStatistics)> {
        let (numbers, set_of) = read_sets(&self.sets, graph, options.memory)?;
        let found = conductance::run(graph, &set_of, numbers.len(), options)?;
        let statistics = found.statistics.clone();
        Ok((Sets { numbers, found }, statistics))
    }
}

/// The numbers of the sets, ascending, and for each vertex which of them it is in.
fn read_sets(path: &Path, graph: &Graph, memory: u64) -> Result<(Vec<u64>, Vec<u32>)> {
    let number = |text: Option<&str>| match text.unwrap_or_default().parse::<u64>() {
        Ok(number) => Ok(number),
        Err(_) => Err(format!("`{}` is no number of a set", text.unwrap_or_default())),
    };
    let lines = id_lines::read(path, graph, memory, "the sets", number)?;
    let mut numbers: Vec<u64> = lines.iter().map(|line| line.value).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let mut set_of = vec![NO_SET; graph.vertex_count() as usize];
    for line in lines {
        let set = numbers.partition_point(|&number| number < line.value) as u32;
        let entry = &mut set_of[line.vertex.index()];
        if *entry != NO_SET && *entry != set {
            let detail = format!("the vertex is in set {} already", numbers[*entry as usize]);
            return Err(id_lines::bad(path, At::Line(line.line), detail).into());
        }
        *entry = set;
    }
    Ok((numbers, set_of))
}

/// The figures of all sets.
pub struct Sets {
    numbers: Vec<u64>,
    found: Conductances,
}

/// What is said of the sets.
#[derive(Debug, Serialize)]
pub struct Summary {
    /// Ends of all edges.
    volume: u64,
    /// All of them, by number.
    sets: Vec<Set>,
    /// How many a list shows.
    #[serde(skip)]
    top: usize,
}

/// A set and its figures.
#[derive(Debug, Clone, Serialize)]
pub struct Set {
    set: u64,
    vertices: u64,
    volume: u64,
    cut: u64,
    /// None where all edges are on one side.
    conductance: Option<f64>,
}

impl Sets {
    fn iter(&self) -> impl Iterator<Item = Set> {
        self.numbers.iter().zip(&self.found.sets).map(|(&set, figures)| Set {
            set,
            vertices: figures.vertices,
            volume: figures.volume,
            cut: figures.cut,
            conductance: figures.conductance(self.found.volume),
        })
    }
}

/// A row for every set, by number.
impl Table for Sets {
    fn schema(&self, _graph: &Graph) -> SchemaRef {
        let counts = ["set", "vertices", "volume", "cut"];
        let mut fields: Vec<Field> =
            counts.iter().map(|name| Field::new(*name, DataType::UInt64, false)).collect();
        fields.push(Field::new("conductance", DataType::Float64, true));
        Arc::new(Schema::new(fields))
    }

    fn row_count(&self, _graph: &Graph) -> u64 {
        self.numbers.len() as u64
    }

    fn write_rows(&self, graph: &Graph, out: &mut dyn RowWriter, _cancel: &Cancel) -> Result<()> {
        let column = |count: fn(&Set) -> u64| {
            Arc::new(self.iter().map(|set| count(&set)).collect::<UInt64Array>())
        };
        let conductances: Float64Array = self.iter().map(|set| set.conductance).collect();
        let arrays = vec![
            column(|set| set.set) as _,
            column(|set| set.vertices) as _,
            column(|set| set.volume) as _,
            column(|set| set.cut) as _,
            Arc::new(conductances) as _,
        ];
        write_arrays(&self.schema(graph), arrays, out)
    }
}

impl Answer for Sets {
    type Summary = Summary;

    fn summary(&self, _graph: &Graph, top: usize, _cancel: &Cancel) -> Result<Summary> {
        Ok(Summary { volume: self.found.volume, sets: self.iter().collect(), top })
    }

    fn facts(summary: &Summary, facts: &mut Facts) {
        facts.add("sets", report::count(summary.sets.len() as u64));
        let values = || summary.sets.iter().filter_map(|set| set.conductance);
        if let (Some(least), Some(greatest)) =
            (values().min_by(f64::total_cmp), values().max_by(f64::total_cmp))
        {
            facts.add("conductance", format!("{least:.4} to {greatest:.4}"));
        }
    }

    fn list(summary: &Summary) -> Grid {
        let mut grid = Grid::new(&["set", "vertices", "volume", "cut", "conductance"]);
        for Set { set, vertices, volume, cut, conductance } in
            summary.sets.iter().take(summary.top).cloned()
        {
            let conductance = conductance.map_or_else(String::new, report::number);
            let counts = [set, vertices, volume, cut].map(|count| count.to_string());
            let [set, vertices, volume, cut] = counts;
            grid.add([set, vertices, volume, cut, conductance]);
        }
        grid
    }
}
