//! The paths that a search has found: the parent of each vertex, and whole paths to some targets.

use std::fmt::Display;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, UInt32Array, UInt64Array};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use serde::Serialize;
use tegula_engine::{Cancel, Graph, RunOptions, Value, VertexId};

use crate::answer::{
    self, Answer, Facts, GroupSize, List, RowSink, Table, TableRows, Values, find_ids, id_type,
    write_in_batches,
};
use crate::error::Result;
use crate::shared::original_ids::{IdPosition, IdPositions, Name};

/// What a search has found about a vertex.
pub trait Step {
    /// Hops, or a sum of weights.
    type Distance: Distance;

    /// Returns the distance; `None` where there is no path.
    fn distance(&self) -> Option<Self::Distance>;

    /// Returns the vertex before it on the path; a source is its own parent.
    fn parent(&self) -> Option<VertexId>;
}

/// A distance in a table.
pub trait Distance: Copy + PartialOrd + Display + Serialize + Send + Sync + 'static {
    /// The type of its column.
    const TYPE: DataType;

    /// Makes a column of distances.
    fn array(distances: Vec<Self>) -> ArrayRef;

    /// Formats it for people.
    fn words(self) -> String;
}

impl Distance for u32 {
    const TYPE: DataType = DataType::UInt32;

    fn array(distances: Vec<u32>) -> ArrayRef {
        Arc::new(UInt32Array::from(distances))
    }

    fn words(self) -> String {
        self.to_string()
    }
}

impl Distance for f64 {
    const TYPE: DataType = DataType::Float64;

    fn array(distances: Vec<f64>) -> ArrayRef {
        Arc::new(Float64Array::from(distances))
    }

    fn words(self) -> String {
        answer::number(self)
    }
}

/// What is needed to name the parent of each vertex.
pub struct Parents {
    id_positions: IdPositions,
    group_size: GroupSize,
}

impl Parents {
    /// Reads the order of the vertices.
    pub fn read(graph: &Graph, options: &RunOptions<'_>) -> Result<Parents> {
        // The order needs memory of its own, and tiles are no longer needed.
        graph.reader().pool().trim();
        let group_size = GroupSize::for_memory(options.memory);
        Ok(Parents { id_positions: IdPositions::read(graph, &options.cancel)?, group_size })
    }

    /// Returns the column of the parents.
    pub fn field(id: DataType) -> Field {
        Field::new("parent", id, true)
    }

    /// Returns how many rows to ask for at a time.
    pub fn group_size(&self) -> GroupSize {
        self.group_size
    }

    /// Makes the column for some rows. `here` is these rows and their steps among `all`.
    pub fn array<S: Step + Value>(
        &self,
        all: &Values<S>,
        here: (&TableRows<'_>, &[S]),
        graph: &Graph,
        cancel: &Cancel,
    ) -> Result<ArrayRef> {
        let id_position = |step: &S| {
            step.parent().map_or(IdPosition::NONE, |parent| self.id_positions.of_any(parent))
        };
        let (rows, steps) = here;
        all.ids_at(rows, steps, id_position, graph, cancel)
    }
}

/// The paths to some targets, nearest first.
pub struct Paths<S> {
    /// By dense id.
    steps: Vec<S>,
    parents: Parents,
    /// Targets with a path, by ascending distance, then by original id.
    targets: Vec<VertexId>,
    /// The number of targets without a path.
    unreached: u64,
}

/// The summary of all paths.
#[derive(Debug, Serialize)]
pub struct Summary<D> {
    /// The number of targets with a path.
    reached: u64,
    /// The number of targets without one.
    unreached: u64,
    /// The nearest targets.
    nearest: Vec<Target<D>>,
}

/// A target and its distance.
#[derive(Debug, Serialize)]
pub struct Target<D> {
    target: Name,
    distance: D,
}

impl<S: Step> Paths<S> {
    /// Makes paths from what a search has found about every vertex. A target that is named twice
    /// has one path.
    pub fn new(
        steps: Vec<S>,
        mut targets: Vec<VertexId>,
        graph: &Graph,
        options: &RunOptions<'_>,
    ) -> Result<Paths<S>> {
        let parents = Parents::read(graph, options)?;
        targets.sort_unstable_by_key(|&target| parents.id_positions.of_any(target));
        targets.dedup();
        let named = targets.len();
        targets.retain(|target| steps[target.index()].distance().is_some());
        let distance = |target: &VertexId| steps[target.index()].distance();
        // The sort is stable, so targets at one distance stay in the order of their ids.
        targets.sort_by(|one, other| {
            distance(one).partial_cmp(&distance(other)).unwrap_or(std::cmp::Ordering::Equal)
        });
        let unreached = (named - targets.len()) as u64;
        Ok(Paths { steps, parents, targets, unreached })
    }

    /// Returns the paths to those targets that are among these vertices.
    fn to(&self, vertices: Range<u64>) -> PathsTo<'_, S> {
        PathsTo { all: self, vertices }
    }

    /// Returns the bytes that paths take beside the steps: one path of all vertices, and their
    /// order.
    pub fn size(graph: &Graph) -> Result<u64> {
        Ok(16 * graph.vertex_count() + IdPositions::size(graph)?)
    }

    /// Iterates over the vertices on a path, from its end to a source.
    fn backwards(&self, target: VertexId) -> impl Iterator<Item = VertexId> {
        std::iter::successors(Some(target), |vertex| {
            // A source is its own parent.
            self.steps[vertex.index()].parent().filter(|parent| parent != vertex)
        })
    }
}

/// Rows of a table that wait to be written.
struct Pending<D> {
    targets: Vec<IdPosition>,
    positions: Vec<u64>,
    vertices: Vec<IdPosition>,
    distances: Vec<D>,
}

impl<D: Distance> Pending<D> {
    fn new() -> Pending<D> {
        Pending { targets: vec![], positions: vec![], vertices: vec![], distances: vec![] }
    }

    /// Turns the rows into columns, and leaves none behind.
    fn take(&mut self, graph: &Graph, cancel: &Cancel) -> Result<[ArrayRef; 4]> {
        let targets = find_ids(graph, self.targets.drain(..), cancel)?;
        let positions = UInt64Array::from(std::mem::take(&mut self.positions));
        let vertices = find_ids(graph, self.vertices.drain(..), cancel)?;
        let distances = D::array(std::mem::take(&mut self.distances));
        Ok([targets, Arc::new(positions), vertices, distances])
    }
}

/// A row for every vertex on each path, from the source to the target.
impl<S: Step> Table for Paths<S> {
    fn schema(&self, graph: &Graph) -> SchemaRef {
        self.to(0..graph.vertex_count()).schema(graph)
    }

    fn row_count(&self, graph: &Graph) -> u64 {
        self.to(0..graph.vertex_count()).row_count(graph)
    }

    fn write_rows(&self, graph: &Graph, out: &mut dyn RowSink, cancel: &Cancel) -> Result<()> {
        self.to(0..graph.vertex_count()).write_rows(graph, out, cancel)
    }

    fn rows_of(&self, vertices: Range<u64>) -> Option<Box<dyn Table + '_>> {
        Some(Box::new(self.to(vertices)))
    }
}

/// The paths to some of the targets.
struct PathsTo<'p, S> {
    all: &'p Paths<S>,
    /// Dense ids. Other targets are left out.
    vertices: Range<u64>,
}

impl<S: Step> PathsTo<'_, S> {
    fn targets(&self) -> impl Iterator<Item = VertexId> {
        self.all.targets.iter().copied().filter(|target| self.vertices.contains(&target.0))
    }
}

impl<S: Step> Table for PathsTo<'_, S> {
    fn schema(&self, graph: &Graph) -> SchemaRef {
        Arc::new(Schema::new(vec![
            Field::new("target", id_type(graph), false),
            Field::new("position", DataType::UInt64, false),
            Field::new("vertex", id_type(graph), false),
            Field::new("distance", S::Distance::TYPE, false),
        ]))
    }

    fn row_count(&self, _graph: &Graph) -> u64 {
        self.targets().map(|target| self.all.backwards(target).count() as u64).sum()
    }

    fn write_rows(&self, graph: &Graph, out: &mut dyn RowSink, cancel: &Cancel) -> Result<()> {
        let schema = self.schema(graph);
        let mut pending = Pending::new();
        let Paths { steps, parents, .. } = self.all;
        for target in self.targets() {
            let mut path: Vec<VertexId> = self.all.backwards(target).collect();
            path.reverse();
            for (position, &vertex) in (0..).zip(&path) {
                let Some(distance) = steps[vertex.index()].distance() else { continue };
                pending.targets.push(parents.id_positions.of_any(target));
                pending.positions.push(position);
                pending.vertices.push(parents.id_positions.of_any(vertex));
                pending.distances.push(distance);
                if pending.positions.len() == parents.group_size.rows {
                    cancel.check()?;
                    if !out.wants_more() {
                        return Ok(());
                    }
                    write_in_batches(&schema, &pending.take(graph, cancel)?, out)?;
                }
            }
        }
        write_in_batches(&schema, &pending.take(graph, cancel)?, out)
    }
}

impl<S: Step + Send + Sync> Answer for Paths<S> {
    fn summary(
        &self,
        graph: &Graph,
        top: usize,
        _cancel: &Cancel,
    ) -> Result<Box<dyn answer::Summary>> {
        let ids = graph.original_ids()?;
        let mut nearest = Vec::new();
        for &vertex in self.targets.iter().take(top) {
            let target = self.parents.id_positions.of_any(vertex).name(&ids)?;
            let distance = self.steps[vertex.index()].distance();
            nearest.extend(distance.map(|distance| Target { target, distance }));
        }
        let reached = self.targets.len() as u64;
        Ok(Box::new(Summary { reached, unreached: self.unreached, nearest }))
    }
}

impl<D: Distance> answer::Summary for Summary<D> {
    fn facts(&self) -> Facts {
        let mut facts = Facts::default();
        facts.add("paths", answer::counted(self.reached, "target", "targets"));
        if self.unreached > 0 {
            facts.add("no path", answer::counted(self.unreached, "target", "targets"));
        }
        facts
    }

    fn list(&self) -> List {
        let mut list = List::new(["target", "distance"]);
        for Target { target, distance } in &self.nearest {
            list.add([&target, &distance.words()]);
        }
        list
    }
}
