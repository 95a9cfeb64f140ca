//! The distances, as a table and in sum.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array};
use arrow_schema::{DataType, Field};
use serde::Serialize;
use tegula_engine::{Cancel, Graph};

use crate::answer::{self, Answer, Columns, Facts, List, Rows, Values, greatest};
use crate::error::Result;
use crate::original_ids::Name;

/// What the search found.
pub(super) struct FoundDistances {
    /// Infinite where there is no path.
    pub(super) distances: Values<f64>,
    /// The width of the buckets, where there were any.
    pub(super) delta: Option<f64>,
}

impl FoundDistances {
    fn at(&self, rows: &Rows<'_>) -> Result<impl Iterator<Item = Option<f64>>> {
        let distances = self.distances.at(rows)?.into_iter();
        Ok(distances.map(|distance| Some(distance).filter(|distance| distance.is_finite())))
    }
}

/// What is said of all distances.
#[derive(Debug, Serialize)]
pub struct Summary {
    /// Vertices that a path leads to, the source included.
    reached: u64,
    /// The greatest distance.
    distance_max: f64,
    /// The width of the buckets, where there were any.
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

impl Columns for FoundDistances {
    fn fields(&self, _id: DataType) -> Vec<Field> {
        vec![Field::new("distance", DataType::Float64, true)]
    }

    fn arrays(&self, _graph: &Graph, rows: &Rows<'_>, _cancel: &Cancel) -> Result<Vec<ArrayRef>> {
        let distances: Float64Array = self.at(rows)?.collect();
        Ok(vec![Arc::new(distances)])
    }
}

impl Answer for FoundDistances {
    fn summary(
        &self,
        graph: &Graph,
        top: usize,
        cancel: &Cancel,
    ) -> Result<Box<dyn answer::Summary>> {
        let (mut reached, mut distance_max) = (0, 0f64);
        self.distances.for_each_chunk(cancel, |chunk| {
            for &distance in chunk.iter().filter(|distance| distance.is_finite()) {
                reached += 1;
                distance_max = distance_max.max(distance);
            }
        })?;
        // Floats of at least 0 are in the order of their bits.
        let bits = |distance: Option<f64>| distance.map(f64::to_bits);
        let keys = |rows: &Rows<'_>| Ok(self.at(rows)?.map(bits).collect());
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
