//! What an algorithm says of its whole answer, beside what is said of every answer of its kind.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use tegula_machine::Diagnostic;

use super::Facts;

/// Figures about a whole answer; for programs what is serialized.
pub trait Figures: Serialize + Clone + Send + 'static {
    /// The figures for people.
    fn facts(&self) -> Facts;

    /// What is less than was asked for, although the run was done.
    fn warning(&self) -> Option<Diagnostic> {
        None
    }
}

/// Nothing more is to be said.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct NoFigures {}

impl Figures for NoFigures {
    fn facts(&self) -> Facts {
        Facts::default()
    }
}

/// A value under a name that is known when the program runs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Named<T>(pub &'static str, pub T);

impl<T: Serialize> Serialize for Named<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(1))?;
        map.serialize_entry(self.0, &self.1)?;
        map.end()
    }
}
