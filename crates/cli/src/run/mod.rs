//! `tegula run`: runs an algorithm, or a batch of jobs.

mod answer_file;
mod batch;
mod checkpoint_folder;
mod command;
mod estimate;
mod help;
mod input;
mod made_folder;
mod missing_rows;
mod new_graph;
mod one;
mod options;
mod rank_estimates;
mod ranks;
mod same_run;

use tegula_comm::Comm;

use crate::errors::{Failure, Result};
use crate::session::Session;

pub use batch::{command as batch_command, is_asked_for as is_batch_asked_for};
pub use command::Run;

/// Runs what the user chose.
pub fn run(run: &Run, session: &Session) -> Result<()> {
    match run {
        Run::One { request, args } => match args.ranks.ranks {
            Some(count) => ranks::run(request, args, count.get() as usize, session),
            None => {
                args.check_without_ranks()?;
                one::run(request, args, None, session)
            }
        },
        Run::Batch(args) => batch::run(args, session),
    }
}

/// Runs what the user chose as one of several ranks, which are processes.
pub fn run_on_rank(run: &Run, comm: &dyn Comm, session: &Session) -> Result<()> {
    match run {
        Run::One { request, args } => ranks::run_process(request, args, comm, session),
        Run::Batch(_) => {
            let message = "a batch of jobs does not run on ranks";
            Err(Failure::usage_with(message, "run one algorithm at a time"))
        }
    }
}
