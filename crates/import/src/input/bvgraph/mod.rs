//! Reads BVGraphs of WebGraph (Boldi, Vigna, *The WebGraph Framework I: Compression Techniques*,
//! 2004). A file `.graph` holds the adjacency lists of the vertices from 0 on, bit by bit. A file
//! `.properties` lies beside it.
//!
//! A list may refer to lists before it, so one worker at a time decodes. The file of offsets is not
//! read. The libraries that read the format trust the file: on a damaged one, they panic or take as
//! much memory as it says. So its codes are read here.

mod bits;
mod layout;
mod rows;

use std::path::Path;

use tegula_store::Result;
use tegula_tables::Compression;
use tegula_tables::read::InputStream;

use self::bits::Bits;
pub(super) use self::layout::Layout;
use self::rows::Rows;
use super::chunk::Ends;
use super::reader::{Emit, Part, Reader, Space};

/// A file that is being read.
pub(super) struct ListReader<'a> {
    rows: Rows<'a>,
    /// How many neighbours of the last list were handed out.
    taken: usize,
}

impl<'a> ListReader<'a> {
    pub fn open(path: &Path, layout: &'a Layout) -> Result<ListReader<'a>> {
        let stream = InputStream::open(path, Compression::None, InputStream::WINDOW_LOG_USUAL)?;
        let rows = Rows::new(layout, Bits::new(path.to_owned(), stream));
        Ok(ListReader { rows, taken: 0 })
    }
}

impl<'a> Reader<'a> for ListReader<'a> {
    fn claim(&mut self, space: &mut Space, emit: &Emit<'_>) -> Result<Option<Part<'a>>> {
        let (pairs, most) = (&mut space.pairs64, emit.sizes.chunk_edges);
        pairs.clear();
        let (mut lists, mut has_ended) = (0, false);
        // Lists are limited too, because any number of them may be empty.
        while pairs.len() < most && lists < most && !has_ended {
            let (source, list) = self.rows.last();
            let rest = &list[self.taken..];
            let here = rest.len().min(most - pairs.len());
            pairs.extend(rest[..here].iter().map(|&target| [source, target]));
            self.taken += here;
            if here == rest.len() {
                has_ended = !self.rows.advance()?;
                (self.taken, lists) = (0, lists + 1);
            }
        }
        emit.progress.advance(self.rows.bytes_since());
        if has_ended && pairs.is_empty() {
            return Ok(None);
        }
        Ok(Some(Box::new(|space, emit| {
            space.edges = space.pairs64.len() as u64;
            emit.chunk(Ends::Pairs64(&space.pairs64), &[])
        })))
    }
}
