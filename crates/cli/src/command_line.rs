//! The commands that a user may type.

use std::ffi::OsString;

use clap::{Arg, CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::args::{Common, GraphArgs};
use crate::completions::CompletionsArgs;
use crate::export::ExportArgs;
use crate::generate::GenerateArgs;
use crate::import::ImportArgs;
use crate::partition::{GatherArgs, PartitionArgs};
use crate::probe::ProbeArgs;
use crate::run::{Run, batch_command, is_batch_asked_for};

/// Graph algorithms over graphs larger than memory.
///
/// `tegula import` turns an edge list into a compact graph directory once; `tegula run` then runs
/// algorithms over it within any memory budget.
#[derive(Debug, Parser)]
#[command(name = "tegula", version, arg_required_else_help = true, propagate_version = true)]
#[command(disable_help_flag = true, disable_version_flag = true)]
pub struct Cli {
    /// Options of every command.
    #[command(flatten)]
    pub common: Common,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

impl Cli {
    /// Parses the words of a command line, which begin with the name of the program.
    ///
    /// # Errors
    /// [`clap::Error`] for words that do not parse, and for help that is asked for.
    pub fn of_words(words: impl IntoIterator<Item = OsString>) -> Result<Cli, clap::Error> {
        let words: Vec<OsString> = words.into_iter().collect();
        // A batch names no algorithm and has other options, so `run` is another command then.
        let command = match is_batch_asked_for(&words) {
            true => Cli::command().mut_subcommand("run", |_| batch_command()),
            false => Cli::command(),
        };
        let mut command = taking_negative_numbers(command);
        let mut matches = command.try_get_matches_from_mut(words)?;
        Cli::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut command))
    }
}

/// Lets options take `-1` as their value, so that an option can say why it refuses it. Otherwise
/// `-1` would be read as an option of its own.
fn taking_negative_numbers(command: clap::Command) -> clap::Command {
    let take = |arg: Arg| match arg.get_action().takes_values() && !arg.is_positional() {
        true => arg.allow_negative_numbers(true),
        false => arg,
    };
    command.mut_args(take).mut_subcommands(taking_negative_numbers)
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Turn edge lists into a graph directory.
    Import(ImportArgs),
    /// Show what a graph directory holds.
    Info(GraphArgs),
    /// Read every byte of a graph; check every checksum and every id.
    Verify(GraphArgs),
    /// Write the edges of a graph, in the ids of its input.
    Export(ExportArgs),
    /// Run an algorithm over a graph.
    #[command(subcommand)]
    Run(Box<Run>),
    /// Cut a graph into shards for the ranks of a cluster.
    Partition(PartitionArgs),
    /// Put a partitioned graph together again.
    Gather(GatherArgs),
    /// Write a synthetic graph as an edge list.
    Generate(GenerateArgs),
    /// Measure how fast a device is read, and remember how it is read best.
    Probe(ProbeArgs),
    /// Print a script that has a shell complete commands and options.
    Completions(CompletionsArgs),
}

impl Command {
    /// Whether it runs one algorithm, and so may run on ranks.
    pub fn runs_an_algorithm(&self) -> bool {
        matches!(self, Command::Run(run) if matches!(**run, Run::One { .. }))
    }
}
