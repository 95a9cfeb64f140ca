//! How several weights become one.

use tegula_store::{At, Error, Place, Result};

/// The weight of an edge that replaces several with the same ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Combine {
    /// The least of their weights.
    Min,
    /// The greatest of their weights.
    Max,
    /// Their sum, rounded once. All edges with the same ends are in memory together for it.
    Sum,
}

impl Combine {
    /// Combines weights that ascend.
    ///
    /// # Errors
    /// [`Error::BadInput`] where a sum exceeds the greatest 32-bit float.
    pub(crate) fn ascending(
        self,
        mut weights: impl DoubleEndedIterator<Item = f32>,
    ) -> Result<f32> {
        match self {
            Combine::Min => Ok(weights.next().unwrap_or_default()),
            Combine::Max => Ok(weights.next_back().unwrap_or_default()),
            Combine::Sum => {
                // The weights ascend, so the sum does not depend on the order of the input.
                let sum = weights.map(f64::from).sum::<f64>() as f32;
                if sum.is_finite() {
                    return Ok(sum);
                }
                let place = Place { file: "the input".into(), at: At::File };
                let detail = "the weights of edges with the same ends add up to more than 3.4e38, \
                              the greatest 32-bit float";
                Err(Error::bad_input(place, detail))
            }
        }
    }
}
