//! What an algorithm runs on: a graph directory, or a model instead.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tegula_algorithms::algorithm::Request;
use tegula_algorithms::side_table::LocalPaths;
use tegula_engine::{Graph, RunOptions};
use tegula_machine::disk::{Directory, Unfinished};
use tegula_store::graph::{is_directory, shard_name};
use tegula_store::partition::shard_paths;

use super::options::RunArgs;
use crate::errors::{Failure, Result};
use crate::session::Session;

/// A graph directory. One that was made from a model is removed when this is dropped.
pub struct Input {
    graph: PathBuf,
    _folder: Option<Unfinished>,
}

impl Input {
    /// Returns the named graph, or imports the graph of the named model into a temporary folder.
    pub fn of(request: &Request, args: &RunArgs, session: &Session) -> Result<Input> {
        let Some(model) = &request.model else {
            let missing = || Failure::usage_with("no graph given", "name a graph directory");
            let graph = args.graph.clone().ok_or_else(missing)?;
            return Ok(Input { graph, _folder: None });
        };
        // Opening the graph checks this, too, but only after the import.
        args.machine.reading.budget.check()?;
        let place = args.machine.spill_directory.clone().unwrap_or_else(std::env::temp_dir);
        let folder = Unfinished::private_folder(&place.join("tegula-model"), remove)?;
        let graph = folder.path().join("graph");
        let options = RunOptions {
            memory: args.machine.reading.budget.bytes(),
            threads: args.machine.threads.count(),
            cancel: session.cancel.clone(),
            progress: session.progress(),
            ..RunOptions::default()
        };
        model.import(&graph, &options, &LocalPaths)?;
        Ok(Input { graph, _folder: Some(folder) })
    }

    /// Opens the graph.
    ///
    /// # Errors
    /// [`Failure::Usage`] for a partitioned graph, which runs on ranks only.
    pub fn open(&self, args: &RunArgs) -> Result<Graph> {
        let is_partitioned =
            !is_directory(&self.graph) && is_directory(&self.graph.join(shard_name(0)));
        if is_partitioned {
            let ranks = shard_paths(&self.graph)?.len();
            let message = format!("{} is cut into {ranks} shards", self.graph.display());
            return Err(Failure::usage_with(message, format!("add --ranks {ranks}")));
        }
        args.machine.reading.open(&self.graph)
    }
}

/// Returns the path that the user named.
pub fn name_of<'i>(request: &'i Request, graph: &'i Graph) -> &'i Path {
    request.model.as_ref().map_or_else(|| graph.directory(), |model| model.source.name())
}

/// Removes the folder of a model.
fn remove(folder: &Directory, name: &OsStr) -> io::Result<()> {
    fs::remove_dir_all(folder.join(name))
}
