//! The encodings of rows, and the only place that distinguishes them.

use super::bits::{BitWriter, RowBits};
use super::ceesor::{self, CeesorCode};
use super::copy::{CopyCode, CopyPlan, REACH_BITS};
use super::gap::GapCode;
use super::plain::PlainCode;
use crate::tiles::EdgeWeight;
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
    Gap,
    /// Neighbours copied from earlier rows, and gaps for the rest. Only gaps in a chunk where
    /// copying saves little.
    #[default]
    Copy,
}

impl RowEncoding {
    /// All encodings.
    pub const ALL: [Self; 4] = [Self::Plain, Self::Ceesor, Self::Gap, Self::Copy];

    /// The name, as users give it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Ceesor => "ceesor",
            Self::Gap => "gap",
            Self::Copy => "copy",
        }
    }

    /// Bytes of the parameters of a chunk.
    pub(super) fn parameters_size(self) -> usize {
        match self {
            Self::Plain | Self::Ceesor => 0,
            Self::Gap => GapCode::SIZE,
            Self::Copy => CopyCode::SIZE,
        }
    }

    /// Whether neighbours come ascending.
    pub fn is_ascending(self) -> bool {
        self != Self::Ceesor
    }

    /// Whether a row can hold its own source. If not, the index stores the loops.
    pub(super) fn holds_loops(self) -> bool {
        self != Self::Ceesor
    }

    /// A key that ascends along a row.
    pub(super) fn sort_key(self, source: u32, target: u32) -> (u32, bool) {
        match self {
            Self::Plain | Self::Gap | Self::Copy => (target, false),
            Self::Ceesor => ceesor::sort_key(source, target),
        }
    }

    /// Sorts the edges (target, weight) of `source` in place, in the order of a stored row.
    /// Repeated edges ascend by weight. The sorts are stable and fast here, because edges come in
    /// sorted runs.
    pub(super) fn sort<W: EdgeWeight>(self, source: u32, edges: &mut [(u32, W)]) {
        match self {
            Self::Plain | Self::Gap | Self::Copy => edges.sort_by_key(|edge| edge.0),
            Self::Ceesor => edges.sort_by_key(|edge| ceesor::sort_key(source, edge.0)),
        }
        if W::IS_WEIGHTED {
            for equal in edges.chunk_by_mut(|a, b| a.0 == b.0) {
                equal.sort_by(|a, b| a.1.to_f32().total_cmp(&b.1.to_f32()));
            }
        }
    }
}

/// An encoding with the parameters of a chunk. Encodes and decodes rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RowCode {
    /// See [`RowEncoding::Plain`].
    Plain(PlainCode),
    /// See [`RowEncoding::Ceesor`].
    Ceesor(CeesorCode),
    /// See [`RowEncoding::Gap`].
    Gap(Box<GapCode>),
    /// See [`RowEncoding::Copy`].
    Copy(Box<CopyCode>),
}

impl RowCode {
    /// The parameters to store with a chunk: 25 bytes for `gap`, 32 for `copy`, 0 for the others.
    pub fn parameters(&self) -> Vec<u8> {
        match self {
            Self::Plain(_) | Self::Ceesor(_) => Vec::new(),
            Self::Gap(code) => code.to_bytes().to_vec(),
            Self::Copy(code) => code.to_bytes().to_vec(),
        }
    }

    /// Parses the stored parameters of a chunk. Invalid ones give an error.
    pub fn from_parameters(
        encoding: RowEncoding,
        vertex_count: u32,
        parameters: &[u8],
    ) -> Result<Self, String> {
        let code = match encoding {
            RowEncoding::Gap => return Ok(Self::Gap(Box::new(GapCode::from_bytes(parameters)?))),
            RowEncoding::Copy => {
                return Ok(Self::Copy(Box::new(CopyCode::from_bytes(parameters)?)));
            }
            RowEncoding::Plain => Self::Plain(PlainCode::new(vertex_count)),
            RowEncoding::Ceesor => Self::Ceesor(CeesorCode),
        };
        match parameters {
            [] => Ok(code),
            _ => Err(format!("{} bytes of parameters, not 0", parameters.len())),
        }
    }

    /// Returns the greatest distance in bits from a row to the beginning of its reference; 0 if no
    /// row copies.
    pub fn reach(&self) -> u64 {
        self.copying().map_or(0, |_| REACH_BITS)
    }

    /// The code, if rows may copy.
    #[inline]
    pub fn copying(&self) -> Option<&CopyCode> {
        match self {
            Self::Copy(code) if code.copies() => Some(code),
            Self::Copy(_) | Self::Plain(_) | Self::Ceesor(_) | Self::Gap(_) => None,
        }
    }

    /// Folds the neighbours of `source` in stored order, until `step` breaks. For rows that do not
    /// copy.
    ///
    /// # Errors
    ///
    /// A target that is not below `vertex_count`, or a code that the row cuts off. Before the
    /// error, `step` may have been called with wrong targets, but each was below `vertex_count`.
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
            Self::Copy(code) => code.try_fold(source, row, vertex_count, init, step),
        }
    }
}

/// Encodes the rows of a chunk.
#[derive(Debug)]
pub(super) struct RowEncoder {
    code: RowCode,
    /// Which rows copy from which, if any.
    plan: Option<CopyPlan>,
}

impl RowEncoder {
    /// Prepares a chunk of these arcs (source, target), which come by source and then in the order
    /// of [`RowEncoding::sort`]. `gap` and `copy` iterate over them several times.
    pub fn new(
        encoding: RowEncoding,
        vertex_count: u32,
        arcs: impl Iterator<Item = (u32, u32)> + Clone,
    ) -> Self {
        let code = match encoding {
            RowEncoding::Plain => RowCode::Plain(PlainCode::new(vertex_count)),
            RowEncoding::Ceesor => RowCode::Ceesor(CeesorCode),
            RowEncoding::Gap => RowCode::Gap(Box::new(GapCode::fit(arcs))),
            RowEncoding::Copy => {
                let gap = GapCode::fit(arcs.clone());
                if let Some((plan, code)) = CopyPlan::new(arcs, &gap) {
                    return Self { code: RowCode::Copy(Box::new(code)), plan: Some(plan) };
                }
                RowCode::Copy(Box::new(CopyCode::without_copies(gap)))
            }
        };
        Self { code, plan: None }
    }

    /// Returns an upper bound in bytes for a chunk of `edges` edges and `sources` sources.
    pub fn size_max(edges: u64, sources: u64) -> u64 {
        CopyPlan::size(edges, sources)
    }

    /// Appends the row of `source`. Rows come in order, and have the arcs that [`Self::new`] was
    /// given; empty rows may lie between. Panics if `gap` gets another row that it cannot code.
    pub fn encode(&mut self, source: u32, targets: &[u32], out: &mut BitWriter) {
        match (&self.code, &mut self.plan) {
            (RowCode::Plain(code), _) => code.encode(targets, out),
            (RowCode::Ceesor(code), _) => code.encode(source, targets, out),
            (RowCode::Gap(code), _) => code.encode(source, targets, out),
            (RowCode::Copy(code), None) => code.encode_alone(source, targets, out),
            (RowCode::Copy(code), Some(plan)) => plan.encode(code, source, out),
        }
    }

    /// The code to read these rows.
    pub fn into_code(self) -> RowCode {
        self.code
    }
}
