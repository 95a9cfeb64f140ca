//! The ranks, and what is said of all of them.

use serde::Serialize;
use tegula_engine::{Cancel, Graph, States};
use tegula_machine::{Diagnostic, Hint};

use super::PageRank;
use crate::answer::{Facts, Figures, Scores, Values};
use crate::error::Result;

/// The figures of ranks.
#[derive(Debug, Clone, Serialize)]
pub(super) struct RankFigures {
    /// Change of the ranks in the last iteration (L1); none without an iteration.
    change: Option<f64>,
    /// Whether that is within the tolerance; none with `iterations`, which asks for no tolerance.
    converged: Option<bool>,
    /// Of all ranks: 1 but for rounding.
    sum: f64,
}

/// The ranks that a run has left, and what it says of them.
pub(super) fn ranks(
    states: States<f32>,
    program: &PageRank,
    graph: &Graph,
    cancel: &Cancel,
) -> Result<Scores<f32, RankFigures>> {
    // From 0, since the sum of nothing is -0; by dense id, wherever they lie.
    let mut sum = 0.0;
    states.for_each_chunk(|_, ranks| {
        cancel.check()?;
        sum = ranks.iter().fold(sum, |sum, &rank| sum + f64::from(rank));
        Ok::<(), tegula_engine::Error>(())
    })?;
    let values = Values::of(states, graph, cancel)?;
    let change = Some(program.change()).filter(|change| change.is_finite());
    let figures = RankFigures { change, converged: program.has_converged(), sum };
    Ok(Scores { column: "rank", values, figures })
}

impl Figures for RankFigures {
    fn facts(&self) -> Facts {
        let mut facts = Facts::default();
        if let Some(change) = self.change {
            facts.add("last change (L1)", format!("{change:.2e}"));
        }
        facts.add("sum of ranks", format!("{:.6}", self.sum));
        facts
    }

    fn warning(&self) -> Option<Diagnostic> {
        (self.converged == Some(false)).then(|| {
            let message = match self.change {
                Some(change) => format!(
                    "the ranks have not converged: the last iteration changed them by {change:.2e} (L1), \
                     more than the tolerance"
                ),
                None => "the ranks have not converged: there was no iteration".to_owned(),
            };
            Diagnostic::from(message).hint(Hint::raise("max_iterations"))
        })
    }
}
