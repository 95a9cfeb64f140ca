//! Belief propagation: how likely each variable of a pairwise Markov random field is in each of its
//! states.
//!
//! Variables are vertices, and edges have potentials, which say how well states go together. In
//! every iteration, each variable sends each neighbour a message. It follows from its prior and
//! from the incoming messages of all others:
//!
//! ```text
//!  m'(w -> v)[j] = sum over states i of w:
//!                    potential[i, j] * prior(w)[i] * product over u in N(w), not v, of m(u -> w)[i]
//!  belief(v)[j]  ~ prior(v)[j] * product over w in N(v) of m(w -> v)[j]
//! ```
//!
//! (sum-product; Pearl, *Probabilistic Reasoning in Intelligent Systems*, 1988. On trees it is
//! exact after as many iterations as the longest path has edges. On other graphs it is an
//! approximation that may not converge: Murphy, Weiss and Jordan, UAI 1999.) All messages are
//! updated at once (flooding), and are uniform at first. It stops when no belief changes by more
//! than the tolerance.
//!
//! On a graph with loops, a strong potential makes nearly all beliefs certain, as evidence that
//! comes back is counted again: [`saturation`] says when, and which potential is weak enough.
//!
//! Messages are log odds of each state against the first, so that products are sums and nothing
//! underflows; a weight of 0 counts as 10^-304. They are kept at [both
//! ends](tegula_engine::traverse::EdgeStates) of an edge. So a vertex computes its incoming
//! messages from what lies beside its own row and from the beliefs of its neighbours. It changes
//! only its own messages, and adds up in the order of its row. This takes twice the arithmetic and
//! no atomics, and gives the same bits for any threads and any memory.
//!
//! A graph directory stands for the simple undirected graph beneath it. Directions, and further
//! edges between the same two vertices, are ignored. So are loops, as a variable has no potential
//! with itself.
//!
//! Memory, for M states: 16 (M - 1) bytes a vertex, 8 (M - 1) for priors, and the index of the
//! rows. In every iteration, 16 (M - 1) bytes for each end of an edge are read, and written again.
//! They lie on disk as far as memory has no room.
//!
//! Messages have single precision if there are [two states](two_states) with one potential, no
//! damping, and a tolerance of at least 10^-6. This takes 12 bytes a vertex, and 4 bytes for each
//! end of an edge are read and written. The error of a message is then at most 10^-6, or 10^-6 of
//! the message if that is above 1.

mod answer;
mod any_states;
mod iterations;
mod lanes;
mod matrix;
mod message_update;
mod model;
mod potential;
mod priors;
mod saturation;
mod two_states;
mod uai;

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tegula_engine::traverse::Directions;
use tegula_engine::{Estimate, Graph, RunOptions};
use tegula_import::input::{Format, IdKind, InputOptions, Vertices};
use tegula_import::{ImportConfig, import};
use tegula_store::graph::VertexOrder;
use tegula_store::rows::RowEncoding;

use crate::algorithm::{
    Abilities, Algorithm, Column, Description, Edges, Factor, Family, Found, Iterations,
    NotNegative, Probability, SideFiles, TakesModel, Weights, Work,
};
use crate::answer::Convergence;
use crate::error::{Error, Result, Setting, SettingValue};
use crate::shared::id_order::with_order_streamed;
use crate::side_table::{self, TableSource, Tables};

use answer::Answered;
use any_states::AnyStates;
use model::{Model, Potentials};
use potential::{LEAST, log_odds, normalize};
use saturation::Saturation;
use two_states::TwoStates;
use uai::UaiModel;

/// The least tolerance for which single precision is enough.
const SINGLE_TOLERANCE: f64 = 1e-6;

/// Options of belief propagation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct BeliefPropagationOptions {
    /// A model in the text format of the UAI competitions, in the place of a graph. Variables are
    /// vertices, named by their numbers. Factors have at most two variables.
    #[cfg_attr(feature = "clap", arg(long, value_name = "FILE"))]
    #[schemars(extend("format" = "file"))]
    pub model: Option<TableSource>,
    /// How well a state of a vertex goes with a state of its neighbour: a symmetric matrix of
    /// weights, a row in each line. Its size is the number of states. Loops, which join a vertex to
    /// itself, are ignored.
    #[cfg_attr(feature = "clap", arg(long, value_name = "FILE"))]
    #[schemars(extend("format" = "file"))]
    pub potential: Option<TableSource>,
    /// What is known about vertices: a table with an id, a state (from 0) and its weight in each
    /// row. If a vertex has rows, its states without a row weigh 0. Vertices without any row have
    /// the prior of the option `prior`.
    #[cfg_attr(feature = "clap", arg(long, value_name = "FILE"))]
    pub priors: Option<TableSource>,
    /// What is known about a vertex without a row in the table of priors: a weight for each state,
    /// such as 0.99,0.01 [default: all states weigh the same].
    #[cfg_attr(feature = "clap", arg(long, value_name = "W,..", value_delimiter = ','))]
    pub prior: Option<Vec<Factor>>,
    /// List the vertices that are most likely in this state (from 0) [default: those whose state is
    /// most certain].
    #[cfg_attr(feature = "clap", arg(long, value_name = "N"))]
    pub state: Option<u16>,
    /// The most iterations.
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", default_value_t = Self::ITERATIONS))]
    pub iterations: u64,
    /// Stop when an iteration changes no belief by more than this. If none does so, there is a
    /// warning.
    #[cfg_attr(feature = "clap", arg(long, value_name = "T", default_value_t = Self::TOLERANCE))]
    pub tolerance: NotNegative,
    /// How much of a message stays as it was, from 0 to below 1. If values swing, 0.5 may make them
    /// converge.
    #[cfg_attr(feature = "clap", arg(long, value_name = "D", default_value_t = Self::DAMPING))]
    pub damping: Probability,
}

impl BeliefPropagationOptions {
    const ITERATIONS: u64 = 100;
    const TOLERANCE: NotNegative = NotNegative::new(1e-6);
    const DAMPING: Probability = Probability::new(0.0);
}

impl BeliefPropagationOptions {
    /// Returns the update in single precision, if that is precise enough and possible for the
    /// model.
    fn two_states<'m>(&self, model: &'m Model) -> Option<TwoStates<'m>> {
        let is_enough = self.tolerance.get() >= SINGLE_TOLERANCE && self.damping.get() == 0.0;
        if is_enough { TwoStates::of(model) } else { None }
    }

    /// Returns the setting that calms messages that swing; `None` if they are damped already.
    fn more_damping(&self) -> Option<Setting> {
        let value = SettingValue::OneOf(&["0.5"]);
        (self.damping.get() == 0.0).then_some(Setting { option: "damping", value })
    }

    /// Returns the log odds of a vertex without a row in the table of priors.
    fn default_prior(&self, states: usize) -> Result<Vec<f64>> {
        let Some(weights) = &self.prior else { return Ok(vec![0.0; states - 1]) };
        let mut weights: Vec<f64> = weights.iter().map(|weight| weight.get()).collect();
        let greatest = normalize(&mut weights);
        if weights.len() != states || greatest.is_none_or(|greatest| greatest < LEAST) {
            let detail = format!(
                "`prior` takes a weight for each of the {states} states, and one must be above 0"
            );
            return Err(Error::BadOptions { algorithm: Self::NAME, detail });
        }
        Ok(log_odds(&weights).collect())
    }

    /// Reads the model, or the potential and the priors.
    fn read_model(&self, tables: &mut Tables<'_>) -> Result<Model> {
        if let Some(source) = &self.model {
            let path = tables.file("model", source)?;
            let model = UaiModel::read(path, tables.run.memory)?;
            // The graph was made from an earlier reading of the file.
            if model.variable_count() as u64 != tables.graph.vertex_count() {
                return Err(tegula_engine::Error::Replaced { path: path.to_owned() }.into());
            }
            return Ok(model.into_model(path));
        }
        let Some(source) = &self.potential else { return Ok(Model::default()) };
        let path = tables.file("potential", source)?;
        let (states, potential) = matrix::read_potential(path, &tables.run.cancel)?;
        let (potentials, default_prior) =
            (Potentials::Same(potential), self.default_prior(states)?);
        let model = Model { states, potentials, default_prior, ..Model::default() };
        match &self.priors {
            Some(source) => priors::read_priors("priors", source, model, tables),
            None => Ok(model),
        }
    }

    fn any_states<'m>(&self, model: &'m Model) -> AnyStates<'m> {
        AnyStates { model, damping: self.damping.get() }
    }
}

impl Default for BeliefPropagationOptions {
    fn default() -> BeliefPropagationOptions {
        BeliefPropagationOptions {
            model: None,
            potential: None,
            priors: None,
            prior: None,
            state: None,
            iterations: Self::ITERATIONS,
            tolerance: Self::TOLERANCE,
            damping: Self::DAMPING,
        }
    }
}

impl Algorithm for BeliefPropagationOptions {
    const NAME: &'static str = "belief-propagation";
    const DESCRIPTION: Description = Description {
        family: Family::Propagation,
        summary: "Belief propagation: how likely each vertex is in each state, given how well \
            states go together (sum-product)",
        columns: &[
            Column::VERTEX,
            Column::number(
                "state_",
                "the probability that it is in that state; null for a state that it does not have",
            )
            .repeated(),
        ],
        memory: "16 bytes a vertex for each state but one; 12 for two states with one potential; 8 \
            more with priors; rows of both directions",
        source: Some("Pearl, Probabilistic Reasoning in Intelligent Systems, 1988"),
        example: r#"{"potential": "potential.txt"}"#,
    };
    const WEIGHTS: Weights = Weights::Ignored { instead: "every edge has the same potential" };
    const TABLES: &'static [&'static str] = &["priors"];
    const ABILITIES: Abilities<Self> = Abilities::NONE.takes_model();
    type Files = Model;

    fn check(&self) -> Result<()> {
        let has_priors = self.priors.is_some() || self.prior.is_some();
        let detail = match (&self.model, &self.potential) {
            (None, None) => {
                "give a `potential` for the edges of the graph, or a `model` in its place"
            }
            (Some(_), potential) if potential.is_some() || has_priors => {
                "a `model` has potentials and priors of its own"
            }
            (Some(_), _) | (None, Some(_)) => return Ok(()),
        };
        Err(Error::BadOptions { algorithm: Self::NAME, detail: detail.to_owned() })
    }

    fn edges(&self) -> Edges {
        Edges::Rows(Directions::Both)
    }

    fn read_files(&self, tables: &mut Tables<'_>) -> Result<Model> {
        let model = self.read_model(tables)?;
        match self.state {
            Some(state) if usize::from(state) >= model.states => {
                let detail = format!("`state` is {state}, but states are 0 to {}", model.width());
                Err(Error::BadOptions { algorithm: Self::NAME, detail })
            }
            _ => Ok(model),
        }
    }

    fn estimate(&self, graph: &Graph, model: &Model, threads: usize) -> Result<Estimate> {
        let size = model.size();
        let estimate = match self.two_states(model) {
            Some(update) => iterations::estimate(graph, &update, size, threads)?,
            None => iterations::estimate(graph, &self.any_states(model), size, threads)?,
        };
        Ok(side_table::with_reading(with_order_streamed(estimate, graph)?, model.reading_size))
    }

    fn why_in_memory(&self) -> &'static str {
        "each vertex reads the beliefs of its neighbours, which may be any vertices"
    }

    fn iterations(&self) -> Iterations {
        Iterations::until(self.tolerance.get(), self.iterations)
    }

    fn work(&self, graph: &Graph, model: &Model) -> Result<Work> {
        let kind = match self.two_states(model) {
            Some(_) => Self::NAME,
            None => "belief-propagation of any states",
        };
        Ok(Work::of_rounds(kind, graph, Algorithm::iterations(self)))
    }

    fn run(&self, graph: &Graph, model: Model, options: &RunOptions<'_>) -> Result<Found> {
        let size = model.size();
        let found = match self.two_states(&model) {
            Some(update) => iterations::run(graph, &update, size, self, options)?,
            None => iterations::run(graph, &self.any_states(&model), size, self, options)?,
        };
        let figures = Convergence::of(found.change, self.tolerance.get())
            .limited_by("iterations")
            .calmed_by(self.more_damping());
        let saturation = Saturation::of(&model, &found.log_odds, graph)?;
        let Model { states, state_counts, .. } = model;
        let (listed, log_odds) = (self.state, found.log_odds);
        let beliefs = Answered { states, state_counts, log_odds, listed, figures, saturation };
        Ok(Found::new(beliefs, found.statistics))
    }
}

impl TakesModel for BeliefPropagationOptions {
    fn model(&self) -> Option<&TableSource> {
        self.model.as_ref()
    }

    fn import_model(model: &Path, graph: &Path, options: &RunOptions<'_>) -> Result<()> {
        let model = UaiModel::read(model, options.memory)?;
        let pairs = graph.with_file_name("pairs.tsv");
        model.write_pairs(&pairs)?;
        let vertices = Some(Vertices::Count(model.variable_count() as u64));
        // The import gets the whole budget.
        drop(model);
        let format = Format::Tsv;
        let config = ImportConfig {
            input: InputOptions { format, ids: IdKind::Integer, ..InputOptions::default() },
            undirected: true,
            allow_empty: true,
            vertices,
            // The model has its variables by number, which must be the dense ids.
            order: Some(VertexOrder::Given),
            rows: Some(RowEncoding::Gap),
            memory: options.memory,
            threads: options.threads,
            ..ImportConfig::default()
        };
        import(&[pairs], graph, &config, options.progress, &options.cancel)?;
        Ok(())
    }
}
