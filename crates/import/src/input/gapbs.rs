//! Serialized graphs of the GAP Benchmark Suite (Beamer, Asanović, Patterson, *The GAP Benchmark
//! Suite*, 2015), `.sg` and `.wsg`, little-endian:
//!
//! ```text
//! | directed u8 | edges i64 | vertices i64 |
//! | offsets i64[vertices + 1] | targets [edges] |      a target: an i32, then an i32 weight if any
//! | offsets i64[vertices + 1] | sources [edges] |      only if directed; not read
//! ```
//!
//! A graph that is not directed has each edge in the lists of both ends.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

use tegula_store::{At, Diagnostic, Error, Hint, Result};
use tegula_tables::read::{bad_at, bad_file};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use super::chunk::Ends;
use super::options::InputOptions;
use super::preamble::Preamble;
use super::reader::{Emit, Part, Reader, Space};
use crate::settings::WEIGHTED;

/// What a file contains, and where.
#[derive(Debug)]
pub(super) struct Layout {
    directed: bool,
    edges: u64,
    vertices: u64,
    /// Bytes of a neighbour, with its weight if any.
    neighbour_bytes: u64,
    remarks: Vec<Diagnostic>,
}

/// The first bytes of a file.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C, packed)]
struct Head {
    directed: u8,
    edges: u64,
    vertices: u64,
}

const HEAD_BYTES: u64 = size_of::<Head>() as u64;
const OFFSET_BYTES: u64 = size_of::<u64>() as u64;
const ID_BYTES: u64 = size_of::<u32>() as u64;

impl Layout {
    /// Finds the layout of a file of `bytes` bytes.
    pub fn of(path: &Path, bytes: u64, options: &InputOptions) -> Result<Layout> {
        let mut head = Head { directed: 0, edges: 0, vertices: 0 };
        // A shorter file is refused below: zeros in the header ask for more bytes.
        if bytes >= HEAD_BYTES {
            let file = File::open(path).map_err(Error::io("open", path))?;
            file.read_exact_at(head.as_mut_bytes(), 0).map_err(Error::io("read", path))?;
        }
        let (edges, vertices) = (u64::from_le(head.edges), u64::from_le(head.vertices));
        // In 128 bits, because a damaged header may hold any numbers.
        let copies = u128::from(head.directed) + 1;
        let offsets = u128::from(OFFSET_BYTES) * (u128::from(vertices) + 1);
        let size = |neighbour: u64| {
            u128::from(HEAD_BYTES) + copies * (offsets + u128::from(neighbour) * u128::from(edges))
        };
        let fits = |neighbour: &u64| {
            // Ids are signed 32-bit integers in this format.
            head.directed <= 1 && vertices <= 1 << 31 && size(*neighbour) == u128::from(bytes)
        };
        // Without an edge, both sizes fit.
        let sizes =
            if options.weighted { [2 * ID_BYTES, ID_BYTES] } else { [ID_BYTES, 2 * ID_BYTES] };
        let Some(neighbour_bytes) = sizes.into_iter().find(fits) else {
            let message = "it is not a serialized GAPBS graph, or it is cut off: its size does not match its header";
            return Err(bad_file(path, message));
        };
        let has_weights = neighbour_bytes > ID_BYTES;
        let mut remarks = Vec::new();
        match (has_weights, options.weighted) {
            (false, true) => {
                let problem = Diagnostic::from("its edges have no weights");
                return Err(bad_file(path, problem.hint(Hint::leave_out(WEIGHTED.option))));
            }
            (true, false) => {
                let keep = Hint::set([WEIGHTED]).detail("to keep them");
                remarks.push(Diagnostic::from("the weights were not read").hint(keep));
            }
            _ => {}
        }
        Ok(Layout { directed: head.directed == 1, edges, vertices, neighbour_bytes, remarks })
    }

    /// What the file says about its graph.
    pub fn preamble(&self) -> Preamble {
        Preamble {
            vertices: Some(0..self.vertices),
            undirected: Some(!self.directed),
            has_both_ways: !self.directed,
            ..Preamble::default()
        }
    }

    /// What a user should know about how the file is read.
    pub fn remarks(&self) -> &[Diagnostic] {
        &self.remarks
    }
}

/// A file that is being read.
pub(super) struct ListReader<'a> {
    path: &'a Path,
    file: Arc<File>,
    layout: &'a Layout,
    /// The vertex whose list is next, and how many of its neighbours are already handed out.
    vertex: u64,
    taken: u64,
    /// Offsets that were read, and the vertex of the first offset.
    offsets: Vec<u64>,
    first: u64,
}

/// Consecutive neighbours of one source.
#[derive(Clone, Copy)]
struct Run {
    source: u32,
    count: u64,
}

impl<'a> ListReader<'a> {
    pub fn open(path: &'a Path, layout: &'a Layout) -> Result<ListReader<'a>> {
        let file = Arc::new(File::open(path).map_err(Error::io("open", path))?);
        Ok(ListReader { path, file, layout, vertex: 0, taken: 0, offsets: Vec::new(), first: 0 })
    }

    /// Returns where the list of a vertex begins and ends.
    fn list(&mut self, vertex: u64, block_bytes: usize) -> Result<(u64, u64)> {
        let at = (vertex - self.first) as usize;
        if let Some(&[begin, end]) = self.offsets.get(at..at + 2) {
            return Ok((begin, end));
        }
        let count =
            (block_bytes as u64 / OFFSET_BYTES).max(2).min(self.layout.vertices + 1 - vertex);
        self.offsets.clear();
        self.offsets.resize(count as usize, 0);
        let place = HEAD_BYTES + vertex * OFFSET_BYTES;
        read(&self.file, self.path, self.offsets.as_mut_bytes(), place)?;
        self.offsets.iter_mut().for_each(|offset| *offset = u64::from_le(*offset));
        self.first = vertex;
        // Checked once here, so that no list below has a negative length or lies behind the last
        // edge.
        let is_sound = self.offsets.is_sorted()
            && self.offsets.last().is_some_and(|&last| last <= self.layout.edges)
            && (vertex > 0 || self.offsets[0] == 0);
        match self.offsets[..] {
            [begin, end, ..] if is_sound => Ok((begin, end)),
            _ => Err(bad_at(self.path, At::Byte(place), "the offsets of the lists do not ascend")),
        }
    }
}

impl<'a> Reader<'a> for ListReader<'a> {
    fn claim(&mut self, _space: &mut Space, emit: &Emit<'_>) -> Result<Option<Part<'a>>> {
        let most = (emit.sizes.block_bytes as u64 / self.layout.neighbour_bytes)
            .clamp(1, emit.sizes.chunk_edges as u64);
        let (mut runs, mut count, mut begin) = (Vec::new(), 0, None);
        while self.vertex < self.layout.vertices
            && count < most
            && runs.len() < emit.sizes.chunk_edges
        {
            let (start, end) = self.list(self.vertex, emit.sizes.block_bytes)?;
            begin = begin.or(Some(start + self.taken));
            let here = (end - start - self.taken).min(most - count);
            if here > 0 {
                runs.push(Run { source: self.vertex as u32, count: here });
            }
            (count, self.taken) = (count + here, self.taken + here);
            if start + self.taken == end {
                (self.vertex, self.taken) = (self.vertex + 1, 0);
            }
        }
        let Some(begin) = begin else {
            return Ok(None);
        };
        if self.vertex == self.layout.vertices && begin + count != self.layout.edges {
            return Err(bad_file(self.path, "its lists have fewer edges than its header declares"));
        }
        // Workers can share the file: reads at offsets do not move its position.
        let (path, file, layout) = (self.path, Arc::clone(&self.file), self.layout);
        Ok(Some(Box::new(move |space, emit| {
            Neighbours { path, file: &file, layout, begin, count }.emit(&runs, space, emit)
        })))
    }
}

/// A range of a file's neighbours.
struct Neighbours<'a> {
    path: &'a Path,
    file: &'a File,
    layout: &'a Layout,
    begin: u64,
    count: u64,
}

impl Neighbours<'_> {
    fn emit(&self, runs: &[Run], space: &mut Space, emit: &Emit<'_>) -> Result<()> {
        let Layout { vertices, neighbour_bytes, .. } = *self.layout;
        let lists = HEAD_BYTES + (vertices + 1) * OFFSET_BYTES;
        let place = |index: u64| lists + (self.begin + index) * neighbour_bytes;
        let Space { block, pairs32: pairs, weights, balance, .. } = space;
        let is_symmetric = emit.undirected && !self.layout.directed;
        if is_symmetric {
            balance.begin();
        }
        block.resize((self.count * neighbour_bytes) as usize, 0);
        read(self.file, self.path, block, place(0))?;
        pairs.clear();
        weights.clear();
        let sources = runs.iter().flat_map(|run| (0..run.count).map(|_| run.source));
        for (index, (source, neighbour)) in
            sources.zip(block.chunks_exact(neighbour_bytes as usize)).enumerate()
        {
            let (target, weight) = neighbour.split_at(ID_BYTES as usize);
            let target = u32::read_from_bytes(target).map_or(0, u32::from_le);
            if u64::from(target) >= vertices {
                let problem = format!(
                    "the neighbour {target} of {source} is too large: the ids of the vertices are below {vertices}"
                );
                return Err(bad_at(self.path, At::Byte(place(index as u64)), problem));
            }
            let weight =
                emit.weighted.then(|| i32::read_from_bytes(weight).map_or(0, i32::from_le) as f32);
            if is_symmetric {
                balance.add(source.into(), target.into(), weight.unwrap_or(0.0));
                // The mention in the other list gives both arcs.
                if source > target {
                    continue;
                }
            }
            pairs.push([source, target]);
            weights.extend(weight);
        }
        emit.progress.advance(self.count * neighbour_bytes);
        emit.chunk(Ends::Pairs32(pairs), weights)
    }
}

fn read(file: &File, path: &Path, space: &mut [u8], place: u64) -> Result<()> {
    file.read_exact_at(space, place).map_err(|error| match error.kind() {
        std::io::ErrorKind::UnexpectedEof => {
            bad_file(path, "the file became shorter while it was read")
        }
        _ => Error::io("read", path)(error),
    })
}
