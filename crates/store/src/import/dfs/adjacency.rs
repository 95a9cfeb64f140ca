//! Who is next to whom: the neighbours of each vertex, whatever the directions of its edges.
//!
//! ```text
//!  edges --both ends--> links in ranges of ids --sorted, each once--> lists, in memory or in a file
//! ```

use std::fs::File;
use std::num::NonZeroU64;
use std::os::unix::fs::FileExt;
use std::path::Path;

use rustix::fs::{Advice, fadvise};
use zerocopy::IntoBytes;

use super::super::buckets::{Buckets, Filled};
use super::super::census::{DegreeSummary, DegreeTable};
use super::super::edge::{Edge, Weight};
use super::super::run::Run;
use super::super::source::{EdgeSource, changed};
use super::super::workers::map_in_order;
use crate::error::{Error, Result};

/// The neighbours of vertices.
pub(super) trait Neighbours {
    /// The neighbours of a vertex, ascending, each once, without itself.
    fn of(&mut self, vertex: u32) -> Result<&[u32]>;
    /// Tells whose neighbours are asked for next, perhaps.
    fn soon(&mut self, vertices: &[u32]);
}

/// Lists of neighbours side by side.
pub(super) struct Lists {
    /// Where the list of each id begins, and where the last one ends, in neighbours.
    starts: Vec<u64>,
    store: Store,
}

enum Store {
    Memory(Vec<u32>),
    /// A file without a name, and the list that was read last.
    File {
        file: File,
        list: Vec<u32>,
    },
}

/// Links of a range of ids, so many that they are sorted in a cache.
const RANGE_LINKS: u64 = 1 << 17;

/// Lays out the neighbours of all vertices. `memory` bounds the links that wait and the lists in
/// memory; beyond, both go to disk.
pub(super) fn lay_out<W: Weight>(
    run: &Run<'_>,
    edges: &EdgeSource<'_, W>,
    degrees: &DegreeTable,
    summary: &DegreeSummary,
    memory: u64,
) -> Result<Lists> {
    // The arcs of an undirected input are there in both directions.
    let is_symmetric = run.rule.undirected;
    let space = run.space(memory / 2);
    let ranges_max = space.buckets_max() as u64 / 2;
    let links_max = if is_symmetric { summary.edges } else { 2 * summary.edges };
    let range_links = links_max.div_ceil(ranges_max).max(RANGE_LINKS);
    let firsts = cut(degrees, range_links, is_symmetric)?;
    let links = Buckets::new(firsts.len(), space);
    let id_end = summary.id_end;
    edges.for_each(run, &|edges: &[Edge<u32, u32, W>]| {
        links.write(|writer| {
            for &Edge { source, target, .. } in edges {
                if u64::from(source.max(target)) >= id_end {
                    return Err(changed());
                }
                let mut push = |vertex: u32, neighbour: u32| {
                    let range = firsts.partition_point(|&first| first <= vertex) - 1;
                    writer.push(range, u64::from(vertex) << 32 | u64::from(neighbour))
                };
                if source != target {
                    push(source, target)?;
                    if !is_symmetric {
                        push(target, source)?;
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
    let mut writer = ListWriter::new(id_end, count * size_of::<u32>() as u64 <= memory / 2, run)?;
    let sort = |range: usize| sorted(&links, range, range_links as usize);
    map_in_order(run.threads, links.count(), run.cancel, &sort, &mut |_, links| {
        writer.add(&links, &run.folder)
    })?;
    Ok(writer.finish(id_end))
}

/// Cuts the ids into ranges, by their first ids, of up to `range_links` links each or of one id.
fn cut(degrees: &DegreeTable, range_links: u64, is_symmetric: bool) -> Result<Vec<u32>> {
    let mut firsts = vec![0];
    let mut links = 0;
    degrees.for_each(&mut |first, block| {
        for (&[out, into], id) in block.iter().zip(first..) {
            let here = u64::from(out) + if is_symmetric { 0 } else { u64::from(into) };
            if links != 0 && links + here > range_links {
                firsts.push(id);
                links = 0;
            }
            links += here;
        }
        Ok(())
    })?;
    Ok(firsts)
}

/// The links of a range, ascending, each once. Memory is in proportion to `range_links`, or to the
/// neighbours of the only vertex.
fn sorted(links: &Filled<u64>, range: usize, range_links: usize) -> Result<Vec<u64>> {
    let mut sorted = Vec::with_capacity(range_links.min(links.len(range) as usize));
    let mut len_max = range_links;
    links.for_each(range, &mut |part| {
        if sorted.len() + part.len() > len_max {
            sorted.sort_unstable();
            sorted.dedup();
            len_max = len_max.max(2 * sorted.len());
        }
        sorted.extend_from_slice(part);
        Ok(())
    })?;
    sorted.sort_unstable();
    sorted.dedup();
    Ok(sorted)
}

/// Takes links, ascending, and makes lists of them.
struct ListWriter {
    starts: Vec<u64>,
    len: u64,
    store: Store,
}

impl ListWriter {
    fn new(id_end: u64, is_in_memory: bool, run: &Run<'_>) -> Result<ListWriter> {
        let store = if is_in_memory {
            Store::Memory(Vec::new())
        } else {
            let file = tempfile::tempfile_in(&run.folder)
                .map_err(Error::io("create a temporary file in", &run.folder))?;
            Store::File { file, list: Vec::new() }
        };
        Ok(ListWriter { starts: Vec::with_capacity(id_end as usize + 1), len: 0, store })
    }

    fn add(&mut self, links: &[u64], folder: &Path) -> Result<()> {
        for (&link, number) in links.iter().zip(self.len..) {
            // A list begins here, as does that of each id before which has none.
            if self.starts.len() as u64 <= link >> 32 {
                self.starts.resize((link >> 32) as usize + 1, number);
            }
        }
        let neighbours = links.iter().map(|&link| link as u32);
        match &mut self.store {
            Store::Memory(lists) => lists.extend(neighbours),
            Store::File { file, list } => {
                list.clear();
                list.extend(neighbours);
                file.write_all_at(list.as_bytes(), self.len * size_of::<u32>() as u64)
                    .map_err(Error::io("write a temporary file in", folder))?;
            }
        }
        self.len += links.len() as u64;
        Ok(())
    }

    fn finish(mut self, id_end: u64) -> Lists {
        self.starts.resize(id_end as usize + 1, self.len);
        Lists { starts: self.starts, store: self.store }
    }
}

impl Lists {
    fn place(&self, vertex: u32) -> (u64, usize) {
        let start = self.starts[vertex as usize];
        (start, (self.starts[vertex as usize + 1] - start) as usize)
    }

    /// Whether they are on disk.
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
                // It may be refused: then the list is read when it is needed.
                let _ = fadvise(file, start * size_of::<u32>() as u64, bytes, Advice::WillNeed);
            }
        }
    }
}
