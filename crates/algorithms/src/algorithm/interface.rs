//! What an algorithm implements.

use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tegula_engine::traverse::Directions;
use tegula_engine::{Estimate, Graph, Program, RunOptions, RunStatistics};

use super::abilities::Abilities;
use super::description::Description;
use super::field_names::field_names;
use super::fusing::Fusing;
use super::work::{Iterations, Work};
use crate::answer::Answer;
use crate::error::{Hint, Result, Setting};
use crate::side_table::{TableSource, TableSources, Tables};

/// An algorithm with its options. The fields of the struct are the options. The documentation of a
/// field is the help text of the option in every face.
pub trait Algorithm: Options {
    /// Its name.
    const NAME: &'static str;
    /// What it finds and needs, in words.
    const DESCRIPTION: Description;
    /// How it treats the weights of edges, unless an option says otherwise.
    const WEIGHTS: Weights;
    /// The options that name a table of vertices. If there are any, it has the [`TableOptions`]
    /// too.
    ///
    /// [`TableOptions`]: crate::side_table::TableOptions
    const TABLES: &'static [&'static str] = &[];
    /// What it can do that few algorithms can.
    const ABILITIES: Abilities<Self> = Abilities::NONE;
    /// How several runs become one; `None` if they never do.
    const FUSING: Option<Fusing> = None;
    /// What it reads from the files that its options name; `()` if they name none.
    type Files: SideFiles;

    /// Returns the names of its options, in the order of the documentation.
    fn option_names() -> Vec<&'static str> {
        field_names::<Self>().to_vec()
    }

    /// Returns how it treats the weights of edges with these options.
    fn weights(&self) -> Weights {
        Self::WEIGHTS
    }

    /// Refuses options that make no sense together.
    fn check(&self) -> Result<()> {
        Ok(())
    }

    /// Returns where its edges can come from.
    fn edges(&self) -> Edges;

    /// Returns where its edges can come from on ranks.
    fn edges_on_ranks(&self) -> Edges {
        self.edges()
    }

    /// Reads the files that its options name, once: a file may be a pipe.
    fn read_files(&self, _tables: &mut Tables<'_>) -> Result<Self::Files> {
        Ok(Self::Files::default())
    }

    /// Refuses a graph, or a vertex that an option names, for which it has no answer. Faces call
    /// this before anything that takes long.
    fn check_input(&self, _graph: &Graph) -> Result<()> {
        Ok(())
    }

    /// Refuses to follow rows on a graph where it can go through tiles alone.
    /// [`Needs`](super::Needs) calls this where rows are wanted.
    fn check_rows(&self, _graph: &Graph) -> Result<()> {
        Ok(())
    }

    /// Returns how many iterations it runs, as far as that is known before the run.
    fn iterations(&self) -> Iterations {
        Iterations::Unknown
    }

    /// Estimates the memory that it needs with `threads` threads, including its files.
    fn estimate(&self, graph: &Graph, files: &Self::Files, threads: usize) -> Result<Estimate>;

    /// Returns its work, for an estimate of its time.
    fn work(&self, graph: &Graph, _files: &Self::Files) -> Result<Work> {
        Ok(Work::of_rounds(Self::NAME, graph, self.iterations()))
    }

    /// Returns its work where its arrays lie on disk, if that is other work.
    fn work_on_disk(&self, _graph: &Graph) -> Result<Option<Work>> {
        Ok(None)
    }

    /// Says why its arrays over the vertices lie in memory, where its estimate has no other way.
    fn why_in_memory(&self) -> &'static str {
        "rows lead to random vertices"
    }

    /// Returns whether a run can keep checkpoints and resume from one.
    fn checkpointing(&self) -> Checkpointing {
        Checkpointing::Refused {
            why: "a checkpoint holds a value for each vertex, and this run needs more than that to go on",
        }
    }

    /// Runs it.
    ///
    /// # Errors
    /// The errors of [`check_input`](Algorithm::check_input) and of the run.
    fn run(&self, graph: &Graph, files: Self::Files, options: &RunOptions<'_>) -> Result<Found>;
}

/// What a struct of options can do: be read from JSON and, with the feature `clap`, from a command
/// line.
#[cfg(feature = "clap")]
pub trait Options:
    std::fmt::Debug + Send + Sync + Serialize + DeserializeOwned + JsonSchema + clap::Args
{
}
#[cfg(feature = "clap")]
impl<O> Options for O where
    O: std::fmt::Debug + Send + Sync + Serialize + DeserializeOwned + JsonSchema + clap::Args
{
}

/// What a struct of options can do: be read from JSON.
#[cfg(not(feature = "clap"))]
pub trait Options:
    std::fmt::Debug + Send + Sync + Serialize + DeserializeOwned + JsonSchema
{
}
#[cfg(not(feature = "clap"))]
impl<O> Options for O where
    O: std::fmt::Debug + Send + Sync + Serialize + DeserializeOwned + JsonSchema
{
}

/// A file that takes the place of a graph.
#[derive(Debug)]
pub struct ModelFile {
    /// Its name.
    pub source: TableSource,
    /// Imports the graph of the file at the first path into the second.
    pub(crate) import: fn(&Path, &Path, &RunOptions<'_>) -> Result<()>,
}

impl ModelFile {
    /// Imports its graph, with the vertices in the order of the file.
    pub fn import(
        &self,
        graph: &Path,
        options: &RunOptions<'_>,
        sources: &dyn TableSources,
    ) -> Result<()> {
        (self.import)(sources.file("model", &self.source)?, graph, options)
    }
}

/// The result of a run.
pub struct Found {
    /// The answer.
    pub answer: Box<dyn Answer>,
    /// The statistics of the run.
    pub statistics: RunStatistics,
}

impl Found {
    /// Joins an answer and the statistics of its run.
    pub fn new(answer: impl Answer + 'static, statistics: RunStatistics) -> Found {
        Found { answer: Box::new(answer), statistics }
    }
}

/// A run with the same result in less memory.
#[derive(Debug, Clone)]
pub struct LessMemory {
    /// Bytes of the smallest budget for it.
    pub needed: u64,
    /// How to get that run.
    pub hint: Hint,
}

/// Files read for the options.
pub trait SideFiles: Default + Send + 'static {
    /// Returns the bytes that they hold.
    fn size(&self) -> u64;
}

/// No option names a file.
impl SideFiles for () {
    fn size(&self) -> u64 {
        0
    }
}

/// Whether a run can keep checkpoints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Checkpointing {
    /// It can, as it runs one vertex program.
    Kept {
        /// Bytes of the state of a vertex.
        state_bytes: usize,
    },
    /// It cannot.
    Refused {
        /// Why, as the end of a sentence.
        why: &'static str,
    },
}

impl Checkpointing {
    /// Returns that a run of `P` can keep checkpoints.
    pub(crate) fn of<P: Program>() -> Checkpointing {
        Checkpointing::Kept { state_bytes: size_of::<P::State>() }
    }
}

/// How an algorithm treats the weights of edges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weights {
    /// It uses them. In a graph without weights, every edge has the weight 1.
    Used,
    /// It ignores them, which may surprise users.
    Ignored {
        /// What it does instead.
        instead: &'static str,
    },
    /// They mean nothing to it, as everybody expects.
    Irrelevant,
}

/// Where the edges of an algorithm can come from.
#[derive(Debug, Clone, Copy)]
pub enum Edges {
    /// It reads none.
    None,
    /// From tiles only.
    Tiles {
        /// Why, as the beginning of a sentence that ends with "not along rows".
        why: &'static str,
        /// A setting with which edges come from rows, where there is one.
        instead: Option<Setting>,
    },
    /// From rows only, in these directions.
    Rows(Directions),
    /// From both; from rows only where [directions](Directions::can_scan) forbid a scan.
    Either {
        /// The directions in which it follows edges.
        directions: Directions,
        /// Returns the bytes that following rows takes beside the estimate, for a number of
        /// threads. An estimate for rows only includes them.
        rows_size: fn(&Graph, usize) -> u64,
    },
}

impl Edges {
    /// Returns the directions of the rows that it follows, where it follows rows.
    pub fn directions(&self) -> Directions {
        match self {
            Edges::Rows(directions) | Edges::Either { directions, .. } => *directions,
            Edges::None | Edges::Tiles { .. } => Directions::Forward,
        }
    }

    /// Returns whether edges can come from tiles.
    pub fn can_scan(&self, graph: &Graph) -> bool {
        match self {
            Edges::None | Edges::Rows(_) => false,
            Edges::Tiles { .. } => true,
            Edges::Either { directions, .. } => directions.can_scan(graph),
        }
    }
}
