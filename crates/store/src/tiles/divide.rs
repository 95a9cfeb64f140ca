//! Divides a region into strips. For every aligned range of 1, 8, 16, 256, 4096 and 65536 targets,
//! counts the bytes of a strip in each encoding; then finds the cheapest division bottom-up.

use super::edge::EdgeWeight;
use super::grid::WINDOW_SIZE;
use super::region::Region;
use super::strip::{Encoding, STRIP_HEADER_SIZE};

/// The widths that a strip can have: log2 of its number of targets.
const WIDTHS: [u32; 6] = [0, 3, 4, 8, 12, 16];
/// The level whose strips are the *groups*. Narrower strips are counted only in groups that may be
/// cheaper when divided.
const GROUP_LEVEL: usize = 3;
/// log2 of the targets of a group.
const GROUP_LOG2: u32 = WIDTHS[GROUP_LEVEL];
/// A group with at least this number of edges may be cheaper when divided, however its edges are
/// spread.
const GROUP_EDGES_MANY: u32 = 192;
/// A group with fewer edges may be cheaper too, if one target has at least this number of them.
const TARGET_EDGES_MANY: u16 = 12;
/// Marks a group that is not divided.
const NO_SLOT: u16 = u16::MAX;

/// A strip of the chosen division.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct StripChoice {
    /// First target within the window.
    pub(super) target_start: u16,
    pub(super) encoding: Encoding,
    /// Number of edges.
    pub(super) edges: u32,
}

/// Finds divisions. Keeps scratch memory.
#[derive(Debug, Default)]
pub(super) struct Divider {
    /// The tally of every strip, by level. The levels below the groups have only groups with a
    /// slot.
    levels: [Vec<Tally>; 6],
    /// In-edges of each target.
    degrees: Vec<u16>,
    /// The place of each group's strips in the levels below.
    slots: Vec<u16>,
    /// For each strip, the least bits that it costs; 0 without edges.
    prices: [Vec<u32>; 6],
    strips: Vec<StripChoice>,
}

impl Divider {
    /// The cheapest division of a region, by ascending target.
    pub(super) fn divide<W: EdgeWeight>(&mut self, region: &Region<'_, W>) -> &[StripChoice] {
        self.count_wide(region);
        self.count_narrow(region);
        self.price::<W>();
        self.strips.clear();
        self.collect::<W>(WIDTHS.len() - 1, 0, 0);
        &self.strips
    }

    /// Counts groups and wider strips.
    fn count_wide<W: EdgeWeight>(&mut self, region: &Region<'_, W>) {
        let [.., groups, middle, whole] = &mut self.levels;
        for (level, width) in [&mut *groups, middle].into_iter().zip(&WIDTHS[GROUP_LEVEL..]) {
            level.clear();
            level.resize(WINDOW_SIZE >> width, Tally::default());
        }
        self.degrees.clear();
        self.degrees.resize(WINDOW_SIZE, 0);
        let mut window = Tally::default();
        for (base, edges) in region.fragments() {
            for edge in edges {
                let (source, target) = (base + edge.source(), edge.target());
                groups[usize::from(target >> GROUP_LOG2)].add(source);
                middle[usize::from(target >> WIDTHS[GROUP_LEVEL + 1])].add_uncounted_wide(source);
                window.add_uncounted_wide(source);
                // May wrap around: its group is counted anyway, because it has many edges.
                let degree = &mut self.degrees[usize::from(target)];
                *degree = degree.wrapping_add(1);
            }
        }
        whole.clear();
        whole.push(window);
        count_edges(groups, middle);
        count_edges(middle, whole);
    }

    /// Counts strips narrower than a group, in groups that may be cheaper when divided.
    fn count_narrow<W: EdgeWeight>(&mut self, region: &Region<'_, W>) {
        self.slots.clear();
        let mut slots = 0;
        let groups = self.levels[GROUP_LEVEL].iter().zip(self.degrees.chunks(1 << GROUP_LOG2));
        self.slots.extend(groups.map(|(group, degrees)| {
            let most = degrees.iter().fold(0, |most, &degree| degree.max(most));
            let is_counted = group.edges >= GROUP_EDGES_MANY || most >= TARGET_EDGES_MANY;
            slots += u16::from(is_counted);
            if is_counted { slots - 1 } else { NO_SLOT }
        }));
        let [single, eight, sixteen, ..] = &mut self.levels;
        for (level, width) in [&mut *single, eight, sixteen].into_iter().zip(WIDTHS) {
            level.clear();
            level.resize(usize::from(slots) << (GROUP_LOG2 - width), Tally::default());
        }
        if slots == 0 {
            return;
        }
        for (base, edges) in region.fragments() {
            let mut last = None;
            for edge in edges {
                let (source, target) = (base + edge.source(), edge.target());
                // Fragments are sorted, so repeated edges are adjacent.
                let is_repeated = last.replace((source, target)) == Some((source, target));
                let slot = self.slots[usize::from(target >> GROUP_LOG2)];
                if slot != NO_SLOT {
                    let place = usize::from(slot) << GROUP_LOG2 | usize::from(target & 0xff);
                    single[place].add(source);
                    eight[place >> 3].add_uncounted_cell(source, is_repeated);
                    sixteen[place >> 4].add_uncounted_cell(source, is_repeated);
                }
            }
        }
        count_edges(single, eight);
        count_edges(eight, sixteen);
    }

    /// Finds the least cost of each strip, whole or in parts, level by level.
    fn price<W: EdgeWeight>(&mut self) {
        for (level, &width) in WIDTHS.iter().enumerate() {
            let (below, here) = self.prices.split_at_mut(level);
            let prices = &mut here[0];
            prices.clear();
            let rates = Rates::of::<W>(width);
            prices.extend(self.levels[level].iter().map(|tally| tally.cost(&rates)));
            let Some(parts) = below.last() else { continue };
            let fan = 1 << (width - WIDTHS[level - 1]);
            if level == GROUP_LEVEL {
                for (price, &slot) in prices.iter_mut().zip(&self.slots) {
                    if slot != NO_SLOT {
                        let first = usize::from(slot) * fan;
                        *price = parts[first..first + fan].iter().sum::<u32>().min(*price);
                    }
                }
            } else {
                for (price, parts) in prices.iter_mut().zip(parts.chunks_exact(fan)) {
                    *price = parts.iter().sum::<u32>().min(*price);
                }
            }
        }
    }

    /// Collects the strips that are cheapest whole, by ascending target.
    fn collect<W: EdgeWeight>(&mut self, level: usize, index: usize, target_start: u32) {
        let (width, price) = (WIDTHS[level], self.prices[level][index]);
        if price == 0 {
            return;
        }
        let tally = &self.levels[level][index];
        let rates = Rates::of::<W>(width);
        if tally.cost(&rates) == price {
            let encoding = tally.cheapest(&rates, width);
            let target_start = target_start as u16;
            self.strips.push(StripChoice { target_start, encoding, edges: tally.edges });
            return;
        }
        let width_below = WIDTHS[level - 1];
        let fan = 1 << (width - width_below);
        let first = if level == GROUP_LEVEL { usize::from(self.slots[index]) } else { index } * fan;
        for part in 0..fan {
            let target_start = target_start + ((part as u32) << width_below);
            self.collect::<W>(level - 1, first + part, target_start);
        }
    }
}

/// Counts the edges of strips: adds up the edges of their parts.
fn count_edges(parts: &[Tally], strips: &mut [Tally]) {
    let fan = parts.len() / strips.len().max(1);
    for (strip, parts) in strips.iter_mut().zip(parts.chunks_exact(fan.max(1))) {
        strip.edges = parts.iter().map(|part| part.edges).sum();
    }
}

/// Counts the entries of a strip in each encoding, edge by edge in the order of sources. Exact for
/// one-byte gaps in a strip that starts at its first source. Overestimates the skips of wide gaps
/// and masks where many gaps are long.
#[derive(Debug, Clone, Copy)]
struct Tally {
    edges: u32,
    /// The last source; [`Tally::NO_SOURCE`] before the first edge.
    last_source: u32,
    /// Skips needed with one-byte gaps.
    skips: u32,
    /// Skips needed with two-byte gaps.
    wide_skips: u32,
    /// Mask entries, without skips.
    cells: u32,
}

impl Default for Tally {
    fn default() -> Tally {
        let last_source = Tally::NO_SOURCE;
        Tally { edges: 0, last_source, skips: 0, wide_skips: 0, cells: 0 }
    }
}

impl Tally {
    /// Greater than any source.
    const NO_SOURCE: u32 = u32::MAX;

    /// Moves to the next source and returns the gap.
    #[inline(always)]
    fn step(&mut self, source: u32) -> u32 {
        let last = std::mem::replace(&mut self.last_source, source);
        if last == Tally::NO_SOURCE { 0 } else { source - last }
    }

    /// Adds an edge of a strip in which long gaps are common.
    #[inline(always)]
    fn add(&mut self, source: u32) {
        self.edges += 1;
        self.add_uncounted(source);
    }

    /// As [`add`](Self::add), where [`count_edges`] sets the number of edges later. Returns the
    /// gap.
    #[inline(always)]
    fn add_uncounted(&mut self, source: u32) -> u32 {
        let gap = self.step(source);
        self.skips += gap / GAP8_SKIP;
        // Gaps this long occur only where thin fragments were gathered.
        if gap >= GAP16_SKIP {
            self.wide_skips += gap / GAP16_SKIP;
        }
        gap
    }

    /// As [`add_uncounted`](Self::add_uncounted), for a wide strip, in which long gaps are rare.
    #[inline(always)]
    fn add_uncounted_wide(&mut self, source: u32) {
        let gap = self.step(source);
        if gap >= GAP8_SKIP {
            self.skips += gap / GAP8_SKIP;
            self.wide_skips += gap / GAP16_SKIP;
        }
    }

    /// As [`add_uncounted`](Self::add_uncounted); also counts mask entries. A mask holds each
    /// target once, so a repeated edge takes another mask.
    #[inline(always)]
    fn add_uncounted_cell(&mut self, source: u32, is_repeated: bool) {
        let is_first = self.last_source == Tally::NO_SOURCE;
        let gap = self.add_uncounted(source);
        self.cells += u32::from(is_first | (gap > 0) | is_repeated);
    }

    /// Bits of the payload with one-byte gaps, with two-byte gaps, and with masks.
    #[inline(always)]
    fn payloads(&self, rates: &Rates) -> [u32; 3] {
        [
            (self.edges + self.skips).saturating_mul(rates.gap8),
            (self.edges + self.wide_skips).saturating_mul(rates.gap16),
            // At least 1: a width without masks has the rate `NEVER`, and 0 times that is 0.
            (self.cells + self.skips).max(1).saturating_mul(rates.mask),
        ]
    }

    /// Bits of the cheapest encoding, header included; 0 without edges.
    #[inline(always)]
    fn cost(&self, rates: &Rates) -> u32 {
        let [gap8, gap16, mask] = self.payloads(rates);
        if self.edges == 0 { 0 } else { gap8.min(gap16).min(mask).saturating_add(HEADER_BITS) }
    }

    /// The encoding that [`cost`](Self::cost) refers to.
    fn cheapest(&self, rates: &Rates, width: u32) -> Encoding {
        let [gap8, gap16, mask] = self.payloads(rates);
        if mask < gap8.min(gap16) {
            if width == 3 { Encoding::Mask8 } else { Encoding::Mask16 }
        } else {
            Encoding::single(width, gap16 < gap8)
        }
    }
}

const HEADER_BITS: u32 = 8 * STRIP_HEADER_SIZE as u32;
const GAP8_SKIP: u32 = u8::MAX as u32;
const GAP16_SKIP: u32 = u16::MAX as u32;

/// Bits of an entry in each shape; [`NEVER`] if the width does not have the shape.
struct Rates {
    gap8: u32,
    gap16: u32,
    mask: u32,
}

/// A price so high that one entry exceeds the cost of any region.
const NEVER: u32 = u32::MAX;

impl Rates {
    fn of<W: EdgeWeight>(width: u32) -> Rates {
        let weight = if W::IS_WEIGHTED { u32::BITS } else { 0 };
        let single = |gap: u32| if width == 3 { NEVER } else { gap + width + weight };
        let mask = match width {
            3 | 4 if !W::IS_WEIGHTED => u8::BITS + (1 << width),
            _ => NEVER,
        };
        Rates { gap8: single(u8::BITS), gap16: single(u16::BITS), mask }
    }
}
