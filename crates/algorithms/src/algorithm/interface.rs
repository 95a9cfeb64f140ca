//! What an algorithm implements.

use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tegula_engine::traverse::Directions;
use tegula_engine::{Estimate, Graph, Program, RunOptions, RunStatistics};

use super::description::Description;
use super::work::Work;
use crate::answer::Answer;
use crate::error::{Hint, Result, Setting};
use crate::side_table::Tables;

/// An algorithm with its options. The struct has the options as its fields, and the documentation of a field is
/// the help text of the option, in every face.
pub trait Algorithm: Options {
    /// Its name.
    const NAME: &'static str;
    /// What it finds and needs, in words.
    const DESCRIPTION: Description;
    /// What it makes of the weights of edges, unless an option says otherwise.
    const WEIGHTS: Weights;
    /// Whether its rows are the edges of a graph: then the answer tells its
    /// [vertices](Answer::vertices) too, and may be written as a graph.
    const FINDS_GRAPH: bool = false;
    /// Its options that name a table of vertices. Where there are any, it has the [`TableOptions`] too.
    ///
    /// [`TableOptions`]: crate::side_table::TableOptions
    const TABLES: &'static [&'static str] = &[];
    /// What it is told by files that its options name; `()` where they name none.
    type Files: SideFiles;

    /// What it makes of the weights of edges with these options.
    fn weights(&self) -> Weights {
        Self::WEIGHTS
    }

    /// Refuses options that make no sense together.
    ///
    /// # Errors
    /// What is wrong with them.
    fn check(&self) -> Result<()> {
        Ok(())
    }

    /// What takes the place of the graph, where an option names it.
    fn model(&self) -> Option<&Path> {
        None
    }

    /// Imports the graph beneath its [`model`](Algorithm::model), with its vertices in their order.
    ///
    /// # Errors
    /// Those of reading the model and of [`tegula_import::import`].
    ///
    /// # Panics
    /// When there is no model.
    fn import_model(&self, _graph: &Path, _options: &RunOptions<'_>) -> Result<()> {
        unreachable!("no option names a model")
    }

    /// Where its edges can come from.
    fn edges(&self) -> Edges;

    /// Reads the files that its options name, once: one may be a pipe.
    ///
    /// # Errors
    /// Those of reading, and of what the files say.
    fn read_files(&self, _tables: &mut Tables<'_>) -> Result<Self::Files> {
        Ok(Self::Files::default())
    }

    /// Refuses what it has no answer for: a graph, or a vertex that an option names. It is asked before
    /// anything that takes long.
    ///
    /// # Errors
    /// What it has no answer for; those of reading.
    fn check_input(&self, _graph: &Graph) -> Result<()> {
        Ok(())
    }

    /// How many iterations it runs, as far as that is known before.
    fn iterations(&self) -> Iterations {
        Iterations::Unknown
    }

    /// What it needs of memory with `threads` threads, its files included.
    ///
    /// # Errors
    /// Those of reading.
    fn estimate(&self, graph: &Graph, files: &Self::Files, threads: usize) -> Result<Estimate>;

    /// Bytes that it takes beside its estimate and what it streams where there are as many: lists that save time.
    fn lists_size(&self, _graph: &Graph) -> u64 {
        0
    }

    /// How much it does, for an estimate of its time.
    ///
    /// # Errors
    /// Those of reading.
    fn work(&self, graph: &Graph, _files: &Self::Files) -> Result<Work> {
        Ok(Work::of_rounds(Self::NAME, graph, self.iterations()))
    }

    /// Why its arrays over the vertices lie in memory, where its estimate knows no other way.
    fn why_in_memory(&self) -> &'static str {
        "rows lead from each vertex to any other"
    }

    /// Another run that finds the same within less memory, where there is one.
    ///
    /// # Errors
    /// Those of reading.
    fn less_memory(
        &self,
        _graph: &Graph,
        _files: &Self::Files,
        _threads: usize,
    ) -> Result<Option<LessMemory>> {
        Ok(None)
    }

    /// How many edges its answer has at the most, where these are a graph.
    fn found_edges_max(&self, graph: &Graph, _files: &Self::Files) -> u64 {
        graph.edge_count()
    }

    /// Whether a run can keep checkpoints and go on from one.
    fn checkpointing(&self) -> Checkpointing {
        Checkpointing::Refused {
            why: "a checkpoint holds a value for each vertex, and this run needs more than that to go on",
        }
    }

    /// Runs it.
    ///
    /// # Errors
    /// Those of [`check_input`](Algorithm::check_input) and of the run.
    fn run(&self, graph: &Graph, files: Self::Files, options: &RunOptions<'_>) -> Result<Found>;
}

/// What a struct of options can do: be read from JSON and, with the feature `clap`, from a command line.
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

/// What a run found, and what it did for that.
pub struct Found {
    /// What it found.
    pub answer: Box<dyn Answer>,
    /// What it did.
    pub statistics: RunStatistics,
}

impl Found {
    /// An answer and what was done for it.
    pub fn new(answer: impl Answer + 'static, statistics: RunStatistics) -> Found {
        Found { answer: Box::new(answer), statistics }
    }
}

/// A run that finds the same within less memory.
#[derive(Debug, Clone)]
pub struct LessMemory {
    /// Bytes of the smallest budget for it.
    pub needed: u64,
    /// What is done for it.
    pub hint: Hint,
}

/// What was read of the files that options name.
pub trait SideFiles: Default + Send {
    /// Bytes that it holds.
    fn size(&self) -> u64;
}

/// No option names a file.
impl SideFiles for () {
    fn size(&self) -> u64 {
        0
    }
}

/// Whether a run can keep checkpoints of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Checkpointing {
    /// It runs one vertex program.
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
    /// Those of a run of this program.
    pub(crate) fn of<P: Program>() -> Checkpointing {
        Checkpointing::Kept { state_bytes: size_of::<P::State>() }
    }
}

/// What is known of the number of iterations before a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Iterations {
    /// Nothing.
    Unknown,
    /// They end when little changes, or after so many.
    AtMost(u64),
    /// There are so many, or fewer only where nothing changes at all any more.
    Exactly(u64),
}

impl Iterations {
    /// Those of a run that ends when the change is within a tolerance, or after so many. Without a
    /// tolerance they end where nothing changes at all.
    pub fn within(tolerance: f64, most: u64) -> Iterations {
        if tolerance == 0.0 { Iterations::Exactly(most) } else { Iterations::AtMost(most) }
    }

    /// Their number, where it is known.
    pub fn known(self) -> Option<u64> {
        match self {
            Iterations::Exactly(count) => Some(count),
            Iterations::Unknown | Iterations::AtMost(_) => None,
        }
    }
}

/// What an algorithm makes of the weights of edges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weights {
    /// It looks at them, and takes 1 for every one where the graph has none.
    Used,
    /// It passes them over, which not everybody expects.
    Ignored {
        /// What it does instead.
        instead: &'static str,
    },
    /// It has no use for them, as everybody expects.
    Irrelevant,
}

/// Where the edges of an algorithm can come from.
#[derive(Debug, Clone, Copy)]
pub enum Edges {
    /// It looks at none.
    None,
    /// From tiles alone.
    Tiles {
        /// Why, as the beginning of a sentence that ends with "not along rows".
        why: &'static str,
        /// What goes along rows, where something does.
        instead: Option<Setting>,
    },
    /// From rows alone, of these directions.
    Rows(Directions),
    /// From both, or where [directions](Directions::can_scan) forbid a scan from rows alone.
    Either {
        /// Which way edges are followed.
        directions: Directions,
        /// Bytes that it needs beside its estimate to follow rows by source too, for a number of threads. An estimate for
        /// rows alone has them.
        rows_size: fn(&Graph, usize) -> u64,
    },
}

impl Edges {
    /// The directions of rows that are followed, where rows are.
    pub fn directions(&self) -> Directions {
        match self {
            Edges::Rows(directions) | Edges::Either { directions, .. } => *directions,
            Edges::None | Edges::Tiles { .. } => Directions::Forward,
        }
    }

    /// Whether they can come from tiles.
    pub fn can_scan(&self, graph: &Graph) -> bool {
        match self {
            Edges::None | Edges::Rows(_) => false,
            Edges::Tiles { .. } => true,
            Edges::Either { directions, .. } => directions.can_scan(graph),
        }
    }
}
