//! The figures of the sets, as a table and as a summary.

use std::sync::Arc;

use arrow_array::builder::LargeStringBuilder;
use arrow_array::{ArrayRef, Float64Array, UInt64Array};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use serde::Serialize;
use serde::ser::Serializer;
use tegula_engine::{Cancel, Graph};

use super::amount::Amount;
use super::sets::{NamedSets, integer};
use super::{Conductances, SetFigures};
use crate::answer::{self, Answer, Facts, List, RowSink, Table, write_arrays};
use crate::error::Result;

/// Rows of the table that are made at a time.
const ROWS_AT_A_TIME: usize = 1 << 16;

/// The figures of all sets.
pub(super) struct Sets<A>(Arc<NamedFigures<A>>);

impl<A> Sets<A> {
    /// Takes the figures that were found for each set.
    pub(super) fn new(sets: NamedSets, found: Conductances<A>) -> Sets<A> {
        Sets(Arc::new(NamedFigures { sets, found }))
    }
}

struct NamedFigures<A> {
    sets: NamedSets,
    found: Conductances<A>,
}

/// The summary of the sets.
#[derive(Serialize)]
pub struct Summary<A: Amount> {
    /// The ends of all edges, or their weights.
    volume: A,
    /// The number of sets.
    set_count: u64,
    /// The first sets, by name.
    sets: FirstSets<A>,
}

/// The figures of all sets. A list shows the first `top`, by name.
struct FirstSets<A> {
    all: Arc<NamedFigures<A>>,
    top: usize,
}

/// A set and its figures.
#[derive(Serialize)]
struct Set<'a, A> {
    set: SetName<'a>,
    vertices: u64,
    volume: A,
    cut: A,
    /// `None` if all edges are on one side.
    conductance: Option<f64>,
}

/// The name of a set: a number if all names are.
#[derive(Serialize)]
#[serde(untagged)]
enum SetName<'a> {
    Integer(u64),
    String(&'a str),
}

impl<A: Amount> FirstSets<A> {
    fn iter(&self) -> impl Iterator<Item = Set<'_, A>> {
        self.all.iter().take(self.top)
    }
}

/// There may be as many sets as vertices, so each exists only while it is written.
impl<A: Amount> Serialize for FirstSets<A> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl<A: Amount> NamedFigures<A> {
    fn figures(&self, set: u32) -> &SetFigures<A> {
        &self.found.sets[set as usize]
    }

    fn conductance(&self, set: u32) -> Option<f64> {
        self.figures(set).conductance(self.found.volume)
    }

    /// Iterates over all sets, by name.
    fn iter(&self) -> impl Iterator<Item = Set<'_, A>> {
        let are_integers = self.sets.are_integers();
        self.sets.order().iter().map(move |&set| {
            let name = self.sets.name(set);
            let number = integer(name).filter(|_| are_integers);
            let &SetFigures { vertices, volume, cut } = self.figures(set);
            let conductance = self.conductance(set);
            let set = number.map_or(SetName::String(name), SetName::Integer);
            Set { set, vertices, volume, cut, conductance }
        })
    }

    /// Makes a column of the names of some sets.
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
impl<A: Amount> Table for Sets<A> {
    fn schema(&self, _graph: &Graph) -> SchemaRef {
        let name = if self.0.sets.are_integers() { DataType::UInt64 } else { DataType::LargeUtf8 };
        let mut fields = vec![Field::new("set", name, false)];
        fields.push(Field::new("vertices", DataType::UInt64, false));
        fields.extend(["volume", "cut"].map(|name| Field::new(name, A::TYPE, false)));
        fields.push(Field::new("conductance", DataType::Float64, true));
        Arc::new(Schema::new(fields))
    }

    fn row_count(&self, _graph: &Graph) -> u64 {
        self.0.sets.order().len() as u64
    }

    fn write_rows(&self, graph: &Graph, out: &mut dyn RowSink, cancel: &Cancel) -> Result<()> {
        let schema = self.schema(graph);
        let all = &*self.0;
        for sets in all.sets.order().chunks(ROWS_AT_A_TIME) {
            cancel.check()?;
            if !out.wants_more() {
                break;
            }
            let figures = || sets.iter().map(|&set| all.figures(set));
            let conductances: Float64Array = sets.iter().map(|&set| all.conductance(set)).collect();
            let arrays = vec![
                all.names(sets),
                u64::column(figures().map(|figures| figures.vertices)),
                A::column(figures().map(|figures| figures.volume)),
                A::column(figures().map(|figures| figures.cut)),
                Arc::new(conductances),
            ];
            write_arrays(&schema, arrays, out)?;
        }
        Ok(())
    }
}

impl<A: Amount> Answer for Sets<A> {
    fn summary(
        &self,
        _graph: &Graph,
        top: usize,
        _cancel: &Cancel,
    ) -> Result<Box<dyn answer::Summary>> {
        let sets = FirstSets { all: Arc::clone(&self.0), top };
        let (volume, set_count) = (self.0.found.volume, self.0.found.sets.len() as u64);
        Ok(Box::new(Summary { volume, set_count, sets }))
    }
}

impl<A: Amount> answer::Summary for Summary<A> {
    fn facts(&self) -> Facts {
        let mut facts = Facts::default();
        let sets = &*self.sets.all;
        facts.add("sets", answer::count(self.set_count));
        let values = || sets.found.sets.iter().filter_map(|set| set.conductance(sets.found.volume));
        if let (Some(least), Some(greatest)) =
            (values().min_by(f64::total_cmp), values().max_by(f64::total_cmp))
        {
            facts.add("conductance", format!("{least:.4} to {greatest:.4}"));
        }
        facts
    }

    fn list(&self) -> List {
        let mut list = List::new(["set", "vertices", "volume", "cut", "conductance"]);
        for Set { set, vertices, volume, cut, conductance } in self.sets.iter() {
            let set = match set {
                SetName::Integer(number) => number.to_string(),
                SetName::String(name) => name.to_owned(),
            };
            let conductance = conductance.map_or_else(String::new, answer::number);
            list.add([&set, &vertices, &volume.words(), &cut.words(), &conductance]);
        }
        list
    }
}
