//! Whether an iteration came to rest.

use serde::Serialize;
use tegula_machine::{Diagnostic, Hint, Setting};

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
    /// What brings values to rest that swing, however many iterations there are; none where nothing does.
    #[serde(skip)]
    against_swings: Option<Setting>,
}

impl Convergence {
    /// Of the change in the last iteration, which is infinite where there was none.
    pub fn of(change: f64, tolerance: f64) -> Convergence {
        let converged = change <= tolerance;
        let change = Some(change).filter(|change| change.is_finite());
        Convergence { change, converged, limit: "max_iterations", against_swings: None }
    }

    /// The same where another option says how many iterations there may be.
    #[must_use]
    pub fn limited_by(self, limit: &'static str) -> Convergence {
        Convergence { limit, ..self }
    }

    /// The same where an option, if there is one, brings values to rest that swing.
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
            Diagnostic::from(message).hint(calm).hint(Hint::raise(self.limit))
        })
    }
}
