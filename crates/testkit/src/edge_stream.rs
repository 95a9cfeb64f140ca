//! Edges in files, read ahead and past the page cache, for yardsticks that work from disk.
//!
//! An edge has 8 bytes, its source and its target in 4 little-endian bytes each: the format `bin32`
//! of `tegula generate`.

use std::fs::{File, OpenOptions};
use std::io::{self, Error, ErrorKind};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::sync::mpsc::{channel, sync_channel};
use std::thread;

use rustix::fs::OFlags;
use zerocopy::{FromBytes, IntoBytes};

/// Bytes of a read.
const CHUNK: usize = 4 << 20;
/// Threads that read, one chunk each at a time, and the buffers of each.
const READERS: usize = 2;
const BUFFERS: usize = 2;
/// Alignment of reads past the page cache, in bytes.
const ALIGNMENT: usize = 4096;

/// Source and target.
pub type Pair = [u32; 2];

/// A part of a file for a single read.
#[derive(Debug, Clone, Copy)]
pub struct Chunk<'f> {
    file: &'f File,
    offset: u64,
    bytes: usize,
}

/// Opens a file of edges to be read past the page cache, or through it where the file system has no
/// direct I/O.
pub fn open(path: &Path) -> io::Result<File> {
    let direct = i32::try_from(OFlags::DIRECT.bits()).unwrap_or(0);
    let opened = OpenOptions::new().read(true).custom_flags(direct).open(path);
    opened.or_else(|_| File::open(path))
}

/// Returns the chunks of a file, in order.
///
/// # Errors
/// When the length of the file is unknown, or not a multiple of an edge's length.
pub fn chunks(file: &File) -> io::Result<impl Iterator<Item = Chunk<'_>>> {
    let length = file.metadata()?.len();
    if !length.is_multiple_of(size_of::<Pair>() as u64) {
        return Err(Error::new(ErrorKind::InvalidData, format!("{length} bytes of edges")));
    }
    let offsets = (0..length).step_by(CHUNK);
    Ok(offsets.map(move |offset| {
        let bytes = (length - offset).min(CHUNK as u64) as usize;
        Chunk { file, offset, bytes }
    }))
}

/// Calls `visit` with the edges of chunks in order, while threads read the following chunks.
pub fn for_each_pairs(chunks: &[Chunk<'_>], mut visit: impl FnMut(&[Pair])) -> io::Result<()> {
    thread::scope(|scope| {
        let start_reader = |first: usize| {
            let (send, filled) = sync_channel(BUFFERS);
            let (give_back, free) = channel::<Buffer>();
            (0..BUFFERS).try_for_each(|_| give_back.send(Buffer::new())).map_err(Error::other)?;
            scope.spawn(move || {
                for chunk in chunks.iter().skip(first).step_by(READERS) {
                    let Ok(mut buffer) = free.recv() else { return };
                    let read = buffer.read(chunk);
                    if send.send(read.map(|()| buffer)).is_err() {
                        return;
                    }
                }
            });
            Ok((filled, give_back))
        };
        let readers: Vec<_> = (0..READERS).map(start_reader).collect::<io::Result<_>>()?;
        for (filled, give_back) in readers.iter().cycle().take(chunks.len()) {
            let buffer = filled.recv().map_err(Error::other)??;
            visit(buffer.pairs());
            // A reader that is done takes no buffer back.
            let _ = give_back.send(buffer);
        }
        Ok(())
    })
}

/// Aligned memory for a chunk.
struct Buffer {
    words: Vec<u64>,
    first: usize,
    pairs: usize,
}

impl Buffer {
    fn new() -> Buffer {
        // There is room to begin at an aligned address.
        let words = vec![0; (CHUNK + ALIGNMENT) / size_of::<u64>()];
        Buffer { first: words.as_ptr().align_offset(ALIGNMENT), words, pairs: 0 }
    }

    fn read(&mut self, chunk: &Chunk<'_>) -> io::Result<()> {
        let words = &mut self.words[self.first..][..CHUNK / size_of::<u64>()];
        let bytes = words.as_mut_bytes();
        let mut done = 0;
        while done < chunk.bytes {
            // Requests whole blocks, even where the file ends within one.
            match chunk.file.read_at(&mut bytes[done..], chunk.offset + done as u64)? {
                0 => return Err(ErrorKind::UnexpectedEof.into()),
                read => done += read,
            }
        }
        self.pairs = chunk.bytes / size_of::<Pair>();
        Ok(())
    }

    fn pairs(&self) -> &[Pair] {
        let words = &self.words[self.first..][..self.pairs];
        <[Pair]>::ref_from_bytes(words.as_bytes()).expect("a pair is as long as a word")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scratch;

    #[test]
    fn edges_arrive_in_the_order_of_the_files() {
        let scratch = Scratch::new();
        let per_chunk = CHUNK as u32 / 8;
        let lengths = [5 * per_chunk + 3, 0, 1, per_chunk];
        let mut number = 0;
        for (index, length) in lengths.into_iter().enumerate() {
            let pairs: Vec<Pair> = (number..number + length).map(|n| [n, !n]).collect();
            std::fs::write(scratch.join(index.to_string()), pairs.as_bytes()).unwrap();
            number += length;
        }
        let names = (0..lengths.len()).map(|index| scratch.join(index.to_string()));
        let files: Vec<File> = names.map(|name| open(&name).unwrap()).collect();
        let all: Vec<Chunk<'_>> = files.iter().flat_map(|file| chunks(file).unwrap()).collect();
        assert_eq!(all.len(), 6 + 1 + 1);
        let mut next = 0;
        for_each_pairs(&all, |pairs| {
            for &pair in pairs {
                assert_eq!(pair, [next, !next]);
                next += 1;
            }
        })
        .unwrap();
        assert_eq!(next, number);
    }

    #[test]
    fn a_file_that_ends_early_is_an_error() {
        let scratch = Scratch::new();
        let path = scratch.join("edges");
        std::fs::write(&path, vec![0; 3 * CHUNK]).unwrap();
        let file = open(&path).unwrap();
        let all: Vec<Chunk<'_>> = chunks(&file).unwrap().collect();
        std::fs::write(&path, vec![0; CHUNK + 8]).unwrap();
        for_each_pairs(&all, |_| {}).unwrap_err();
        std::fs::write(&path, [0; 7]).unwrap();
        assert!(chunks(&file).is_err());
    }
}
