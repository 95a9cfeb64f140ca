//! What a tegula graph is on disk: ids, vertex order, tiles, manifest, import, and the one door
//! through which everything is read.

mod budget;
mod directory;
pub mod durable;
mod error;
mod hidden_name;
mod ids;
mod mix;
mod progress;
mod temporary;
mod workers;

pub mod graph;
pub mod huge;
pub mod import;
pub mod read;
pub mod rows;
pub mod tiles;

pub use budget::{MemoryLimit, READING_THREADS_MAX, default_memory, memory_limit, parse_size};
pub use directory::Directory;
pub use error::{At, Bytes, Error, Place, Result};
pub use ids::{OriginalId, VERTEX_COUNT_MAX, VertexId};
pub use progress::{Cancel, Progress, Silent, Unit};
pub use temporary::Temporary;
pub use workers::{for_each_index, lock, panic_message};
