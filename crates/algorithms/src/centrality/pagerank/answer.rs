//! The ranks, and their summary.

use serde::Serialize;
use tegula_engine::{Cancel, Graph, States};
use tegula_store::{Diagnostic, Hint};

use super::PageRank;
use crate::answer::{Facts, Figures, Scores, Values};
use crate::error::Result;

/// Figures about the ranks.
#[derive(Debug, Clone, Serialize)]
pub(super) struct RankFigures {
    /// Change of the ranks in the last iteration (L1); `None` without an iteration.
    change: Option<f64>,
    /// Whether the change is within the tolerance; `None` with `iterations`, which sets no
    /// tolerance.
    converged: Option<bool>,
    /// The sum of all ranks: 1 except for rounding.
    sum: f64,
}

/// Makes the answer from the ranks that a run has left.
pub(super) fn ranks(
    states: States<f32>,
    program: &PageRank,
    graph: &Graph,
    cancel: &Cancel,
) -> Result<Scores<f32, RankFigures>> {
    // Start from 0, since an empty sum is -0. Add up by dense id, wherever the ranks lie.
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
