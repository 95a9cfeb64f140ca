//! Vertex arrays, and the files from which they can be reloaded.
//!
//! A file has checksums for all its blocks. It begins with a [`Head`], and the values follow. On
//! ranks, each rank saves the values of its own vertices.

use std::io::Write;
use std::iter;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use tegula_comm::Tag;
use tegula_engine::{Error, Graph, States, Value, of_comm, overhead};
use tegula_machine::disk::{BlockFile, BlockFileWriter, Unfinished};
use tegula_store::graph::file_names;
use zerocopy::little_endian::{U32, U64};
use zerocopy::{FromBytes, FromZeros, Immutable, IntoBytes, KnownLayout, Unaligned};

use super::Passes;
use crate::error::Result;
use crate::shared::states_in_order::StatesInOrder;

/// A block of this number of bytes (log2) has a checksum.
const BLOCK_LOG2: u32 = 16;
const MAGIC: [u8; 8] = *b"TGARRAY1";
/// Values that are read at a time.
const VALUES_AT_ONCE: usize = 1 << 16;
const SAVED: Tag = Tag(105);

/// An array with a value for each vertex, by dense id. It lies in memory or on disk.
#[derive(Debug)]
pub struct VertexArray<S: Value> {
    pub(super) name: String,
    /// `None` while a pass runs on the array, and after a pass has failed.
    pub(super) states: Option<States<S>>,
}

impl<S: Value> VertexArray<S> {
    /// Returns its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Takes the values for a pass.
    ///
    /// # Panics
    /// When the last pass over it has failed.
    pub(super) fn take(&mut self) -> States<S> {
        self.states.take().unwrap_or_else(|| lost(&self.name))
    }
}

fn lost<R>(name: &str) -> R {
    panic!("the last pass over `{name}` has failed")
}

/// What a file begins with.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned,
)]
#[repr(C)]
struct Head {
    magic: [u8; 8],
    /// The number of vertices of the graph, and the checksum of its table of tiles.
    vertices: U64,
    graph: U32,
    /// Bytes of a value.
    size: U32,
    /// The vertices whose values follow.
    first: U64,
    count: U64,
    /// The files of all ranks that were saved together have the same number.
    generation: U64,
}

impl Head {
    fn of<S>(graph: &Graph) -> Head {
        let own = graph.own_vertices();
        let table = graph.manifest().file(file_names::TILE_TABLE);
        Head {
            magic: MAGIC,
            vertices: graph.vertex_count().into(),
            graph: table.and_then(|file| file.checksum).unwrap_or(0).into(),
            size: (size_of::<S>() as u32).into(),
            first: own.start.into(),
            count: (own.end - own.start).into(),
            generation: 0.into(),
        }
    }
}

impl Passes<'_> {
    /// Saves an array in a folder, under its name. A later run on the same graph can
    /// [load](Passes::load) it.
    ///
    /// # Errors
    /// Errors of reading and writing, and the failure of another rank. Then an array that was saved
    /// there before is still there.
    ///
    /// # Panics
    /// When the last pass over it has failed.
    pub fn save<S: Value>(&self, array: &VertexArray<S>, folder: &Path) -> Result<()> {
        let states = array.states.as_ref().unwrap_or_else(|| lost(&array.name));
        let head = Head { generation: self.next_generation()?.into(), ..Head::of::<S>(self.graph) };
        let place = self.file(folder, &array.name);
        let failed = || Error::io("write", &place);
        let hidden = Unfinished::file(&place)?;
        let file = hidden.open_file().map_err(failed())?;
        let mut out = BlockFileWriter::new(file, &place, BLOCK_LOG2);
        out.write_all(head.as_bytes()).map_err(failed())?;
        let own = self.graph.own_vertices();
        states.for_each_chunk(|first, values| {
            let clip = |vertex: u64| (vertex as usize).clamp(first, first + values.len()) - first;
            let values = &values[clip(own.start)..clip(own.end)];
            out.write_all(values.as_bytes()).map_err(failed())
        })?;
        out.finish()?;
        // No rank replaces its file before all have written theirs.
        if let Some(comm) = self.options.ranks {
            comm.barrier(SAVED, &self.options.cancel).map_err(of_comm)?;
        }
        let (_, name) = tegula_machine::disk::parted(&place)?;
        Ok(hidden.finish(name, true)?)
    }

    /// Loads an array that was [saved](Passes::save) under this name; `None` if there is none.
    ///
    /// # Errors
    /// [`Corrupt`](tegula_machine::Error::Corrupt) if the file is damaged, or is of another graph,
    /// another rank or another type of values, or was not saved together with those of other ranks;
    /// errors of reading; the failure of another rank.
    pub fn load<S: Value>(&mut self, name: &str, folder: &Path) -> Result<Option<VertexArray<S>>> {
        let path = self.file(folder, name);
        let is_there = path.try_exists().map_err(Error::io("open", &path))?;
        let opened = self.open_saved::<S>(is_there.then_some(&path))?;
        let Some((head, file)) = opened else { return Ok(None) };
        let size = size_of::<S>() as u64;
        if file.len() != size_of::<Head>() as u64 + head.count.get() * size {
            return Err(Error::corrupt(&path, "values", "there are too few or too many").into());
        }
        let held: u64 = self.in_memory.values().sum();
        let room = self.options.budget().saturating_sub(overhead(self.graph) + held) / 2;
        let in_memory = head.vertices.get().saturating_mul(size) <= room;
        let mut values = StatesInOrder::new(in_memory, self.graph, &self.options)?;
        let zeroes = |count: u64| iter::repeat_n(S::new_zeroed(), count as usize);
        values.write(zeroes(head.first.get()))?;
        let mut room = vec![S::new_zeroed(); VALUES_AT_ONCE.min(head.count.get() as usize)];
        for first in (0..head.count.get()).step_by(VALUES_AT_ONCE) {
            let count = (head.count.get() - first).min(VALUES_AT_ONCE as u64) as usize;
            let offset = size_of::<Head>() as u64 + first * size;
            file.read_into(offset, room[..count].as_mut_bytes())?;
            values.write(room[..count].iter().copied())?;
        }
        let end = head.first.get() + head.count.get();
        values.write(zeroes(head.vertices.get() - end))?;
        let states = values.finish()?;
        Ok(Some(self.array(name, states)))
    }

    /// Opens a file, if there is one, and reads its head. The files of all ranks must have been
    /// saved together.
    fn open_saved<S: Value>(&self, path: Option<&PathBuf>) -> Result<Option<(Head, BlockFile)>> {
        let wanted = Head::of::<S>(self.graph);
        let read = |path: &PathBuf| {
            let file = BlockFile::open(self.graph.reader(), path, self.graph.caching())?;
            let mut head = Head::new_zeroed();
            // A shorter file leaves zeroes, with which no head begins.
            if file.len() >= size_of::<Head>() as u64 {
                file.read_into(0, head.as_mut_bytes())?;
            }
            let detail = "its values are of another graph, another rank or another type";
            match head == (Head { generation: head.generation, ..wanted }) {
                true => Ok((head, file)),
                false => Err(Error::corrupt(path, "head", detail)),
            }
        };
        let opened = path.map(read).transpose()?;
        let Some(comm) = self.options.ranks else { return Ok(opened) };
        let generation = opened.as_ref().map(|(head, _)| head.generation.get());
        // A rank without a file sends no bytes, which differ from the bytes of any number.
        let own = generation.map(|number| number.to_le_bytes().to_vec()).unwrap_or_default();
        let all = comm.all_gather(own, SAVED, &self.options.cancel).map_err(of_comm)?;
        if all.iter().any(|other| *other != all[comm.rank()]) {
            let folder = path.map_or(self.graph.directory(), |path| path.as_path());
            let detail = "the arrays of the ranks were not saved together";
            return Err(Error::corrupt(folder, "head", detail).into());
        }
        Ok(opened)
    }

    /// Returns a number for the files of all ranks that are saved next.
    fn next_generation(&self) -> Result<u64> {
        let Some(comm) = self.options.ranks else { return Ok(0) };
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        // One clock is asked, since the clocks of ranks differ.
        let own = (comm.rank() == 0).then(|| (since.as_nanos() as u64).to_le_bytes().to_vec());
        let told = comm.broadcast(0, own, SAVED, &self.options.cancel).map_err(of_comm)?;
        Ok(told.first_chunk().map_or(0, |number| u64::from_le_bytes(*number)))
    }

    /// Names an array, and counts its bytes.
    pub(super) fn array<S: Value>(&mut self, name: &str, states: States<S>) -> VertexArray<S> {
        let bytes = states.in_memory().map_or(0, |values| size_of_val(values) as u64);
        self.in_memory.insert(name.to_owned(), bytes);
        VertexArray { name: name.to_owned(), states: Some(states) }
    }

    /// The file of an array.
    fn file(&self, folder: &Path, name: &str) -> PathBuf {
        match self.graph.partition().filter(|_| self.graph.is_for_ranks()) {
            Some(partition) => folder.join(format!("{name}.rank-{}.array", partition.rank)),
            None => folder.join(format!("{name}.array")),
        }
    }
}
