//! The bounds, and the two vertices at the greatest distance found.

use std::sync::Arc;

use arrow_array::UInt32Array;
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use serde::Serialize;
use tegula_engine::{Cancel, Graph, RunOptions};
use tegula_store::{Diagnostic, Hint};

use super::Bounds;
use crate::answer::{self, Answer, Facts, List, RowSink, Table, find_ids, id_type, write_arrays};
use crate::error::Result;
use crate::shared::original_ids::{IdPosition, IdPositions, Name};

/// The result of the search for the diameter.
pub(super) struct Diameter {
    bounds: Bounds,
    /// The two vertices at the greatest distance found, the smaller first.
    ends: Option<(IdPosition, IdPosition)>,
}

/// The summary of the search.
#[derive(Debug, Serialize)]
pub struct Summary {
    /// Lower bound of the diameter.
    lower: u32,
    /// Upper bound of the diameter.
    upper: u32,
    /// Whether the bounds are equal.
    exact: bool,
    /// Number of vertices of the largest component.
    vertices: u64,
    /// Number of searches.
    searches: u64,
    /// One of two vertices that are `lower` hops apart.
    source: Option<Name>,
    /// The other one.
    target: Option<Name>,
}

impl Diameter {
    pub(super) fn new(bounds: Bounds, graph: &Graph, options: &RunOptions<'_>) -> Result<Diameter> {
        let id_positions = IdPositions::read(graph, &options.cancel)?;
        let ends = bounds.ends.map(|(one, other)| {
            let (one, other) = (id_positions.of(one), id_positions.of(other));
            (one.min(other).into(), one.max(other).into())
        });
        Ok(Diameter { bounds, ends })
    }
}

/// One row for the path, none in a graph without vertices.
impl Table for Diameter {
    fn schema(&self, graph: &Graph) -> SchemaRef {
        let id = |name| Field::new(name, id_type(graph), false);
        let distance = Field::new("distance", DataType::UInt32, false);
        Arc::new(Schema::new(vec![id("source"), id("target"), distance]))
    }

    fn row_count(&self, _graph: &Graph) -> u64 {
        self.ends.iter().len() as u64
    }

    fn write_rows(&self, graph: &Graph, out: &mut dyn RowSink, cancel: &Cancel) -> Result<()> {
        let Some((source, target)) = self.ends else { return Ok(()) };
        let [source, target] =
            [source, target].map(|end| find_ids(graph, [end].into_iter(), cancel));
        let distance = Arc::new(UInt32Array::from(vec![self.bounds.lower]));
        write_arrays(&self.schema(graph), vec![source?, target?, distance], out)
    }
}

impl Answer for Diameter {
    fn summary(
        &self,
        graph: &Graph,
        _top: usize,
        _cancel: &Cancel,
    ) -> Result<Box<dyn answer::Summary>> {
        let Bounds { lower, upper, vertices, searches, .. } = self.bounds;
        let ids = graph.original_ids()?;
        let name = |id_position: IdPosition| id_position.name(&ids);
        let (source, target) = (self.ends.map(|ends| ends.0), self.ends.map(|ends| ends.1));
        Ok(Box::new(Summary {
            lower,
            upper,
            exact: lower == upper,
            vertices,
            searches,
            source: source.map(name).transpose()?,
            target: target.map(name).transpose()?,
        }))
    }

    fn warning(&self) -> Option<Diagnostic> {
        let Bounds { lower, upper, searches, .. } = self.bounds;
        (lower < upper).then(|| {
            let searches = answer::counted(searches, "search", "searches");
            let message = format!(
                "the diameter is not known: after {searches} it is between {lower} and {upper}"
            );
            Diagnostic::from(message).hint(Hint::raise("max_searches"))
        })
    }
}

impl answer::Summary for Summary {
    fn facts(&self) -> Facts {
        let mut facts = Facts::default();
        let diameter = match self.exact {
            true => answer::count(self.lower.into()),
            false => format!("{} to {}", self.lower, self.upper),
        };
        facts.add("diameter", diameter);
        facts.add("component", answer::counted(self.vertices, "vertex", "vertices"));
        facts.add("searches", answer::count(self.searches));
        facts
    }

    fn list(&self) -> List {
        let mut list = List::new(["source", "target", "distance"]);
        if let (Some(source), Some(target)) = (&self.source, &self.target) {
            list.add([source, target, &self.lower]);
        }
        list
    }
}
