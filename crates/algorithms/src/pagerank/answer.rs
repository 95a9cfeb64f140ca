//! The ranks, as a table and in sum.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float32Array};
use arrow_schema::{DataType, Field};
use serde::Serialize;
use tegula_engine::{Cancel, Graph, States};
use tegula_machine::{Diagnostic, Hint};

use super::PageRank;
use crate::answer::{self, Answer, Columns, Facts, List, Rows, TotalOrder, Values, greatest};
use crate::error::Result;
use crate::original_ids::Name;

/// What PageRank found.
pub(super) struct PageRanks {
    ranks: Values<f32>,
    /// Of all ranks.
    sum: f64,
    /// Change of the ranks in the last iteration (L1); infinite without one.
    change: f64,
    /// Whether that is within the tolerance; none where none was asked for.
    converged: Option<bool>,
}

impl PageRanks {
    /// The ranks that a run has left, and what it says of them.
    pub(super) fn of(
        states: States<f32>,
        program: &PageRank,
        graph: &Graph,
        cancel: &Cancel,
    ) -> Result<PageRanks> {
        // From 0, since the sum of nothing is -0; by dense id, wherever they lie.
        let mut sum = 0.0;
        states.for_each_chunk(|_, ranks| {
            cancel.check()?;
            sum = ranks.iter().fold(sum, |sum, &rank| sum + f64::from(rank));
            Ok::<(), tegula_engine::Error>(())
        })?;
        let ranks = Values::of(states, graph, cancel)?;
        let (change, converged) = (program.change(), program.has_converged());
        Ok(PageRanks { ranks, sum, change, converged })
    }
}

/// What is said of all ranks.
#[derive(Debug, Serialize)]
pub struct Summary {
    /// Change of the ranks in the last iteration (L1); none without an iteration.
    change: Option<f64>,
    /// Whether that is within the tolerance; none with `iterations`, which asks for no tolerance.
    converged: Option<bool>,
    /// Of all ranks: 1 but for rounding.
    sum: f64,
    /// The greatest ranks.
    top: Vec<Ranked>,
}

/// A vertex and its rank.
#[derive(Debug, Serialize)]
pub struct Ranked {
    vertex: Name,
    rank: f32,
}

impl Columns for PageRanks {
    fn fields(&self, _id: DataType) -> Vec<Field> {
        vec![Field::new("rank", DataType::Float32, false)]
    }

    fn arrays(&self, _graph: &Graph, rows: &Rows<'_>, _cancel: &Cancel) -> Result<Vec<ArrayRef>> {
        Ok(vec![Arc::new(Float32Array::from(self.ranks.at(rows)?))])
    }
}

impl Answer for PageRanks {
    fn summary(
        &self,
        graph: &Graph,
        top: usize,
        cancel: &Cancel,
    ) -> Result<Box<dyn answer::Summary>> {
        let key = |rank| Some(TotalOrder(rank));
        let keys = |rows: &Rows<'_>| Ok(self.ranks.at(rows)?.into_iter().map(key).collect());
        let top = greatest(graph, top, keys, cancel)?;
        Ok(Box::new(Summary {
            change: self.change.is_finite().then_some(self.change),
            converged: self.converged,
            sum: self.sum,
            top: top.into_iter().map(|(vertex, rank)| Ranked { vertex, rank: rank.0 }).collect(),
        }))
    }

    fn warning(&self) -> Option<Diagnostic> {
        let change = self.change;
        (self.converged == Some(false)).then(|| {
            let message = if change.is_finite() {
                format!(
                    "the ranks have not converged: the last iteration changed them by {change:.2e} (L1), \
                     more than the tolerance"
                )
            } else {
                "the ranks have not converged: there was no iteration".to_owned()
            };
            Diagnostic::from(message).hint(Hint::raise("max_iterations"))
        })
    }
}

impl answer::Summary for Summary {
    fn facts(&self) -> Facts {
        let mut facts = Facts::default();
        if let Some(change) = self.change {
            facts.add("last change (L1)", format!("{change:.2e}"));
        }
        facts.add("sum of ranks", format!("{:.6}", self.sum));
        facts
    }

    fn list(&self) -> List {
        let mut list = List::new(["vertex", "rank"]);
        for Ranked { vertex, rank } in &self.top {
            list.add([&vertex, &rank]);
        }
        list
    }
}
