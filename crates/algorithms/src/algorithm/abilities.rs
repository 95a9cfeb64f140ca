//! What only a few algorithms can do: a trait for each ability.
//!
//! An algorithm that has one implements the trait, and names it in its
//! [`ABILITIES`](Algorithm::ABILITIES).

use std::path::Path;

use tegula_engine::{Graph, RunOptions};

use super::interface::{Algorithm, LessMemory, ModelFile};
use crate::error::Result;
use crate::side_table::TableSource;

/// The rows of its answer are the edges of a graph. The answer has a table of
/// [vertices](crate::answer::Answer::vertices) too, and may be written as a graph.
pub trait FindsGraph: Algorithm {
    /// Returns the most edges that its answer can have.
    fn found_edges_max(&self, graph: &Graph, files: &Self::Files) -> u64;
}

/// A file with a model may take the place of the graph.
pub trait TakesModel: Algorithm {
    /// Returns the file, where an option names one.
    fn model(&self) -> Option<&TableSource>;

    /// Imports the graph of the model in the file `model` into the directory `graph`, with the
    /// vertices in the order of the file.
    fn import_model(model: &Path, graph: &Path, options: &RunOptions<'_>) -> Result<()>;
}

/// It makes lists that save time, but only where there is room.
pub trait MakesLists: Algorithm {
    /// Returns the bytes of all lists. They come on top of its estimate and of what it streams.
    fn lists_size(&self, graph: &Graph) -> u64;
}

/// With some options, another run has the same result and may need less memory.
pub trait HasSmallerRun: Algorithm {
    /// Returns that run, where there is one.
    fn less_memory(
        &self,
        graph: &Graph,
        files: &Self::Files,
        threads: usize,
    ) -> Result<Option<LessMemory>>;
}

/// The functions of the traits of this file that an algorithm implements.
pub struct Abilities<A: Algorithm> {
    pub(super) found_edges_max: Option<fn(&A, &Graph, &A::Files) -> u64>,
    pub(super) model: Option<fn(&A) -> Option<ModelFile>>,
    pub(super) lists_size: Option<fn(&A, &Graph) -> u64>,
    pub(super) less_memory: Option<LessMemoryOf<A>>,
}

type LessMemoryOf<A> =
    fn(&A, &Graph, &<A as Algorithm>::Files, usize) -> Result<Option<LessMemory>>;

impl<A: Algorithm> Abilities<A> {
    /// It implements none of them.
    pub const NONE: Abilities<A> =
        Abilities { found_edges_max: None, model: None, lists_size: None, less_memory: None };

    /// Adds [`FindsGraph`].
    #[must_use]
    pub const fn finds_graph(self) -> Abilities<A>
    where
        A: FindsGraph,
    {
        Abilities { found_edges_max: Some(A::found_edges_max), ..self }
    }

    /// Adds [`TakesModel`].
    #[must_use]
    pub const fn takes_model(self) -> Abilities<A>
    where
        A: TakesModel,
    {
        let model = |algorithm: &A| {
            // A request keeps the algorithm and this file side by side, so the file cannot borrow.
            let source = algorithm.model()?.clone();
            Some(ModelFile { source, import: A::import_model })
        };
        Abilities { model: Some(model), ..self }
    }

    /// Adds [`MakesLists`].
    #[must_use]
    pub const fn makes_lists(self) -> Abilities<A>
    where
        A: MakesLists,
    {
        Abilities { lists_size: Some(A::lists_size), ..self }
    }

    /// Adds [`HasSmallerRun`].
    #[must_use]
    pub const fn has_smaller_run(self) -> Abilities<A>
    where
        A: HasSmallerRun,
    {
        Abilities { less_memory: Some(A::less_memory), ..self }
    }
}
