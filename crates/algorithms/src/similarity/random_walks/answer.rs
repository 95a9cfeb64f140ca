//! The walks as a table and as a summary.

use std::sync::Arc;

use arrow_array::{UInt32Array, UInt64Array};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use serde::Serialize;
use tegula_engine::{Cancel, Graph, RunOptions, ShortId};

use super::Trajectories;
use super::steps::NONE;
use crate::answer::{
    self, Answer, Facts, GroupSize, List, RowSink, Table, find_ids, id_type, write_in_batches,
};
use crate::error::Result;
use crate::shared::original_ids::{IdPosition, IdPositions, Name, ShortIdPosition};

/// The maximum number of vertices listed for a walk.
const LISTED_MAX: usize = 10;

/// The walks, with vertices named by id position.
pub(super) struct Walks {
    trajectories: Trajectories,
    /// Number of vertices of all walks.
    vertices: u64,
    /// The memory budget in bytes.
    memory: u64,
}

/// The summary of the walks.
#[derive(Debug, Serialize)]
pub struct Summary {
    /// Number of walks.
    walks: u64,
    /// Number of steps of all walks.
    steps: u64,
    /// Number of walks that ended at a vertex without an edge onwards.
    ended_early: u64,
    /// The first walks, each with its first vertices.
    top: Vec<Walk>,
}

/// A walk.
#[derive(Debug, Serialize)]
pub struct Walk {
    walk: u64,
    vertices: Vec<Name>,
}

impl Walks {
    /// Replaces dense ids by id positions, in place.
    pub(super) fn new(
        mut trajectories: Trajectories,
        graph: &Graph,
        options: &RunOptions<'_>,
    ) -> Result<Walks> {
        let id_positions = IdPositions::read(graph, &options.cancel)?;
        let mut vertices = 0;
        for vertex in trajectories.vertices.iter_mut().filter(|vertex| **vertex != NONE) {
            *vertex = ShortId(id_positions.of(*vertex).0);
            vertices += 1;
        }
        Ok(Walks { trajectories, vertices, memory: options.memory })
    }

    /// The vertices of each walk, up to its end.
    fn walks(&self) -> impl Iterator<Item = &[ShortId]> {
        self.trajectories.vertices.chunks(self.trajectories.length).map(|walk| {
            let end = walk.iter().position(|&vertex| vertex == NONE).unwrap_or(walk.len());
            &walk[..end]
        })
    }
}

fn id_position(vertex: ShortId) -> IdPosition {
    ShortIdPosition(vertex.0).into()
}

/// A row for every vertex of every walk.
impl Table for Walks {
    fn schema(&self, graph: &Graph) -> SchemaRef {
        Arc::new(Schema::new(vec![
            Field::new("walk", DataType::UInt64, false),
            Field::new("step", DataType::UInt32, false),
            Field::new("vertex", id_type(graph), false),
        ]))
    }

    fn row_count(&self, _graph: &Graph) -> u64 {
        self.vertices
    }

    fn write_rows(&self, graph: &Graph, out: &mut dyn RowSink, cancel: &Cancel) -> Result<()> {
        let schema = self.schema(graph);
        let mut rows = (0u64..).zip(self.walks()).flat_map(|(walk, vertices)| {
            (0u32..).zip(vertices).map(move |(step, &vertex)| (walk, step, id_position(vertex)))
        });
        let size = GroupSize::for_memory(self.memory).rows;
        loop {
            let group: Vec<_> = rows.by_ref().take(size).collect();
            if group.is_empty() || !out.wants_more() {
                return Ok(());
            }
            let walks: UInt64Array = group.iter().map(|row| Some(row.0)).collect();
            let steps: UInt32Array = group.iter().map(|row| Some(row.1)).collect();
            let vertices = find_ids(graph, group.iter().map(|row| row.2), cancel)?;
            write_in_batches(&schema, &[Arc::new(walks), Arc::new(steps), vertices], out)?;
        }
    }
}

impl Answer for Walks {
    fn summary(
        &self,
        graph: &Graph,
        top: usize,
        cancel: &Cancel,
    ) -> Result<Box<dyn answer::Summary>> {
        cancel.check()?;
        let ids = graph.original_ids()?;
        let walk = |(walk, vertices): (u64, &[ShortId])| {
            let names =
                vertices.iter().take(LISTED_MAX).map(|&vertex| id_position(vertex).name(&ids));
            Ok(Walk { walk, vertices: names.collect::<tegula_engine::Result<_>>()? })
        };
        let walks = self.walks().count() as u64;
        let whole = self.trajectories.length;
        Ok(Box::new(Summary {
            walks,
            steps: self.vertices - walks,
            ended_early: self.walks().filter(|walk| walk.len() < whole).count() as u64,
            top: (0..).zip(self.walks()).take(top).map(walk).collect::<Result<_>>()?,
        }))
    }
}

impl answer::Summary for Summary {
    fn facts(&self) -> Facts {
        let mut facts = Facts::default();
        facts.add("walks", answer::count(self.walks));
        facts.add("steps", answer::count(self.steps));
        facts.add("ended early", answer::counted(self.ended_early, "walk", "walks"));
        facts
    }

    fn list(&self) -> List {
        let mut list = List::new(["walk", "first vertices"]);
        for Walk { walk, vertices } in &self.top {
            let names: Vec<String> = vertices.iter().map(Name::to_string).collect();
            list.add([walk, &names.join(" ")]);
        }
        list
    }
}
