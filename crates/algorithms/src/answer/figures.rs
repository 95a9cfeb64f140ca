//! Figures about a whole answer, beside those that all answers of its kind have.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use tegula_store::Diagnostic;

use super::Facts;

/// Figures about a whole answer; programs get them in serialized form.
pub trait Figures: Serialize + Clone + Send + Sync + 'static {
    /// Returns the figures for people.
    fn facts(&self) -> Facts;

    /// Warns if the run found less than was asked for.
    fn warning(&self) -> Option<Diagnostic> {
        None
    }
}

/// No further figures.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct NoFigures {}

impl Figures for NoFigures {
    fn facts(&self) -> Facts {
        Facts::default()
    }
}

/// A value under a name that is only known at run time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Named<T>(pub &'static str, pub T);

impl<T: Serialize> Serialize for Named<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(1))?;
        map.serialize_entry(self.0, &self.1)?;
        map.end()
    }
}
