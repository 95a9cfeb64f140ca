//! The degrees as a table and as a summary.

use std::sync::Arc;

use arrow_array::{ArrayRef, UInt32Array};
use arrow_schema::{DataType, Field};
use serde::Serialize;
use tegula_engine::{Cancel, Graph};

use crate::answer::{self, Answer, Columns, Facts, List, TableRows, greatest};
use crate::error::Result;
use crate::shared::original_ids::Name;

/// The degrees of all vertices, by dense id.
pub(super) struct Degrees {
    pub(super) into: Vec<u32>,
    pub(super) out: Vec<u32>,
}

/// The summary of all degrees.
#[derive(Debug, Serialize)]
pub struct Summary {
    /// The greatest number of edges that enter a vertex.
    in_degree_max: u32,
    /// The greatest number of edges that leave a vertex.
    out_degree_max: u32,
    /// The mean in-degree, which is also the mean out-degree; `None` without vertices.
    average: Option<f64>,
    /// Vertices without an edge.
    isolated: u64,
    /// The vertices with the greatest sum of both degrees.
    top: Vec<Entry>,
}

/// A vertex and its degrees.
#[derive(Debug, Serialize)]
pub struct Entry {
    vertex: Name,
    in_degree: u32,
    out_degree: u32,
}

impl Degrees {
    fn of(&self, rows: &TableRows<'_>) -> impl Iterator<Item = (u32, u32)> {
        rows.vertices.iter().map(|vertex| (self.into[vertex.index()], self.out[vertex.index()]))
    }
}

impl Columns for Degrees {
    fn fields(&self, _id: DataType) -> Vec<Field> {
        ["in_degree", "out_degree"].map(|name| Field::new(name, DataType::UInt32, false)).into()
    }

    fn arrays(
        &self,
        _graph: &Graph,
        rows: &TableRows<'_>,
        _cancel: &Cancel,
    ) -> Result<Vec<ArrayRef>> {
        let (into, out): (Vec<u32>, Vec<u32>) = self.of(rows).unzip();
        Ok(vec![Arc::new(UInt32Array::from(into)), Arc::new(UInt32Array::from(out))])
    }
}

impl Answer for Degrees {
    fn summary(
        &self,
        graph: &Graph,
        top: usize,
        cancel: &Cancel,
    ) -> Result<Box<dyn answer::Summary>> {
        let key = |(into, out): (u32, u32)| Some((u64::from(into) + u64::from(out), into, out));
        let keys = |rows: &TableRows<'_>| Ok(self.of(rows).map(key).collect());
        let entry = |(vertex, (_, in_degree, out_degree))| Entry { vertex, in_degree, out_degree };
        let top = greatest(graph, top, keys, cancel)?.into_iter().map(entry).collect();
        let sum: u64 = self.out.iter().copied().map(u64::from).sum();
        let max = |degrees: &[u32]| degrees.iter().copied().max().unwrap_or(0);
        let both = self.into.iter().zip(&self.out);
        Ok(Box::new(Summary {
            in_degree_max: max(&self.into),
            out_degree_max: max(&self.out),
            average: (!self.out.is_empty()).then(|| sum as f64 / self.out.len() as f64),
            isolated: both.filter(|&(&into, &out)| into == 0 && out == 0).count() as u64,
            top,
        }))
    }
}

impl answer::Summary for Summary {
    fn facts(&self) -> Facts {
        let mut facts = Facts::default();
        facts.add("greatest in-degree", answer::count(self.in_degree_max.into()));
        facts.add("greatest out-degree", answer::count(self.out_degree_max.into()));
        if let Some(average) = self.average {
            facts.add("average", answer::number(average));
        }
        facts.add("isolated", answer::counted(self.isolated, "vertex", "vertices"));
        facts
    }

    fn list(&self) -> List {
        let mut list = List::new(["vertex", "in_degree", "out_degree"]);
        for Entry { vertex, in_degree, out_degree } in &self.top {
            list.add([vertex, in_degree, out_degree]);
        }
        list
    }
}
