//! The vertices with the greatest values.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use tegula_machine::threads::Cancel;
use tegula_store::VertexId;
use tegula_store::graph::{Graph, IdChunk};

use super::TableRows;
use crate::error::Result;
use crate::shared::original_ids::Name;

/// A vertex with its key in an order.
struct Ordered<K> {
    key: K,
    id_position: Reverse<u64>,
    name: Name,
}

impl<K: Ord> Ord for Ordered<K> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (&self.key, self.id_position).cmp(&(&other.key, other.id_position))
    }
}

impl<K: Ord> PartialOrd for Ordered<K> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<K: Ord> PartialEq for Ordered<K> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<K: Ord> Eq for Ordered<K> {}

/// Returns the `count` vertices with the greatest keys, greatest first; of equal keys, the vertex
/// with the smallest original id first. Vertices without a key do not count.
pub fn greatest<K: Ord + Copy>(
    graph: &Graph,
    count: usize,
    keys: impl Fn(&TableRows<'_>) -> Result<Vec<Option<K>>>,
    cancel: &Cancel,
) -> Result<Vec<(Name, K)>> {
    let mut heap: BinaryHeap<Reverse<Ordered<K>>> = BinaryHeap::new();
    // All ids would be read in vain.
    if count == 0 {
        return Ok(Vec::new());
    }
    let mut first = 0;
    let mut offer = |ids: &IdChunk, vertices: &[VertexId]| -> Result<()> {
        for (index, key) in keys(&TableRows { first, vertices })?.into_iter().enumerate() {
            let Some(key) = key else { continue };
            // Ids ascend: an equal key that comes later never displaces an earlier one.
            if heap.len() == count && heap.peek().is_some_and(|least| key <= least.0.key) {
                continue;
            }
            let id_position = Reverse((first + index) as u64);
            heap.push(Reverse(Ordered { key, id_position, name: ids.get(index).into() }));
            if heap.len() > count {
                heap.pop();
            }
        }
        first += vertices.len();
        Ok(())
    };
    graph.original_ids()?.for_each_chunk(|ids, vertices| {
        cancel.check()?;
        offer(&ids, vertices)
    })?;
    let sorted = heap.into_sorted_vec();
    Ok(sorted.into_iter().map(|Reverse(entry)| (entry.name, entry.key)).collect())
}

/// A float with a total order.
#[derive(Debug, Clone, Copy)]
pub struct TotalOrder<F>(pub F);

macro_rules! total_order {
    ($($float:ty),*) => {$(
        impl Ord for TotalOrder<$float> {
            fn cmp(&self, other: &Self) -> std::cmp::Ordering {
                self.0.total_cmp(&other.0)
            }
        }

        impl PartialOrd for TotalOrder<$float> {
            fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
                Some(self.cmp(other))
            }
        }

        impl PartialEq for TotalOrder<$float> {
            fn eq(&self, other: &Self) -> bool {
                self.cmp(other).is_eq()
            }
        }

        impl Eq for TotalOrder<$float> {}
    )*};
}

total_order!(f32, f64);
