//! Replaces ids that are no small integers by their id positions. Afterwards the import goes on
//! as if the input had been numbered `0..V` from the start.

pub(crate) mod mapping;

use std::path::Path;

use tegula_machine::threads::ProgressUnit;
use tegula_store::tiles::{DenseEdge, VertexNumber};
use tegula_store::{Error, Result};

use self::mapping::{IdPositions, Mapping, NamePositions, replace_ends};
use crate::count::census::{Census, Counters, DegreeTable, Degrees};
use crate::count::declared::Declared;
use crate::count::distinct::{distinct_ids, listed_ids};
use crate::count::intake::Intake;
use crate::count::names::{DistinctNames, NullName, SortedNames};
use crate::edge::{Key, Weight, source_of, target_of};
use crate::import_run::ImportRun;
use crate::input::IdKind;
use crate::piles::{Filled, Piles};
use crate::shares;
use crate::source::{EdgeSource, SpoolKey, SpoolWriter, changed};
use crate::vertex_files::{VertexFile, write_ids};

/// A graph whose vertices are numbered by id position.
pub(crate) struct Relabeled<W> {
    /// The arcs between id positions.
    pub edges: EdgeSource<'static, W>,
    /// The degrees by id position.
    pub degrees: DegreeTable,
    /// Number of id positions.
    pub count: u64,
    /// The complete files that hold the original ids.
    pub files: Vec<VertexFile>,
    /// The id of each id position, where all ids below a number are declared.
    pub ids: Option<Filled<u64>>,
    /// The vertices whose names often mark a missing value, unless vertices are listed.
    pub nulls: Vec<NullVertex>,
}

/// A vertex whose name often marks a missing value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NullVertex {
    pub name: &'static str,
    /// The arcs from and to the vertex, a loop twice; in an undirected graph those from it.
    pub arcs: u64,
}

/// Counts the arcs of vertices whose names often mark a missing value.
fn null_vertices(
    run: &ImportRun<'_>,
    degrees: &DegreeTable,
    nulls: &[NullName],
) -> Result<Vec<NullVertex>> {
    let mut found = Vec::new();
    if nulls.is_empty() {
        return Ok(found);
    }
    degrees.for_each(&mut |first, block| {
        for null in nulls {
            let Some(place) = null.id_position.checked_sub(first) else { continue };
            let Some(&[out, into]) = block.get(place as usize) else { continue };
            let into = if run.rule.undirected { 0 } else { into };
            found.push(NullVertex { name: null.name, arcs: u64::from(out) + u64::from(into) });
        }
        Ok(())
    })?;
    Ok(found)
}

/// Replaces integer ids by id positions, and writes the ids into `directory` unless all below a
/// number are declared.
pub(crate) fn by_id<W: Weight>(
    run: &ImportRun<'_>,
    intake: Intake<'_, W>,
    declared: &Declared<'_>,
    kind: IdKind,
    directory: &Path,
) -> Result<Relabeled<W>> {
    let (ids, listed) = match declared {
        Declared::Listed(listed) => (listed_ids(run, listed, kind)?, Some(*listed)),
        Declared::WithEdges | Declared::Below(_) => {
            (distinct_ids(run, &intake.edges, intake.counts.arcs, intake.samples)?, None)
        }
    };
    let keeps_ids = matches!(declared, Declared::Below(_));
    let mut files = Vec::new();
    if !keeps_ids {
        files.push(write_ids(directory, &mut |write| ids.for_each(0, &mut |part| write(part)))?);
    }
    let (count, memory) = (ids.len(0), run.share(shares::ID_POSITIONS));
    let edges = (&intake.edges, intake.counts.arcs);
    let (edges, degrees) = match run.is_wide(count) {
        false => replace(run, edges, &IdPositions::<u32>::new(&ids, listed, memory)?, count)?,
        true => replace(run, edges, &IdPositions::<u64>::new(&ids, listed, memory)?, count)?,
    };
    let ids = if keeps_ids { Some(set_aside(run, &ids)?) } else { None };
    Ok(Relabeled { edges, degrees, count, files, ids, nulls: Vec::new() })
}

/// Replaces names by id positions, and writes the names into `directory`.
pub(crate) fn by_name<W: Weight>(
    run: &ImportRun<'_>,
    mut intake: Intake<'_, W>,
    declared: &Declared<'_>,
    directory: &Path,
) -> Result<Relabeled<W>> {
    let names = match intake.names.take() {
        Some(names) => names.distinct(run)?,
        None => unreachable!("an input of strings has names"),
    };
    let edges = (&intake.edges, intake.counts.arcs);
    match run.is_wide(names.count) {
        false => by_sorted_name::<u32, W>(run, edges, names, declared, directory),
        true => by_sorted_name::<u64, W>(run, edges, names, declared, directory),
    }
}

fn by_sorted_name<N: VertexNumber + SpoolKey, W: Weight>(
    run: &ImportRun<'_>,
    edges: (&EdgeSource<'_, W>, u64),
    names: DistinctNames,
    declared: &Declared<'_>,
    directory: &Path,
) -> Result<Relabeled<W>> {
    let SortedNames { count, id_positions, files, nulls } = names.sort::<N>(run, directory)?;
    let id_positions = NamePositions::new(
        &id_positions,
        declared.listed(),
        count,
        run.share(shares::ID_POSITIONS),
    );
    let (edges, degrees) = replace(run, edges, &id_positions, count)?;
    // The user listed these names, so they are real vertices.
    let nulls = match declared.listed() {
        Some(_) => Vec::new(),
        None => null_vertices(run, &degrees, &nulls)?,
    };
    Ok(Relabeled { edges, degrees, count, files, ids: None, nulls })
}

/// Copies the ids into little memory, where they are held to the end.
fn set_aside(run: &ImportRun<'_>, ids: &Filled<u64>) -> Result<Filled<u64>> {
    let copy = Piles::new(1, run.space(run.share(shares::DECLARED_IDS)));
    ids.for_each(0, &mut |part| copy.write(|writer| writer.push_all(0, part)))?;
    copy.close()
}

/// Replaces the ids of `arcs` edges by the id positions of `count` ids, and counts the degrees.
fn replace<K: Key, W: Weight, M: Mapping<K, Number: SpoolKey>>(
    run: &ImportRun<'_>,
    (edges, arcs): (&EdgeSource<'_, W>, u64),
    id_positions: &M,
    count: u64,
) -> Result<(EdgeSource<'static, W>, DegreeTable)> {
    run.progress.begin("relabeling edges", Some(arcs), ProgressUnit::Edges);
    let spool = SpoolWriter::new(run, shares::RELABELED_SPOOL);
    let last = count.saturating_sub(1);
    let mut counters =
        Counters::for_shares(run, shares::ID_POSITION_COUNTERS, shares::ID_POSITION_COUNTS_WAITING);
    if count <= counters.id_limit() {
        let census = Census::new(&mut counters, run.rule);
        replace_ends(run, edges, id_positions, &|edges| {
            // No id position is above the last one, so the largest of the chunk is not sought.
            census.add(edges, M::Number::of(last));
            spool.push(edges)
        })?;
        if !census.finish() {
            return Err(changed());
        }
        run.progress.end();
        return Ok((
            EdgeSource::Spool(Box::new(spool.close()?)),
            counters.into_table(count, run.rule),
        ));
    }
    drop(counters);
    let census = RangeCensus::of(run, count)?;
    replace_ends(run, edges, id_positions, &|edges| {
        census.add(edges)?;
        spool.push(edges)
    })?;
    run.progress.end();
    Ok((EdgeSource::Spool(Box::new(spool.close()?)), census.finish(run)?))
}

/// Counts the degrees of ids below `id_end`, which are too many to be counted while the input is
/// read.
pub(crate) fn count_degrees<W: Weight>(
    run: &ImportRun<'_>,
    (edges, arcs): (&EdgeSource<'_, W>, u64),
    id_end: u64,
) -> Result<DegreeTable> {
    let census = RangeCensus::of(run, id_end)?;
    run.progress.begin("counting degrees", Some(arcs), ProgressUnit::Edges);
    match run.is_wide(id_end) {
        false => edges.for_each(run, &|edges: &[DenseEdge<u32, W>]| {
            run.progress.advance(edges.len() as u64);
            census.add(edges)
        })?,
        true => edges.for_each(run, &|edges: &[DenseEdge<u64, W>]| {
            run.progress.advance(edges.len() as u64);
            census.add(edges)
        })?,
    }
    run.progress.end();
    census.finish(run)
}

/// Counts degrees range by range, on disk: 4 bytes for each end that is counted. In an undirected
/// graph, only sources are counted.
struct RangeCensus {
    ends: Piles<u32>,
    range_log2: u32,
    count: u64,
    undirected: bool,
}

impl RangeCensus {
    fn of(run: &ImportRun<'_>, count: u64) -> Result<RangeCensus> {
        let space = run.space(run.share(shares::ENDS));
        // An end in a pile is its place in the range and one bit that tells source from target.
        let mut range_log2 = 12;
        while (count >> range_log2) as usize >= space.piles_max() {
            range_log2 += 1;
        }
        let needed = (size_of::<Degrees>() as u64) << range_log2;
        if needed > run.share(shares::RANGE_DEGREES) || range_log2 > 31 {
            let what = format!("counting the degrees of {count} vertices");
            let needed = shares::RANGE_DEGREES.whole_of(needed);
            return Err(Error::over_budget(what, needed, run.memory));
        }
        let ends = Piles::new((count >> range_log2) as usize + 1, space);
        Ok(RangeCensus { ends, range_log2, count, undirected: run.rule.undirected })
    }

    fn add<N: VertexNumber, W: Weight>(&self, edges: &[DenseEdge<N, W>]) -> Result<()> {
        let range = |id: u64| (id >> self.range_log2) as usize;
        let local = |id: u64| (id & ((1 << self.range_log2) - 1)) as u32;
        self.ends.write(|writer| {
            edges.iter().try_for_each(|edge| {
                let (source, target) = (source_of(edge), target_of(edge));
                writer.push(range(source), local(source) << 1)?;
                if self.undirected {
                    return Ok(());
                }
                writer.push(range(target), local(target) << 1 | 1)
            })
        })
    }

    fn finish(self, run: &ImportRun<'_>) -> Result<DegreeTable> {
        let RangeCensus { ends, range_log2, count, undirected } = self;
        let mut ends = ends.close()?;
        let rows = Piles::new(1, run.space(run.share(shares::DEGREE_ROWS)));
        for range in 0..ends.count() {
            run.cancel.check()?;
            let len = (count - ((range as u64) << range_log2)).min(1 << range_log2) as usize;
            let mut degrees: Vec<Degrees> = vec![[0; 2]; len];
            ends.for_each(range, &mut |part| {
                for &end in part {
                    let degree = &mut degrees[(end >> 1) as usize][(end & 1) as usize];
                    // `summary` refuses the greatest degree, as it does for a census.
                    *degree = degree.saturating_add(1);
                }
                Ok(())
            })?;
            ends.clear(range);
            if undirected {
                degrees.iter_mut().for_each(|[out, into]| *into = *out);
            }
            rows.write(|writer| degrees.iter().try_for_each(|&row| writer.push(0, row)))?;
        }
        Ok(DegreeTable::Rows(rows.close()?))
    }
}
