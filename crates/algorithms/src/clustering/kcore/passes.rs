//! Peels off vertices in passes over tiles.

use tegula_engine::{
    Aggregate, Estimate, Graph, ProgressUnit, RunOptions, RunStatistics, States, Sum,
};

use crate::error::{Error, Result};
use crate::passes::Passes;
use crate::shared::redirected::Redirection;

/// The most vertices, since a bit says whether a vertex is peeled off.
const VERTEX_COUNT_MAX: u64 = 1 << 31;

/// The result of the passes.
#[derive(Debug)]
pub struct CoresInPasses {
    /// The core number of each vertex.
    pub cores: States<u32>,
    /// Statistics of the run; an iteration is a pass over edges.
    pub statistics: RunStatistics,
}

/// The vertices that are not peeled off.
#[derive(Debug, Default)]
struct RemainingVertices {
    count: u64,
    /// The fewest neighbours that one of them has left.
    fewest: Option<u32>,
}

impl RemainingVertices {
    fn of(degree: Degree) -> RemainingVertices {
        match degree.is_peeled() {
            true => RemainingVertices::default(),
            false => RemainingVertices { count: 1, fewest: Some(degree.neighbours()) },
        }
    }
}

impl Aggregate for RemainingVertices {
    fn merge(&mut self, next: RemainingVertices) {
        self.count += next.count;
        self.fewest = [self.fewest, next.fewest].into_iter().flatten().min();
    }

    fn to_bytes(&self) -> Vec<u8> {
        let fewest = self.fewest.map_or(u64::MAX, u64::from);
        [self.count, fewest].map(u64::to_le_bytes).concat()
    }

    fn from_bytes(bytes: &[u8]) -> Option<RemainingVertices> {
        let (count, fewest) = bytes.split_first_chunk()?;
        let fewest = u64::from_le_bytes(fewest.try_into().ok()?);
        Some(RemainingVertices {
            count: u64::from_le_bytes(*count),
            fewest: fewest.try_into().ok(),
        })
    }
}

/// The number of neighbours that a vertex has left, or its core number, and a bit that says which.
#[derive(Debug, Clone, Copy)]
struct Degree(u32);

impl Degree {
    fn left(neighbours: u32) -> Degree {
        Degree(neighbours << 1)
    }

    fn is_peeled(self) -> bool {
        self.0 & 1 != 0
    }

    fn neighbours(self) -> u32 {
        self.0 >> 1
    }

    /// Whether the vertex is peeled off in the pass for a core number.
    fn is_next(self, core: u32) -> bool {
        !self.is_peeled() && self.neighbours() <= core
    }
}

/// Estimates the memory of [`run_in_passes`].
pub fn estimate_in_passes(graph: &Graph, threads: usize) -> Estimate {
    Passes::estimate_along::<u32, Sum<u32>>(graph, threads, Redirection::NEIGHBOURS)
}

/// Finds the core numbers in passes over tiles. In a pass, all vertices with at most `core`
/// neighbours left get this core number, and each of their neighbours then has one less. When no
/// such vertex is left, the next core number is the fewest neighbours that any vertex has left.
///
/// Arrays may lie on disk, and there may be ranks. There is one pass for each round of vertices
/// that are peeled off at the same time.
///
/// # Errors
/// [`TooManyVertices`](Error::TooManyVertices) beyond 2^31 vertices;
/// [`OverBudget`](tegula_machine::Error::OverBudget); errors of reading and writing; cancellation; the
/// failure of another rank.
pub fn run_in_passes(graph: &Graph, options: &RunOptions<'_>) -> Result<CoresInPasses> {
    let vertices = graph.vertex_count();
    if vertices > VERTEX_COUNT_MAX {
        let (what, graph) = ("kcore", graph.directory().to_owned());
        return Err(Error::TooManyVertices { what, vertices, instead: None, graph });
    }
    let mut passes = Passes::new(graph, options);
    passes.prepare_along(Redirection::NEIGHBOURS)?;
    let along = Some(Redirection::NEIGHBOURS);
    let mut degrees = passes.vertex_array("degrees", |_| 0u32)?;
    let mut left = passes.process_edges_along::<_, Sum<u32>, RemainingVertices>(
        along,
        &mut degrees,
        |_, _| Some(1),
        |_, degree, neighbours, left| {
            *degree = Degree::left(neighbours).0;
            left.merge(RemainingVertices::of(Degree(*degree)));
        },
    )?;
    let mut core = 0;
    while let Some(fewest) = left.fewest {
        // A pass may leave vertices with fewer neighbours than `core`. They were in this core, too.
        core = fewest.max(core);
        options.progress.begin("peeling", Some(vertices), ProgressUnit::Vertices);
        options.progress.advance(vertices - left.count);
        left = passes.process_edges_along::<_, Sum<u32>, RemainingVertices>(
            along,
            &mut degrees,
            |_, &degree| Degree(degree).is_next(core).then_some(1),
            |_, degree, peeled, left| {
                let before = Degree(*degree);
                if before.is_next(core) {
                    *degree = core << 1 | 1;
                } else if !before.is_peeled() {
                    *degree = Degree::left(before.neighbours().saturating_sub(peeled)).0;
                    left.merge(RemainingVertices::of(Degree(*degree)));
                }
            },
        )?;
    }
    options.progress.end();
    // All vertices are peeled off by now, so only the bit that says so is left to remove.
    passes.process_vertices(&mut degrees, |_, degree, (): &mut ()| *degree >>= 1)?;
    let cores = passes.into_states(degrees)?;
    Ok(CoresInPasses { cores, statistics: passes.statistics().clone() })
}
