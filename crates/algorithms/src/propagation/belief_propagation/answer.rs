//! Beliefs, as a table and as a summary.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array};
use arrow_schema::{DataType, Field};
use serde::Serialize;
use tegula_engine::{Cancel, Graph};
use tegula_store::Diagnostic;

use super::potential::probabilities;
use super::saturation::Saturation;
use crate::answer::{
    self, Answer, Columns, Convergence, Facts, Figures, List, TableRows, TotalOrder, greatest,
};
use crate::error::Result;
use crate::shared::original_ids::Name;

/// How likely each vertex is in each state.
pub(super) struct Answered {
    /// The most states of a vertex.
    pub states: usize,
    /// The number of states of each vertex, by dense id; empty if all have the same.
    pub state_counts: Vec<u16>,
    /// The log odds of its states, except the first, against its first, by dense id.
    pub log_odds: Vec<f64>,
    /// The state whose likeliest vertices are listed; `None` to list those whose state is most
    /// certain.
    pub listed: Option<u16>,
    pub figures: Convergence,
    pub saturation: Option<Saturation>,
}

/// The summary of all beliefs.
#[derive(Debug, Serialize)]
pub struct Summary {
    #[serde(flatten)]
    figures: Convergence,
    /// The most states of a vertex.
    states: usize,
    /// The vertices whose state is most certain, or those most likely in the state that was asked
    /// for.
    top: Vec<Belief>,
}

/// A vertex, one of its states, and how likely this state is.
#[derive(Debug, Serialize)]
pub struct Belief {
    vertex: Name,
    state: u16,
    belief: f64,
}

impl Answered {
    /// Computes the beliefs of a vertex, one for each of its states.
    fn beliefs(&self, vertex: usize, beliefs: &mut Vec<f64>) {
        let width = self.states - 1;
        probabilities(&self.log_odds[vertex * width..][..width], beliefs);
        beliefs.truncate(self.state_counts.get(vertex).map_or(self.states, |&count| count.into()));
    }
}

impl Columns for Answered {
    fn fields(&self, _id: DataType) -> Vec<Field> {
        let may_be_missing = !self.state_counts.is_empty();
        let name = |state| format!("state_{state}");
        (0..self.states)
            .map(|state| Field::new(name(state), DataType::Float64, may_be_missing))
            .collect()
    }

    fn arrays(
        &self,
        _graph: &Graph,
        rows: &TableRows<'_>,
        _cancel: &Cancel,
    ) -> Result<Vec<ArrayRef>> {
        let mut columns = vec![Vec::with_capacity(rows.vertices.len()); self.states];
        let mut beliefs = Vec::new();
        for vertex in rows.vertices {
            self.beliefs(vertex.index(), &mut beliefs);
            for (state, column) in columns.iter_mut().enumerate() {
                column.push(beliefs.get(state).copied());
            }
        }
        let array = |column| -> ArrayRef { Arc::new(Float64Array::from(column)) };
        Ok(columns.into_iter().map(array).collect())
    }
}

impl Answer for Answered {
    fn summary(
        &self,
        graph: &Graph,
        top: usize,
        cancel: &Cancel,
    ) -> Result<Box<dyn answer::Summary>> {
        let mut beliefs = Vec::new();
        let mut likeliest = |vertex: usize| {
            self.beliefs(vertex, &mut beliefs);
            let is_listed = |state: &u16| self.listed.is_none_or(|listed| listed == *state);
            let states = (0..).zip(&beliefs).filter(|(state, _)| is_listed(state));
            let (state, belief) = states.max_by(|a, b| a.1.total_cmp(b.1).then(b.0.cmp(&a.0)))?;
            Some((TotalOrder(*belief), state))
        };
        // In a cell, because `keys` is called through a shared reference.
        let likeliest = std::cell::RefCell::new(&mut likeliest);
        let keys = |rows: &TableRows<'_>| {
            let mut likeliest = likeliest.borrow_mut();
            Ok(rows.vertices.iter().map(|vertex| likeliest(vertex.index())).collect())
        };
        let found = greatest(graph, top, keys, cancel)?.into_iter();
        let belief = |(vertex, (belief, state)): (Name, (TotalOrder<f64>, u16))| Belief {
            vertex,
            state,
            belief: belief.0,
        };
        let (figures, states) = (self.figures, self.states);
        Ok(Box::new(Summary { figures, states, top: found.map(belief).collect() }))
    }

    fn warning(&self) -> Option<Diagnostic> {
        let convergence = self.figures.warning();
        match &self.saturation {
            Some(saturation) => Some(saturation.warning(convergence)),
            None => convergence,
        }
    }
}

impl answer::Summary for Summary {
    fn facts(&self) -> Facts {
        let mut facts = Facts::default();
        facts.add("states", answer::count(self.states as u64));
        self.figures.facts().into_iter().for_each(|(name, value)| facts.add(name, value));
        facts
    }

    fn list(&self) -> List {
        let mut list = List::new(["vertex", "state", "belief"]);
        for Belief { vertex, state, belief } in &self.top {
            list.add([vertex, state, &answer::decimal(*belief)]);
        }
        list
    }
}
