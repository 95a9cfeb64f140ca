//! Work on many threads: how it is divided, watched and cancelled.

mod progress;
mod workers;

pub use progress::{Cancel, Progress, Silent, Unit};
pub use workers::{Stash, for_each_index, lock, make_in_order, map_in_order, panic_message};
