//! `tegula run`: runs an algorithm, or a batch of jobs.

mod batch;
mod checkpoint_folder;
mod command;
mod estimate;
mod help;
mod input;
mod missing_rows;
mod new_graph;
mod one;
mod options;

use crate::errors::Result;
use crate::session::Session;

pub use batch::{command as batch_command, is_asked_for as is_batch_asked_for};
pub use command::Run;

/// Runs what the user chose.
pub fn run(run: &Run, session: &Session) -> Result<()> {
    match run {
        Run::One { request, args } => one::run(request, args, session),
        Run::Batch(args) => batch::run(args, session),
    }
}
