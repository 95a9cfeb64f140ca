//! Rows that copy from an earlier row, with gaps for the rest: *The WebGraph Framework I* (Boldi
//! and Vigna, WWW 2004). Here chains have length one, and codes are fitted to the chunk.
//!
//! A row may name an earlier row, its *reference*. Runs give in turn how many neighbours of the
//! reference the row copies and how many it leaves out. The remaining neighbours, its *residuals*,
//! form a row of [`super::gap`]. A reference does not copy and lies shortly before. So one row can
//! be decoded alone, with two reads of the same few bytes.
//!
//! ```text
//! reference | count of runs | runs | gap row of the residuals | runs | count of runs | reference
//! \_______________________________/                            \______________________________/
//!              classes                                                      offsets
//! ```
//!
//! In a chunk where copying saves little, no row copies: the rows have the same bits as in `gap`.

mod plan;
#[cfg(test)]
mod tests;

use std::ops::ControlFlow;

use super::bits::{BitWriter, RowBits};
use super::class_code::{CLASSES, ClassCode};
use super::codes::{Codes, cut_off};
use super::gap::GapCode;
pub(super) use plan::CopyPlan;
use plan::Split;

/// A reference begins at most this many bits before the row that copies from it. So 512 bytes
/// before a row are read with it.
pub(super) const REACH_BITS: u64 = 4096;

/// Upper bound for the neighbours of a reference: each takes a bit or more.
pub(super) const REFERENCE_EDGES_MAX: usize = REACH_BITS as usize;

/// Widths of the code of references: none takes 1 bit, the 4 nearest take 4, the next 8 take 6, the
/// next 16 take 8. Fitted codes save 1 % at most.
const REFERENCE_WIDTHS: [u8; CLASSES] = [0, 2, 3, 4, 0, 0, 0, 0];

/// Width of the last class of runs. Every run of a reference fits into it.
const RUN_WIDTH_MAX: u8 = 12;

/// Flag in the parameters: rows copy.
const COPIES: u8 = 4;

/// Rows that may copy, in codes fitted to a chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CopyCode {
    /// The code of residuals, or of all rows where none copies.
    gap: GapCode,
    /// The codes before the residuals, where rows copy.
    head: Option<HeadCodes>,
}

/// The codes before the residuals.
#[derive(Clone, Debug, PartialEq, Eq)]
struct HeadCodes {
    /// Distance to the reference in vertices, 0 for none.
    reference: ClassCode,
    /// Number of runs, and their lengths.
    runs: ClassCode,
}

impl HeadCodes {
    /// The codes with these widths of runs. The last width is always [`RUN_WIDTH_MAX`]. `None` if
    /// one is more than 33.
    fn new(runs: [u8; CLASSES - 1]) -> Option<Self> {
        let mut widths = [RUN_WIDTH_MAX; CLASSES];
        widths[..CLASSES - 1].copy_from_slice(&runs);
        Some(Self { reference: ClassCode::new(REFERENCE_WIDTHS)?, runs: ClassCode::new(widths)? })
    }
}

impl CopyCode {
    /// Bytes of the stored parameters.
    pub const SIZE: usize = GapCode::SIZE + CLASSES - 1;

    /// The code of a chunk in which no row copies.
    pub fn without_copies(gap: GapCode) -> Self {
        Self { gap, head: None }
    }

    /// Appends a row, with a code without copies.
    pub fn encode_alone(&self, source: u32, targets: &[u32], out: &mut BitWriter) {
        self.gap.encode(source, targets, out);
    }

    /// The stored parameters: the parameters of `gap` with a further flag (4: rows copy), then
    /// seven widths of the code of runs.
    pub fn to_bytes(&self) -> [u8; Self::SIZE] {
        let mut bytes = [0; Self::SIZE];
        let (gap, runs) = bytes.split_at_mut(GapCode::SIZE);
        gap.copy_from_slice(&self.gap.to_bytes());
        if let Some(head) = &self.head {
            gap[0] |= COPIES;
            runs.copy_from_slice(&head.runs.to_bytes()[..CLASSES - 1]);
        }
        bytes
    }

    /// Parses the result of [`to_bytes`](Self::to_bytes). Other bytes give an error.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, String> {
        let bytes: &[u8; Self::SIZE] = bytes
            .try_into()
            .map_err(|_| format!("{} bytes of parameters, not {}", bytes.len(), Self::SIZE))?;
        let (gap, runs) = bytes.split_at(GapCode::SIZE);
        let mut gap = gap.to_vec();
        let copies = gap[0] & COPIES != 0;
        gap[0] &= !COPIES;
        let gap = GapCode::from_bytes(&gap)?;
        if !copies {
            return match runs.iter().all(|&width| width == 0) {
                true => Ok(Self { gap, head: None }),
                false => Err("widths of runs, but no row copies".to_owned()),
            };
        }
        let head = runs.try_into().ok().and_then(HeadCodes::new);
        let head = head.ok_or_else(|| format!("widths {runs:?}, one above 33"))?;
        Ok(Self { gap, head: Some(head) })
    }

    /// Whether a row may have a reference.
    pub fn copies(&self) -> bool {
        self.head.is_some()
    }

    /// The same code, reading one gap at a time.
    #[cfg(test)]
    pub(super) fn one_by_one(&self) -> Self {
        Self { gap: self.gap.one_by_one(), head: self.head.clone() }
    }

    /// Returns the distance from a row to its reference in vertices (0 without one), and the rest
    /// of the row.
    #[inline(always)]
    pub fn reference<'r>(&self, row: RowBits<'r>) -> Result<(u32, Codes<'r>), String> {
        let mut codes = Codes::new(row);
        let distance = match &self.head {
            Some(head) if !row.is_empty() => codes.next(&head.reference).ok_or_else(cut_off)?,
            _ => return Ok((0, codes)),
        };
        if codes.is_at_end() {
            return Err("a row that has bits, but no neighbours".to_owned());
        }
        Ok((distance as u32, codes))
    }

    /// Visits the codes of a row, each with its number: the head, then each residual. The reference
    /// is `distance` vertices before, 0 for none.
    #[inline]
    fn for_each_code(
        &self,
        source: u32,
        distance: u32,
        row: &Split,
        mut visit: impl FnMut(&ClassCode, u64),
    ) {
        if let Some(head) = &self.head {
            visit(&head.reference, u64::from(distance));
            if distance > 0 {
                row.for_each_run_code(|number| visit(&head.runs, number));
            }
        }
        self.gap.for_each_code(source, &row.residuals, visit);
    }

    /// Folds the neighbours of a row without a reference, ascending, until `step` breaks.
    #[inline(always)]
    pub fn try_fold<A>(
        &self,
        source: u32,
        row: RowBits<'_>,
        vertex_count: u32,
        init: A,
        step: impl FnMut(A, u32) -> ControlFlow<A, A>,
    ) -> Result<A, String> {
        let mut residuals = row;
        if self.copies() {
            let (distance, codes) = self.reference(row)?;
            if distance != 0 {
                return Err("a row that copies is copied from".to_owned());
            }
            residuals = codes.rest();
        }
        self.gap.try_fold(source, residuals, vertex_count, init, step)
    }

    /// Folds the neighbours of a row that copies from `reference`, ascending, until `step` breaks.
    /// `codes` come from [`reference`](Self::reference). `copied` is scratch memory.
    #[inline(always)]
    #[expect(
        clippy::too_many_arguments,
        reason = "a row, what it copies from and where it is put by, and a fold"
    )]
    pub fn try_fold_copying<A>(
        &self,
        source: u32,
        codes: Codes<'_>,
        reference: &[u32],
        copied: &mut Vec<u32>,
        vertex_count: u32,
        init: A,
        mut step: impl FnMut(A, u32) -> ControlFlow<A, A>,
    ) -> Result<A, String> {
        let head = self.head.as_ref().ok_or("a reference where no row copies")?;
        let residuals = head.copy(codes, reference, copied)?;
        let mut copied = copied.iter().copied();
        let mut next = copied.next();
        let merge = |(mut folded, _), residual| {
            // Copied neighbours go before the first residual that is not less.
            while let Some(target) = next.filter(|&target| target <= residual) {
                next = copied.next();
                match step(folded, target) {
                    ControlFlow::Continue(next) => folded = next,
                    ControlFlow::Break(last) => return ControlFlow::Break((last, true)),
                }
            }
            match step(folded, residual) {
                ControlFlow::Continue(next) => ControlFlow::Continue((next, false)),
                ControlFlow::Break(last) => ControlFlow::Break((last, true)),
            }
        };
        let init = (init, false);
        let merged = self.gap.try_fold_few(source, residuals, vertex_count, init, merge)?;
        let (mut folded, is_broken) = merged;
        if is_broken {
            return Ok(folded);
        }
        for target in next.into_iter().chain(copied) {
            match step(folded, target) {
                ControlFlow::Continue(next) => folded = next,
                ControlFlow::Break(last) => return Ok(last),
            }
        }
        Ok(folded)
    }
}

impl HeadCodes {
    /// Collects the copied neighbours of a row. Returns the gap row of its residuals.
    #[inline]
    fn copy<'r>(
        &self,
        mut codes: Codes<'r>,
        reference: &[u32],
        copied: &mut Vec<u32>,
    ) -> Result<RowBits<'r>, String> {
        let count = codes.next(&self.runs).ok_or_else(cut_off)?;
        copied.clear();
        let mut rest = reference;
        for index in 0..count {
            // Only the first run may be empty, so the lengths of the others are stored less 1.
            let len = codes.next(&self.runs).ok_or_else(cut_off)? + u64::from(index > 0);
            let run = usize::try_from(len).ok().and_then(|len| rest.split_off(..len));
            let run = run.ok_or_else(|| format!("runs beyond the end of {}", reference.len()))?;
            if index % 2 == 0 {
                copied.extend_from_slice(run);
            }
        }
        // The last run is not stored. It is copied if the number of those before is even.
        if count % 2 == 0 {
            copied.extend_from_slice(rest);
        }
        Ok(codes.rest())
    }
}
