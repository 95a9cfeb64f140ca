//! The set as a table and as a summary.

use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray};
use arrow_schema::{DataType, Field};
use serde::Serialize;
use tegula_engine::{Cancel, Graph, VertexId};

use crate::answer::{self, Answer, CHUNK, Columns, Facts, List, TableRows, greatest};
use crate::error::Result;
use crate::shared::original_ids::Name;

/// For each dense id whether it is in the set.
pub(super) struct Members(pub(super) Vec<bool>);

/// The summary of the set.
#[derive(Debug, Serialize)]
pub struct Summary {
    /// Number of vertices in it.
    size: u64,
    /// The first vertices in it.
    top: Vec<Name>,
}

impl Columns for Members {
    fn fields(&self, _id: DataType) -> Vec<Field> {
        vec![Field::new("in_set", DataType::Boolean, false)]
    }

    fn arrays(
        &self,
        _graph: &Graph,
        rows: &TableRows<'_>,
        _cancel: &Cancel,
    ) -> Result<Vec<ArrayRef>> {
        let members = rows.vertices.iter().map(|vertex| Some(self.0[vertex.index()]));
        Ok(vec![Arc::new(members.collect::<BooleanArray>())])
    }
}

impl Answer for Members {
    fn summary(
        &self,
        graph: &Graph,
        top: usize,
        cancel: &Cancel,
    ) -> Result<Box<dyn answer::Summary>> {
        let mut size = 0;
        for chunk in self.0.chunks(CHUNK) {
            cancel.check()?;
            size += chunk.iter().filter(|&&is_in| is_in).count() as u64;
        }
        let is_in = |vertex: &VertexId| self.0[vertex.index()].then_some(());
        let keys = |rows: &TableRows<'_>| Ok(rows.vertices.iter().map(is_in).collect());
        let first = greatest(graph, top, keys, cancel)?;
        Ok(Box::new(Summary { size, top: first.into_iter().map(|(name, ())| name).collect() }))
    }
}

impl answer::Summary for Summary {
    fn facts(&self) -> Facts {
        let mut facts = Facts::default();
        facts.add("in the set", answer::counted(self.size, "vertex", "vertices"));
        facts
    }

    fn list(&self) -> List {
        let mut list = List::new(["vertex"]);
        self.top.iter().for_each(|name| list.add([&name]));
        list
    }
}
