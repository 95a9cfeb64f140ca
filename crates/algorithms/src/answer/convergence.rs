//! Whether an iteration converged.

use serde::Serialize;
use tegula_store::{Diagnostic, Hint, Setting};

use super::{Facts, Figures};

/// Whether values converged within a tolerance, for algorithms with the options `tolerance` and
/// `max_iterations`.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Convergence {
    /// How much the last iteration changed the values, as the algorithm measures it. `None` without
    /// an iteration, or where the change is no finite number.
    change: Option<f64>,
    /// Whether the change is within the tolerance.
    converged: bool,
    /// The option that limits the number of iterations.
    #[serde(skip)]
    limit: &'static str,
    /// The setting that keeps values from oscillating, which more iterations do not; `None` where
    /// no setting does.
    #[serde(skip)]
    against_swings: Option<Setting>,
}

impl Convergence {
    /// Judges the change in the last iteration, which is infinite without an iteration.
    pub fn of(change: f64, tolerance: f64) -> Convergence {
        // An infinite tolerance accepts an infinite change, so the filter comes later.
        let converged = change <= tolerance;
        let change = Some(change).filter(|change| change.is_finite());
        Convergence { change, converged, limit: "max_iterations", against_swings: None }
    }

    /// Names another option that limits the number of iterations.
    #[must_use]
    pub fn limited_by(self, limit: &'static str) -> Convergence {
        Convergence { limit, ..self }
    }

    /// Names the setting, if there is one, that keeps values from oscillating.
    #[must_use]
    pub fn calmed_by(self, against_swings: Option<Setting>) -> Convergence {
        Convergence { against_swings, ..self }
    }
}

impl Figures for Convergence {
    fn facts(&self) -> Facts {
        let mut facts = Facts::default();
        if let Some(change) = self.change {
            facts.add("last change", format!("{change:.2e}"));
        }
        facts
    }

    fn warning(&self) -> Option<Diagnostic> {
        (!self.converged).then(|| {
            let message = match self.change {
                Some(change) => format!(
                    "the values have not converged: the last iteration changed them by {change:.2e}, more than the \
                     tolerance"
                ),
                None => "the values have not converged: there was no iteration, or they have no bound".to_owned(),
            };
            let calm = |setting: Setting| Hint::set([setting]).detail("if they swing");
            let calm = self.against_swings.map(calm);
            Diagnostic::from(message)
                .hint(calm)
                .hint(Hint::raise(self.limit))
                .hint(Hint::raise("tolerance").detail("if further iterations change no less"))
        })
    }
}
