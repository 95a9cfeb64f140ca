//! The choice of an encoding, and the one place that acts on it.

use super::bits::{BitWriter, RowBits};
use super::ceesor::{self, CeesorCode};
use super::gap::GapCode;
use super::plain::PlainCode;
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;

/// How the neighbours of a row are stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RowEncoding {
    /// Ascending ids of a fixed width.
    Plain,
    /// Offsets to the source by magnitude, as in CEESOR.
    Ceesor,
    /// Gaps of ascending ids, in codes fitted to each chunk.
    #[default]
    Gap,
}

impl RowEncoding {
    /// All encodings.
    pub const ALL: [Self; 3] = [Self::Plain, Self::Ceesor, Self::Gap];

    /// The name, as users give it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Ceesor => "ceesor",
            Self::Gap => "gap",
        }
    }

    /// Bytes of the parameters of a chunk.
    pub(super) fn parameters_size(self) -> usize {
        if self == Self::Gap { GapCode::SIZE } else { 0 }
    }

    /// Whether neighbours come ascending.
    pub fn is_ascending(self) -> bool {
        self != Self::Ceesor
    }

    /// Whether a row can hold the source itself. If not, a self-loop has to be kept elsewhere.
    pub(super) fn holds_loops(self) -> bool {
        self != Self::Ceesor
    }

    /// What grows along a row.
    pub(super) fn sort_key(self, source: u32, target: u32) -> (u32, bool) {
        match self {
            Self::Plain | Self::Gap => (target, false),
            Self::Ceesor => ceesor::sort_key(source, target),
        }
    }

    /// Brings the edges (target, weight) of `source` into the order of a stored row, in place. Edges
    /// that are equal but for their weights stay as they come.
    pub(super) fn sort<W>(self, source: u32, edges: &mut [(u32, W)]) {
        match self {
            Self::Plain | Self::Gap => edges.sort_by_key(|edge| edge.0),
            Self::Ceesor => edges.sort_by_key(|edge| ceesor::sort_key(source, edge.0)),
        }
    }
}

/// An encoding with the parameters of a chunk: what it takes to write or read its rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RowCode {
    /// See [`RowEncoding::Plain`].
    Plain(PlainCode),
    /// See [`RowEncoding::Ceesor`].
    Ceesor(CeesorCode),
    /// See [`RowEncoding::Gap`].
    Gap(Box<GapCode>),
}

impl RowCode {
    /// The code for a chunk of these arcs (source, target), which come by source and then in the
    /// order of [`RowEncoding::sort`]. Only `gap` looks at them, three times.
    pub fn fit(
        encoding: RowEncoding,
        vertex_count: u32,
        arcs: impl Iterator<Item = (u32, u32)> + Clone,
    ) -> Self {
        match encoding {
            RowEncoding::Plain => Self::Plain(PlainCode::new(vertex_count)),
            RowEncoding::Ceesor => Self::Ceesor(CeesorCode),
            RowEncoding::Gap => Self::Gap(Box::new(GapCode::fit(arcs))),
        }
    }

    /// The parameters to store with a chunk: 25 bytes for `gap`, none for the others.
    pub fn parameters(&self) -> Vec<u8> {
        match self {
            Self::Plain(_) | Self::Ceesor(_) => Vec::new(),
            Self::Gap(code) => code.to_bytes().to_vec(),
        }
    }

    /// The code of a chunk from its stored parameters. Says what is wrong with those that cannot be.
    pub fn from_parameters(
        encoding: RowEncoding,
        vertex_count: u32,
        parameters: &[u8],
    ) -> Result<Self, String> {
        let code = match encoding {
            RowEncoding::Gap => return Ok(Self::Gap(Box::new(GapCode::from_bytes(parameters)?))),
            RowEncoding::Plain => Self::Plain(PlainCode::new(vertex_count)),
            RowEncoding::Ceesor => Self::Ceesor(CeesorCode),
        };
        match parameters {
            [] => Ok(code),
            _ => Err(format!("{} bytes of parameters, not 0", parameters.len())),
        }
    }

    /// Appends the row of `source`. The targets come in the order of [`RowEncoding::sort`], without
    /// self-loops where the encoding does not hold them, and are among those that the code was fitted
    /// to; it panics if `gap` meets another that it cannot code.
    pub fn encode(&self, source: u32, targets: impl Iterator<Item = u32>, out: &mut BitWriter) {
        match self {
            Self::Plain(code) => code.encode(targets, out),
            Self::Ceesor(code) => code.encode(source, targets, out),
            Self::Gap(code) => code.encode(source, targets, out),
        }
    }

    /// Folds the neighbours of `source` in stored order, until `step` breaks.
    ///
    /// # Errors
    ///
    /// What is wrong with the bits: a target that is not below `vertex_count`, or a code that the row
    /// cuts off. Before that, `step` may have been called for targets that are none; all it is ever
    /// called with are below `vertex_count`.
    #[inline(always)]
    pub fn try_fold<A>(
        &self,
        source: u32,
        row: RowBits<'_>,
        vertex_count: u32,
        init: A,
        step: impl FnMut(A, u32) -> ControlFlow<A, A>,
    ) -> Result<A, String> {
        match self {
            Self::Plain(code) => code.try_fold(row, vertex_count, init, step),
            Self::Ceesor(code) => code.try_fold(source, row, vertex_count, init, step),
            Self::Gap(code) => code.try_fold(source, row, vertex_count, init, step),
        }
    }
}
