//! Checkpoints: the state of a program between two iterations, kept on disk, so that a later run
//! can resume.
//!
//! ```text
//!  blocks   the states and the bits of the active vertices, as in a run with its arrays on disk
//!  beside   the number of the next iteration, the sums of the one before, the graph and the run
//! ```
//!
//! All else in a program follows from these ([`Program::begin_iteration`]). A vertex whose turn was
//! put off is active. A run in memory copies its states into the blocks, which are written while
//! the next iteration runs. A run with its arrays on disk has them there anyway, and writes what
//! has changed. Either resumes from a checkpoint of the other, with any threads and any budget.
//! On ranks, each rank keeps the states of its own vertices.
//! (Checkpoints between iterations are those of MOSAIC, Maass et al., EuroSys 2017, section 4.4.
//! Versions of blocks are those of DFOGraph, Yu et al., PPoPP 2021, section 4.4.)

use std::fs;
use std::num::NonZeroU64;
use std::path::Path;

use serde::{Deserialize, Serialize};
use tegula_machine::Error as MachineError;
use tegula_machine::disk::{BlockStore, Blocks, Reader, VersionFolder, WriteBehind};
use tegula_store::graph::{Graph, file_names};
use tegula_store::{Error, Result, Unresumable};

use crate::program::{Aggregate, Program};
use crate::ranks::Ranks;

/// Whether a run keeps checkpoints, and whether it resumes from one.
#[derive(Debug, Clone, Copy)]
pub struct Checkpoints<'a> {
    /// The folder for new checkpoints. It is created if it is missing; the last two checkpoints
    /// stay.
    pub folder: Option<&'a Path>,
    /// A checkpoint is kept before each iteration whose number is a multiple of `every`, except
    /// before the first iteration of this run.
    pub every: NonZeroU64,
    /// The folder of the checkpoint to resume from.
    pub resume: Option<&'a Path>,
    /// The algorithm and its options. A checkpoint of another run is refused.
    pub run: &'a str,
}

/// The header of a checkpoint, which is kept beside the blocks.
#[derive(Debug, Serialize, Deserialize)]
struct Header {
    /// The version of the software that wrote it, because another one may round differently.
    version: String,
    /// Checksums of the files on which the bits of a result depend.
    graph: Vec<(String, Option<u32>)>,
    run: String,
    iteration: u64,
    aggregate: Vec<u8>,
}

impl Header {
    fn of(graph: &Graph, run: &str, (iteration, aggregate): (u64, Vec<u8>)) -> Header {
        use file_names::{IDS, ORDER, STRINGS, TILE_TABLE};
        let files = [TILE_TABLE, IDS, STRINGS, ORDER];
        let files = files.into_iter().filter_map(|name| graph.manifest().file(name));
        Header {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            graph: files.map(|file| (file.name.clone(), file.checksum)).collect(),
            run: run.to_owned(),
            iteration,
            aggregate,
        }
    }

    /// Parses a header and checks that it is of the same version, graph and run. An error says what
    /// differs.
    fn of_same(&self, bytes: &[u8]) -> Result<Header, Unresumable> {
        let found: Header = serde_json::from_slice(bytes)
            .map_err(|error| a_checkpoint_of(&format!("another version: {error}")))?;
        if found.version != self.version {
            let versions = format!("version {}, but this is {}", found.version, self.version);
            return Err(a_checkpoint_of(&versions));
        }
        if found.run != self.run {
            return Err(Unresumable::OtherRun { found: found.run, wanted: self.run.clone() });
        }
        match found.graph == self.graph {
            true => Ok(found),
            false => Err(a_checkpoint_of("another graph or algorithm")),
        }
    }
}

fn a_checkpoint_of(what: &str) -> Unresumable {
    Unresumable::Other(format!("a checkpoint of {what}"))
}

fn not_resumable(path: &Path, why: Unresumable) -> Error {
    Error::NotResumable { path: path.to_owned(), why }
}

/// Where a run resumes, apart from the states.
pub struct Resumed<P: Program> {
    /// The number of iterations run so far.
    pub iteration: u64,
    /// The sums of the last iteration.
    pub aggregate: P::Aggregate,
}

/// Decides when checkpoints of a run are due, and makes their headers.
pub struct Keeper<'r> {
    every: NonZeroU64,
    graph: &'r Graph,
    run: &'r str,
    /// The first iteration of this run.
    first: u64,
}

impl<'r> Keeper<'r> {
    /// Makes the keeper of a run that begins with iteration `first`, if the run keeps checkpoints.
    pub fn of(
        checkpoints: Option<Checkpoints<'r>>,
        graph: &'r Graph,
        first: u64,
    ) -> Option<Keeper<'r>> {
        let Checkpoints { folder, every, run, .. } = checkpoints?;
        folder.map(|_| Keeper { every, graph, run, first })
    }

    /// Returns whether a checkpoint is due before an iteration.
    pub fn is_due(&self, iteration: u64) -> bool {
        iteration > self.first && iteration.is_multiple_of(self.every.get())
    }

    /// Returns the header of a checkpoint before an iteration.
    pub fn header<A: Aggregate>(&self, iteration: u64, aggregate: &A) -> Result<Vec<u8>> {
        let header = Header::of(self.graph, self.run, (iteration, aggregate.to_bytes()));
        serde_json::to_vec(&header)
            .map_err(|error| Error::io("describe", self.graph.directory())(error.into()))
    }
}

impl Checkpoints<'_> {
    /// Returns whether new checkpoints go into the folder of the checkpoint from which the run
    /// resumes.
    pub fn resumes_in_place(&self) -> bool {
        // Two different paths may lead to one folder.
        let real = |path: Option<&Path>| path.and_then(|path| fs::canonicalize(path).ok());
        real(self.folder).is_some_and(|folder| real(self.resume) == Some(folder))
    }

    /// Opens the checkpoint from which the run resumes, if it does: on ranks, the newest that all of
    /// them have.
    ///
    /// # Errors
    /// [`Error::NotResumable`] if the folder has no
    /// checkpoint, or one of another run; read errors; the failure of another rank.
    pub fn resume<P: Program>(
        &self,
        graph: &Graph,
        blocks: Blocks,
        disk: (&Reader, &WriteBehind),
        is_held: &dyn Fn(usize) -> bool,
        ranks: Option<&Ranks<'_>>,
    ) -> Result<Option<(BlockStore, Resumed<P>)>> {
        let Some(path) = self.resume else { return Ok(None) };
        let (store, header) = self.open(path, graph, blocks, disk, is_held, ranks)?;
        let aggregate = P::Aggregate::from_bytes(&header.aggregate)
            .ok_or_else(|| not_resumable(path, a_checkpoint_of("another program")))?;
        Ok(Some((store, Resumed { iteration: header.iteration, aggregate })))
    }

    /// Opens the checkpoint to resume from. It is the part of [`resume`](Checkpoints::resume) that
    /// is the same for all programs, so it is compiled once.
    fn open(
        &self,
        path: &Path,
        graph: &Graph,
        blocks: Blocks,
        disk: (&Reader, &WriteBehind),
        is_held: &dyn Fn(usize) -> bool,
        ranks: Option<&Ranks<'_>>,
    ) -> Result<(BlockStore, Header)> {
        let mut newest_max = u64::MAX;
        let (store, beside) = loop {
            let (store, beside) = open_up_to(newest_max, path, blocks, disk, is_held)?;
            let Some(ranks) = ranks else { break (store, beside) };
            let all = ranks.numbers_of_all(store.newest_version().unwrap_or(0))?;
            newest_max = all.iter().copied().min().unwrap_or(0);
            // All ranks see the same numbers, so they end together.
            if all.iter().all(|&number| number == newest_max) {
                break (store, beside);
            }
        };
        let wanted = Header::of(graph, self.run, (0, Vec::new()));
        let header =
            wanted.of_same(&beside.unwrap_or_default()).map_err(|why| not_resumable(path, why))?;
        if let Some(ranks) = ranks {
            // Ranks may have folders of different runs, whose numbers are of other iterations.
            let all = ranks.numbers_of_all(header.iteration)?;
            if all.iter().any(|&iteration| iteration != header.iteration) {
                let detail = format!("checkpoints of different iterations by rank: {all:?}");
                return Err(not_resumable(path, Unresumable::Other(detail)));
            }
            if self.resumes_in_place() {
                // No rank keeps a new checkpoint before all have come this far, so none has the
                // number of an old one.
                store.forget_newer_versions()?;
            }
        }
        Ok((store, header))
    }

    /// Makes new blocks in the folder for checkpoints, if checkpoints are wanted. A folder made for
    /// them is removed again if no checkpoint was kept.
    ///
    /// # Errors
    /// [`Error::NotResumable`] if the folder has checkpoints,
    /// which would be lost, or foreign files; failure to create it.
    pub fn create(
        &self,
        blocks: Blocks,
        (reader, writer): (&Reader, &WriteBehind),
        is_held: &dyn Fn(usize) -> bool,
    ) -> Result<Option<BlockStore>> {
        let Some(path) = self.folder else { return Ok(None) };
        let folder = VersionFolder::make(path)?;
        if folder.has_versions()? {
            return Err(not_resumable(path, Unresumable::Checkpoints));
        }
        // Foreign files would lie among those of the run, or have the name of one.
        if let Some(name) = folder.foreign_name()? {
            let name = name.display();
            let why = Unresumable::Other(format!(
                "{name}, which is no checkpoint; name an empty or a new folder"
            ));
            return Err(not_resumable(path, why));
        }
        let opened = BlockStore::versioned(folder, blocks, reader, writer, is_held);
        let (store, _) = opened.map_err(of_versions)?;
        Ok(Some(store))
    }
}

/// Says what an error of opening versions means for a run.
fn of_versions(error: MachineError) -> Error {
    match error {
        MachineError::InUse { path } => not_resumable(&path, Unresumable::InUse),
        MachineError::OtherBlocks { path, found } => {
            not_resumable(&path, Unresumable::Other(found))
        }
        other => other.into(),
    }
}

/// Opens the newest checkpoint in a folder whose number is at most `newest_max`.
fn open_up_to(
    newest_max: u64,
    path: &Path,
    blocks: Blocks,
    (reader, writer): (&Reader, &WriteBehind),
    is_held: &dyn Fn(usize) -> bool,
) -> Result<(BlockStore, Option<Vec<u8>>)> {
    let refused = |why| not_resumable(path, why);
    let folder = VersionFolder::open(path)?.up_to(newest_max);
    // A folder that is only read must not be created.
    if !folder.has_versions()? {
        return Err(refused(Unresumable::NoCheckpoint));
    }
    let opened = BlockStore::versioned(folder, blocks, reader, writer, is_held);
    let (store, beside) = opened.map_err(|error| match error {
        MachineError::OtherBlocks { .. } => refused(a_checkpoint_of("another graph or algorithm")),
        MachineError::Corrupt { .. } => refused(Unresumable::NoCheckpoint),
        other => of_versions(other),
    })?;
    match store.newest_version() {
        Some(_) => Ok((store, beside)),
        None => Err(refused(Unresumable::NoCheckpoint)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(version: &str, run: &str, checksum: u32) -> Header {
        let graph = vec![("tiles.table".to_owned(), Some(checksum))];
        let (version, run) = (version.to_owned(), run.to_owned());
        Header { version, graph, run, iteration: 3, aggregate: vec![1, 2] }
    }

    #[test]
    fn a_checkpoint_belongs_to_one_version_run_and_graph() {
        let wanted = header("0.1.0", "bfs", 7);
        let bytes = |header: Header| serde_json::to_vec(&header).unwrap();
        let found = wanted.of_same(&bytes(header("0.1.0", "bfs", 7))).unwrap();
        assert_eq!((found.iteration, found.aggregate), (3, vec![1, 2]));
        for (other, words) in [
            (header("0.2.0", "bfs", 7), "of version 0.2.0, but this is 0.1.0"),
            (header("0.1.0", "wcc", 7), "of `wcc`, but this is `bfs`"),
            (header("0.1.0", "bfs", 8), "of another graph"),
        ] {
            let why = wanted.of_same(&bytes(other)).unwrap_err().to_string();
            assert!(why.contains(words), "{why}");
        }
        for bytes in [&b""[..], b"{}", b"{\"version\": 2}", &[0; 9]] {
            assert!(wanted.of_same(bytes).unwrap_err().to_string().contains("another version"));
        }
    }
}
