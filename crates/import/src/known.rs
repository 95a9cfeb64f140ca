//! What is known of a graph before its vertices are ordered: edges between small integers, their
//! degrees, and the files with the original ids. This joins the stages `count` and `relabel`.

use std::path::Path;

use tegula_store::graph::{IdType, VertexOrder};
use tegula_store::{Result, VERTEX_COUNT_MAX};

use crate::count::census::{DegreeSummary, DegreeTable};
use crate::count::declared::Declared;
use crate::count::distinct::check_vertex_count;
use crate::count::intake::Intake;
use crate::edge::Weight;
use crate::import_run::ImportRun;
use crate::input::{IdKind, Input};
use crate::order::Numbered;
use crate::order::batch_plan::write_order;
use crate::order::dfs;
use crate::piles::Filled;
use crate::relabel::{self, NullVertex, Relabeled, count_degrees};
use crate::source::{EdgeSource, changed};
use crate::vertex_files::{VertexFile, write_ids};

/// Ids are sorted and replaced by id positions where their range is larger than `SPARSITY_MAX`
/// times the number of arcs. A table over such a range takes more time and memory than sorting.
/// This also holds where the range was counted while the input was read.
const SPARSITY_MAX: u64 = 2;

/// A graph whose vertices are small integers: its own ids, or id positions.
pub(crate) struct Known<'a, W> {
    pub edges: EdgeSource<'a, W>,
    pub degrees: DegreeTable,
    /// The number of declared vertices, if any are declared.
    pub declared: Option<u64>,
    /// The id of each row of the degrees, where id positions replace ids although all below a
    /// number are declared.
    pub ids_by_row: Option<Filled<u64>>,
    /// The vertices whose names often mark a missing value.
    pub nulls: Vec<NullVertex>,
    /// The type of the ids and the files that hold them, where id positions replace the ids or a
    /// range is declared.
    original: Option<(IdType, Vec<VertexFile>)>,
}

impl<'a, W: Weight> Known<'a, W> {
    /// Replaces ids by id positions unless they are small integers.
    pub fn of(
        run: &ImportRun<'_>,
        input: &Input,
        mut intake: Intake<'a, W>,
        order: Option<VertexOrder>,
        vertices: &Declared<'_>,
        directory: &Path,
    ) -> Result<Known<'a, W>> {
        let id_end_max = (SPARSITY_MAX * intake.counts.arcs).min(VERTEX_COUNT_MAX);
        // The tables of the depth-first order have an entry for each id, used or not. Id
        // positions may need fewer.
        let has_room = order != Some(VertexOrder::Dfs) || dfs::is_affordable(run, intake.id_end());
        let is_range = matches!(vertices, Declared::Below(_));
        let may_stay = has_room && vertices.listed().is_none();
        let (id_type, relabeled) = match input.ids() {
            IdKind::String => (IdType::String, relabel::by_name(run, intake, vertices, directory)?),
            _ if intake.id_end() <= id_end_max && may_stay => {
                let degrees = match intake.degrees.take() {
                    Some(degrees) => degrees,
                    None => {
                        let edges = (&intake.edges, intake.counts.arcs);
                        count_degrees(run, edges, intake.id_end())?
                    }
                };
                let original = is_range.then(|| (IdType::Range, Vec::new()));
                let (edges, declared) = (intake.edges, vertices.count());
                let nulls = Vec::new();
                return Ok(Known { edges, degrees, declared, ids_by_row: None, nulls, original });
            }
            _ => {
                // Replaced ids have other degrees, and sorting needs the memory.
                intake.degrees = None;
                let id_type = if is_range { IdType::Range } else { IdType::Integer };
                (id_type, relabel::by_id(run, intake, vertices, input.wanted_ids(), directory)?)
            }
        };
        let Relabeled { edges, degrees, count, files, ids, nulls } = relabeled;
        let declared = vertices.count().or(vertices.listed().map(|_| count));
        let original = Some((id_type, files));
        Ok(Known { edges, degrees, declared, ids_by_row: ids, nulls, original })
    }
}

impl<W> Known<'_, W> {
    /// Returns the totals of the degrees. Fails if the input has changed since it was read.
    pub fn summary(&self, arcs: u64) -> Result<DegreeSummary> {
        let summary = self.degrees.summary()?;
        check_vertex_count(summary.vertices)?;
        if summary.edges == arcs { Ok(summary) } else { Err(changed()) }
    }

    /// Writes the files for ids and order. Returns the type of the ids, and the files.
    pub fn write_ids_and_order(
        &self,
        numbered: &Numbered<'_>,
        directory: &Path,
    ) -> Result<(IdType, Vec<VertexFile>)> {
        let (ids, mut files) = self.id_files(&numbered.summary, directory)?;
        files.extend(write_order(numbered, directory)?);
        Ok((ids, files))
    }

    /// Returns the type of the ids and the files that hold them, writing them if need be.
    fn id_files(
        &self,
        summary: &DegreeSummary,
        directory: &Path,
    ) -> Result<(IdType, Vec<VertexFile>)> {
        if let Some((ids, files)) = &self.original {
            return Ok((*ids, files.clone()));
        }
        // Each id has an edge, so ids are their own positions, and no file has to tell.
        if summary.vertices == summary.id_end {
            return Ok((IdType::Range, Vec::new()));
        }
        let mut ids = Vec::new();
        let file = write_ids(directory, &mut |write| {
            self.degrees.for_each(&mut |first, block| {
                ids.clear();
                let rows = block.iter().zip(first..);
                ids.extend(rows.filter(|&(&[out, into], _)| out | into != 0).map(|(_, id)| id));
                write(&ids)
            })
        })?;
        Ok((IdType::Integer, vec![file]))
    }
}
