//! Where the command writes results. Graphs have a target here too.

mod file;
mod format;
mod patient;
mod target;
mod terminal;

pub use file::ResultFile;
pub use format::{EDGE_ENDINGS, Format, GraphFormat};
pub use target::{EdgeTarget, Target};
pub use terminal::TextTerminal;
