//! What a user may type: the commands.

use clap::{Parser, Subcommand};

use crate::args::{Common, GraphArgs};
use crate::completions::CompletionsArgs;
use crate::export::ExportArgs;
use crate::generate::GenerateArgs;
use crate::import::ImportArgs;
use crate::probe::ProbeArgs;
use crate::run::Run;

/// Graph algorithms over graphs larger than memory.
///
/// `tegula import` turns an edge list into a compact graph directory once; `tegula run` then runs
/// algorithms over it within any memory budget.
#[derive(Debug, Parser)]
#[command(name = "tegula", version, arg_required_else_help = true, propagate_version = true)]
pub struct Cli {
    /// Options of every command.
    #[command(flatten)]
    pub common: Common,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
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
    Run(Run),
    /// Write a synthetic graph as an edge list.
    Generate(GenerateArgs),
    /// Measure how fast a device is read, and remember how it is read best.
    Probe(ProbeArgs),
    /// Print a script that has a shell complete commands and options.
    Completions(CompletionsArgs),
}
