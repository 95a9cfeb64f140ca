//! A set of vertices: a bit each, and a summary bit per chunk of 1024 vertices.

use std::ops::Range;

use tegula_store::ShortId;
use tegula_store::tiles::{Origin, TileSummary};

/// A set of vertices, with a summary by which tiles are skipped. On ranks the set has vertices of
/// this rank. The summary has the vertices of all ranks, once they have
/// [agreed](ActiveSet::add_summary).
#[derive(Debug, Default, Clone)]
pub struct ActiveSet {
    words: Vec<u64>,
    chunks: Vec<u64>,
    count: u64,
}

/// Words of a chunk.
const CHUNK_WORDS: usize = 1 << (TileSummary::CHUNK_LOG2_MIN - 6);

impl ActiveSet {
    /// Makes the empty set over `vertex_count` vertices.
    pub fn new(vertex_count: usize) -> ActiveSet {
        let words = vertex_count.div_ceil(64);
        let chunks = words.div_ceil(CHUNK_WORDS).div_ceil(64);
        ActiveSet { words: vec![0; words], chunks: vec![0; chunks], count: 0 }
    }

    /// Returns a set of these vertices with a summary only, which is enough for
    /// [`ActiveSet::may_meet`].
    pub fn summary_of(vertices: &[ShortId], vertex_count: usize) -> ActiveSet {
        let chunk_count = vertex_count.div_ceil(1 << TileSummary::CHUNK_LOG2_MIN);
        let mut chunks = vec![0; chunk_count.div_ceil(64)];
        for vertex in vertices {
            let chunk = vertex.index() >> TileSummary::CHUNK_LOG2_MIN;
            chunks[chunk / 64] |= 1 << (chunk % 64);
        }
        ActiveSet { words: Vec::new(), chunks, count: vertices.len() as u64 }
    }

    /// Returns a set with a summary only, from chunks known to hold `count` vertices.
    pub fn from_summary(chunks: Vec<u64>, count: u64) -> ActiveSet {
        ActiveSet { words: Vec::new(), chunks, count }
    }

    /// Returns the bytes of a summary over `vertex_count` vertices.
    pub fn summary_size(vertex_count: u64) -> u64 {
        vertex_count.div_ceil(64 << TileSummary::CHUNK_LOG2_MIN) * 8
    }

    /// Returns at most `count` vertices, spread over the whole set.
    pub fn sample(&self, count: usize) -> Vec<ShortId> {
        // An empty set has no words, and chunks of no words would panic.
        let step = self.words.len().div_ceil(count).max(1);
        let first_of = |words: &[u64], first: usize| {
            let index = words.iter().position(|&word| word != 0)?;
            Some(ShortId(((first + index) * 64) as u32 + words[index].trailing_zeros()))
        };
        let parts = self.words.chunks(step).enumerate();
        parts.filter_map(|(part, words)| first_of(words, part * step)).collect()
    }

    /// Returns the bytes of a set over `vertex_count` vertices.
    pub fn size(vertex_count: u64) -> u64 {
        vertex_count.div_ceil(64) * 8 + ActiveSet::summary_size(vertex_count)
    }

    /// Returns the bits, 64 vertices a word.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// Replaces the bits and returns those before.
    pub fn replace(&mut self, words: Vec<u64>) -> Vec<u64> {
        let before = std::mem::replace(&mut self.words, words);
        self.summarise();
        before
    }

    /// Makes the set of `vertices`, from a graph of `vertex_count`.
    pub fn of(vertices: &[ShortId], vertex_count: usize) -> ActiveSet {
        let mut set = ActiveSet::new(vertex_count);
        set.extend(vertices.iter().copied());
        set
    }

    /// Adds vertices.
    pub fn extend(&mut self, vertices: impl Iterator<Item = ShortId>) {
        vertices.for_each(|vertex| self.words[vertex.index() / 64] |= 1 << (vertex.0 % 64));
        self.summarise();
    }

    /// Returns the summary: a bit for each chunk.
    pub fn summary(&self) -> &[u64] {
        &self.chunks
    }

    /// Returns the words of a summary that have bits for some vertices.
    pub fn summary_words(vertices: &Range<usize>) -> Range<usize> {
        let word = 64 << TileSummary::CHUNK_LOG2_MIN;
        match vertices.is_empty() {
            // An empty range may lie within a word of another rank.
            true => 0..0,
            false => vertices.start / word..vertices.end.div_ceil(word),
        }
    }

    /// Adds bits to the summary, from the word `first` on: for vertices of other ranks, which are not
    /// in the set. A change of the set removes them again.
    pub fn add_summary(&mut self, first: usize, words: impl Iterator<Item = u64>) {
        // Ranks may share a word, and even a chunk.
        self.chunks[first..].iter_mut().zip(words).for_each(|(chunks, added)| *chunks |= added);
    }

    fn summarise(&mut self) {
        self.chunks.fill(0);
        self.count = 0;
        for (index, chunk) in self.words.chunks(CHUNK_WORDS).enumerate() {
            let ones: u64 = chunk.iter().map(|word| u64::from(word.count_ones())).sum();
            self.count += ones;
            self.chunks[index / 64] |= u64::from(ones > 0) << (index % 64);
        }
    }

    /// Returns the number of vertices in the set.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns whether the set may hold a source of a tile, whose ids count from `origin`. False is
    /// certain.
    pub fn may_meet(&self, tile: &TileSummary, origin: Origin) -> bool {
        let chunk_log2 = tile.chunk_log2();
        let first = origin.source as usize;
        let mut mask = tile.source_mask;
        while mask != 0 {
            let bit = mask.trailing_zeros();
            mask &= mask - 1;
            let chunk = tile.chunk(bit);
            if chunk_log2 == TileSummary::CHUNK_LOG2_MIN {
                let index = (first + chunk.start as usize) >> TileSummary::CHUNK_LOG2_MIN;
                if self.chunks.get(index / 64).is_some_and(|word| word >> (index % 64) & 1 == 1) {
                    return true;
                }
            } else if self.has_any_chunk(first + chunk.start as usize..first + chunk.end as usize) {
                return true;
            }
        }
        false
    }

    fn has_any_chunk(&self, vertices: Range<usize>) -> bool {
        let first = vertices.start >> TileSummary::CHUNK_LOG2_MIN;
        let last = vertices.end >> TileSummary::CHUNK_LOG2_MIN;
        // The ranges of a tile may end behind the last vertex.
        let last = last.min(64 * self.chunks.len());
        (first..last).any(|index| self.chunks[index / 64] >> (index % 64) & 1 == 1)
    }
}
