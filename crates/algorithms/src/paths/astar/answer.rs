//! The path as a table and as a summary.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, UInt64Array};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use serde::Serialize;
use tegula_engine::{Cancel, Graph};

use super::ShortestPath;
use crate::answer::{
    self, Answer, Facts, GroupSize, List, RowSink, Table, find_ids, id_type, write_in_batches,
};
use crate::error::Result;
use crate::shared::original_ids::Name;

/// The path found.
pub(super) struct Path {
    pub(super) found: ShortestPath,
    /// The memory budget in bytes.
    pub(super) memory: u64,
}

/// The summary of the path.
#[derive(Debug, Serialize)]
pub struct Summary {
    /// Its length; `None` where there is no path.
    length: Option<f64>,
    /// Number of its edges; `None` where there is no path.
    edges: Option<u64>,
    /// Number of vertices whose edges were looked at.
    expanded: u64,
    /// The scale of the heuristic; 0 without coordinates.
    heuristic_scale: f64,
    /// The first vertices on it.
    top: Vec<Stop>,
}

/// A vertex on the path.
#[derive(Debug, Serialize)]
pub struct Stop {
    position: u64,
    vertex: Name,
    distance: f64,
}

/// A row for every vertex on the path, from the source to the target.
impl Table for Path {
    fn schema(&self, graph: &Graph) -> SchemaRef {
        Arc::new(Schema::new(vec![
            Field::new("position", DataType::UInt64, false),
            Field::new("vertex", id_type(graph), false),
            Field::new("distance", DataType::Float64, false),
        ]))
    }

    fn row_count(&self, _graph: &Graph) -> u64 {
        self.found.steps.len() as u64
    }

    fn write_rows(&self, graph: &Graph, out: &mut dyn RowSink, cancel: &Cancel) -> Result<()> {
        let schema = self.schema(graph);
        let mut positions = 0..self.row_count(graph);
        for steps in self.found.steps.chunks(GroupSize::for_memory(self.memory).rows) {
            if !out.wants_more() {
                break;
            }
            let vertices = find_ids(graph, steps.iter().map(|step| step.id_position), cancel)?;
            let positions: UInt64Array = positions.by_ref().take(steps.len()).map(Some).collect();
            let distances: Float64Array = steps.iter().map(|step| Some(step.distance)).collect();
            let arrays: [ArrayRef; 3] = [Arc::new(positions), vertices, Arc::new(distances)];
            write_in_batches(&schema, &arrays, out)?;
        }
        Ok(())
    }
}

impl Answer for Path {
    fn summary(
        &self,
        graph: &Graph,
        top: usize,
        _cancel: &Cancel,
    ) -> Result<Box<dyn answer::Summary>> {
        let ids = graph.original_ids()?;
        let ShortestPath { steps, expanded, heuristic_scale, .. } = &self.found;
        let stops = (0..).zip(steps).take(top).map(|(position, step)| {
            let vertex = step.id_position.name(&ids)?;
            Ok(Stop { position, vertex, distance: step.distance })
        });
        Ok(Box::new(Summary {
            length: steps.last().map(|step| step.distance),
            edges: (steps.len() as u64).checked_sub(1),
            expanded: *expanded,
            heuristic_scale: *heuristic_scale,
            top: stops.collect::<Result<_>>()?,
        }))
    }
}

impl answer::Summary for Summary {
    fn facts(&self) -> Facts {
        let mut facts = Facts::default();
        match (self.length, self.edges) {
            (Some(length), Some(edges)) => {
                let edges = answer::counted(edges, "edge", "edges");
                facts.add("path", format!("{edges}, length {}", answer::number(length)));
            }
            _ => facts.add("path", "there is none"),
        }
        facts.add("expanded", answer::counted(self.expanded, "vertex", "vertices"));
        if self.heuristic_scale > 0.0 {
            facts.add("heuristic scale", answer::number(self.heuristic_scale));
        }
        facts
    }

    fn list(&self) -> List {
        let mut list = List::new(["position", "vertex", "distance"]);
        for Stop { position, vertex, distance } in &self.top {
            list.add([&position, &vertex, &answer::number(*distance)]);
        }
        list
    }
}
