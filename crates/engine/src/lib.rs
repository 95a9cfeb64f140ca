//! Vertex programs and other jobs, and what runs them: scheduler, processes, memory budget.
//!
//! | | |
//! | --- | --- |
//! | `start` | what a run begins with |
//! | `program` | what an algorithm does with one vertex and one edge |
//! | `states` | the states before and after a run, in memory or in blocks on disk |
//! | `lanes` | several runs of one program as one run |
//! | `superstep` | a program between iterations: arrays by batch, active vertices, messages |
//! | `process` | how an iteration reaches its edges: scan, seek, pull, and the choice |
//! | `ranks` | programs on a partitioned graph: messages, sums and states between ranks |
//! | `external` | programs whose arrays lie on disk |
//! | `checkpoint` | the state of a program between two iterations, kept on disk |
//! | `traverse` | visit orders, for algorithms that follow rows themselves |
//! | `lending` | memory of a scheduler for other work, such as a run on another graph |
//! | `memory` | how much memory a run takes, before it starts |
//! | `job` | the work of a scheduler: programs, passes over all edges, traversals |
//! | `sharing` | the shared scan for other engines |
//! | `scheduler` | any number of jobs on one graph: memory, parts, what comes next |

mod checkpoint;
mod external;
#[cfg(test)]
mod graph_for_tests;
mod instructions;
mod iteration_times;
mod job;
mod lanes;
mod lending;
mod memory;
mod open;
mod options;
mod parts;
mod process;
mod process_kind;
mod program;
mod rank_statistics;
mod ranks;
mod scheduler;
mod spread;
mod start;
mod states;
mod statistics;
mod superstep;
mod tile_source;

pub mod sharing;
pub mod traverse;

pub use checkpoint::Checkpoints;
pub use external::{OrderedStates, StatesByIdPosition, StatesWriter};
pub use instructions::{Instructions, WithInstructions};
pub use iteration_times::IterationTimes;
pub use job::pass::{EdgeVisitor, visit_edges, visit_edges_with};
pub use job::program::{Outcome, run, run_anywhere};
pub use job::program_rows::rows_may_stay;
pub use lanes::{
    LaneAggregate, LaneOutcome, LaneReduction, LaneSums, Lanes, OpenLanes, run_lanes,
    run_open_lanes, take_apart,
};
pub use lending::with_memory;
pub use memory::{
    ArraysOnDisk, ArraysPlan, Estimate, RESULT_OVERHEAD, RUN_OVERHEAD, Redirected, checkpoint_size,
    estimate, estimate_anywhere, estimate_following, estimate_redirected, lease_with_overhead,
    overhead, room_for_result, rows_size, tiles_size_expected,
};
pub use open::{open_graph, open_graph_in};
pub use options::{Arrays, Executor, Messages, RunOptions, Tuning};
pub use parts::usual_part_edges;
pub use process::cost::SCAN_BALANCE;
pub use process_kind::ProcessKind;
pub use program::{
    Accumulator, Activity, Addend, Aggregate, ApplyTo, EdgeWeight, Max, Message, Min, Monotone,
    Next, Number, Or, Program, Reduction, Relaxation, Settling, Sum, Value,
};
pub use rank_statistics::{MovedBytes, RankInterval, RankIntervals, RankStatistics};
pub use ranks::{check_shard, messages_to_receive, of_comm};
pub use scheduler::{PartOrder, Reserve, Resources, Scheduler, StretchSize, WriterMemory};
pub use start::Start;
pub use states::States;
pub use states::folder::spill_folder;
pub use statistics::RunStatistics;

pub use tegula_machine::disk::{Backend, Speed};
pub use tegula_machine::memory::huge;
pub use tegula_machine::threads::{Cancel, ProgressUnit};
pub use tegula_store::graph::Graph;
pub use tegula_store::rows::{Row, RowReader};
pub use tegula_store::tiles::{InstructionSet, Origin, TileSummary, VertexNumber};
pub use tegula_store::{Error, Result, ShortId, VertexId};
