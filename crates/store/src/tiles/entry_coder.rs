//! Codes the edges of a strip as entries: a plane of gaps, a plane of bytes, a plane of nibbles.

use super::edge::EdgeWeight;
use super::strip::{ENTRY_COUNT_MAX, Encoding};
use super::strip_edges::EdgeSlice;

/// The entries of one strip, not yet packed. Each has a gap, and the low bits of a target or a mask
/// of targets.
#[derive(Debug, Default)]
pub(super) struct EntryCoder {
    gaps: Vec<u32>,
    lows: Vec<u16>,
    weights: Vec<f32>,
}

/// The greatest gap of a mask entry. An empty mask can skip this number of sources.
const MASK_GAP_MAX: u32 = u8::MAX as u32;

impl EntryCoder {
    /// Codes edges from the source `from` on until the strip is full. Returns how many were coded.
    pub(super) fn code<W: EdgeWeight>(
        &mut self,
        encoding: Encoding,
        from: u32,
        edges: EdgeSlice<'_, W>,
    ) -> usize {
        self.gaps.clear();
        self.lows.clear();
        self.weights.clear();
        if encoding.is_mask() {
            self.code_masks(encoding, from, edges)
        } else {
            self.code_singles(encoding, from, edges)
        }
    }

    /// Number of entries, skips included.
    pub(super) fn entry_count(&self) -> usize {
        self.gaps.len()
    }

    fn code_singles<W: EdgeWeight>(
        &mut self,
        encoding: Encoding,
        from: u32,
        edges: EdgeSlice<'_, W>,
    ) -> usize {
        let edges = edges.get(0..edges.len().min(ENTRY_COUNT_MAX));
        self.gaps.push(edges.sources[0] - from);
        self.gaps.extend(edges.sources.windows(2).map(|pair| pair[1] - pair[0]));
        let widest = self.gaps.iter().fold(0, |widest, &gap| gap.max(widest));
        if widest >= encoding.skip() {
            return self.code_singles_with_skips(encoding, from, edges);
        }
        // Without skips the entries are the edges, so that whole slices can be copied.
        self.lows.extend_from_slice(edges.targets);
        if W::IS_WEIGHTED {
            self.weights.extend(edges.weights.iter().map(|weight| weight.to_f32()));
        }
        edges.len()
    }

    fn code_singles_with_skips<W: EdgeWeight>(
        &mut self,
        encoding: Encoding,
        from: u32,
        edges: EdgeSlice<'_, W>,
    ) -> usize {
        let skip = encoding.skip();
        let mut last = from;
        self.gaps.clear();
        for (index, &source) in edges.sources.iter().enumerate() {
            let gap = source - last;
            let skips = (gap / skip) as usize;
            // The strip ends before it overflows. The next strip starts at this edge's source.
            if self.gaps.len() + skips + 1 > ENTRY_COUNT_MAX {
                return index;
            }
            for _ in 0..skips {
                self.push::<W>(skip, 0, 0.0);
            }
            self.push::<W>(gap % skip, edges.targets[index], edges.weights[index].to_f32());
            last = source;
        }
        edges.len()
    }

    #[inline]
    fn push<W: EdgeWeight>(&mut self, gap: u32, low: u16, weight: f32) {
        self.gaps.push(gap);
        self.lows.push(low);
        if W::IS_WEIGHTED {
            self.weights.push(weight);
        }
    }

    fn code_masks<W: EdgeWeight>(
        &mut self,
        encoding: Encoding,
        from: u32,
        edges: EdgeSlice<'_, W>,
    ) -> usize {
        let in_mask = (1 << encoding.width_log2()) - 1;
        // At most one entry for each edge and each skip. The buffer is cleared, so it must not be
        // much longer than the strip, and most strips are short.
        let ahead_max = edges.sources[edges.len() - 1] - from;
        let room = ENTRY_COUNT_MAX.min(edges.len() + (ahead_max / MASK_GAP_MAX) as usize);
        self.gaps.resize(room, 0);
        self.lows.resize(room, 0);
        let (gaps, masks) = (&mut self.gaps[..room], &mut self.lows[..room]);
        let (mut last, mut previous) = (from, u16::MAX);
        let (mut count, mut gap, mut mask) = (0, 0, 0);
        let mut taken = edges.len();
        for (index, (&source, &target)) in edges.sources.iter().zip(edges.targets).enumerate() {
            let is_new = (count == 0) | (source != last) | (target == previous);
            let mut ahead = source - last;
            // The entry itself takes a gap of up to `MASK_GAP_MAX`.
            let skips = (ahead.saturating_sub(1) / MASK_GAP_MAX) as usize;
            if skips > 0 || count == ENTRY_COUNT_MAX {
                if count + skips + usize::from(is_new) > ENTRY_COUNT_MAX {
                    taken = index;
                    break;
                }
                gaps[count..count + skips].fill(MASK_GAP_MAX);
                masks[count..count + skips].fill(0);
                count += skips;
                ahead -= skips as u32 * MASK_GAP_MAX;
            }
            count += usize::from(is_new);
            gap = if is_new { ahead } else { gap };
            mask = if is_new { 0 } else { mask } | 1 << (target & in_mask);
            gaps[count - 1] = gap;
            masks[count - 1] = mask;
            (last, previous) = (source, target);
        }
        self.gaps.truncate(count);
        self.lows.truncate(count);
        taken
    }

    /// Packs the entries.
    pub(super) fn append_to<W: EdgeWeight>(
        &self,
        encoding: Encoding,
        payload: &mut Vec<u8>,
        weights: &mut Vec<f32>,
    ) {
        payload.reserve(encoding.payload_size(self.entry_count()));
        match encoding.gap_size() {
            1 => payload.extend(self.gaps.iter().map(|&gap| gap as u8)),
            _ => extend_pairs(payload, self.gaps.iter().map(|&gap| gap as u16)),
        }
        let low_bytes = self.lows.iter().map(|&low| low as u8);
        match (encoding, encoding.width_log2()) {
            (Encoding::Mask8, _) | (_, 8) => payload.extend(low_bytes),
            (Encoding::Mask16, _) | (_, 16) => extend_pairs(payload, self.lows.iter().copied()),
            (_, 4) => extend_nibbles(payload, &self.lows, 0),
            (_, 12) => {
                payload.extend(low_bytes);
                extend_nibbles(payload, &self.lows, 8);
            }
            _ => {}
        }
        if W::IS_WEIGHTED {
            weights.extend_from_slice(&self.weights);
        }
    }
}

/// Appends numbers of two bytes.
fn extend_pairs(payload: &mut Vec<u8>, numbers: impl ExactSizeIterator<Item = u16>) {
    let start = payload.len();
    payload.resize(start + 2 * numbers.len(), 0);
    let (pairs, _) = payload[start..].as_chunks_mut::<2>();
    pairs.iter_mut().zip(numbers).for_each(|(pair, number)| *pair = number.to_le_bytes());
}

/// Appends four bits of each number, from bit `shift` on; the first of two takes the lower half.
fn extend_nibbles(payload: &mut Vec<u8>, numbers: &[u16], shift: u32) {
    let nibble = |number: u16| (number >> shift) as u8 & 0xf;
    let (pairs, rest) = numbers.as_chunks::<2>();
    payload.extend(pairs.iter().map(|&[low, high]| nibble(low) | nibble(high) << 4));
    payload.extend(rest.iter().map(|&number| nibble(number)));
}
