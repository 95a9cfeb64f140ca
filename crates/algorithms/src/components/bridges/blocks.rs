//! Finds bridges, articulation points, and the blocks between them.

use std::sync::atomic::{AtomicU32, Ordering};

use tegula_engine::{EdgeVisitor, Graph, RunOptions, RunStatistics, ShortId, visit_edges};

use super::forest::Forest;
use crate::error::Result;
use crate::shared::union_find::DisjointSets;

/// The bridges and articulation points of a graph.
#[derive(Debug, Clone)]
pub struct Blocks {
    /// The bridges, in no particular order.
    pub bridges: Vec<(ShortId, ShortId)>,
    /// The articulation points, each with the number of blocks that meet in it, in no particular
    /// order.
    pub articulation_points: Vec<(ShortId, u32)>,
    /// Statistics of the run; an iteration is a scan.
    pub statistics: RunStatistics,
}

/// Finds bridges and articulation points.
pub fn run(graph: &Graph, options: &RunOptions<'_>) -> Result<Blocks> {
    let held = size(graph);
    let (forest, mut statistics) = Forest::find(graph, held, options)?;
    let reaches = Reaches::new(forest);
    statistics.add(visit_edges(graph, &reaches, held, options)?);
    options.cancel.check()?;
    let reaches = reaches.summed_up();
    Ok(Blocks {
        bridges: reaches.bridges(),
        articulation_points: reaches.articulation_points(),
        statistics,
    })
}

/// Bytes that a run holds, its result included: every edge of the forest may be a bridge, and
/// nearly every vertex an articulation point.
pub(super) fn size(graph: &Graph) -> u64 {
    48 * graph.vertex_count()
}

/// How far the edges outside the forest lead; all by number.
struct Reaches {
    forest: Forest,
    /// The least number that such edges lead to from a vertex. After the sum, from its subtree.
    least: Vec<AtomicU32>,
    /// The greatest such number.
    greatest: Vec<AtomicU32>,
    /// Sets of forest edges that lie on common cycles; a child stands for the edge to its parent.
    blocks: DisjointSets,
}

impl Reaches {
    fn new(forest: Forest) -> Reaches {
        let count = forest.numbers.len() as u32;
        let own = || (0..count).map(AtomicU32::new).collect();
        Reaches { forest, least: own(), greatest: own(), blocks: DisjointSets::new(count) }
    }

    fn get(values: &[AtomicU32], number: u32) -> u32 {
        values[number as usize].load(Ordering::Relaxed)
    }

    /// Sums up from the leaves to the reaches of each subtree, and joins the blocks.
    fn summed_up(mut self) -> Reaches {
        // In preorder, a child has a greater number than its parent.
        for number in (0..self.forest.parents.len() as u32).rev() {
            let parent = self.forest.parents[number as usize];
            let (least, greatest) =
                (Self::get(&self.least, number), Self::get(&self.greatest, number));
            *self.least[parent as usize].get_mut() = Self::get(&self.least, parent).min(least);
            *self.greatest[parent as usize].get_mut() =
                Self::get(&self.greatest, parent).max(greatest);
            if !self.forest.is_root(parent) && !self.is_within(number, parent) {
                self.blocks.join(number, parent);
            }
        }
        self
    }

    /// Whether all edges from the subtree of a vertex stay in the subtree of `above`.
    fn is_within(&self, number: u32, above: u32) -> bool {
        self.forest.is_above(above, Self::get(&self.least, number))
            && self.forest.is_above(above, Self::get(&self.greatest, number))
    }

    /// Numbers of all vertices with a parent; each stands for the edge to it.
    fn edges(&self) -> impl Iterator<Item = u32> {
        let numbers = 0..self.forest.parents.len() as u32;
        numbers.filter(|&number| !self.forest.is_root(number))
    }

    fn bridges(&self) -> Vec<(ShortId, ShortId)> {
        let is_bridge = |&number: &u32| self.is_within(number, number);
        let vertex = |number: u32| self.forest.vertices[number as usize];
        // Reserves exactly what is needed, as growing may take twice as much.
        let mut bridges = Vec::with_capacity(self.edges().filter(is_bridge).count());
        bridges.extend(
            self.edges()
                .filter(is_bridge)
                .map(|number| (vertex(self.forest.parents[number as usize]), vertex(number))),
        );
        bridges
    }

    fn articulation_points(&self) -> Vec<(ShortId, u32)> {
        // A block hangs from the parent of its least number.
        let mut blocks = vec![0u32; self.forest.parents.len()];
        for number in self.edges().filter(|&number| self.blocks.root(number) == number) {
            blocks[self.forest.parents[number as usize] as usize] += 1;
        }
        // A vertex with a parent is also in the block of the edge to it.
        for (number, blocks) in (0..).zip(&mut blocks) {
            *blocks += u32::from(!self.forest.is_root(number));
        }
        let count = blocks.iter().filter(|&&blocks| blocks > 1).count();
        let mut points = Vec::with_capacity(count);
        points.extend(self.forest.vertices.iter().copied().zip(blocks).filter(|point| point.1 > 1));
        points
    }
}

impl EdgeVisitor for Reaches {
    type Weight = ();

    #[inline(always)]
    fn visit(&self, source: ShortId, target: ShortId, (): ()) {
        let number = |vertex: ShortId| self.forest.numbers[vertex.index()];
        let (one, other) = (number(source), number(target));
        let (low, high) = (one.min(other), one.max(other));
        // Skips loops, and edges between a vertex and its parent.
        if low == high || self.forest.parents[high as usize] == low {
            return;
        }
        lower(&self.least[high as usize], low);
        raise(&self.greatest[low as usize], high);
        if !self.forest.is_above(low, high) {
            self.blocks.join(low, high);
        }
    }
}

/// Lowers a value to at most `bound`.
#[inline(always)]
fn lower(value: &AtomicU32, bound: u32) {
    // Most values are soon low enough.
    if value.load(Ordering::Relaxed) > bound {
        value.fetch_min(bound, Ordering::Relaxed);
    }
}

/// Raises a value to at least `bound`.
#[inline(always)]
fn raise(value: &AtomicU32, bound: u32) {
    if value.load(Ordering::Relaxed) < bound {
        value.fetch_max(bound, Ordering::Relaxed);
    }
}
