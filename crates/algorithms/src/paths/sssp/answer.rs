//! The distances as a table and as a summary.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array};
use arrow_schema::{DataType, Field};
use serde::Serialize;
use tegula_engine::{Cancel, Graph, RunOptions, States, Value, VertexId};

use super::distances::Distances;
use crate::answer::{self, Answer, Columns, Facts, GroupSize, List, TableRows, Values, greatest};
use crate::error::Result;
use crate::paths::path_table::{Parents, Step};
use crate::shared::original_ids::Name;

/// A distance alone, without a parent.
impl Step for f64 {
    type Distance = f64;

    fn distance(&self) -> Option<f64> {
        Some(*self).filter(|distance| distance.is_finite())
    }

    fn parent(&self) -> Option<VertexId> {
        None
    }
}

/// The distances found, with parents if they are wanted.
pub(super) struct FoundDistances<S> {
    steps: Values<S>,
    /// The weight of every edge if steps count hops, else 1.
    factor: f64,
    parents: Option<Parents>,
    /// See [`Distances::delta`].
    delta: Option<f64>,
}

impl<S: Step<Distance: Into<f64>> + Value> FoundDistances<S> {
    /// Prepares the answer. `has_parents` says whether the answer names parents, which takes 4
    /// bytes a vertex; the run has freed that memory.
    pub(super) fn new(
        found: Distances<States<S>>,
        has_parents: bool,
        graph: &Graph,
        options: &RunOptions<'_>,
    ) -> Result<FoundDistances<S>> {
        let parents = has_parents.then(|| Parents::read(graph, options)).transpose()?;
        let steps = Values::of(found.distances, graph, &options.cancel)?;
        Ok(FoundDistances { steps, factor: 1.0, parents, delta: found.delta })
    }

    /// Multiplies all distances by `factor`.
    pub(super) fn times(self, factor: f64) -> FoundDistances<S> {
        FoundDistances { factor, ..self }
    }

    /// Returns the distance of a vertex; `None` where there is no path.
    fn distance(&self, step: &S) -> Option<f64> {
        step.distance().map(|distance| distance.into() * self.factor)
    }
}

/// The summary of the distances.
#[derive(Debug, Serialize)]
pub struct Summary {
    /// Vertices that have a path from a source, sources included.
    reached: u64,
    /// The greatest distance.
    distance_max: f64,
    /// See [`Distances::delta`].
    delta: Option<f64>,
    /// The vertices farthest away.
    farthest: Vec<Farthest>,
}

/// A vertex and its distance.
#[derive(Debug, Serialize)]
pub struct Farthest {
    vertex: Name,
    distance: f64,
}

impl<S: Step<Distance: Into<f64>> + Value> Columns for FoundDistances<S> {
    fn fields(&self, id: DataType) -> Vec<Field> {
        let mut fields = vec![Field::new("distance", DataType::Float64, true)];
        fields.extend(self.parents.as_ref().map(|_| Parents::field(id)));
        fields
    }

    fn group_size(&self) -> GroupSize {
        self.parents.as_ref().map_or(GroupSize::LEAST, Parents::group_size)
    }

    fn arrays(
        &self,
        graph: &Graph,
        rows: &TableRows<'_>,
        cancel: &Cancel,
    ) -> Result<Vec<ArrayRef>> {
        let steps = self.steps.at(rows)?;
        let distances: Float64Array = steps.iter().map(|step| self.distance(step)).collect();
        let mut arrays: Vec<ArrayRef> = vec![Arc::new(distances)];
        if let Some(parents) = &self.parents {
            arrays.push(parents.array(&self.steps, (rows, &steps), graph, cancel)?);
        }
        Ok(arrays)
    }
}

impl<S: Step<Distance: Into<f64>> + Value> Answer for FoundDistances<S> {
    fn summary(
        &self,
        graph: &Graph,
        top: usize,
        cancel: &Cancel,
    ) -> Result<Box<dyn answer::Summary>> {
        let (mut reached, mut distance_max) = (0, 0f64);
        self.steps.for_each_chunk(cancel, |chunk| {
            for distance in chunk.iter().filter_map(|step| self.distance(step)) {
                reached += 1;
                distance_max = distance_max.max(distance);
            }
        })?;
        // Floats of at least 0 have the order of their bits.
        let bits = |step: &S| self.distance(step).map(f64::to_bits);
        let keys = |rows: &TableRows<'_>| Ok(self.steps.at(rows)?.iter().map(bits).collect());
        let farthest = greatest(graph, top, keys, cancel)?;
        let farthest = farthest
            .into_iter()
            .map(|(vertex, bits)| Farthest { vertex, distance: f64::from_bits(bits) });
        let farthest = farthest.collect();
        Ok(Box::new(Summary { reached, distance_max, delta: self.delta, farthest }))
    }
}

impl answer::Summary for Summary {
    fn facts(&self) -> Facts {
        let mut facts = Facts::default();
        facts.add("reached", answer::counted(self.reached, "vertex", "vertices"));
        facts.add("greatest distance", answer::number(self.distance_max));
        facts
    }

    fn list(&self) -> List {
        let mut list = List::new(["vertex", "distance"]);
        for Farthest { vertex, distance } in &self.farthest {
            list.add([&vertex, &answer::number(*distance)]);
        }
        list
    }
}
