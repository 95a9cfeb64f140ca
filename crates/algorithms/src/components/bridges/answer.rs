//! Bridges and articulation points as tables and as a summary.

use std::cmp::Reverse;
use std::sync::Arc;

use arrow_schema::{Field, Schema, SchemaRef};
use serde::Serialize;
use tegula_engine::{Cancel, Graph, RunOptions};

use super::Blocks;
use crate::answer::{
    self, Answer, Facts, GroupSize, List, Listing, RowSink, Table, find_ids, id_type,
    write_in_batches,
};
use crate::error::Result;
use crate::shared::original_ids::{IdPosition, IdPositions, Name, ShortIdPosition};

/// The edges and vertices whose removal splits a component.
pub(super) struct Cuts {
    /// In ascending order, and so are the two ends of each.
    bridges: Vec<(ShortIdPosition, ShortIdPosition)>,
    /// With the number of blocks that meet in each point.
    articulation_points: Listing<u32>,
    /// The memory budget in bytes.
    memory: u64,
}

/// The bridges as a table.
pub(super) struct Bridges(pub(super) Cuts);

/// The articulation points as a table.
pub(super) struct ArticulationPoints(pub(super) Cuts);

/// The summary of bridges and articulation points.
#[derive(Debug, Serialize)]
pub struct Summary {
    /// Number of bridges.
    bridges: u64,
    /// Number of articulation points.
    articulation_points: u64,
    /// The points in which most blocks meet.
    top: Vec<Point>,
}

/// An articulation point.
#[derive(Debug, Serialize)]
pub struct Point {
    vertex: Name,
    blocks: u32,
}

impl Cuts {
    /// Replaces dense ids by id positions.
    pub(super) fn new(found: Blocks, graph: &Graph, options: &RunOptions<'_>) -> Result<Cuts> {
        let id_positions = IdPositions::read(graph, &options.cancel)?;
        let ends = |(a, b)| {
            let (a, b) = (id_positions.of(a), id_positions.of(b));
            (a.min(b), a.max(b))
        };
        // Reuses the allocation.
        let mut bridges: Vec<_> = found.bridges.into_iter().map(ends).collect();
        bridges.sort_unstable();
        let points = found.articulation_points.into_iter();
        let mut rows: Vec<_> =
            points.map(|(vertex, blocks)| (id_positions.of(vertex), blocks)).collect();
        rows.sort_unstable();
        let articulation_points = Listing { column: "blocks", rows, memory: options.memory };
        Ok(Cuts { bridges, articulation_points, memory: options.memory })
    }

    fn summary(&self, graph: &Graph, top: usize, cancel: &Cancel) -> Result<Summary> {
        cancel.check()?;
        let ids = graph.original_ids()?;
        let mut most = self.articulation_points.rows.clone();
        let by_blocks = |&(vertex, blocks): &(ShortIdPosition, u32)| (Reverse(blocks), vertex);
        if most.len() > top {
            most.select_nth_unstable_by_key(top, by_blocks);
            most.truncate(top);
        }
        most.sort_unstable_by_key(by_blocks);
        let point = |(vertex, blocks): (ShortIdPosition, u32)| {
            Ok(Point { vertex: IdPosition::from(vertex).name(&ids)?, blocks })
        };
        Ok(Summary {
            bridges: self.bridges.len() as u64,
            articulation_points: self.articulation_points.rows.len() as u64,
            top: most.into_iter().map(point).collect::<Result<_>>()?,
        })
    }
}

/// A row for every bridge, ascending by its ends.
impl Table for Bridges {
    fn schema(&self, graph: &Graph) -> SchemaRef {
        let id = |name| Field::new(name, id_type(graph), false);
        Arc::new(Schema::new(vec![id("u"), id("v")]))
    }

    fn row_count(&self, _graph: &Graph) -> u64 {
        self.0.bridges.len() as u64
    }

    fn write_rows(&self, graph: &Graph, out: &mut dyn RowSink, cancel: &Cancel) -> Result<()> {
        let schema = self.schema(graph);
        // Half as many rows, as each row looks up two ids.
        for bridges in self.0.bridges.chunks(GroupSize::for_memory(self.0.memory).rows / 2) {
            if !out.wants_more() {
                break;
            }
            let one = find_ids(graph, bridges.iter().map(|bridge| bridge.0.into()), cancel)?;
            let other = find_ids(graph, bridges.iter().map(|bridge| bridge.1.into()), cancel)?;
            write_in_batches(&schema, &[one, other], out)?;
        }
        Ok(())
    }
}

/// A row for every articulation point, in the order of the original ids.
impl Table for ArticulationPoints {
    fn schema(&self, graph: &Graph) -> SchemaRef {
        self.0.articulation_points.schema(graph)
    }

    fn row_count(&self, graph: &Graph) -> u64 {
        self.0.articulation_points.row_count(graph)
    }

    fn write_rows(&self, graph: &Graph, out: &mut dyn RowSink, cancel: &Cancel) -> Result<()> {
        self.0.articulation_points.write_rows(graph, out, cancel)
    }
}

impl Answer for Bridges {
    fn summary(
        &self,
        graph: &Graph,
        top: usize,
        cancel: &Cancel,
    ) -> Result<Box<dyn answer::Summary>> {
        Ok(Box::new(self.0.summary(graph, top, cancel)?))
    }
}

impl Answer for ArticulationPoints {
    fn summary(
        &self,
        graph: &Graph,
        top: usize,
        cancel: &Cancel,
    ) -> Result<Box<dyn answer::Summary>> {
        Ok(Box::new(self.0.summary(graph, top, cancel)?))
    }
}

impl answer::Summary for Summary {
    fn facts(&self) -> Facts {
        let mut facts = Facts::default();
        facts.add("bridges", answer::count(self.bridges));
        facts.add("articulation points", answer::count(self.articulation_points));
        facts
    }

    fn list(&self) -> List {
        let mut list = List::new(["vertex", "blocks"]);
        for Point { vertex, blocks } in &self.top {
            list.add([vertex, blocks]);
        }
        list
    }
}
