//! Reading a tile: every count, offset and id is checked once per strip, so that what visits the
//! edges afterwards needs no check per edge.

use zerocopy::FromBytes;

use super::strip::{Encoding, STRIP_HEADER_SIZE, StripHeader, TILE_HEADER_SIZE, TileHeader};
use super::{WINDOW_LOG2, WINDOW_SIZE};

/// A tile, as it lies in memory: its head is checked, its strips are checked as they are visited.
#[derive(Debug, Clone, Copy)]
pub struct Tile<'a> {
    source_base: u32,
    source_shift: u32,
    edge_count: u32,
    headers: &'a [StripHeader],
    payload: &'a [u8],
}

impl<'a> Tile<'a> {
    /// Reads the head of a tile.
    ///
    /// # Errors
    /// What does not fit, in words; the caller knows the file and the tile's number.
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

    /// Visits the strips in ascending order of their targets. Each was checked: its sources lie
    /// below `source_limit`, its targets within the window.
    ///
    /// # Errors
    /// What does not fit, in words, as soon as it is met.
    #[inline]
    pub fn strips(&self, source_limit: u32) -> Strips<'a> {
        Strips { tile: *self, source_limit, next: 0, payload_offset: 0, entry_offset: 0 }
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
        let bytes = self
            .tile
            .payload
            .get(self.payload_offset..end)
            .filter(|_| count > 0)
            .ok_or_else(|| format!("strip {number} of {count} entries does not fit its tile"))?;
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
        let start = start as u32;
        Ok(Strip { encoding, source_start: start, target_start, count, gaps, planes, entry_offset })
    }
}

/// Sum of all gaps: how far the last source lies behind the first.
#[inline(always)]
fn gap_sum(gaps: &[u8], gap_size: usize) -> u64 {
    // At most 65,535 gaps, so 32 bits hold their sum, and the compiler adds many at a time.
    let sum: u32 = if gap_size == 1 {
        gaps.iter().map(|&gap| u32::from(gap)).sum()
    } else {
        gaps.as_chunks::<2>().0.iter().map(|&gap| u32::from(u16::from_le_bytes(gap))).sum()
    };
    u64::from(sum)
}

/// A checked strip. The visits promise: every source passed on is below the `source_limit` that the
/// strip was checked against, and `target_start` plus every low part is within the window.
#[derive(Debug, Clone, Copy)]
pub struct Strip<'a> {
    encoding: Encoding,
    source_start: u32,
    target_start: u16,
    count: usize,
    gaps: &'a [u8],
    planes: &'a [u8],
    entry_offset: usize,
}

/// The entries of a strip, by shape.
#[derive(Debug)]
pub enum Entries {
    /// One target, single edges.
    Row,
    /// Several targets, single edges.
    Singles,
    /// Sources with a mask of targets.
    Masks,
}

impl Strip<'_> {
    /// How the strip is coded.
    pub fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// The shape of its entries, by which a visit is chosen.
    #[inline]
    pub fn entries(&self) -> Entries {
        match self.encoding {
            Encoding::Mask8 | Encoding::Mask16 => Entries::Masks,
            Encoding::Gap8Low0 | Encoding::Gap16Low0 => Entries::Row,
            _ => Entries::Singles,
        }
    }

    /// First target of the strip within its window.
    #[inline]
    pub fn target_start(&self) -> usize {
        usize::from(self.target_start)
    }

    /// Entries, skips included. A weighted tile has a weight for each.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Where the strip's entries begin among those of its tile: the place of its weights.
    #[inline]
    pub fn entry_offset(&self) -> usize {
        self.entry_offset
    }

    /// Visits the single edges of a row or of singles: `visit(lane, entry, source, low, is_edge)`,
    /// where `lane` is `entry % 4` (a constant after unrolling), `low` the target's offset in the
    /// strip. Where `is_edge` is false the entry only skips; it is still visited, so that a visitor
    /// can do without a branch.
    ///
    /// # Panics
    /// When the strip holds masks.
    #[inline(always)]
    pub fn visit_singles(&self, visit: impl FnMut(usize, usize, u32, usize, bool)) {
        match self.encoding {
            Encoding::Gap8Low0 => self.visit_coded::<1, 0>(visit),
            Encoding::Gap8Low4 => self.visit_coded::<1, 4>(visit),
            Encoding::Gap8Low8 => self.visit_coded::<1, 8>(visit),
            Encoding::Gap8Low12 => self.visit_coded::<1, 12>(visit),
            Encoding::Gap8Low16 => self.visit_coded::<1, 16>(visit),
            Encoding::Gap16Low0 => self.visit_coded::<2, 0>(visit),
            Encoding::Gap16Low4 => self.visit_coded::<2, 4>(visit),
            Encoding::Gap16Low8 => self.visit_coded::<2, 8>(visit),
            Encoding::Gap16Low12 => self.visit_coded::<2, 12>(visit),
            Encoding::Gap16Low16 => self.visit_coded::<2, 16>(visit),
            Encoding::Mask8 | Encoding::Mask16 => unreachable!("a strip of masks has no singles"),
        }
    }

    /// Visits the entries of a strip of masks: `visit(entry, source, mask)`, a set bit `b` of `mask`
    /// standing for the target `target_start + b`; an entry may have no bit set.
    ///
    /// # Panics
    /// When the strip holds singles.
    #[inline(always)]
    pub fn visit_masks(&self, mut visit: impl FnMut(usize, u32, u32)) {
        let mut source = self.source_start;
        match self.encoding {
            Encoding::Mask8 => {
                for (entry, (&gap, &mask)) in self.gaps.iter().zip(self.planes).enumerate() {
                    source = source.wrapping_add(u32::from(gap));
                    visit(entry, source, u32::from(mask));
                }
            }
            Encoding::Mask16 => {
                let masks = self.planes.as_chunks::<2>().0;
                for (entry, (&gap, &mask)) in self.gaps.iter().zip(masks).enumerate() {
                    source = source.wrapping_add(u32::from(gap));
                    visit(entry, source, u32::from(u16::from_le_bytes(mask)));
                }
            }
            _ => unreachable!("a strip of singles has no masks"),
        }
    }

    /// Four entries at a time, so that the lanes are constants and nibbles come in whole bytes.
    #[inline(always)]
    fn visit_coded<const GAP: usize, const LOW: u32>(
        &self,
        mut visit: impl FnMut(usize, usize, u32, usize, bool),
    ) {
        let (quads, rest) = (self.count / 4, self.count % 4);
        let (bytes, nibbles) = split_planes::<LOW>(self.planes, self.count);
        let mut source = self.source_start;
        let mut entry_at = |lane: usize, entry: usize, gap: u32, low: usize| {
            source = source.wrapping_add(gap);
            visit(lane, entry, source, low, gap != (1 << (8 * GAP)) - 1);
        };
        for quad in 0..quads {
            let entry = quad * 4;
            let gap = read_quad::<GAP>(self.gaps, quad);
            let low = low_quad::<LOW>(bytes, nibbles, quad);
            for lane in 0..4 {
                entry_at(lane, entry + lane, gap[lane], low[lane]);
            }
        }
        if rest > 0 {
            let gap = tail_quad::<GAP>(self.gaps, quads);
            let (mut tail_bytes, mut tail_nibbles) = ([0; 8], [0; 2]);
            let bytes = &bytes[(quads * low_size::<LOW>() * 4).min(bytes.len())..];
            let nibbles = &nibbles[(quads * 2).min(nibbles.len())..];
            tail_bytes[..bytes.len()].copy_from_slice(bytes);
            tail_nibbles[..nibbles.len()].copy_from_slice(nibbles);
            let low = low_quad::<LOW>(&tail_bytes, &tail_nibbles, 0);
            for lane in 0..rest {
                entry_at(lane, quads * 4 + lane, gap[lane], low[lane]);
            }
        }
    }
}

/// Whole bytes of a target's low part.
const fn low_size<const LOW: u32>() -> usize {
    (LOW / 8) as usize
}

/// The plane of whole bytes and the plane of nibbles.
#[inline(always)]
fn split_planes<const LOW: u32>(planes: &[u8], count: usize) -> (&[u8], &[u8]) {
    planes.split_at(count * low_size::<LOW>())
}

#[inline(always)]
fn read_quad<const GAP: usize>(gaps: &[u8], quad: usize) -> [u32; 4] {
    if GAP == 1 {
        let gap = &gaps[quad * 4..quad * 4 + 4];
        [u32::from(gap[0]), u32::from(gap[1]), u32::from(gap[2]), u32::from(gap[3])]
    } else {
        let gap = &gaps[quad * 8..quad * 8 + 8];
        let at = |i: usize| u32::from(u16::from_le_bytes([gap[2 * i], gap[2 * i + 1]]));
        [at(0), at(1), at(2), at(3)]
    }
}

#[inline(always)]
fn tail_quad<const GAP: usize>(gaps: &[u8], quads: usize) -> [u32; 4] {
    let rest = &gaps[quads * 4 * GAP..];
    let mut tail = [0; 8];
    tail[..rest.len()].copy_from_slice(rest);
    read_quad::<GAP>(&tail, 0)
}

#[inline(always)]
fn low_quad<const LOW: u32>(bytes: &[u8], nibbles: &[u8], quad: usize) -> [usize; 4] {
    let mut low = [0; 4];
    if LOW % 8 == 4 {
        let pair = &nibbles[quad * 2..quad * 2 + 2];
        low = [pair[0] & 15, pair[0] >> 4, pair[1] & 15, pair[1] >> 4].map(usize::from);
    }
    let at = quad * 4 * low_size::<LOW>();
    match low_size::<LOW>() {
        0 => {}
        1 => {
            let byte = &bytes[at..at + 4];
            for lane in 0..4 {
                low[lane] = low[lane] << 8 | usize::from(byte[lane]);
            }
        }
        _ => {
            let byte = &bytes[at..at + 8];
            for lane in 0..4 {
                let pair = [byte[2 * lane], byte[2 * lane + 1]];
                low[lane] = usize::from(u16::from_le_bytes(pair));
            }
        }
    }
    low
}

const _: () = assert!(WINDOW_SIZE == 1 << WINDOW_LOG2);
const _: () = assert!(TILE_HEADER_SIZE == size_of::<TileHeader>());
