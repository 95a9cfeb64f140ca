//! A number for each vertex.

use std::convert::identity;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float32Array, Float64Array, UInt32Array, UInt64Array};
use arrow_schema::{DataType, Field};
use serde::Serialize;
use tegula_engine::{Cancel, Graph, Value};
use tegula_store::Diagnostic;

use super::figures::{Figures, Named};
use super::{
    Answer, Columns, Facts, List, Summary, TableRows, TotalOrder, Values, decimal, greatest,
};
use crate::error::Result;
use crate::shared::original_ids::Name;

/// Numbers of the vertices. A summary lists the greatest.
pub struct Scores<V, F> {
    /// The name of the column.
    pub column: &'static str,
    /// The number of each vertex.
    pub values: Values<V>,
    /// Figures about all numbers.
    pub figures: F,
}

/// A number of a vertex.
pub trait Score: Value + Serialize {
    /// The key that orders the numbers.
    type Key: Ord + Copy + Send;
    /// The type of their column.
    const TYPE: DataType;

    /// Returns its place in the order.
    fn key(self) -> Self::Key;

    /// Returns the number with this place.
    fn of_key(key: Self::Key) -> Self;

    /// Formats it for people.
    fn words(self) -> String;

    /// Makes a column of numbers.
    fn column(values: Vec<Self>) -> ArrayRef;
}

macro_rules! score {
    ($number:ty, $type:ident, $array:ident, $key:ty, $into:expr, $from:expr, $words:expr) => {
        impl Score for $number {
            type Key = $key;
            const TYPE: DataType = DataType::$type;

            fn key(self) -> $key {
                $into(self)
            }

            fn of_key(key: $key) -> $number {
                $from(key)
            }

            fn words(self) -> String {
                $words(self)
            }

            fn column(values: Vec<$number>) -> ArrayRef {
                Arc::new($array::from(values))
            }
        }
    };
}

score!(u32, UInt32, UInt32Array, u32, identity, identity, |count| u32::to_string(&count));
score!(u64, UInt64, UInt64Array, u64, identity, identity, |count| u64::to_string(&count));
score!(
    f32,
    Float32,
    Float32Array,
    TotalOrder<f32>,
    TotalOrder,
    |key: TotalOrder<_>| key.0,
    decimal
);
score!(
    f64,
    Float64,
    Float64Array,
    TotalOrder<f64>,
    TotalOrder,
    |key: TotalOrder<_>| key.0,
    decimal
);

impl<V: Score, F: Figures> Columns for Scores<V, F> {
    fn fields(&self, _id: DataType) -> Vec<Field> {
        vec![Field::new(self.column, V::TYPE, false)]
    }

    fn arrays(
        &self,
        _graph: &Graph,
        rows: &TableRows<'_>,
        _cancel: &Cancel,
    ) -> Result<Vec<ArrayRef>> {
        Ok(vec![V::column(self.values.at(rows)?)])
    }
}

impl<V: Score, F: Figures> Answer for Scores<V, F> {
    fn summary(&self, graph: &Graph, top: usize, cancel: &Cancel) -> Result<Box<dyn Summary>> {
        let key = |value: V| Some(value.key());
        let keys = |rows: &TableRows<'_>| Ok(self.values.at(rows)?.into_iter().map(key).collect());
        let scored = |(vertex, key)| Scored { vertex, score: Named(self.column, V::of_key(key)) };
        let top = greatest(graph, top, keys, cancel)?.into_iter().map(scored).collect();
        Ok(Box::new(Greatest { column: self.column, figures: self.figures.clone(), top }))
    }

    fn warning(&self) -> Option<Diagnostic> {
        self.figures.warning()
    }
}

/// The summary of all numbers.
#[derive(Debug, Serialize)]
struct Greatest<V: Serialize, F> {
    #[serde(skip)]
    column: &'static str,
    #[serde(flatten)]
    figures: F,
    /// The vertices with the greatest numbers.
    top: Vec<Scored<V>>,
}

/// A vertex and its number.
#[derive(Debug, Serialize)]
struct Scored<V: Serialize> {
    vertex: Name,
    #[serde(flatten)]
    score: Named<V>,
}

impl<V: Score, F: Figures> Summary for Greatest<V, F> {
    fn facts(&self) -> Facts {
        self.figures.facts()
    }

    fn list(&self) -> List {
        let mut list = List::new(["vertex", self.column]);
        for Scored { vertex, score } in &self.top {
            list.add([vertex, &score.1.words()]);
        }
        list
    }
}
