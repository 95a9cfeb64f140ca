//! `tegula run conductance`.

use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::builder::LargeStringBuilder;
use arrow_array::{ArrayRef, Float64Array, UInt64Array};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use clap::Args;
use serde::Serialize;
use serde::ser::Serializer;
use tegula_algorithms::conductance::{self, Conductances, SetFigures};
use tegula_engine::{Estimate, Graph, RunOptions, RunStatistics};
use tegula_machine::threads::Cancel;

use super::sets::{NamedSets, integer};
use super::{Answer, Edges, Runnable, Weights, side_table};
use crate::errors::Result;
use crate::output::{RowWriter, Table, write_arrays};
use crate::report::{self, Facts, Grid};

/// Rows of the table that are made at a time.
const ROWS_AT_A_TIME: usize = 1 << 16;

/// Options of `tegula run conductance`.
#[derive(Debug, Args)]
pub struct ConductanceArgs {
    /// A table with a row for each vertex of a set: its id and the name of the set. A vertex may be in several
    /// sets; those that are not named, or have an empty cell there, are in none. Tables are read as inputs are: text, also as .gz and .zst,
    /// Parquet, `-`. A header may name `vertex` and `set`, `component`, `community` or `label`, so that the
    /// table of another run, as of wcc, will do.
    #[arg(long, value_name = "FILE")]
    sets: PathBuf,
}

impl Runnable for ConductanceArgs {
    const NAME: &'static str = "conductance";
    type Answer = Sets;
    type Files = NamedSets;
    const WEIGHTS: Weights = Weights::Ignored { instead: "it counts edges" };

    fn edges(&self) -> Edges {
        Edges::Rows
    }

    fn read_files(&self, graph: &Graph, options: &RunOptions<'_>) -> Result<NamedSets> {
        Ok(NamedSets::read(&self.sets, graph, options)?)
    }

    fn estimate(&self, graph: &Graph, sets: &NamedSets, _threads: usize) -> Result<Estimate> {
        let estimate = conductance::estimate(graph, sets.members());
        let vertex_bytes = estimate.vertex_bytes + sets.names_size();
        Ok(side_table::with_reading(Estimate { vertex_bytes, ..estimate }, sets.reading_size))
    }

    fn run(
        &self,
        graph: &Graph,
        sets: NamedSets,
        options: &RunOptions<'_>,
    ) -> Result<(Sets, RunStatistics)> {
        let found = conductance::run(graph, sets.members(), sets.names_size(), options)?;
        let statistics = found.statistics.clone();
        Ok((Sets(Arc::new(NamedFigures { sets, found })), statistics))
    }
}

/// The figures of all sets.
pub struct Sets(Arc<NamedFigures>);

struct NamedFigures {
    sets: NamedSets,
    found: Conductances,
}

/// What is said of the sets.
#[derive(Serialize)]
pub struct Summary {
    /// Ends of all edges.
    volume: u64,
    /// How many sets there are.
    set_count: u64,
    /// The first ones, by name.
    sets: FirstSets,
}

/// The figures of all sets, of which a list shows the first `top`, by name.
struct FirstSets {
    all: Arc<NamedFigures>,
    top: usize,
}

/// A set and its figures.
#[derive(Serialize)]
struct Set<'a> {
    set: Name<'a>,
    vertices: u64,
    volume: u64,
    cut: u64,
    /// None where all edges are on one side.
    conductance: Option<f64>,
}

/// The name of a set: a number where all of them are.
#[derive(Serialize)]
#[serde(untagged)]
enum Name<'a> {
    Integer(u64),
    String(&'a str),
}

impl FirstSets {
    fn iter(&self) -> impl Iterator<Item = Set<'_>> {
        self.all.iter().take(self.top)
    }
}

/// There may be as many sets as vertices: each is there only while it is written.
impl Serialize for FirstSets {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl NamedFigures {
    fn figures(&self, set: u32) -> &SetFigures {
        &self.found.sets[set as usize]
    }

    fn conductance(&self, set: u32) -> Option<f64> {
        self.figures(set).conductance(self.found.volume)
    }

    /// All sets, by name.
    fn iter(&self) -> impl Iterator<Item = Set<'_>> {
        let are_integers = self.sets.are_integers();
        self.sets.order().iter().map(move |&set| {
            let name = self.sets.name(set);
            let number = integer(name).filter(|_| are_integers);
            let &SetFigures { vertices, volume, cut } = self.figures(set);
            let conductance = self.conductance(set);
            let set = number.map_or(Name::String(name), Name::Integer);
            Set { set, vertices, volume, cut, conductance }
        })
    }

    /// The names of some sets, as a column.
    fn names(&self, sets: &[u32]) -> ArrayRef {
        let names = sets.iter().map(|&set| self.sets.name(set));
        if self.sets.are_integers() {
            return Arc::new(names.map(integer).collect::<UInt64Array>());
        }
        let mut column = LargeStringBuilder::new();
        names.for_each(|name| column.append_value(name));
        Arc::new(column.finish())
    }
}

/// A row for every set, by name.
impl Table for Sets {
    fn schema(&self, _graph: &Graph) -> SchemaRef {
        let name = if self.0.sets.are_integers() { DataType::UInt64 } else { DataType::LargeUtf8 };
        let mut fields = vec![Field::new("set", name, false)];
        let counts = ["vertices", "volume", "cut"];
        fields.extend(counts.map(|name| Field::new(name, DataType::UInt64, false)));
        fields.push(Field::new("conductance", DataType::Float64, true));
        Arc::new(Schema::new(fields))
    }

    fn row_count(&self, _graph: &Graph) -> u64 {
        self.0.sets.order().len() as u64
    }

    fn write_rows(&self, graph: &Graph, out: &mut dyn RowWriter, cancel: &Cancel) -> Result<()> {
        let schema = self.schema(graph);
        let all = &*self.0;
        for sets in all.sets.order().chunks(ROWS_AT_A_TIME) {
            cancel.check()?;
            if !out.wants_more() {
                break;
            }
            let column = |count: fn(&SetFigures) -> u64| -> ArrayRef {
                let counts = sets.iter().map(|&set| count(all.figures(set)));
                Arc::new(UInt64Array::from_iter_values(counts))
            };
            let conductances: Float64Array = sets.iter().map(|&set| all.conductance(set)).collect();
            let arrays = vec![
                all.names(sets),
                column(|figures| figures.vertices),
                column(|figures| figures.volume),
                column(|figures| figures.cut),
                Arc::new(conductances),
            ];
            write_arrays(&schema, arrays, out)?;
        }
        Ok(())
    }
}

impl Answer for Sets {
    type Summary = Summary;

    fn summary(&self, _graph: &Graph, top: usize, _cancel: &Cancel) -> Result<Summary> {
        let sets = FirstSets { all: Arc::clone(&self.0), top };
        let (volume, set_count) = (self.0.found.volume, self.0.found.sets.len() as u64);
        Ok(Summary { volume, set_count, sets })
    }

    fn facts(summary: &Summary, facts: &mut Facts) {
        let sets = &*summary.sets.all;
        facts.add("sets", report::count(summary.set_count));
        let values = || sets.found.sets.iter().filter_map(|set| set.conductance(sets.found.volume));
        if let (Some(least), Some(greatest)) =
            (values().min_by(f64::total_cmp), values().max_by(f64::total_cmp))
        {
            facts.add("conductance", format!("{least:.4} to {greatest:.4}"));
        }
    }

    fn list(summary: &Summary) -> Grid {
        let mut grid = Grid::new(&["set", "vertices", "volume", "cut", "conductance"]);
        for Set { set, vertices, volume, cut, conductance } in summary.sets.iter() {
            let set = match set {
                Name::Integer(number) => number.to_string(),
                Name::String(name) => name.to_owned(),
            };
            let [vertices, volume, cut] = [vertices, volume, cut].map(|count| count.to_string());
            let conductance = conductance.map_or_else(String::new, report::number);
            grid.add([set, vertices, volume, cut, conductance]);
        }
        grid
    }
}
