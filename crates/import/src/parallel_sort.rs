//! Sorting in memory on the threads of an import.

use std::cmp::Ordering;
use std::sync::Mutex;

use tegula_machine::threads::lock;
use tegula_store::Result;

use crate::import_run::ImportRun;

/// Items are not divided below twice this number.
const PIECE_LEN_MIN: usize = 1 << 12;

/// Sorts in place. Medians divide the items into one piece per thread, and the pieces are sorted in
/// parallel. Items that compare as equal may come in any order.
pub(crate) fn sort<T: Send>(
    run: &ImportRun<'_>,
    items: &mut [T],
    compare: &(dyn Fn(&T, &T) -> Ordering + Sync),
) -> Result<()> {
    let mut pieces = Vec::new();
    divide(items, run.workers.count(), compare, &mut pieces);
    run.workers.for_each(pieces.len(), run.cancel, &|index| {
        lock(&pieces[index]).sort_unstable_by(compare);
        Ok(())
    })
}

/// Divides items into `count` pieces of about the same length. No item is above one of the next
/// piece.
fn divide<'a, T>(
    items: &'a mut [T],
    count: usize,
    compare: &dyn Fn(&T, &T) -> Ordering,
    pieces: &mut Vec<Mutex<&'a mut [T]>>,
) {
    if count < 2 || items.len() < 2 * PIECE_LEN_MIN {
        pieces.push(Mutex::new(items));
        return;
    }
    let below = count / 2;
    let middle = items.len() / count * below;
    items.select_nth_unstable_by(middle, compare);
    let (low, high) = items.split_at_mut(middle);
    divide(low, below, compare, pieces);
    divide(high, count - below, compare, pieces);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_follow_one_another_and_lose_nothing() {
        let items: Vec<u64> = (0..100_000u64).map(|n| n.wrapping_mul(0x9e37_79b9) % 5000).collect();
        for count in [1, 2, 3, 7, 100] {
            let mut divided = items.clone();
            let mut pieces = Vec::new();
            divide(&mut divided, count, &u64::cmp, &mut pieces);
            assert!(pieces.len() <= count && (count < 20) == (pieces.len() == count), "{count}");
            pieces.iter().for_each(|piece| lock(piece).sort_unstable());
            drop(pieces);
            let mut sorted = items.clone();
            sorted.sort_unstable();
            assert!(divided == sorted, "{count} pieces");
        }
    }
}
