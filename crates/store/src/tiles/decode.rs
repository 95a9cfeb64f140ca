//! Reads tiles. Every count, offset and id is checked once per strip, so visits need no check per
//! edge.

use zerocopy::FromBytes;

use super::grid::WINDOW_SIZE;
use super::instructions::byte_sum;
use super::strip::{Encoding, STRIP_HEADER_SIZE, StripHeader, TileHeader};
use super::summary::TileSummary;
use super::visit::{Entries, Strip};

/// A tile in memory. Its header is checked; a strip is checked when it is visited.
#[derive(Debug, Clone, Copy)]
pub struct Tile<'a> {
    source_base: u32,
    source_shift: u32,
    edge_count: u32,
    headers: &'a [StripHeader],
    payload: &'a [u8],
}

impl<'a> Tile<'a> {
    /// Parses the header of a tile. Its sources count from the first of their segment.
    ///
    /// # Errors
    /// What does not fit. The caller adds the file and the tile's number.
    pub fn parse(bytes: &'a [u8]) -> Result<Tile<'a>, String> {
        let (header, rest) = TileHeader::ref_from_prefix(bytes)
            .map_err(|_| format!("{} bytes are too few for a tile", bytes.len()))?;
        let strip_count = header.strip_count.get() as usize;
        let headers_size = strip_count.saturating_mul(STRIP_HEADER_SIZE);
        if headers_size > rest.len() {
            return Err(format!("{strip_count} strips do not fit {} bytes", rest.len()));
        }
        if header.source_shift > 16 || header.reserved != [0; 3] {
            return Err("its head has bits set that mean nothing".into());
        }
        let (headers, payload) = rest.split_at(headers_size);
        Ok(Tile {
            source_base: header.source_base.get(),
            source_shift: u32::from(header.source_shift),
            edge_count: header.edge_count.get(),
            headers: <[StripHeader]>::ref_from_bytes(headers).map_err(|e| e.to_string())?,
            payload,
        })
    }

    /// Edges of the tile.
    pub fn edge_count(&self) -> u32 {
        self.edge_count
    }

    /// Number of strips.
    pub fn strip_count(&self) -> usize {
        self.headers.len()
    }

    /// Iterates over the strips by ascending target. Each strip is checked: its sources lie below
    /// `source_limit`, its targets within the window. An invalid strip gives an error.
    #[inline]
    pub fn strips(&self, source_limit: u32) -> Strips<'a> {
        Strips { tile: *self, source_limit, next: 0, payload_offset: 0, entry_offset: 0 }
    }

    /// Visits every edge: `visit(entry, source, target)`, where `entry` is the position of its
    /// weight. Ids count from the origin of the cell. Sources lie below `source_limit`, targets
    /// within the window of the summary. Returns the number of entries. Not for hot loops.
    ///
    /// # Errors
    /// An invalid strip. Some edges may have been visited before.
    pub fn for_each_edge(
        &self,
        summary: &TileSummary,
        source_limit: u32,
        mut visit: impl FnMut(usize, u32, u32),
    ) -> Result<usize, String> {
        let window = summary.target_first & !(WINDOW_SIZE as u32 - 1);
        let mut entries = 0;
        for strip in self.strips(source_limit) {
            let strip = strip?;
            let first = strip.entry_offset();
            entries += strip.count();
            match strip.entries() {
                Entries::Masks => {
                    let start = window + strip.target_start() as u32;
                    strip.visit_masks(|entry: usize, source: u32, mut mask: u32| {
                        while mask != 0 {
                            visit(first + entry, source, start + mask.trailing_zeros());
                            mask &= mask - 1;
                        }
                    });
                }
                Entries::Row | Entries::Singles => strip.visit_singles(|entry, source, target| {
                    visit(first + entry, source, window + target as u32);
                }),
            }
        }
        Ok(entries)
    }
}

/// Iterator over the checked strips of a tile.
#[derive(Debug)]
pub struct Strips<'a> {
    tile: Tile<'a>,
    source_limit: u32,
    next: usize,
    payload_offset: usize,
    entry_offset: usize,
}

impl<'a> Iterator for Strips<'a> {
    type Item = Result<Strip<'a>, String>;

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        let header = self.tile.headers.get(self.next)?;
        let strip = self.check(header);
        self.next += 1;
        if self.next == self.tile.headers.len() && self.payload_offset != self.tile.payload.len() {
            self.payload_offset = self.tile.payload.len();
            return Some(Err("bytes are left over behind the last strip".into()));
        }
        Some(strip)
    }
}

impl<'a> Strips<'a> {
    #[inline(always)]
    fn check(&mut self, header: &StripHeader) -> Result<Strip<'a>, String> {
        let number = self.next;
        let encoding = Encoding::from_number(header.encoding)
            .filter(|_| header.reserved == 0)
            .ok_or_else(|| format!("strip {number} has an unknown encoding"))?;
        let count = usize::from(header.count.get());
        let end = self.payload_offset + encoding.payload_size(count);
        let bytes =
            self.tile.payload.get(self.payload_offset..end).filter(|_| count > 0).ok_or_else(
                || format!("strip {number} of {count} entries does not fit its tile"),
            )?;
        self.payload_offset = end;
        let (gaps, planes) = bytes.split_at(count * encoding.gap_size());
        let start = u64::from(self.tile.source_base)
            + (u64::from(header.source_start.get()) << self.tile.source_shift);
        let last = start + gap_sum(gaps, encoding.gap_size());
        if last >= u64::from(self.source_limit) {
            return Err(format!("strip {number} reaches source {last} of {}", self.source_limit));
        }
        let target_start = header.target_start.get();
        if usize::from(target_start) & ((1 << encoding.width_log2()) - 1) != 0 {
            return Err(format!("strip {number} starts at target {target_start}"));
        }
        let entry_offset = self.entry_offset;
        self.entry_offset += count;
        // The last source is below the limit, so the first one fits 32 bits.
        let start = start as u32;
        Ok(Strip { encoding, source_start: start, target_start, count, gaps, planes, entry_offset })
    }
}

/// The sum of all gaps: the distance from the strip's start to its last source.
#[inline(always)]
fn gap_sum(gaps: &[u8], gap_size: usize) -> u64 {
    // At most 65,535 gaps, so 32 bits hold their sum.
    let sum: u32 = if gap_size == 1 {
        byte_sum(gaps)
    } else {
        gaps.as_chunks::<2>().0.iter().map(|&gap| u32::from(u16::from_le_bytes(gap))).sum()
    };
    u64::from(sum)
}
