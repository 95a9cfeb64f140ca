//! The graph on disk: ids, tiles, rows and manifest, and how they are read and checked.

mod error;
mod hint;
mod ids;
mod verify;

pub mod commit;
pub mod graph;
pub mod packed;
pub mod partition;
pub mod rows;
pub mod tiles;

pub use error::{At, Error, Place, Result, Unresumable};
pub use hint::{Action, Diagnostic, Hint, Setting, SettingValue};
pub use ids::{OriginalId, SHORT_COUNT_MAX, ShortId, VERTEX_COUNT_MAX, VertexId};
pub use verify::Checked;
