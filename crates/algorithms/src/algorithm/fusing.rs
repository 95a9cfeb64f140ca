//! Several runs of one algorithm as one.
//!
//! A run in [lanes](tegula_engine::Lanes) visits an edge for all of them at once. This takes longer
//! than a visit for one, but less than a visit for each. An algorithm that can do so has a
//! [`Fusing`]; its answers are the same as of the runs alone.
//!
//! If it also has an [`OpenFusing`], others may join a fused run while it goes on, and each member
//! leaves when it is over.

use std::any::Any;
use std::sync::mpsc::Sender;

use tegula_engine::{
    Cancel, Estimate, Graph, LaneOutcome, Lanes, OpenLanes, Outcome, Program, RunOptions, States,
    overhead,
};

use super::interface::{Algorithm, Found};
use super::work::Work;
use crate::error::Result;

/// How several runs of an algorithm become one.
///
/// The functions panic if a member is of another algorithm than the one that has this `FUSING`.
#[derive(Debug, Clone, Copy)]
pub struct Fusing {
    /// The numbers of lanes that a run may have, the least first.
    pub widths: &'static [Width],
    /// Returns whether two runs with these options can be fused on a graph.
    pub can_fuse: fn(&dyn Any, &dyn Any, &Graph) -> bool,
    /// Returns how many passes over all edges follow the run in lanes, in visits of a run alone.
    pub further_passes: fn(&[AnyMember<'_>]) -> f64,
    /// Estimates the memory of a fused run, including the files of its members.
    pub estimate: fn(&[AnyMember<'_>], &Graph, usize) -> Result<Estimate>,
    /// Runs all members as one; returns what each finds, or what is wrong with it alone. All must
    /// be able to [fuse](super::Request::can_fuse_with) with the first one.
    ///
    /// # Errors
    /// What ends the run of all, such as a failed read; cancellation.
    ///
    /// # Panics
    /// When there is none, or more than [`fused_max`](super::Request::fused_max).
    pub run: fn(&[AnyMember<'_>], &Graph, &RunOptions<'_>) -> Result<Vec<Result<Found>>>,
    /// How others join a fused run; `None` if all its members begin and end together.
    pub open: Option<OpenFusing>,
}

/// How others join a fused run while it goes on, and how members leave it.
#[derive(Debug, Clone, Copy)]
pub struct OpenFusing {
    /// Makes the entrance to a run.
    pub entrance: fn() -> Entrance,
    /// Returns the bytes of the results of some members that leave before the others.
    pub early_results_size: fn(usize, &Graph) -> u64,
    /// Estimates the memory of one that joins, including its files. The run has that of its lane.
    pub estimate_joining: fn(AnyMember<'_>, &Graph) -> Estimate,
    /// Runs all members as [`Fusing::run`] does, and sends the outcome of each with its number. If
    /// it fails, some may have been sent already.
    pub run: fn(
        &[AnyMember<'_>],
        &Graph,
        &RunOptions<'_>,
        &Entrance,
        Sender<(usize, MemberOutcome)>,
    ) -> Result<()>,
    /// Lets a member join a run with which it can [fuse](super::Request::can_fuse_with), and waits
    /// for the result; `None` if the run has no room or ends before, so that the member must run by
    /// itself.
    ///
    /// # Errors
    /// Failed reads, and what is wrong with its options; cancellation.
    pub join: fn(AnyMember<'_>, &Graph, &RunOptions<'_>, &Entrance) -> Result<Option<Found>>,
}

/// The entrance to a fused run, for those who join it.
pub struct Entrance(Box<dyn AnyLanes>);

/// [`OpenLanes`] of an unknown program.
trait AnyLanes: Any + Send + Sync {
    fn has_room(&self) -> bool;
    fn iterations(&self) -> u64;
}

impl<P: Program + 'static> AnyLanes for OpenLanes<P> {
    fn has_room(&self) -> bool {
        OpenLanes::has_room(self)
    }

    fn iterations(&self) -> u64 {
        OpenLanes::iterations(self)
    }
}

impl Entrance {
    /// Makes the entrance to a run of lanes.
    pub(crate) fn to_lanes<P: Program + 'static>() -> Entrance {
        Entrance(Box::new(OpenLanes::<P>::default()))
    }

    /// Returns whether another could join now.
    pub fn has_room(&self) -> bool {
        self.0.has_room()
    }

    /// Returns the number of iterations that the run has begun.
    pub fn iterations(&self) -> u64 {
        self.0.iterations()
    }

    pub(crate) fn lanes<P: Program + 'static>(&self) -> &OpenLanes<P> {
        let lanes: &dyn Any = &*self.0;
        lanes.downcast_ref().expect("it was made for this program")
    }
}

/// The outcome of a member of a fused run, before a result is made of it. That takes time, so it is
/// for the thread that needs the result.
pub struct MemberOutcome(Box<dyn FnOnce(&Graph, &Cancel) -> Result<Found> + Send>);

impl MemberOutcome {
    pub(crate) fn new(
        found: impl FnOnce(&Graph, &Cancel) -> Result<Found> + Send + 'static,
    ) -> MemberOutcome {
        MemberOutcome(Box::new(found))
    }

    /// Makes the result.
    pub fn into_found(self, graph: &Graph, cancel: &Cancel) -> Result<Found> {
        (self.0)(graph, cancel)
    }
}

/// A member of a fused run: its options and its files.
pub type Member<'m, A> = (&'m A, &'m <A as Algorithm>::Files);

/// A member of a run of unknown algorithm.
#[derive(Debug, Clone, Copy)]
pub struct AnyMember<'m> {
    /// Its options.
    pub options: &'m dyn Any,
    /// Its files.
    pub files: &'m dyn Any,
}

impl<'m> AnyMember<'m> {
    /// Returns the member of an algorithm.
    ///
    /// # Panics
    /// When it is of another one.
    pub fn of<A: Algorithm + 'static>(self) -> Member<'m, A> {
        let files = self.files.downcast_ref();
        (options_of(self.options), files.expect("they are of this algorithm"))
    }
}

/// Returns all members of a run, which are of one algorithm.
pub(crate) fn members<'m, A: Algorithm + 'static>(all: &[AnyMember<'m>]) -> Vec<Member<'m, A>> {
    all.iter().map(|member| member.of()).collect()
}

/// Returns the options of an algorithm.
///
/// # Panics
/// When they are of another one.
pub fn options_of<A: Algorithm + 'static>(options: &dyn Any) -> &A {
    options.downcast_ref().expect("they are of this algorithm")
}

/// A number of lanes, and what a visit to an edge costs with it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Width {
    /// The most members.
    pub lanes: usize,
    /// The time of a visit to an edge, in visits of a run alone.
    pub edge_cost: f64,
}

impl Width {
    /// Returns the least width with at least `members` lanes.
    pub(super) fn of(widths: &[Width], members: usize) -> Option<Width> {
        widths.iter().find(|width| members <= width.lanes).copied()
    }

    /// Returns the work of a fused run whose members have this work alone.
    pub(super) fn work(self, alone: &[Work]) -> Option<Work> {
        let (&first, others) = alone.split_first()?;
        let longest = others.iter().fold(first, |longest, work| Work {
            // Lanes share each visit to an edge, but every lane has a state of its own at a vertex.
            rounds: longest.rounds.max(work.rounds),
            edges: longest.edges.max(work.edges),
            vertices: longest.vertices + work.vertices,
            ..longest
        });
        Some(Work { edges: longest.edges * self.edge_cost, ..longest })
    }
}

/// Runs of vertex programs: 4 lanes or 16. With more widths the crate would take longer to compile.
/// PageRank on R-MAT 22 has about these costs, see `bench/JOBS.md`.
pub(crate) const LANES: &[Width] =
    &[Width { lanes: FEW, edge_cost: 2.2 }, Width { lanes: MANY, edge_cost: 5.5 }];
const FEW: usize = 4;
const MANY: usize = 16;

/// Estimates the memory of a run of `count` lanes, whose arrays lie in memory.
pub(crate) fn estimate_lanes<P: Program + Clone>(
    graph: &Graph,
    count: usize,
    threads: usize,
) -> Estimate {
    match count {
        0..=FEW => tegula_engine::estimate::<Lanes<P, FEW>>(graph, threads),
        _ => tegula_engine::estimate::<Lanes<P, MANY>>(graph, threads),
    }
}

/// Runs programs in lanes, with the arrays in memory.
pub(crate) fn run_lanes<P: Program + Clone>(
    graph: &Graph,
    programs: Vec<P>,
    options: &RunOptions<'_>,
) -> Result<Vec<Outcome<P, States<P::State>>>> {
    let options = &options.with_result_in_memory();
    Ok(match programs.len() {
        0..=FEW => tegula_engine::run_lanes::<P, FEW>(graph, programs, options)?,
        _ => tegula_engine::run_lanes::<P, MANY>(graph, programs, options)?,
    })
}

/// Runs programs in lanes that others may join, with the arrays in memory. `end` takes the outcome of
/// each with its number.
pub(crate) fn run_open_lanes<P: Program + Clone + 'static>(
    graph: &Graph,
    programs: Vec<P>,
    options: &RunOptions<'_>,
    entrance: &Entrance,
    end: impl Fn(usize, LaneOutcome<P>) + Send + Sync + 'static,
) -> Result<()> {
    let options = &options.with_result_in_memory();
    let open = entrance.lanes();
    match programs.len() {
        0..=FEW => tegula_engine::run_open_lanes::<P, FEW>(graph, programs, options, open, end)?,
        _ => tegula_engine::run_open_lanes::<P, MANY>(graph, programs, options, open, end)?,
    }
    Ok(())
}

/// Returns the bytes of the results of `count` lanes that leave before the others. One at a time
/// is gathered from its copies, which takes its size once more.
pub(crate) fn early_results_size<P: Program>(count: usize, graph: &Graph) -> u64 {
    (count as u64 + 1) * graph.vertex_count() * size_of::<P::State>() as u64
}

/// Estimates the memory of a program that joins a run, and holds `bytes` beside its states.
pub(crate) fn estimate_joining<P: Program>(graph: &Graph, bytes: u64) -> Estimate {
    Estimate {
        vertex_bytes: bytes + early_results_size::<P>(1, graph),
        stream_bytes_min: 0,
        layout_bytes: 0,
        overhead_bytes: overhead(graph),
        message_bytes: 0,
        on_disk: None,
    }
}
