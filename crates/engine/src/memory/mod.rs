//! Estimates the memory of a run before it starts.
//!
//! | | |
//! | --- | --- |
//! | `estimate` | what a run needs: arrays, what it streams, the overhead |
//! | `overhead` | code, tables and stacks |
//! | `rows` | what a run along rows needs |
//! | `held` | what it holds beside them, and shares with other jobs |
//!
//! Each executor sizes its own arrays: `Superstep::size` in memory, `external::plan` on disk. The
//! ledger of the [scheduler](crate::scheduler) grants the memory.

mod estimate;
mod held;
mod overhead;
mod rows;

pub use estimate::Estimate;
pub use held::Held;
pub use overhead::{
    BLOCK_FRAMES, RESULT_OVERHEAD, RUN_OVERHEAD, lease_with_overhead, overhead, room_for_result,
};
pub use rows::{estimate_rows, long_rows_of, long_rows_size, row_pieces_size};
