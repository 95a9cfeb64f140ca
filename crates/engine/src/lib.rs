//! Vertex programs and how they run: the four phases, scans, jobs that share a scan, budgets.

mod accumulators;
mod active;
mod edges;
mod instructions;
mod job;
mod kernel;
mod options;
mod process;
mod program;
mod run;
mod scan;
mod superstep;
mod tile_cache;
mod workers;

pub mod traverse;

pub use edges::{EdgeVisitor, visit_edges};
pub use instructions::Instructions;
pub use options::{PROCESS_OVERHEAD, RunOptions, RunStatistics, open_graph, open_graph_in};
pub use process::{Executor, Process};
pub use program::{
    Accumulator, Activity, Addend, Aggregate, ApplyTo, EdgeWeight, Max, Message, Min, Monotone,
    Next, Number, Or, Program, Reduction, Relaxation, Settling, Sum, Value,
};
pub use run::{Estimate, Outcome, estimate, rows_size, run, run_together};

pub use tegula_machine::disk::Speed;
pub use tegula_machine::memory::huge;
pub use tegula_machine::threads::{Cancel, Unit};
pub use tegula_machine::{Error, Result};
pub use tegula_store::VertexId;
pub use tegula_store::graph::Graph;
pub use tegula_store::rows::{Row, RowReader};
pub use tegula_store::tiles::TileSummary;
