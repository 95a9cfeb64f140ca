//! Random samples of the vertices.

use std::collections::BTreeSet;
use std::num::NonZeroU64;

use serde::Serialize;
use tegula_engine::traverse::VertexSet;
use tegula_engine::{Cancel, Graph, ShortId, VertexId};

use crate::answer::{self, Facts, Figures};
use crate::error::Result;
use crate::shared::random;

/// The vertices from which something is computed: drawn at random, given, or all.
#[derive(Debug)]
pub(crate) struct Sample {
    /// By ascending original id.
    pub(crate) vertices: Vec<ShortId>,
    drawn: VertexSet,
}

impl Sample {
    /// Draws `samples` different vertices, or takes all where it is `None`. The sample does not
    /// depend on the vertex order of the graph directory.
    pub(crate) fn draw(
        graph: &Graph,
        samples: Option<NonZeroU64>,
        seed: u64,
        cancel: &Cancel,
    ) -> Result<Sample> {
        let vertices = draw(graph, samples, seed, cancel)?;
        let drawn = VertexSet::new(graph.short_vertex_count()?);
        vertices.iter().for_each(|&vertex| {
            drawn.insert(vertex);
        });
        Ok(Sample { vertices, drawn })
    }

    /// Takes the `given` vertices, each once.
    pub(crate) fn given(graph: &Graph, given: &[VertexId], cancel: &Cancel) -> Result<Sample> {
        let drawn = VertexSet::new(graph.short_vertex_count()?);
        let count = given.iter().filter(|vertex| drawn.insert(vertex.short())).count();
        let mut vertices = Vec::with_capacity(count);
        graph.original_ids()?.for_each_id_position(|_, all| {
            cancel.check()?;
            let all = all.iter().copied().map(VertexId::short);
            vertices.extend(all.filter(|&vertex| drawn.contains(vertex)));
            Ok::<(), tegula_engine::Error>(())
        })?;
        Ok(Sample { vertices, drawn })
    }

    /// Returns the bytes that a sample of `given` vertices takes.
    pub(crate) fn given_size(graph: &Graph, given: u64) -> u64 {
        4 * given.min(graph.vertex_count()) + VertexSet::size(graph.vertex_count())
    }

    /// Returns the bytes that a random sample takes while it is drawn.
    pub(crate) fn size(graph: &Graph, samples: Option<NonZeroU64>) -> u64 {
        let count = count(graph, samples);
        // A set takes some 12 bytes for a number of 8 bytes. A sample of all vertices needs no set.
        let id_positions = if count < graph.vertex_count() { 12 * count } else { 0 };
        4 * count + id_positions + VertexSet::size(graph.vertex_count())
    }

    /// Returns the size of the sample without `vertex`.
    pub(crate) fn others(&self, vertex: ShortId) -> usize {
        self.vertices.len() - usize::from(self.drawn.contains(vertex))
    }
}

/// How many vertices a result was computed from.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Sources {
    /// Their number.
    sources: u64,
    /// Whether they are all vertices.
    exact: bool,
    /// Whether they were given, not drawn.
    #[serde(skip)]
    are_given: bool,
}

impl Sources {
    /// Counts the vertices that an option `samples` asks for, or all.
    pub(crate) fn of(graph: &Graph, samples: Option<NonZeroU64>) -> Sources {
        let sources = count(graph, samples);
        Sources { sources, exact: sources == graph.vertex_count(), are_given: false }
    }

    /// Counts `sources` given vertices.
    pub(crate) fn given(graph: &Graph, sources: u64) -> Sources {
        Sources { sources, exact: sources == graph.vertex_count(), are_given: true }
    }
}

impl Figures for Sources {
    fn facts(&self) -> Facts {
        let mut facts = Facts::default();
        let sources = answer::counted(self.sources, "vertex", "vertices");
        let all = match (self.exact, self.are_given) {
            (true, _) => ", all",
            (false, true) => ", as given",
            (false, false) => ", drawn at random",
        };
        facts.add("found from", sources + all);
        facts
    }
}

/// Draws between two checks for cancellation.
const LOOK_EVERY: u64 = 1 << 16;

/// Returns how many vertices are drawn.
pub(crate) fn count(graph: &Graph, samples: Option<NonZeroU64>) -> u64 {
    samples.map_or(u64::MAX, NonZeroU64::get).min(graph.vertex_count())
}

fn draw(
    graph: &Graph,
    samples: Option<NonZeroU64>,
    seed: u64,
    cancel: &Cancel,
) -> Result<Vec<ShortId>> {
    let vertex_count = graph.vertex_count();
    let count = count(graph, samples);
    let id_positions = match count < vertex_count {
        true => Some(draw_id_positions(vertex_count, count, seed, cancel)?),
        false => None,
    };
    let mut drawn = Vec::with_capacity(count as usize);
    graph.original_ids()?.for_each_id_position(|first, vertices| {
        cancel.check()?;
        let short = VertexId::short;
        match &id_positions {
            None => drawn.extend(vertices.iter().copied().map(short)),
            Some(id_positions) => {
                let here = id_positions.range(first..first + vertices.len() as u64);
                drawn.extend(
                    here.map(|id_position| short(vertices[(id_position - first) as usize])),
                );
            }
        }
        Ok::<(), tegula_engine::Error>(())
    })?;
    Ok(drawn)
}

/// Draws `count` different numbers below `end` by Floyd's algorithm (Bentley, Floyd, *A Sample of
/// Brilliance*, Communications of the ACM 30, 1987).
fn draw_id_positions(end: u64, count: u64, seed: u64, cancel: &Cancel) -> Result<BTreeSet<u64>> {
    let mut drawn = BTreeSet::new();
    for (last, index) in (end - count..end).zip(0..) {
        if index % LOOK_EVERY == 0 {
            cancel.check()?;
        }
        if !drawn.insert(random::number_below(seed, index, last + 1)) {
            drawn.insert(last);
        }
    }
    Ok(drawn)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_vertex_is_drawn_as_often_as_any_other() {
        let mut times = [0; 10];
        for seed in 0..10_000 {
            let drawn = draw_id_positions(10, 4, seed, &Cancel::default()).unwrap();
            assert_eq!(drawn.len(), 4);
            drawn.into_iter().for_each(|id_position| times[id_position as usize] += 1);
        }
        assert!(times.iter().all(|times| (3700..4300).contains(times)), "{times:?}");
        assert_eq!(draw_id_positions(7, 7, 1, &Cancel::default()).unwrap(), (0..7).collect());
    }
}
