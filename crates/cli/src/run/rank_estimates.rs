//! What each rank of a run needs, said before it starts.

use serde::Serialize;
use tegula_algorithms::algorithm::Request;
use tegula_algorithms::answer::List;
use tegula_algorithms::side_table::LocalPaths;
use tegula_engine::messages_to_receive;
use tegula_store::Error;

use super::input::Input;
use super::one::{as_shard, check, kept_bytes, needs_of, run_options};
use super::options::RunArgs;
use crate::errors::Result;
use crate::json::ArraysOnDisk;
use crate::report;
use crate::session::Session;

/// `tegula run --ranks --estimate`.
#[derive(Debug, Serialize)]
struct RankEstimates {
    schema: &'static str,
    algorithm: &'static str,
    vertices: u64,
    edges: u64,
    /// By rank.
    ranks: Vec<RankEstimate>,
    /// The budget of each rank.
    memory_bytes: u64,
    fits: bool,
}

/// What a rank needs.
#[derive(Debug, Serialize)]
struct RankEstimate {
    /// Vertices whose states it keeps.
    vertices: u64,
    /// Edges into these.
    edges: u64,
    /// The least memory.
    needed_bytes: u64,
    /// The least memory with all arrays in it.
    needed_in_memory_bytes: u64,
    /// Bytes of its tiles.
    layout_bytes: u64,
    /// Null where arrays are in memory.
    arrays_on_disk: Option<ArraysOnDisk>,
    /// Bytes that each iteration but the first reads and writes if all vertices are active.
    iteration_bytes: u64,
    /// Bytes of messages that it then receives in each iteration.
    received_bytes: u64,
}

/// Prints what each of `count` ranks needs.
///
/// # Errors
/// [`OverBudget`](tegula_machine::Error::OverBudget) where it does not fit on one of them.
pub fn show(request: &Request, args: &RunArgs, count: usize, session: &Session) -> Result<()> {
    // All ranks have the same budget.
    let budget = args.of_rank(0, count)?.machine.reading.budget.bytes();
    check(request, request.edges_on_ranks, args.executor())?;
    let kept_bytes = kept_bytes(request, args)?;
    let (mut vertices, mut edges) = (0, 0);
    let mut ranks = Vec::new();
    for rank in 0..count {
        let args = args.of_rank(rank, count)?;
        let graph = as_shard(Input::of(request, &args, session)?.open(&args)?, request)?;
        (vertices, edges) = (graph.vertex_count(), graph.edge_count());
        let options = run_options(&args, &graph, session);
        request.check_input(&graph)?;
        let prepared = request.prepare(&graph, &options, &LocalPaths)?;
        let needs = needs_of((request, &prepared), &graph, &args, kept_bytes)?;
        let own = graph.own_vertices();
        let tiles = graph.tiles().iter();
        ranks.push(RankEstimate {
            vertices: own.end - own.start,
            edges: tiles.map(|tile| u64::from(tile.summary.edge_count)).sum(),
            needed_bytes: needs.needed(),
            needed_in_memory_bytes: needs.estimate.needed_in_memory(),
            layout_bytes: needs.estimate.layout_bytes,
            arrays_on_disk: ArraysOnDisk::of(&needs.estimate, budget),
            iteration_bytes: needs.iteration_bytes(budget),
            received_bytes: needs.estimate.message_bytes
                * messages_to_receive(&graph, &session.cancel)?,
        });
    }
    let needed = ranks.iter().map(|rank| rank.needed_bytes).max().unwrap_or(0);
    let fits = needed <= budget;
    if session.json {
        session.print_json(&RankEstimates {
            schema: "tegula.rank-estimates.v1",
            algorithm: request.name,
            vertices,
            edges,
            ranks,
            memory_bytes: budget,
            fits,
        })?;
    } else {
        session.print(&words(request.name, &ranks, budget))?;
    }
    match fits {
        true => Ok(()),
        false => Err(Error::over_budget("a rank of the run", needed, budget).into()),
    }
}

/// Formats the needs as a table.
fn words(algorithm: &str, ranks: &[RankEstimate], budget: u64) -> String {
    let mut list = List::new([
        "rank",
        "vertices",
        "edges",
        "memory, least",
        "with arrays",
        "tiles",
        "arrays on disk",
        "disk",
        "received",
    ]);
    for (rank, needs) in ranks.iter().enumerate() {
        let on_disk = needs.arrays_on_disk.as_ref();
        list.add([
            &rank,
            &report::count(needs.vertices),
            &report::count(needs.edges),
            &report::bytes(needs.needed_bytes),
            &report::bytes(needs.needed_in_memory_bytes),
            &report::bytes(needs.layout_bytes),
            &on_disk.map_or("none".to_owned(), |arrays| report::bytes(arrays.file_bytes)),
            &report::bytes(needs.iteration_bytes),
            &report::bytes(needs.received_bytes),
        ]);
    }
    format!(
        "{algorithm} on {} ranks, each within {}, needs\n{}\n\
         disk, received: bytes of an iteration in which all vertices are active",
        ranks.len(),
        report::bytes(budget),
        report::aligned(&list)
    )
}
