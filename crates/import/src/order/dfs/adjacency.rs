//! The neighbours of each vertex, regardless of the direction of its edges.
//!
//! ```text
//!  edges --both ends--> links in ranges of ids --sorted, each once--> lists, in memory or in a file
//! ```

use std::fs::File;
use std::num::NonZeroU64;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;

use rustix::fs::{Advice, fadvise};
use tegula_machine::threads::map_in_order;
use tegula_store::tiles::Edge;
use tegula_store::{Error, Result};
use zerocopy::IntoBytes;

use crate::count::census::{DegreeSummary, DegreeTable};
use crate::edge::Weight;
use crate::import_run::ImportRun;
use crate::piles::{Filled, Piles};
use crate::source::{EdgeSource, changed};

/// The neighbours of vertices.
pub(super) trait Neighbours {
    /// Returns the neighbours of a vertex, ascending, each once, without itself.
    fn of(&mut self, vertex: u32) -> Result<&[u32]>;
    /// Announces vertices whose neighbours may be asked for next.
    fn soon(&mut self, vertices: &[u32]);
}

/// Lists of neighbours, one behind the other.
pub(super) struct Lists {
    /// Where the list of each id begins, and where the last one ends, in neighbours.
    starts: Vec<u64>,
    store: Store,
}

enum Store {
    Memory(Vec<u32>),
    /// A file without a name, and the list read last.
    File {
        file: File,
        list: Vec<u32>,
    },
}

/// Links of a range of ids, few enough to be sorted in a cache.
const RANGE_LINKS: u64 = 1 << 17;

/// Lays out the neighbours of all vertices. `memory` bounds the links that wait and the lists in
/// memory. More of either goes to disk.
pub(super) fn lay_out<W: Weight>(
    run: &ImportRun<'_>,
    edges: &EdgeSource<'_, W>,
    degrees: &DegreeTable,
    summary: &DegreeSummary,
    memory: u64,
) -> Result<Lists> {
    let space = run.space(memory / 2);
    // Two adjacent ranges together exceed `range_links`. So we divide by half of the
    // piles, and there are no more ranges than piles.
    let ranges_max = space.piles_max() as u64 / 2;
    let range_links = (2 * summary.edges).div_ceil(ranges_max).max(RANGE_LINKS);
    let ranges = Ranges::cut(degrees, summary, range_links)?;
    let links = Piles::new(ranges.count(), space);
    // An undirected input already has arcs in both directions.
    let is_symmetric = run.rule.undirected;
    edges.for_each(run, &|edges: &[Edge<u32, u32, W>]| {
        links.write(|writer| {
            for &Edge { source, target, .. } in edges {
                // The edges may come from the input again, which may have changed since.
                if u64::from(source.max(target)) >= summary.id_end {
                    return Err(changed());
                }
                if source != target {
                    writer.push(ranges.of(source), [source, target])?;
                    if !is_symmetric {
                        writer.push(ranges.of(target), [target, source])?;
                    }
                }
            }
            Ok(())
        })?;
        run.progress.advance(edges.len() as u64);
        Ok(())
    })?;
    let links = links.close()?;
    let count: u64 = (0..links.count()).map(|range| links.len(range)).sum();
    let is_in_memory = count * size_of::<u32>() as u64 <= memory / 2;
    let mut writer = ListWriter::new(summary.id_end, is_in_memory.then_some(count), run)?;
    let make = |range: usize| {
        let links = read(&links, range, range_links as usize)?;
        Ok(RangeLists::of(links, ranges.ids(range)))
    };
    map_in_order(
        run.workers,
        run.workers.count(),
        links.count(),
        run.cancel,
        &make,
        &mut |_, lists| writer.add(&lists, &run.folder),
    )?;
    Ok(writer.finish())
}

/// Ranges of ids with about equally many links.
struct Ranges {
    /// The first id of each range, and the end of the last one.
    firsts: Vec<u32>,
    /// The range in which each aligned run of 2^`shift` ids begins.
    of_run: Vec<u32>,
    shift: u32,
}

impl Ranges {
    const RUNS_LOG2: u32 = 14;

    /// Cuts the ids into ranges with up to `range_links` ends of edges, or of one id.
    fn cut(degrees: &DegreeTable, summary: &DegreeSummary, range_links: u64) -> Result<Ranges> {
        let shift = (summary.id_end.max(1).ilog2() + 1).saturating_sub(Ranges::RUNS_LOG2);
        let (mut firsts, mut of_run) = (vec![0], Vec::new());
        let mut links = 0;
        degrees.for_each(&mut |first, block| {
            for (&[out, into], id) in block.iter().zip(first as u32..) {
                let here = u64::from(out) + u64::from(into);
                if here != 0 && links != 0 && links + here > range_links {
                    firsts.push(id);
                    links = 0;
                }
                links += here;
                if id & ((1 << shift) - 1) == 0 {
                    of_run.push(firsts.len() as u32 - 1);
                }
            }
            Ok(())
        })?;
        firsts.push(summary.id_end as u32);
        Ok(Ranges { firsts, of_run, shift })
    }

    fn count(&self) -> usize {
        self.firsts.len() - 1
    }

    fn ids(&self, range: usize) -> Range<u32> {
        self.firsts[range]..self.firsts[range + 1]
    }

    /// Returns the range of an id below the end of the last range: mostly one load and a
    /// comparison.
    #[inline]
    fn of(&self, id: u32) -> usize {
        let mut range = self.of_run[(id >> self.shift) as usize] as usize;
        while self.firsts[range + 1] <= id {
            range += 1;
        }
        range
    }
}

/// Reads the links of a range, in any order. Memory is proportional to `range_links`, or to the
/// neighbours of the only vertex.
fn read(links: &Filled<[u32; 2]>, range: usize, range_links: usize) -> Result<Vec<[u32; 2]>> {
    let mut read: Vec<[u32; 2]> = Vec::with_capacity(range_links.min(links.len(range) as usize));
    let mut len_max = range_links;
    links.for_each(range, &mut |part| {
        if read.len() + part.len() > len_max {
            read.sort_unstable();
            read.dedup();
            // Doubled, so that the many links of a single vertex are not sorted again at each part.
            len_max = len_max.max(2 * read.len());
        }
        read.extend_from_slice(part);
        Ok(())
    })?;
    Ok(read)
}

/// The lists of a range of ids.
struct RangeLists {
    /// Where each list begins.
    starts: Vec<usize>,
    neighbours: Vec<u32>,
}

impl RangeLists {
    fn of(links: Vec<[u32; 2]>, ids: Range<u32>) -> RangeLists {
        // A counting sort by id takes linear time, and leaves short lists to sort.
        let mut ends = vec![0; ids.len()];
        links.iter().for_each(|&[id, _]| ends[(id - ids.start) as usize] += 1);
        let mut before = 0;
        for end in &mut ends {
            before += std::mem::replace(end, before);
        }
        let mut scattered = vec![0; links.len()];
        for [id, neighbour] in links {
            let end = &mut ends[(id - ids.start) as usize];
            scattered[*end] = neighbour;
            *end += 1;
        }
        let mut starts = Vec::with_capacity(ends.len());
        let mut neighbours = Vec::with_capacity(scattered.len());
        let mut first = 0;
        for end in ends {
            let list = &mut scattered[first..end];
            list.sort_unstable();
            starts.push(neighbours.len());
            neighbours.extend(list.chunk_by(|a, b| a == b).map(|same| same[0]));
            first = end;
        }
        RangeLists { starts, neighbours }
    }
}

/// Takes the lists of one range after the other.
struct ListWriter {
    starts: Vec<u64>,
    len: u64,
    store: Store,
}

impl ListWriter {
    /// Keeps the lists in memory if `held` is given: the most neighbours that there can be.
    fn new(id_end: u64, held: Option<u64>, run: &ImportRun<'_>) -> Result<ListWriter> {
        let store = match held {
            // With room for all, since growing would hold the lists twice for a moment.
            Some(count) => Store::Memory(Vec::with_capacity(count as usize)),
            None => {
                let file = tempfile::tempfile_in(&run.folder)
                    .map_err(Error::io("create a temporary file in", &run.folder))?;
                Store::File { file, list: Vec::new() }
            }
        };
        Ok(ListWriter { starts: Vec::with_capacity(id_end as usize + 1), len: 0, store })
    }

    fn add(&mut self, lists: &RangeLists, folder: &Path) -> Result<()> {
        self.starts.extend(lists.starts.iter().map(|&start| self.len + start as u64));
        match &mut self.store {
            Store::Memory(all) => all.extend_from_slice(&lists.neighbours),
            Store::File { file, .. } => file
                .write_all_at(lists.neighbours.as_bytes(), self.len * size_of::<u32>() as u64)
                .map_err(Error::io("write a temporary file in", folder))?,
        }
        self.len += lists.neighbours.len() as u64;
        Ok(())
    }

    fn finish(mut self) -> Lists {
        self.starts.push(self.len);
        Lists { starts: self.starts, store: self.store }
    }
}

impl Lists {
    fn place(&self, vertex: u32) -> (u64, usize) {
        let start = self.starts[vertex as usize];
        (start, (self.starts[vertex as usize + 1] - start) as usize)
    }

    /// Whether the lists are on disk.
    #[cfg(test)]
    pub(super) fn is_on_disk(&self) -> bool {
        matches!(self.store, Store::File { .. })
    }
}

impl Neighbours for Lists {
    #[inline]
    fn of(&mut self, vertex: u32) -> Result<&[u32]> {
        let (start, len) = self.place(vertex);
        match &mut self.store {
            Store::Memory(lists) => Ok(&lists[start as usize..start as usize + len]),
            Store::File { file, list } => {
                list.resize(len, 0);
                file.read_exact_at(list.as_mut_bytes(), start * size_of::<u32>() as u64)
                    .map_err(Error::io("read", "a temporary file"))?;
                Ok(list)
            }
        }
    }

    #[inline]
    fn soon(&mut self, vertices: &[u32]) {
        let Store::File { file, .. } = &self.store else { return };
        for &vertex in vertices {
            let (start, len) = self.place(vertex);
            let bytes = NonZeroU64::new((len * size_of::<u32>()) as u64);
            if bytes.is_some() {
                // The system may refuse. Then the list is read when it is needed.
                let _ = fadvise(file, start * size_of::<u32>() as u64, bytes, Advice::WillNeed);
            }
        }
    }
}
