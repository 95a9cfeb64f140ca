//! Which vertices are active, as far as memory has to know: the bits lie with the states.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use tegula_store::tiles::TileSummary;

use super::cut::Cut;
use crate::superstep::active_set::ActiveSet;

/// How many vertices of each block are active, and which chunks have any.
pub struct ActiveBlocks {
    /// For tiles: without the bits.
    pub summary: ActiveSet,
    /// By block.
    pub counts: Vec<u32>,
}

/// The same of the next iteration, while it becomes known.
pub struct NextActivity {
    chunks: Vec<AtomicU64>,
    counts: Vec<AtomicU32>,
}

impl ActiveBlocks {
    /// Bytes of this, and of the next.
    pub fn size(cut: &Cut) -> u64 {
        2 * (4 * cut.count() as u64 + ActiveSet::summary_size(cut.vertex_count() as u64))
    }
}

impl NextActivity {
    /// Nobody is active.
    pub fn new(cut: &Cut) -> NextActivity {
        let chunks = ActiveSet::summary_size(cut.vertex_count() as u64) / 8;
        NextActivity {
            chunks: (0..chunks).map(|_| AtomicU64::new(0)).collect(),
            counts: (0..cut.count()).map(|_| AtomicU32::new(0)).collect(),
        }
    }

    /// Notes the bits of a block, whose first vertex is `first`.
    pub fn note(&self, block: usize, first: usize, words: &[u64]) {
        let mut count = 0;
        for (word, vertices) in words.iter().zip((first..).step_by(64)) {
            count += word.count_ones();
            if *word != 0 {
                let chunk = vertices >> TileSummary::CHUNK_LOG2_MIN;
                self.chunks[chunk / 64].fetch_or(1 << (chunk % 64), Ordering::Relaxed);
            }
        }
        self.counts[block].store(count, Ordering::Relaxed);
    }

    /// What was noted; blocks of which nothing was are inactive. Begins anew.
    pub fn take(&mut self) -> ActiveBlocks {
        let counts: Vec<u32> =
            self.counts.iter_mut().map(|count| std::mem::take(count.get_mut())).collect();
        let chunks = self.chunks.iter_mut().map(|word| std::mem::take(word.get_mut())).collect();
        let count = counts.iter().copied().map(u64::from).sum();
        ActiveBlocks { summary: ActiveSet::from_summary(chunks, count), counts }
    }
}
