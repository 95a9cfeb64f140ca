//! Chunks of edges, which the readers hand out.

use std::ops::Range;

/// Some edges of the input, about 2^16 of them, borrowed for one call.
#[derive(Debug, Clone, Copy)]
pub struct EdgeChunk<'a> {
    /// The edges' ends.
    pub ends: Ends<'a>,
    /// A finite weight for each edge, if the input is weighted.
    pub weights: Option<&'a [f32]>,
}

/// The ends of a chunk's edges. One input hands out either integers (of both widths) or strings.
#[derive(Debug, Clone, Copy)]
pub enum Ends<'a> {
    /// `[source, target]`, 32 bits each.
    Pairs32(&'a [[u32; 2]]),
    /// `[source, target]`, 64 bits each.
    Pairs64(&'a [[u64; 2]]),
    /// Sources and targets by name; both columns have the same length.
    Strings {
        /// The source of each edge.
        sources: StringColumn<'a>,
        /// The target of each edge.
        targets: StringColumn<'a>,
    },
}

impl EdgeChunk<'_> {
    /// How many edges there are.
    pub fn len(&self) -> usize {
        match self.ends {
            Ends::Pairs32(pairs) => pairs.len(),
            Ends::Pairs64(pairs) => pairs.len(),
            Ends::Strings { sources, .. } => sources.len(),
        }
    }

    /// Whether there are no edges; the readers hand out no empty chunk.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Where one string lies in the bytes of a [`StringColumn`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// Offset of the first byte.
    pub start: u32,
    /// Offset after the last byte.
    pub end: u32,
}

impl Span {
    /// The span for a range of a block; blocks are far smaller than 4 GiB.
    pub(super) fn of(range: Range<usize>) -> Span {
        debug_assert!(range.end <= u32::MAX as usize);
        Span { start: range.start as u32, end: range.end as u32 }
    }
}

/// A column of strings, which lie in any order in one buffer. Each string is valid UTF-8.
#[derive(Debug, Clone, Copy)]
pub struct StringColumn<'a> {
    bytes: &'a [u8],
    spans: &'a [Span],
}

impl<'a> StringColumn<'a> {
    pub(super) fn new(bytes: &'a [u8], spans: &'a [Span]) -> StringColumn<'a> {
        StringColumn { bytes, spans }
    }

    /// How many strings there are.
    pub fn len(&self) -> usize {
        self.spans.len()
    }

    /// Whether there are no strings.
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// The UTF-8 bytes of string `index`.
    ///
    /// # Panics
    /// If there is no such string.
    pub fn get(&self, index: usize) -> &'a [u8] {
        let span = self.spans[index];
        &self.bytes[span.start as usize..span.end as usize]
    }

    /// The UTF-8 bytes of all strings, in order.
    pub fn iter(self) -> impl ExactSizeIterator<Item = &'a [u8]> {
        let bytes = self.bytes;
        self.spans.iter().map(move |span| &bytes[span.start as usize..span.end as usize])
    }
}
