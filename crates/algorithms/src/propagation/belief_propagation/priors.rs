//! The table of priors: what is known about some vertices.

use tegula_store::{Result, VertexId};
use tegula_tables::read::bad_file;
use tegula_tables::{Presence, ValueColumn};

use super::model::Model;
use super::potential::{LEAST, log_odds};
use crate::error::is_weight;
use crate::shared::original_ids::name_of;
use crate::side_table::{Row, RowVisitor, TableSource, Tables};

/// Reads the priors of vertices into a model whose other parts are known.
///
/// # Errors
/// [`Error::BadInput`](tegula_store::Error::BadInput) for a vertex without a possible state, and
/// for a table that [`Tables::read`] refuses.
pub fn read_priors(
    option: &'static str,
    source: &TableSource,
    model: Model,
    tables: &mut Tables<'_>,
) -> crate::error::Result<Model> {
    let (graph, states) = (tables.graph, model.states);
    let mut weights = Weights { states, vertices: graph.vertex_count() as usize, all: Vec::new() };
    let reading_size = tables.read(option, source, &mut weights)?;
    let mut priors = Vec::with_capacity(weights.all.len() / states * model.width());
    for (vertex, weights) in weights.all.chunks_mut(states).enumerate() {
        if weights.iter().all(|weight| weight.is_nan()) {
            priors.extend(&model.default_prior);
            continue;
        }
        weights.iter_mut().filter(|weight| weight.is_nan()).for_each(|weight| *weight = 0.0);
        let greatest = weights.iter().copied().fold(0.0, f64::max);
        if greatest < LEAST {
            let name = name_of(graph, VertexId(vertex as u64))?;
            let detail = format!("all states of `{name}` have the weight 0");
            return Err(bad_file(source.name(), detail).into());
        }
        weights.iter_mut().for_each(|weight| *weight /= greatest);
        priors.extend(log_odds(weights));
    }
    Ok(Model { priors, reading_size, ..model })
}

/// Weights of the states of vertices.
struct Weights {
    states: usize,
    vertices: usize,
    /// By dense id and state; NaN where there was no row. Empty before the first row.
    all: Vec<f64>,
}

impl RowVisitor for Weights {
    const WHAT: &'static str = "the priors";
    const COLUMNS: &'static [ValueColumn] = &[
        ValueColumn {
            role: "state",
            names: &["state"],
            is_number: true,
            presence: Presence::Required,
        },
        ValueColumn {
            role: "prior",
            names: &["prior", "probability", "weight", "value"],
            is_number: true,
            presence: Presence::Required,
        },
    ];

    fn take(&mut self, row: &Row<'_>) -> Result<(), String> {
        let [state, prior] = row.values.map(Option::unwrap_or_default);
        let number = state.parse::<usize>().ok().filter(|&state| state < self.states);
        let number = number
            .ok_or_else(|| format!("`{state}` is not a state from 0 to {}", self.states - 1))?;
        let weight = prior.parse::<f64>().ok();
        let weight = weight
            .filter(|&weight| is_weight(weight))
            .ok_or_else(|| format!("`{prior}` is not a finite number of at least 0"))?;
        // Made at the first row, after the budget was checked for it. Later rows find it made.
        self.all.resize(self.states * self.vertices, f64::NAN);
        let place = &mut self.all[row.vertex.index() * self.states + number];
        if !place.is_nan() {
            return Err(format!("state {number} of `{}` has a prior already", row.id));
        }
        *place = weight;
        Ok(())
    }

    fn size(&self) -> u64 {
        // The priors, which are made from the weights, exist at the same time.
        (2 * self.states * self.vertices * size_of::<f64>()) as u64
    }
}
