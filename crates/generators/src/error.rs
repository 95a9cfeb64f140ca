//! The error for invalid parameters of a graph.

use std::fmt;

/// A parameter is out of its range. The message names the parameter, its value and the range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParameterError(String);

impl ParameterError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

impl fmt::Display for ParameterError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for ParameterError {}
