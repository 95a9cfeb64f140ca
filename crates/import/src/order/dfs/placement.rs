//! From spanning trees to dense ids.
//!
//! ```text
//!  range of a subtree:   | heaviest child's | next child's | root | next child's | ...
//!                          <---- half of its vertices ---->
//! ```
//!
//! A subtree is heavier than any within it. So when subtrees get their ranges by descending weight,
//! a parent has its range before its children do, and the heaviest child comes first: one pass, no
//! recursion.

use super::NONE;
use super::spanning_trees::SpanningTrees;

/// Returns the dense id of each id, [`NONE`] for an id without edges. Whole trees also come
/// heaviest first. Of two subtrees of the same weight, the one with the smaller root comes first.
pub(super) fn place(SpanningTrees { parent, visits }: SpanningTrees) -> Vec<u32> {
    let mut weight = vec![0u32; parent.len()];
    for &vertex in visits.iter().rev() {
        weight[vertex as usize] += 1;
        let parent = parent[vertex as usize];
        if parent != vertex {
            weight[parent as usize] += weight[vertex as usize];
        }
    }
    let by_weight = sort_by_weight(visits, &parent, &weight);
    let mut next = vec![0u32; parent.len()];
    // A parent is needed once, when its child gets a range. Then the dense id takes its place in
    // the array. Likewise, the weight makes way for the place in the range behind which the root
    // comes.
    let (mut dense, mut half) = (parent, weight);
    let mut roots_next = 0;
    for vertex in by_weight {
        let index = vertex as usize;
        let parent = std::mem::replace(&mut dense[index], NONE);
        let above = if parent == vertex { &mut roots_next } else { &mut next[parent as usize] };
        let start = *above;
        *above += half[index];
        next[index] = start;
        half[index] = start + half[index] / 2;
        // The child may have filled the first half of its parent's range. A vertex without children
        // is placed at once.
        for root in [parent, vertex] {
            let index = root as usize;
            if dense[index] == NONE && next[index] >= half[index] {
                dense[index] = next[index];
                next[index] += 1;
            }
        }
    }
    dense
}

/// Sorts the vertices by descending weight, then by ascending id: a radix sort.
fn sort_by_weight(mut vertices: Vec<u32>, parent: &[u32], weight: &[u32]) -> Vec<u32> {
    // The order of the visits is not needed any more, so its memory serves again.
    vertices.clear();
    vertices.extend((0..).zip(parent).filter(|&(_, &parent)| parent != NONE).map(|(id, _)| id));
    let mut sorted = vec![0; vertices.len()];
    for shift in [0, 16] {
        // No weight exceeds the number of vertices, so this tells whether weights have such a
        // digit.
        if shift != 0 && vertices.len() >> shift == 0 {
            break;
        }
        let digit = |vertex: u32| usize::from(!(weight[vertex as usize] >> shift) as u16);
        let mut places = vec![0u32; 1 << 16];
        vertices.iter().for_each(|&vertex| places[digit(vertex)] += 1);
        let mut before = 0;
        for place in &mut places {
            before += std::mem::replace(place, before);
        }
        for &vertex in &vertices {
            let place = &mut places[digit(vertex)];
            sorted[*place as usize] = vertex;
            *place += 1;
        }
        std::mem::swap(&mut vertices, &mut sorted);
    }
    vertices
}
