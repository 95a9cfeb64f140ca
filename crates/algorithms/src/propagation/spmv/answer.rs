//! The product and its summary.

use serde::Serialize;
use tegula_engine::{Cancel, Graph, States};
use tegula_store::Diagnostic;

use crate::answer::{Facts, Figures, Scores, Values};
use crate::error::Result;

/// The figures of a product.
#[derive(Debug, Clone, Serialize)]
pub(super) struct ProductFigures {
    /// The sum of all values; `None` where it is not finite.
    sum: Option<f64>,
    /// Number of values that are infinite or NaN.
    infinite: u64,
}

/// The product that a run leaves in its states.
pub(super) fn product(
    states: States<f32>,
    graph: &Graph,
    cancel: &Cancel,
) -> Result<Scores<f32, ProductFigures>> {
    // Starts from 0, as an empty `sum()` is -0. Adds by dense id, in memory and on disk alike.
    let (mut sum, mut infinite) = (0.0, 0);
    states.for_each_chunk(|_, values| {
        cancel.check()?;
        sum = values.iter().fold(sum, |sum, &value| sum + f64::from(value));
        infinite += values.iter().filter(|value| !value.is_finite()).count() as u64;
        Ok::<(), tegula_engine::Error>(())
    })?;
    let values = Values::of(states, graph, cancel)?;
    let figures = ProductFigures { sum: sum.is_finite().then_some(sum), infinite };
    Ok(Scores { column: "value", values, figures })
}

impl Figures for ProductFigures {
    fn facts(&self) -> Facts {
        let mut facts = Facts::default();
        if let Some(sum) = self.sum {
            facts.add("sum of values", format!("{sum:.6e}"));
        }
        if self.infinite > 0 {
            facts.add("infinite", self.infinite.to_string());
        }
        facts
    }

    fn warning(&self) -> Option<Diagnostic> {
        (self.infinite > 0).then(|| {
            let count = self.infinite;
            let message = format!("{count} values are beyond the range of 32-bit floats");
            Diagnostic::from(message)
        })
    }
}
