//! The memory and the time that a run needs, estimated before it starts.

use tegula_engine::traverse::{RowsWanted, long_rows_size, row_pieces_size};
use tegula_engine::{Error, Estimate, Graph, RUN_OVERHEAD, Speed};
use tegula_store::rows::{Direction, RowsConfig};

use super::fusing::{AnyMember, Width};
use super::interface::{Edges, LessMemory, Weights};
use super::request::{Prepared, Request};
use super::work::{WRITING_GRAPH, Work, edge_bytes};
use crate::error::{Hint, Result, Setting, SettingValue};

/// Expected bytes per edge in rows.
const ROW_BYTES_EXPECTED: u64 = 2;
/// Bytes of the weight of an edge.
const WEIGHT_BYTES: u64 = 4;
/// Bytes per edge for writing a graph where memory has room for them, about. For the component of
/// R-MAT 20, writing took 562 MiB in all, where this predicts 523 MiB.
const WRITING_BYTES: u64 = 16;
/// The work of building rows.
const BUILDING_ROWS: &str = "building rows";

/// What a run on a graph needs.
#[derive(Debug, Clone)]
pub struct Needs {
    /// The memory that it needs.
    pub estimate: Estimate,
    /// The layout that is streamed, and held if there is room.
    pub layout: StreamedLayout,
    /// Bytes for building the rows, where the graph gets them first.
    pub build_bytes: Option<u64>,
    /// Why the arrays over the vertices lie in memory, where they cannot lie on disk.
    pub why_in_memory: Option<&'static str>,
    /// Another run with the same result in less memory, where one is known.
    less_memory: Option<LessMemory>,
    /// Bytes of lists that are made only where there is room.
    pub lists_bytes: u64,
    /// The most edges of the answer, where this is a graph.
    found_edges_max: Option<u64>,
    /// What follows the run, where its answer is written as a graph.
    writing: Option<Writing>,
    /// The work of the run.
    work: Work,
    /// The work where arrays lie on disk, if that is other work.
    work_on_disk: Option<Work>,
    /// The work of building the rows first.
    building: Work,
    /// Average [bytes of an edge](edge_bytes) in the tiles.
    pub edge_bytes: f64,
    /// Whether the run opens rows that exist or are built first.
    has_rows: bool,
}

/// What it takes to write an answer as a graph.
#[derive(Debug, Clone, Copy)]
struct Writing {
    bytes_min: u64,
    edges_max: u64,
    work: Work,
}

/// A way to lay out the edges of a graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamedLayout {
    /// No edges are read.
    None,
    /// By target, in tiles.
    Tiles,
    /// By source, in rows.
    Rows,
}

/// Returns the least bytes for building rows of these directions, one after the other.
fn memory_min(graph: &Graph, directions: &[Direction]) -> Result<u64> {
    let mut least = directions.iter().map(|&direction| RowsConfig::memory_min(graph, direction));
    Ok(least.try_fold(0, |most, least| Ok::<_, Error>(most.max(least?)))?)
}

/// Returns the bytes that the rows of a graph are expected to take on disk.
pub fn rows_size_expected(graph: &Graph) -> u64 {
    data_size_expected(graph, graph.is_weighted())
}

/// Returns the bytes of the weights, which lie beside the tiles, if they are read.
fn weights_size(graph: &Graph, has_weights: bool) -> u64 {
    if has_weights { WEIGHT_BYTES * graph.edge_count() } else { 0 }
}

fn data_size_expected(graph: &Graph, has_weights: bool) -> u64 {
    (ROW_BYTES_EXPECTED + if has_weights { WEIGHT_BYTES } else { 0 }) * graph.edge_count()
}

/// The setting for a run that scans tiles.
const SCAN: Setting = Setting { option: "executor", value: SettingValue::OneOf(&["scan"]) };

/// Refuses a graph with too many vertices for arrays in memory.
fn check_vertices(request: &Request, graph: &Graph, needs_rows: bool) -> Result<()> {
    if graph.has_short_ids() {
        return Ok(());
    }
    // If the algorithm has an error of its own, that one says what to do instead.
    request.check_input(graph)?;
    let can_scan = needs_rows && request.edges_on(graph).can_scan(graph);
    Err(crate::Error::TooManyVertices {
        what: request.name,
        vertices: graph.vertex_count(),
        instead: can_scan.then(|| Hint::set([SCAN]).into()),
        graph: graph.directory().to_owned(),
    })
}

/// What a run streams of a graph.
struct Streamed {
    edges: Edges,
    needs_rows: bool,
    /// Whether edges must come from rows, although other graphs could be scanned.
    must_seek: bool,
    has_weights: bool,
    /// The number of layouts of rows that are built first.
    built: u64,
}

impl Streamed {
    /// Adds the bytes of the streamed layout to an estimate, and returns this layout.
    fn add_to(
        &self,
        estimate: &mut Estimate,
        graph: &Graph,
        threads: usize,
    ) -> Result<StreamedLayout> {
        let Streamed { edges, has_weights, .. } = *self;
        let layout = match edges {
            Edges::None => StreamedLayout::None,
            Edges::Tiles { .. } => StreamedLayout::Tiles,
            Edges::Either { .. } if !self.must_seek => StreamedLayout::Tiles,
            Edges::Rows(_) | Edges::Either { .. } => StreamedLayout::Rows,
        };
        estimate.layout_bytes += match layout {
            StreamedLayout::None => 0,
            StreamedLayout::Tiles => weights_size(graph, has_weights),
            StreamedLayout::Rows => self.built * data_size_expected(graph, has_weights),
        };
        if !self.needs_rows {
            return Ok(layout);
        }
        // A row may lead to any vertex, so all arrays lie in memory.
        estimate.on_disk = None;
        let wanted = RowsWanted { directions: edges.directions(), has_weights };
        estimate.vertex_bytes += match edges {
            // A vertex program reads a long row piece by piece; a traversal copies it as a whole.
            Edges::Either { .. } => row_pieces_size(graph, wanted, threads)?,
            Edges::None | Edges::Tiles { .. } | Edges::Rows(_) => {
                long_rows_size(graph, wanted, threads)?
            }
        };
        if let Edges::Either { rows_size, .. } = edges
            && layout == StreamedLayout::Tiles
        {
            estimate.vertex_bytes += rows_size(graph, threads);
        }
        Ok(layout)
    }
}

impl Needs {
    /// Returns the needs of an algorithm with `threads` threads, which follows rows if
    /// `needs_rows`.
    ///
    /// # Errors
    /// [`TooManyVertices`](crate::Error::TooManyVertices) for a graph with too many vertices for
    /// arrays that must lie in memory; before that, the errors of
    /// [`check_input`](super::Algorithm::check_input), and of
    /// [`check_rows`](super::Algorithm::check_rows) if the algorithm follows rows.
    pub fn of(
        prepared: &Prepared<'_>,
        graph: &Graph,
        threads: usize,
        needs_rows: bool,
    ) -> Result<Needs> {
        let estimate = prepared.estimate(graph, threads)?;
        let work = prepared.work(graph)?;
        let work_on_disk = prepared.work_on_disk(graph)?;
        let needs = Needs::with(prepared, graph, threads, needs_rows, (estimate, work))?;
        Ok(Needs { work_on_disk, ..needs })
    }

    /// Returns the needs of several requests that run as one over tiles; `None` if there are more
    /// than can fuse.
    pub fn of_fused(all: &[&Prepared<'_>], graph: &Graph, threads: usize) -> Result<Option<Needs>> {
        let alone: Vec<Work> = all.iter().map(|one| one.work(graph)).collect::<Result<_>>()?;
        let Some(first) = all.first() else { return Ok(None) };
        let Some(fusing) = first.request.fusing else { return Ok(None) };
        let width = Width::of(fusing.widths, all.len());
        let Some(mut work) = width.and_then(|width| width.work(&alone)) else { return Ok(None) };
        let members: Vec<AnyMember<'_>> = all.iter().map(|one| one.member()).collect();
        work.edges += (fusing.further_passes)(&members) * graph.edge_count() as f64;
        let estimate = (fusing.estimate)(&members, graph, threads)?;
        Needs::with(first, graph, threads, false, (estimate, work)).map(Some)
    }

    /// Adds to the estimate and the work of a run what follows from the graph.
    fn with(
        prepared: &Prepared<'_>,
        graph: &Graph,
        threads: usize,
        needs_rows: bool,
        (mut estimate, work): (Estimate, Work),
    ) -> Result<Needs> {
        let request = prepared.request;
        let edges = request.edges_on(graph);
        let directions = edges.directions();
        let must_seek = matches!(edges, Edges::Either { .. }) && !edges.can_scan(graph);
        let less_memory = match edges {
            Edges::Either { .. } if needs_rows && !must_seek => {
                // Still the estimate of a scan: what rows need is added below.
                Some(LessMemory { needed: estimate.needed(), hint: Hint::set([SCAN]) })
            }
            _ => prepared.less_memory(graph, threads)?,
        };
        let has_weights = request.weights == Weights::Used && graph.is_weighted();
        let needs_rows = needs_rows || must_seek;
        if needs_rows {
            request.check_rows(graph)?;
        }
        let missing: Vec<Direction> = directions.missing(graph).collect();
        let builds_rows = needs_rows && !missing.is_empty();
        let built = if builds_rows { missing.len() as u64 } else { 0 };
        let streamed = Streamed { edges, needs_rows, must_seek, has_weights, built };
        let layout = streamed.add_to(&mut estimate, graph, threads)?;
        if estimate.on_disk.is_none() {
            check_vertices(request, graph, needs_rows)?;
        }
        let build_bytes = match builds_rows {
            // Rows are built after the files are read, so both are in memory.
            true => Some(RUN_OVERHEAD + prepared.files_size() + memory_min(graph, &missing)?),
            false => None,
        };
        let why_in_memory = estimate.on_disk.is_none().then_some(request.why_in_memory);
        let are_there = missing.len() < directions.layouts(graph).len();
        let building = Work::of(BUILDING_ROWS, graph, built as f64);
        Ok(Needs {
            estimate,
            layout,
            build_bytes,
            why_in_memory,
            less_memory,
            lists_bytes: prepared.lists_size(graph),
            found_edges_max: prepared.found_edges_max(graph),
            writing: None,
            work,
            work_on_disk: None,
            building,
            edge_bytes: edge_bytes(graph),
            has_rows: builds_rows || are_there,
        })
    }

    /// Returns the same needs for an answer that is a graph and is also written as one. Writing
    /// takes at least `bytes_min`.
    #[must_use]
    pub fn with_writing(self, graph: &Graph, bytes_min: u64) -> Needs {
        let edges_max = self.found_edges_max.unwrap_or(0);
        let share = edges_max as f64 / graph.edge_count().max(1) as f64;
        let work = Work::of(WRITING_GRAPH, graph, share);
        Needs { writing: Some(Writing { bytes_min, edges_max, work }), ..self }
    }

    /// Returns the smallest budget for the run and for what comes before and after it.
    pub fn needed(&self) -> u64 {
        let beside = [self.build_bytes, self.writing.map(|writing| writing.bytes_min)];
        beside.into_iter().flatten().fold(self.estimate.needed(), u64::max)
    }

    /// Refuses a budget that is too small for `what`.
    ///
    /// # Errors
    /// [`Error::OverBudget`](tegula_machine::Error::OverBudget), or
    /// [`OverBudget`](crate::Error::OverBudget) of this crate if the budget is large enough for
    /// another run.
    pub fn check(&self, what: &str, budget: u64) -> Result<()> {
        let needed = self.needed();
        if needed > budget {
            let is_for_writing = self.writing.is_some_and(|writing| writing.bytes_min == needed);
            let what = if is_for_writing { "writing the graph" } else { what };
            let error = Error::over_budget(what, needed, budget);
            return Err(match &self.less_memory {
                // Another run would not make the graph that is written smaller.
                Some(LessMemory { needed, hint }) if !is_for_writing && *needed <= budget => {
                    crate::Error::OverBudget { error: error.into(), instead: hint.clone() }
                }
                Some(_) | None => error.into(),
            });
        }
        Ok(())
    }

    /// Returns the least bytes for writing the answer as a graph, if it is written.
    pub fn writing_bytes(&self) -> Option<u64> {
        self.writing.map(|writing| writing.bytes_min)
    }

    /// Returns whether a budget also holds all that is streamed.
    pub fn holds_layout(&self, budget: u64) -> bool {
        let layout = self.work.streamed_bytes(self.estimate.layout_bytes);
        let all = self.estimate.needed_in_memory() + layout;
        all.max(self.needed()) <= budget
    }

    /// Returns about how many bytes the process of a run takes at its peak within a budget.
    /// `resident` bytes are taken already, by its code and the tables of the graph.
    pub fn peak_bytes(&self, budget: u64, resident: u64) -> u64 {
        let estimate = &self.estimate;
        let arrays = match estimate.plan_on_disk(budget) {
            Some((_, plan)) => plan.bytes,
            None => estimate.vertex_bytes,
        };
        let work = self.work_within(budget);
        let layout = work.streamed_bytes(estimate.layout_bytes);
        let held = work.bytes_held(arrays, layout, self.has_rows);
        let run = resident + held as u64 + self.lists_bytes;
        let written = self.writing.map_or(0, |writing| {
            writing.bytes_min.max(resident + WRITING_BYTES * writing.edges_max)
        });
        let built = match work.built_edges > 0.0 {
            true => resident + WRITING_BYTES * work.built_edges as u64,
            false => 0,
        };
        run.max(written).max(built).max(self.build_bytes.unwrap_or(0)).min(budget)
    }

    /// Returns about how many bytes of arrays, tiles and rows a run reads and writes within a
    /// budget.
    pub fn bytes_moved(&self, budget: u64) -> f64 {
        let estimate = &self.estimate;
        let free = budget.saturating_sub(estimate.needed_in_memory());
        match estimate.plan_on_disk(budget) {
            Some((arrays, plan)) => {
                let work = self.work_within(budget);
                let arrays = work.rounds * arrays.traffic(&plan) as f64;
                arrays + work.bytes_moved(estimate.layout_bytes, 0)
            }
            None => self.work.bytes_moved(estimate.layout_bytes, free),
        }
    }

    /// Returns about how many seconds a run takes within a budget, including rows that are built
    /// first. Work and transfers go on at the same time, so the longer of both counts. `None` if
    /// nothing is known about the algorithm.
    pub fn seconds(&self, budget: u64, threads: usize, speed: &Speed) -> Option<f64> {
        let seconds = |work: &Work| work.seconds(self.edge_bytes, threads);
        let working = seconds(self.work_within(budget))?;
        let moving = self.bytes_moved(budget) / speed.sequential_bytes_per_second;
        let writing = self.writing.map_or(Some(0.0), |writing| seconds(&writing.work))?;
        Some(working.max(moving) + seconds(&self.building)? + writing)
    }

    /// Returns the work with arrays in memory.
    pub fn work(&self) -> &Work {
        &self.work
    }

    /// Returns the work within a budget, from which the time is estimated.
    pub fn work_within(&self, budget: u64) -> &Work {
        match &self.work_on_disk {
            Some(work) if self.estimate.plan_on_disk(budget).is_some() => work,
            Some(_) | None => &self.work,
        }
    }

    /// Returns the bytes of arrays and tiles that an iteration reads and writes within a budget if
    /// all vertices are active. The first iteration reads the whole layout.
    pub fn iteration_bytes(&self, budget: u64) -> u64 {
        let estimate = &self.estimate;
        let free = budget.saturating_sub(estimate.needed_in_memory());
        let layout = self.work_within(budget).streamed_bytes(estimate.layout_bytes);
        match estimate.plan_on_disk(budget) {
            Some((arrays, plan)) => arrays.traffic(&plan) + layout,
            None => layout.saturating_sub(free),
        }
    }
}
