//! Summaries of the active vertices, in memory: their bits lie with the states.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use tegula_store::tiles::TileSummary;

use crate::states::cut::Cut;
use crate::superstep::active_set::ActiveSet;

/// The number of active vertices in each block, and the chunks that have any.
pub struct ActiveBlocks {
    /// For tiles; without the bits.
    pub summary: ActiveSet,
    /// By block.
    pub counts: Vec<u32>,
}

/// The same for the next iteration, while it is gathered.
pub struct NextActivity {
    chunks: Vec<AtomicU64>,
    counts: Vec<AtomicU32>,
    /// Whether activity bits are set among the states of a block, by block. They may be old,
    /// because an iteration writes only the blocks that it reaches.
    has_bits: Vec<AtomicBool>,
}

impl ActiveBlocks {
    /// Returns the bytes for this iteration and the next.
    pub fn size(cut: &Cut) -> u64 {
        let blocks = cut.count() as u64;
        2 * (4 * blocks + ActiveSet::summary_size(cut.vertex_count() as u64)) + blocks
    }
}

impl NextActivity {
    /// Begins without active vertices.
    pub fn new(cut: &Cut) -> NextActivity {
        let chunks = ActiveSet::summary_size(cut.vertex_count() as u64) / 8;
        NextActivity {
            chunks: (0..chunks).map(|_| AtomicU64::new(0)).collect(),
            counts: (0..cut.count()).map(|_| AtomicU32::new(0)).collect(),
            has_bits: (0..cut.count()).map(|_| AtomicBool::new(false)).collect(),
        }
    }

    /// Notes the activity bits that are with the states of a block from now on. Its first vertex is
    /// `first`.
    pub fn note(&self, block: usize, first: usize, words: &[u64]) {
        let mut count = 0;
        for (word, vertices) in words.iter().zip((first..).step_by(64)) {
            count += word.count_ones();
            if *word != 0 {
                let chunk = vertices >> TileSummary::CHUNK_LOG2_MIN;
                // Relaxed, because `take` reads only after the workers have ended.
                self.chunks[chunk / 64].fetch_or(1 << (chunk % 64), Ordering::Relaxed);
            }
        }
        self.counts[block].store(count, Ordering::Relaxed);
        self.has_bits[block].store(count > 0, Ordering::Relaxed);
    }

    /// Returns whether activity bits are set among the states of a block.
    pub fn has_bits(&self, block: usize) -> bool {
        self.has_bits[block].load(Ordering::Relaxed)
    }

    /// Notes that the activity bits among the states of a block were cleared.
    pub fn note_cleared(&self, block: usize) {
        self.has_bits[block].store(false, Ordering::Relaxed);
    }

    /// Returns the noted activity and begins again. Blocks that were not noted are inactive.
    pub fn take(&mut self) -> ActiveBlocks {
        let counts: Vec<u32> =
            self.counts.iter_mut().map(|count| std::mem::take(count.get_mut())).collect();
        let chunks = self.chunks.iter_mut().map(|word| std::mem::take(word.get_mut())).collect();
        let count = counts.iter().copied().map(u64::from).sum();
        ActiveBlocks { summary: ActiveSet::from_summary(chunks, count), counts }
    }
}
