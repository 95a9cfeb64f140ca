//! The distinct ids of a graph whose ids are not small integers, in ascending order.

use tegula_machine::threads::{ProgressUnit, Stash, map_in_order};
use tegula_store::tiles::Edge;
use tegula_store::{Error, Result, VERTEX_COUNT_MAX};

use crate::edge::Weight;
use crate::import_run::ImportRun;
use crate::input::{IdKind, VertexSet};
use crate::piles::space::Space;
use crate::piles::{Filled, Piles};
use crate::shares;
use crate::source::EdgeSource;

/// Finds the distinct ids at the ends of all edges. `samples` are some of these ids. They tell into
/// which ranges to divide the ids, so that each range can be sorted in memory.
pub(crate) fn distinct_ids<W: Weight>(
    run: &ImportRun<'_>,
    edges: &EdgeSource<'_, W>,
    arcs: u64,
    samples: Vec<u64>,
) -> Result<Filled<u64>> {
    let space = run.space(run.share(shares::ID_PILES));
    let splitters = splitters(samples, piles_for(run, &space, 2 * arcs));
    let piles = Piles::new(splitters.len() + 1, space);
    let kept = Stash::default();
    run.progress.begin("gathering ids", Some(arcs), ProgressUnit::Edges);
    edges.for_each(run, &|arcs: &[Edge<u64, u64, W>]| {
        run.progress.advance(arcs.len() as u64);
        kept.with(Vec::new, |ids: &mut Vec<u64>| {
            ids.clear();
            ids.extend(arcs.iter().flat_map(|arc| [arc.source, arc.target]));
            // Repeats within a chunk take no room in the piles, and `scatter` has to look up the
            // pile of a run of ids only once.
            ids.sort_unstable();
            ids.dedup();
            scatter(ids, &splitters, &piles)
        })
    })?;
    run.progress.end();
    collect(run, piles.close()?)
}

/// Finds the distinct ids among listed ones.
pub(crate) fn listed_ids(
    run: &ImportRun<'_>,
    listed: &VertexSet,
    kind: IdKind,
) -> Result<Filled<u64>> {
    let all = Piles::new(1, run.space(run.share(shares::IDS)));
    let (mut samples, mut last, mut ascends) = (Vec::new(), None, true);
    listed.for_each_id(kind, run.cancel, &mut |ids| {
        samples.extend(ids.iter().step_by(IDS_PER_SAMPLE));
        for &id in ids {
            ascends &= last < Some(id);
            last = Some(id);
        }
        all.write(|writer| writer.push_all(0, ids))
    })?;
    let all = all.close()?;
    check_vertex_count(all.len(0))?;
    // A list that ascends repeats nothing, so it is the result as it is.
    if ascends {
        return Ok(all);
    }
    let space = run.space(run.share(shares::ID_PILES));
    let splitters = splitters(samples, piles_for(run, &space, all.len(0)));
    let piles = Piles::new(splitters.len() + 1, space);
    let mut sorted = Vec::new();
    all.for_each(0, &mut |ids| {
        run.cancel.check()?;
        sorted.clear();
        sorted.extend_from_slice(ids);
        sorted.sort_unstable();
        sorted.dedup();
        scatter(&sorted, &splitters, &piles)
    })?;
    drop(all);
    collect(run, piles.close()?)
}

/// Listed ids between two samples.
const IDS_PER_SAMPLE: usize = 512;

/// Returns the number of piles for `ids` ids, so that each can be sorted in memory.
fn piles_for(run: &ImportRun<'_>, space: &Space, ids: u64) -> usize {
    // Samples mislead by at most a third. Two copies may exist, for reading and sorting.
    let bytes = ids * size_of::<u64>() as u64;
    let wanted =
        3 * bytes / (run.share(shares::IDS_SORTED) * 3 / 4 / run.workers.count() as u64).max(1);
    // At least one for each worker, so that all of them sort.
    wanted.clamp(run.workers.count() as u64, space.piles_max() as u64) as usize
}

/// Returns at most `count - 1` distinct ids that divide the samples evenly.
fn splitters(mut samples: Vec<u64>, count: usize) -> Vec<u64> {
    samples.sort_unstable();
    let mut splitters: Vec<u64> =
        (1..count).filter_map(|part| samples.get(part * samples.len() / count)).copied().collect();
    // A frequent id would split several times, and no id lies between equal splitters.
    splitters.dedup();
    splitters
}

/// Writes ascending ids to the piles between the splitters: pile `b` has ids below
/// `splitters[b]`.
fn scatter(mut ids: &[u64], splitters: &[u64], piles: &Piles<u64>) -> Result<()> {
    piles.write(|writer| {
        while let Some(&first) = ids.first() {
            let pile = splitters.partition_point(|&splitter| splitter <= first);
            let end = splitters
                .get(pile)
                .map_or(ids.len(), |&splitter| ids.partition_point(|&id| id < splitter));
            let (here, rest) = ids.split_at(end);
            here.iter().try_for_each(|&id| writer.push(pile, id))?;
            ids = rest;
        }
        Ok(())
    })
}

/// Sorts pile after pile into one ascending sequence.
fn collect(run: &ImportRun<'_>, piles: Filled<u64>) -> Result<Filled<u64>> {
    let budget = run.share(shares::IDS_SORTED) / run.workers.count() as u64;
    let sorted = Piles::new(1, run.space(run.share(shares::IDS)));
    let all = (0..piles.count()).map(|pile| piles.len(pile)).sum();
    run.progress.begin("sorting ids", Some(all), ProgressUnit::Vertices);
    let mut count = 0;
    let make = |pile| {
        let needed = piles.len(pile) * size_of::<u64>() as u64;
        if needed > budget {
            let what = "sorting the ids".to_owned();
            return Err(Error::over_budget(what, 3 * needed, budget));
        }
        let mut ids = piles.read(pile)?;
        ids.sort_unstable();
        ids.dedup();
        run.progress.advance(piles.len(pile));
        Ok(ids)
    };
    map_in_order(
        run.workers,
        run.workers.count(),
        piles.count(),
        run.cancel,
        &make,
        &mut |_, ids| {
            count = check_vertex_count(count + ids.len() as u64)?;
            sorted.write(|writer| ids.iter().try_for_each(|&id| writer.push(0, id)))
        },
    )?;
    run.progress.end();
    sorted.close()
}

/// Refuses more vertices with an edge than a graph may have.
pub(crate) fn check_vertex_count(found: u64) -> Result<u64> {
    if found <= VERTEX_COUNT_MAX {
        return Ok(found);
    }
    let what = "the number of vertices";
    Err(Error::limit(what, found, VERTEX_COUNT_MAX))
}

#[cfg(test)]
mod tests {
    use tegula_machine::Error as MachineError;

    use super::*;

    #[test]
    fn ids_are_scattered_between_the_splitters() {
        let folder = tempfile::tempdir().unwrap();
        let splitters = splitters(vec![30, 10, 10, 20, 40, 10], 4);
        assert_eq!(splitters, [10, 20, 30]);
        let space =
            Space { folder: folder.path().to_owned(), held: 1 << 20, writing: 1 << 16, writers: 1 };
        let piles = Piles::new(4, space);
        scatter(&[1, 9, 10, 30, 31, u64::MAX], &splitters, &piles).unwrap();
        scatter(&[], &splitters, &piles).unwrap();
        let piles = piles.close().unwrap();
        let found: Vec<_> = (0..4).map(|pile| piles.read(pile).unwrap()).collect();
        assert_eq!(found, [vec![1, 9], vec![10], vec![], vec![30, 31, u64::MAX]]);
    }

    #[test]
    fn splitters_of_few_samples_are_few() {
        assert!(splitters(Vec::new(), 8).is_empty());
        assert_eq!(splitters(vec![5], 8), [5]);
        assert!(splitters((0..100).collect(), 1).is_empty());
    }

    #[test]
    fn too_many_vertices_are_refused() {
        assert_eq!(check_vertex_count(VERTEX_COUNT_MAX).unwrap(), VERTEX_COUNT_MAX);
        assert!(matches!(
            check_vertex_count(VERTEX_COUNT_MAX + 1),
            Err(Error::Machine(MachineError::Limit { .. }))
        ));
    }
}
