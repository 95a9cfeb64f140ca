//! Lists of the sources of a cell, which tell the messages that its tiles need.
//!
//! A list holds the packed distances between consecutive sources, or a bit for each source of the
//! segment if that is no longer. A cell has no list if more than half of the sources of its segment
//! have an edge: selecting their messages would save little.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use super::edge::EdgeWeight;
use super::region::{Fragment, LocalEdge};
use crate::packed::{decode_packed, encode_packed};

/// Sources whose distances are packed at a time.
pub(crate) const LISTED_AT_ONCE: usize = 1 << 14;

/// Bits per word of a set of sources.
const WORD: u32 = u64::BITS;

/// Whether `count` of the `segment_size` sources of a segment are listed.
pub(crate) fn is_listed(count: u32, segment_size: u32) -> bool {
    u64::from(count) * 2 <= u64::from(segment_size)
}

/// The sources of the edges of one window, each once: what a graph needs of these edges to list the
/// sources of their cell. Takes at most 2 bytes for each edge, and 8 for each slice of sources.
#[derive(Debug, Default)]
pub struct WindowSources {
    /// The first source of each slice, from the first of the segment, and where its sources end.
    slices: Vec<(u32, u32)>,
    /// The sources within their slices, ascending in each slice.
    sources: Vec<u16>,
}

impl WindowSources {
    /// Returns the sources of fragments, whose edges are sorted by source in `edges`.
    pub(super) fn of<W: EdgeWeight>(
        fragments: &[Fragment],
        edges: &[LocalEdge<W>],
    ) -> WindowSources {
        let mut own = WindowSources::default();
        for Fragment { source_base, range } in fragments {
            let same_source = |a: &LocalEdge<W>, b: &LocalEdge<W>| a.source() == b.source();
            let distinct = edges[range.clone()].chunk_by(same_source);
            own.sources.extend(distinct.map(|same| same[0].source() as u16));
            own.slices.push((*source_base, own.sources.len() as u32));
        }
        own
    }
}

/// A set of the sources of a cell: a bit for each source of the segment. Operations take time only
/// for the words that may hold sources, since a cell may have a single edge.
#[derive(Debug)]
pub(crate) struct SourceSet {
    words: Vec<u64>,
    /// Words outside of these are 0.
    touched: Range<usize>,
    count: u32,
}

impl SourceSet {
    /// An empty set for a segment of `segment_size` sources.
    pub fn new(segment_size: u32) -> SourceSet {
        let words = vec![0; segment_size.div_ceil(WORD) as usize];
        SourceSet { touched: words.len()..0, words, count: 0 }
    }

    /// Adds a source, counted from the first of the segment.
    #[inline]
    pub fn insert(&mut self, source: u32) {
        let (word, bit) = ((source / WORD) as usize, 1 << (source % WORD));
        self.count += u32::from(self.words[word] & bit == 0);
        self.words[word] |= bit;
        self.touched = self.touched.start.min(word)..self.touched.end.max(word + 1);
    }

    /// Adds the sources of edges of the cell.
    pub fn add(&mut self, window: &WindowSources) {
        let mut start = 0;
        for &(base, end) in &window.slices {
            let sources = &window.sources[start as usize..end as usize];
            sources.iter().for_each(|&source| self.insert(base + u32::from(source)));
            start = end;
        }
    }

    /// Number of sources.
    pub fn len(&self) -> u32 {
        self.count
    }

    /// Returns the list for a segment of `segment_size` sources, and clears the set.
    pub fn take_list(&mut self, segment_size: u32) -> Vec<u8> {
        let words = words_of(segment_size);
        let packed = self.packed();
        let list = match packed.len() < words * size_of::<u64>() {
            true => packed,
            false => self.words[..words].iter().flat_map(|word| word.to_le_bytes()).collect(),
        };
        self.clear();
        list
    }

    fn packed(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut distances = Vec::with_capacity(LISTED_AT_ONCE);
        let mut next = 0;
        for word in self.touched.clone() {
            let mut rest = self.words[word];
            while rest != 0 {
                let source = word as u32 * WORD + rest.trailing_zeros();
                rest &= rest - 1;
                distances.push(source - next);
                next = source + 1;
                if distances.len() == LISTED_AT_ONCE {
                    encode_packed(&distances, &mut bytes);
                    distances.clear();
                }
            }
        }
        encode_packed(&distances, &mut bytes);
        bytes
    }

    /// Removes all sources.
    pub fn clear(&mut self) {
        // In an empty set the range ends before it begins, and has no words.
        self.words.get_mut(self.touched.clone()).into_iter().flatten().for_each(|word| *word = 0);
        (self.touched, self.count) = (self.words.len()..0, 0);
    }

    /// Whether a list of `count` sources, in a segment of `segment_size`, lists exactly this set.
    /// An invalid list gives an error.
    pub fn is_list(&self, bytes: &[u8], count: u32, segment_size: u32) -> Result<bool, String> {
        let mut are_here = true;
        for_each_word(bytes, count, segment_size, |word, listed| {
            are_here &= listed & !self.words[word] == 0;
        })?;
        // Lists cannot repeat a source.
        Ok(are_here && count == self.count)
    }
}

/// Sets the bits of `count` listed sources of a segment of `segment_size`. Other threads may set
/// bits at the same time.
///
/// # Errors
/// What is wrong with the list. Bits may have been set before.
pub(crate) fn add_listed(
    bytes: &[u8],
    count: u32,
    segment_size: u32,
    words: &[AtomicU64],
) -> Result<(), String> {
    for_each_word(bytes, count, segment_size, |word, listed| {
        words[word].fetch_or(listed, Ordering::Relaxed);
    })
}

/// Visits the words of `count` listed sources in a segment of `segment_size`, each once, with its
/// index.
fn for_each_word(
    bytes: &[u8],
    count: u32,
    segment_size: u32,
    visit: impl FnMut(usize, u64),
) -> Result<(), String> {
    match bytes.as_chunks() {
        // A packed list is always shorter, so the length tells them apart.
        (bits, []) if bits.len() == words_of(segment_size) => {
            for_each_word_of_bits(bits, count, segment_size, visit)
        }
        _ => for_each_packed_word(bytes, count, segment_size, visit),
    }
}

/// Number of words with a bit for each source of a segment, which is also the greatest length of a
/// list.
pub(crate) fn words_of(segment_size: u32) -> usize {
    segment_size.div_ceil(WORD) as usize
}

fn for_each_word_of_bits(
    bits: &[[u8; 8]],
    count: u32,
    segment_size: u32,
    mut visit: impl FnMut(usize, u64),
) -> Result<(), String> {
    let (mut found, mut last) = (0, 0);
    for (word, bits) in bits.iter().enumerate() {
        last = u64::from_le_bytes(*bits);
        found += last.count_ones();
        visit(word, last);
    }
    let is_inside = segment_size.is_multiple_of(WORD) || last >> (segment_size % WORD) == 0;
    match found == count && is_inside {
        true => Ok(()),
        false => Err(format!("{found} of {segment_size} sources have a bit, and not {count}")),
    }
}

fn for_each_packed_word(
    mut bytes: &[u8],
    count: u32,
    segment_size: u32,
    mut visit: impl FnMut(usize, u64),
) -> Result<(), String> {
    let mut distances = vec![0u32; LISTED_AT_ONCE.min(count as usize)];
    let mut next = 0u64;
    let (mut at, mut bits) = (0, 0u64);
    let mut left = count as usize;
    while left > 0 {
        let distances = &mut distances[..LISTED_AT_ONCE.min(left)];
        left -= distances.len();
        decode_packed(&mut bytes, distances)?;
        for distance in distances {
            let source = next + u64::from(*distance);
            next = source + 1;
            let word = (source / u64::from(WORD)) as usize;
            if word != at {
                // Asked once for each word, which keeps the index in bounds. The last source is
                // checked below.
                if source >= u64::from(segment_size) {
                    return Err(format!("it lists source {source} of {segment_size}"));
                }
                visit(at, bits);
                (at, bits) = (word, 0);
            }
            bits |= 1 << (source % u64::from(WORD));
        }
    }
    if next > u64::from(segment_size) {
        return Err(format!("it lists source {} of {segment_size}", next - 1));
    }
    if count > 0 {
        visit(at, bits);
    }
    if bytes.is_empty() { Ok(()) } else { Err("there are bytes behind its last source".into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(sources: impl IntoIterator<Item = u32>, segment_size: u32) -> SourceSet {
        let mut set = SourceSet::new(segment_size);
        sources.into_iter().for_each(|source| set.insert(source));
        set
    }

    #[test]
    fn a_list_has_the_sources_of_its_set() {
        for (segment_size, step) in [(64, 1), (64, 63), (100, 7), (1 << 20, 3), (1 << 24, 5000)] {
            let sources = || (step / 2..segment_size).step_by(step as usize);
            let mut listed = set(sources(), segment_size);
            let count = listed.len();
            assert_eq!(count as usize, sources().count());
            let bytes = listed.take_list(segment_size);
            assert!(bytes.len() <= 8 * words_of(segment_size));
            assert_eq!(listed.len(), 0);
            assert!(set(sources(), segment_size).is_list(&bytes, count, segment_size).unwrap());
            let others = set(sources().skip(1), segment_size);
            assert!(!others.is_list(&bytes, count, segment_size).unwrap());
            assert!(!others.is_list(&bytes, count + 1, segment_size).unwrap_or(false));
        }
    }

    #[test]
    fn random_sources_take_little_more_than_their_entropy() {
        let mut random = tegula_testkit::XorShift::new(11);
        for log2 in [1, 2, 5, 8, 12] {
            let segment_size = 1u32 << 22;
            let count = segment_size >> log2;
            let sources = (0..count).map(|_| random.below(u64::from(segment_size)) as u32);
            let mut listed = set(sources, segment_size);
            let count = f64::from(listed.len());
            let share = count / f64::from(segment_size);
            let entropy = -share.log2() - (1.0 - share) / share * (1.0 - share).log2();
            let bits = 8.0 * listed.take_list(segment_size).len() as f64 / count;
            assert!(bits < 1.25 * entropy + 0.3, "{bits} bits, where {entropy} are needed");
        }
    }

    #[test]
    fn an_invalid_list_is_refused() {
        let mut far = Vec::new();
        encode_packed(&[3u32, 60, 1000], &mut far);
        let words = [const { AtomicU64::new(0) }; 2];
        add_listed(&far, 3, 128, &words).unwrap_err();
        add_listed(&far, 2, 128, &words).unwrap_err();
        add_listed(&far, 2, 64, &words).unwrap_err();
        let mut fits = Vec::new();
        encode_packed(&[3u32, 60], &mut fits);
        add_listed(&fits, 2, 65, &words).unwrap();
        add_listed(&fits, 2, 64, &words).unwrap_err();
        for cut in 0..fits.len() {
            add_listed(&fits[..cut], 2, 128, &words).unwrap_err();
        }
    }
}
