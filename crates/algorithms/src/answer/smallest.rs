//! Names each group of vertices by its smallest original id.

use tegula_engine::{Cancel, Error, Graph, OrderedStates, States, Value, VertexNumber};

use super::{CHUNK, Values};
use crate::error::Result;
use crate::shared::id_order::has_order;

/// Returns the bytes that [`by_smallest`] holds beside its result.
pub(crate) fn by_smallest_size(graph: &Graph) -> u64 {
    if has_order(graph) { 2 * Bits::size(graph.vertex_count() as usize) } else { 0 }
}

/// Turns one vertex of each group, its root, into the smallest original id of the group. `roots`
/// and the result are by dense id; the result holds id positions. If id positions are dense ids,
/// each root must be the smallest of its group.
///
/// Visits vertices in the order of their original ids, so the first vertex of a group names it.
/// Works in place: the entry of a root holds the name once it is known. Every other entry holds the
/// root until the end.
pub(crate) fn by_smallest<N: VertexNumber + Value>(
    graph: &Graph,
    roots: States<N>,
    cancel: &Cancel,
) -> Result<Values<N>> {
    if !has_order(graph) {
        // Dense ids are id positions, and each root is the smallest of its group.
        return Values::of(roots, graph, cancel);
    }
    let mut entries = match roots.into_id_order(graph, cancel)? {
        OrderedStates::ByDenseId(entries) => entries,
        OrderedStates::ByIdPosition(roots) => {
            // The first place of a root in that order is the smallest id position of its group.
            return Ok(OrderedStates::ByIdPosition(roots.first_places(graph, cancel)?).into());
        }
    };
    let mut is_named_root = Bits::new(entries.len());
    // Vertices whose group is known to have a name. The first few id positions name the large
    // groups; from then on, most vertices are found here.
    let mut is_named = Bits::new(entries.len());
    graph.original_ids()?.for_each_id_position(|first, vertices| {
        cancel.check()?;
        for (vertex, id_position) in vertices.iter().zip(first..) {
            let vertex = vertex.index();
            if is_named.get(vertex) {
                continue;
            }
            let root = entries[vertex].index();
            if !is_named.get(root) {
                is_named.set(root);
                is_named_root.set(root);
                entries[root] = N::of(id_position);
            }
        }
        if first == 0 {
            for (word, entries) in is_named.0.iter_mut().zip(entries.chunks(64)) {
                cancel.check()?;
                // The entry of a named root is a name, not a root. All it sets here is its own bit,
                // which is set already.
                for (bit, &root) in entries.iter().enumerate() {
                    *word |= u64::from(is_named_root.get(root.index())) << bit;
                }
            }
        }
        Ok::<(), Error>(())
    })?;
    for first in (0..entries.len()).step_by(CHUNK) {
        cancel.check()?;
        for vertex in first..entries.len().min(first + CHUNK) {
            if !is_named_root.get(vertex) {
                entries[vertex] = entries[entries[vertex].index()];
            }
        }
    }
    Ok(OrderedStates::ByDenseId(entries).into())
}

/// A bit for each vertex.
struct Bits(Vec<u64>);

impl Bits {
    fn new(count: usize) -> Bits {
        Bits(vec![0; count.div_ceil(64)])
    }

    /// Returns the bytes of `count` bits.
    fn size(count: usize) -> u64 {
        8 * count.div_ceil(64) as u64
    }

    fn get(&self, index: usize) -> bool {
        self.0[index / 64] >> (index % 64) & 1 == 1
    }

    fn set(&mut self, index: usize) {
        self.0[index / 64] |= 1 << (index % 64);
    }
}
