//! Estimates the memory of a run before it starts.
//!
//! | | |
//! | --- | --- |
//! | `estimate` | what a run needs: arrays, what it streams, the overhead |
//! | `overhead` | code, tables and stacks |
//! | `program` | what a vertex program needs, with its arrays in memory |
//! | `arrays_on_disk`, `arrays_plan`, `sent_messages` | what it needs with its arrays on disk |
//! | `look_up` | what it takes there to look up a value for each vertex |
//! | `batch_sizes` | what the batches of a graph need |
//! | `redirected` | what a program needs on a graph that is built first |
//! | `checkpoints` | what it needs for its checkpoints |
//! | `ranks` | what it needs to talk to other ranks |
//! | `rows` | what a run along rows needs |
//! | `held` | what it holds beside them, and shares with other jobs |
//!
//! A structure tells its own bytes, such as `ActiveSet::size`; this folder adds them up. The ledger
//! of the [scheduler](crate::scheduler) grants the memory.

mod arrays_on_disk;
mod arrays_plan;
mod batch_sizes;
mod checkpoints;
mod estimate;
mod held;
mod look_up;
mod overhead;
mod program;
mod ranks;
mod redirected;
mod rows;
mod sent_messages;

pub use arrays_on_disk::ArraysOnDisk;
pub use arrays_plan::ArraysPlan;
pub use checkpoints::{checkpoint_size, copies_size, pool_sizes};
pub use estimate::Estimate;
pub use held::Held;
pub use look_up::{LookUpPlan, Split, WRITE_BEHIND, look_up_plan};
pub use overhead::{
    BLOCK_FRAMES, RESULT_OVERHEAD, RUN_OVERHEAD, lease_with_overhead, overhead, room_for_result,
};
pub use program::{
    arrays_size, estimate, estimate_anywhere, estimate_following, rows_size, seek_size,
};
pub use redirected::{Redirected, estimate_redirected, tiles_size_expected};
pub use rows::{estimate_rows, long_rows_of, long_rows_size, row_pieces_size};
pub use sent_messages::{SOURCE_SIZE, blocks_of};
