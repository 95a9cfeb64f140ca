//! Work on many threads: how it is divided, reported and cancelled.

mod in_order;
mod join;
mod locks;
mod progress;
mod start;
mod stash;
mod workers;

pub use in_order::{make_in_order, map_in_order};
pub use join::join;
pub use locks::{get_mut, lock, unlocked};
pub use progress::{Cancel, Progress, ProgressUnit, Silent};
pub use start::{
    Shortage, WORKERS_MAX, WorkerShortage, note_workers, refuse, refuse_each, shortage, start,
    start_in, start_workers, workers_within_limit,
};
pub use stash::Stash;
pub use workers::{Workers, guarded, guarded_foreign, is_in_foreign_code, panic_message};
