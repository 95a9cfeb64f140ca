//! Whether an iteration came to rest.

use serde::Serialize;
use tegula_machine::{Diagnostic, Hint};

use super::{Facts, Figures};

/// Whether values came to rest within a tolerance, for algorithms with the options `tolerance` and `max_iterations`.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Convergence {
    /// How much the last iteration changed the values, of all they are; none without an iteration, or where that is no
    /// number any more.
    change: Option<f64>,
    /// Whether that is within the tolerance.
    converged: bool,
    /// The option that says how many iterations there may be.
    #[serde(skip)]
    limit: &'static str,
}

impl Convergence {
    /// Of the change in the last iteration, which is infinite where there was none.
    pub fn of(change: f64, tolerance: f64) -> Convergence {
        let converged = change <= tolerance;
        let change = Some(change).filter(|change| change.is_finite());
        Convergence { change, converged, limit: "max_iterations" }
    }

    /// The same where another option says how many iterations there may be.
    #[must_use]
    pub fn limited_by(self, limit: &'static str) -> Convergence {
        Convergence { limit, ..self }
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
            Diagnostic::from(message).hint(Hint::raise(self.limit))
        })
    }
}
