//! The order as a table and as a summary.

use std::cmp::Reverse;
use std::sync::Arc;

use arrow_array::{ArrayRef, UInt32Array};
use arrow_schema::{DataType, Field};
use serde::Serialize;
use tegula_engine::{Cancel, Graph};

use crate::answer::{self, Answer, Columns, Facts, List, TableRows, greatest};
use crate::error::Result;
use crate::shared::original_ids::Name;

/// The position of each vertex.
pub(super) struct Positions {
    /// The position of each dense id.
    pub(super) positions: Vec<u32>,
    /// Number of vertices of the longest path.
    pub(super) longest_path: u64,
}

/// The summary of the order.
#[derive(Debug, Serialize)]
pub struct Summary {
    /// Number of vertices of the longest path.
    longest_path: u64,
    /// The first vertices in the order.
    top: Vec<Placed>,
}

/// A vertex and its position.
#[derive(Debug, Serialize)]
pub struct Placed {
    vertex: Name,
    position: u32,
}

impl Positions {
    fn of(&self, rows: &TableRows<'_>) -> impl Iterator<Item = u32> {
        rows.vertices.iter().map(|vertex| self.positions[vertex.index()])
    }
}

impl Columns for Positions {
    fn fields(&self, _id: DataType) -> Vec<Field> {
        vec![Field::new("position", DataType::UInt32, false)]
    }

    fn arrays(
        &self,
        _graph: &Graph,
        rows: &TableRows<'_>,
        _cancel: &Cancel,
    ) -> Result<Vec<ArrayRef>> {
        let positions: Vec<u32> = self.of(rows).collect();
        Ok(vec![Arc::new(UInt32Array::from(positions))])
    }
}

impl Answer for Positions {
    fn summary(
        &self,
        graph: &Graph,
        top: usize,
        cancel: &Cancel,
    ) -> Result<Box<dyn answer::Summary>> {
        // The summary lists the beginning of the order, so the least positions win.
        let key = |position: u32| Some(Reverse(position));
        let keys = |rows: &TableRows<'_>| Ok(self.of(rows).map(key).collect());
        let placed = |(vertex, Reverse(position))| Placed { vertex, position };
        let top = greatest(graph, top, keys, cancel)?.into_iter().map(placed).collect();
        Ok(Box::new(Summary { longest_path: self.longest_path, top }))
    }
}

impl answer::Summary for Summary {
    fn facts(&self) -> Facts {
        let mut facts = Facts::default();
        facts.add("longest path", answer::counted(self.longest_path, "vertex", "vertices"));
        facts
    }

    fn list(&self) -> List {
        let mut list = List::new(["vertex", "position"]);
        for Placed { vertex, position } in &self.top {
            list.add([vertex, position]);
        }
        list
    }
}
