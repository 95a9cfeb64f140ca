//! The similarities as a table and as a summary.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use serde::Serialize;
use tegula_engine::{Cancel, Graph, RunOptions, ShortId};

use super::search::SimilarPair;
use crate::answer::{
    self, Answer, CHUNK, Facts, GroupSize, List, RowSink, Table, TotalOrder, find_ids, id_type,
    write_in_batches,
};
use crate::error::Result;
use crate::shared::original_ids::{IdPosition, IdPositions, Name};

/// The similarities of the pairs.
pub(super) struct Similarities {
    pairs: Vec<SimilarPair>,
    id_positions: IdPositions,
    group_size: GroupSize,
}

impl Similarities {
    pub(super) fn new(
        pairs: Vec<SimilarPair>,
        graph: &Graph,
        options: &RunOptions<'_>,
    ) -> Result<Similarities> {
        // Names need memory of their own.
        graph.reader().pool().trim();
        let id_positions = IdPositions::read(graph, &options.cancel)?;
        Ok(Similarities { pairs, id_positions, group_size: GroupSize::for_memory(options.memory) })
    }

    /// Returns the indices of the `count` most similar pairs; of equal ones, the first comes first.
    /// It takes memory for `count` pairs, as the estimate has none for sorting all of them.
    fn most_similar(&self, count: usize, cancel: &Cancel) -> Result<Vec<usize>> {
        // The most similar pairs so far, the least similar of them on top.
        let mut most = BinaryHeap::new();
        for (number, chunk) in self.pairs.chunks(CHUNK).enumerate() {
            cancel.check()?;
            for (index, pair) in (number * CHUNK..).zip(chunk) {
                let key = (Reverse(TotalOrder(pair.similarity)), index);
                if most.len() == count && most.peek().is_none_or(|least| key >= *least) {
                    continue;
                }
                most.push(key);
                if most.len() > count {
                    most.pop();
                }
            }
        }
        Ok(most.into_sorted_vec().into_iter().map(|(_, index)| index).collect())
    }
}

/// The summary of the pairs.
#[derive(Debug, Serialize)]
pub struct Summary {
    /// Number of pairs.
    pairs: u64,
    /// The mean similarity; `None` without pairs.
    mean: Option<f64>,
    /// The most similar pairs.
    top: Vec<Pair>,
}

/// A pair.
#[derive(Debug, Serialize)]
pub struct Pair {
    u: Name,
    v: Name,
    similarity: f64,
}

/// A row for every pair.
impl Table for Similarities {
    fn schema(&self, graph: &Graph) -> SchemaRef {
        let id = id_type(graph);
        Arc::new(Schema::new(vec![
            Field::new("u", id.clone(), false),
            Field::new("v", id, false),
            Field::new("similarity", DataType::Float64, false),
        ]))
    }

    fn row_count(&self, _graph: &Graph) -> u64 {
        self.pairs.len() as u64
    }

    fn write_rows(&self, graph: &Graph, out: &mut dyn RowSink, cancel: &Cancel) -> Result<()> {
        let schema = self.schema(graph);
        for pairs in self.pairs.chunks(self.group_size.rows) {
            if !out.wants_more() {
                break;
            }
            let ids = |end: fn(&SimilarPair) -> ShortId| {
                find_ids(
                    graph,
                    pairs.iter().map(|pair| self.id_positions.of(end(pair)).into()),
                    cancel,
                )
            };
            let similarities: Float64Array =
                pairs.iter().map(|pair| Some(pair.similarity)).collect();
            let arrays: [ArrayRef; 3] =
                [ids(|pair| pair.u)?, ids(|pair| pair.v)?, Arc::new(similarities)];
            write_in_batches(&schema, &arrays, out)?;
        }
        Ok(())
    }
}

impl Answer for Similarities {
    fn summary(
        &self,
        graph: &Graph,
        top: usize,
        cancel: &Cancel,
    ) -> Result<Box<dyn answer::Summary>> {
        let ids = graph.original_ids()?;
        let count = self.pairs.len();
        let sum: f64 = self.pairs.iter().map(|pair| pair.similarity).sum();
        let named = self.most_similar(top, cancel)?.into_iter().map(|index| {
            let SimilarPair { u, v, similarity } = self.pairs[index];
            let name = |vertex| IdPosition::from(self.id_positions.of(vertex)).name(&ids);
            Ok(Pair { u: name(u)?, v: name(v)?, similarity })
        });
        Ok(Box::new(Summary {
            pairs: count as u64,
            mean: (count > 0).then(|| sum / count as f64),
            top: named.collect::<Result<_>>()?,
        }))
    }
}

impl answer::Summary for Summary {
    fn facts(&self) -> Facts {
        let mut facts = Facts::default();
        facts.add("compared", answer::counted(self.pairs, "pair", "pairs"));
        if let Some(mean) = self.mean {
            facts.add("mean similarity", answer::number(mean));
        }
        facts
    }

    fn list(&self) -> List {
        let mut list = List::new(["u", "v", "similarity"]);
        for Pair { u, v, similarity } in &self.top {
            list.add([&u, &v, &answer::number(*similarity)]);
        }
        list
    }
}
