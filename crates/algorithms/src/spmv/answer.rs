//! The product, as a table and in sum.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float32Array};
use arrow_schema::{DataType, Field};
use serde::Serialize;
use tegula_engine::{Cancel, Graph, States};
use tegula_machine::Diagnostic;

use crate::answer::{self, Answer, Columns, Facts, List, Rows, TotalOrder, Values, greatest};
use crate::error::Result;
use crate::original_ids::Name;

/// What came out.
pub(super) struct Product {
    values: Values<f32>,
    /// Of all values.
    sum: f64,
    /// Values beyond the range of `f32`.
    infinite: u64,
}

impl Product {
    /// The values that a run has left.
    pub(super) fn of(states: States<f32>, graph: &Graph, cancel: &Cancel) -> Result<Product> {
        // From 0, since the sum of nothing is -0; by dense id, wherever they lie.
        let (mut sum, mut infinite) = (0.0, 0);
        states.for_each_chunk(|_, values| {
            cancel.check()?;
            sum = values.iter().fold(sum, |sum, &value| sum + f64::from(value));
            infinite += values.iter().filter(|value| !value.is_finite()).count() as u64;
            Ok::<(), tegula_engine::Error>(())
        })?;
        Ok(Product { values: Values::of(states, graph, cancel)?, sum, infinite })
    }
}

/// What is said of all values.
#[derive(Debug, Serialize)]
pub struct Summary {
    /// Of all values; none where it is not finite.
    sum: Option<f64>,
    /// Values that are infinite, or no number any more.
    infinite: u64,
    /// The greatest values.
    top: Vec<Valued>,
}

/// A vertex and its value.
#[derive(Debug, Serialize)]
pub struct Valued {
    vertex: Name,
    value: f32,
}

impl Columns for Product {
    fn fields(&self, _id: DataType) -> Vec<Field> {
        vec![Field::new("value", DataType::Float32, false)]
    }

    fn arrays(&self, _graph: &Graph, rows: &Rows<'_>, _cancel: &Cancel) -> Result<Vec<ArrayRef>> {
        Ok(vec![Arc::new(Float32Array::from(self.values.at(rows)?))])
    }
}

impl Answer for Product {
    fn summary(
        &self,
        graph: &Graph,
        top: usize,
        cancel: &Cancel,
    ) -> Result<Box<dyn answer::Summary>> {
        let key = |value| Some(TotalOrder(value));
        let keys = |rows: &Rows<'_>| Ok(self.values.at(rows)?.into_iter().map(key).collect());
        let top = greatest(graph, top, keys, cancel)?;
        Ok(Box::new(Summary {
            sum: self.sum.is_finite().then_some(self.sum),
            infinite: self.infinite,
            top: top.into_iter().map(|(vertex, value)| Valued { vertex, value: value.0 }).collect(),
        }))
    }

    fn warning(&self) -> Option<Diagnostic> {
        (self.infinite > 0).then(|| {
            let count = self.infinite;
            let message = format!("{count} values are beyond the range of 32-bit floats");
            Diagnostic::from(message)
        })
    }
}

impl answer::Summary for Summary {
    fn facts(&self) -> Facts {
        let mut facts = Facts::default();
        if let Some(sum) = self.sum {
            facts.add("sum of values", format!("{sum:.6e}"));
        }
        if self.infinite > 0 {
            facts.add("infinite", self.infinite.to_string());
        }
        facts
    }

    fn list(&self) -> List {
        let mut list = List::new(["vertex", "value"]);
        for Valued { vertex, value } in &self.top {
            list.add([&vertex, &value]);
        }
        list
    }
}
