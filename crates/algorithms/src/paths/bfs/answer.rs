//! The levels of a search as a table and as a summary.

use std::sync::Arc;

use arrow_array::{ArrayRef, UInt32Array};
use arrow_schema::{DataType, Field};
use serde::Serialize;
use tegula_engine::{Cancel, Graph, RunOptions, States};

use super::{Parent, Reached};
use crate::answer::{self, Answer, Columns, Facts, GroupSize, List, TableRows, Values};
use crate::error::Result;
use crate::paths::path_table::Parents;

/// The levels found, with parents if they are wanted.
pub(super) struct Levels<P> {
    reached: Values<Reached<P>>,
    parents: Option<Parents>,
}

impl<P: Parent> Levels<P> {
    /// Prepares the answer. `has_parents` says whether the answer names parents, which takes 4
    /// bytes a vertex; the run has freed that memory.
    pub(super) fn new(
        reached: States<Reached<P>>,
        has_parents: bool,
        graph: &Graph,
        options: &RunOptions<'_>,
    ) -> Result<Levels<P>> {
        let parents = has_parents.then(|| Parents::read(graph, options)).transpose()?;
        Ok(Levels { reached: Values::of(reached, graph, &options.cancel)?, parents })
    }
}

/// The summary of the search.
#[derive(Debug, Serialize)]
pub struct Summary {
    /// Vertices that have a path from a source, sources included.
    reached: u64,
    /// The greatest distance.
    depth: u32,
    /// Number of vertices of each of the first levels.
    levels: Vec<u64>,
}

impl<P: Parent> Columns for Levels<P> {
    fn fields(&self, id: DataType) -> Vec<Field> {
        let mut fields = vec![Field::new("distance", DataType::UInt32, true)];
        fields.extend(self.parents.as_ref().map(|_| Parents::field(id)));
        fields
    }

    fn group_size(&self) -> GroupSize {
        self.parents.as_ref().map_or(GroupSize::LEAST, Parents::group_size)
    }

    fn arrays(
        &self,
        graph: &Graph,
        rows: &TableRows<'_>,
        cancel: &Cancel,
    ) -> Result<Vec<ArrayRef>> {
        let reached = self.reached.at(rows)?;
        let distances: UInt32Array = reached.iter().map(Reached::distance).collect();
        let mut arrays: Vec<ArrayRef> = vec![Arc::new(distances)];
        if let Some(parents) = &self.parents {
            arrays.push(parents.array(&self.reached, (rows, &reached), graph, cancel)?);
        }
        Ok(arrays)
    }
}

impl<P: Parent> Answer for Levels<P> {
    fn summary(
        &self,
        _graph: &Graph,
        top: usize,
        cancel: &Cancel,
    ) -> Result<Box<dyn answer::Summary>> {
        let (mut reached, mut depth) = (0, 0);
        self.reached.for_each_chunk(cancel, |chunk| {
            for distance in chunk.iter().filter_map(Reached::distance) {
                reached += 1;
                depth = depth.max(distance);
            }
        })?;
        let mut levels = vec![0; top.min(depth as usize + 1)];
        self.reached.for_each_chunk(cancel, |chunk| {
            for distance in chunk.iter().filter_map(Reached::distance) {
                if let Some(level) = levels.get_mut(distance as usize) {
                    *level += 1;
                }
            }
        })?;
        Ok(Box::new(Summary { reached, depth, levels }))
    }
}

impl answer::Summary for Summary {
    fn facts(&self) -> Facts {
        let mut facts = Facts::default();
        facts.add("reached", answer::counted(self.reached, "vertex", "vertices"));
        facts.add("depth", answer::count(u64::from(self.depth)));
        facts
    }

    fn list(&self) -> List {
        let mut list = List::new(["distance", "vertices"]);
        for (distance, vertices) in self.levels.iter().enumerate() {
            list.add([&distance, &vertices]);
        }
        list
    }
}
