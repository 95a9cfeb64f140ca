//! Summaries of the active vertices, in memory: their bits lie with the states.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

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
}

impl ActiveBlocks {
    /// Returns the bytes for this iteration and the next.
    pub fn size(cut: &Cut) -> u64 {
        2 * (4 * cut.count() as u64 + ActiveSet::summary_size(cut.vertex_count() as u64))
    }
}

impl NextActivity {
    /// Begins without active vertices.
    pub fn new(cut: &Cut) -> NextActivity {
        let chunks = ActiveSet::summary_size(cut.vertex_count() as u64) / 8;
        NextActivity {
            chunks: (0..chunks).map(|_| AtomicU64::new(0)).collect(),
            counts: (0..cut.count()).map(|_| AtomicU32::new(0)).collect(),
        }
    }

    /// Notes the activity bits of a block, whose first vertex is `first`.
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
