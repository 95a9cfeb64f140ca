//! Columns of original ids.

use std::sync::Arc;

use arrow_array::builder::LargeStringBuilder;
use arrow_array::{ArrayRef, UInt64Array};
use arrow_schema::DataType;
use tegula_machine::threads::Cancel;
use tegula_store::graph::{Graph, IdChunk, IdType, Strings};
use tegula_store::{Error, VERTEX_COUNT_MAX};

use crate::error::Result;
use crate::shared::original_ids::IdPosition;

/// Returns the type of a column of vertices.
pub fn id_type(graph: &Graph) -> DataType {
    match graph.manifest().ids {
        IdType::Range | IdType::Integer => DataType::UInt64,
        IdType::String => DataType::LargeUtf8,
    }
}

/// Makes a column of original ids.
pub fn id_array(ids: IdChunk) -> ArrayRef {
    match ids {
        IdChunk::Integers(ids) => Arc::new(UInt64Array::from(ids)),
        IdChunk::Strings(ids) => {
            let mut column = LargeStringBuilder::with_capacity(ids.len(), ids.text_len());
            ids.iter().for_each(|id| column.append_value(id));
            Arc::new(column.finish())
        }
    }
}

/// Rows of a batch. The budget decides how many rows are made at a time, but no file may depend on
/// it.
pub const BATCH_ROWS: usize = 1 << 15;

/// How many rows are asked for at a time: a group ends when it reaches either limit.
#[derive(Debug, Clone, Copy)]
pub struct GroupSize {
    /// Rows.
    pub rows: usize,
    /// Bytes of their ids, if these are strings.
    pub text: usize,
}

impl GroupSize {
    /// Each chunk of ids by itself.
    pub const LEAST: GroupSize = GroupSize { rows: 1, text: 0 };

    /// Returns the size for rows whose cells are ids that must be looked up: they take a small
    /// share of a budget. The rows are an even number of [`BATCH_ROWS`].
    pub fn for_memory(memory: u64) -> GroupSize {
        let rows = (memory / 1024).clamp(1 << 16, 1 << 23) as usize;
        let rows = rows / (2 * BATCH_ROWS) * (2 * BATCH_ROWS);
        GroupSize { rows, text: (memory / 32).max(1 << 20) as usize }
    }
}

/// Why a pass over the ids ends.
enum End {
    Found,
    Failed(Error),
}

impl From<Error> for End {
    fn from(error: Error) -> End {
        End::Failed(error)
    }
}

/// Ids by row, if they are found already.
enum Found {
    Integers(Vec<Option<u64>>),
    /// Many rows often have the same id, which is kept once.
    Strings {
        ids: Strings,
        /// The id position of the last id.
        last: IdPosition,
        /// For each row, the place of its id.
        places: Vec<u32>,
    },
}

/// The place of a row without an id.
const NOWHERE: u32 = u32::MAX;

impl Found {
    fn none(id_type: &DataType, count: usize) -> Found {
        match id_type {
            DataType::UInt64 => Found::Integers(vec![None; count]),
            _ => Found::Strings {
                ids: Strings::default(),
                last: IdPosition::NONE,
                places: vec![NOWHERE; count],
            },
        }
    }

    /// Takes the id of a row. It has this id position and is at `index` of `chunk`; id positions
    /// must ascend.
    fn put(&mut self, row: usize, id_position: IdPosition, chunk: &IdChunk, index: usize) {
        match (self, chunk) {
            (Found::Integers(rows), IdChunk::Integers(chunk)) => rows[row] = Some(chunk[index]),
            (Found::Strings { ids, last, places }, IdChunk::Strings(chunk)) => {
                if *last != id_position {
                    ids.push(chunk.get(index));
                    *last = id_position;
                }
                places[row] = ids.len() as u32 - 1;
            }
            _ => unreachable!("a graph has ids of one type"),
        }
    }

    fn into_array(self) -> ArrayRef {
        match self {
            Found::Integers(rows) => Arc::new(UInt64Array::from(rows)),
            Found::Strings { ids, places, .. } => {
                let id = |&place: &u32| (place != NOWHERE).then(|| ids.get(place as usize));
                let length = places.iter().filter_map(id).map(str::len).sum();
                let mut column = LargeStringBuilder::with_capacity(places.len(), length);
                places.iter().for_each(|place| column.append_option(id(place)));
                Arc::new(column.finish())
            }
        }
    }
}

/// Bits of a row number in one look-up.
const ROW_BITS: u32 = 24;
const _: () =
    assert!((VERTEX_COUNT_MAX - 1) >> (u64::BITS - ROW_BITS) == 0, "an id position has room above");

/// An id position to look up, above the bits of the row that wants it: one word saves memory, as
/// rows are many.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Wanted(u64);

impl Wanted {
    fn new(id_position: IdPosition, row: u64) -> Wanted {
        Wanted(id_position.0 << ROW_BITS | row)
    }

    fn id_position(self) -> IdPosition {
        IdPosition(self.0 >> ROW_BITS)
    }

    fn row(self) -> usize {
        (self.0 & ((1 << ROW_BITS) - 1)) as usize
    }
}

/// Makes a column of the original ids of the vertices with these id positions; null for
/// [`IdPosition::NONE`].
///
/// Reads the ids once, from the first to the last that is wanted. So callers pass as many id
/// positions at a time as memory allows; each takes some 30 bytes.
pub fn find_ids(
    graph: &Graph,
    id_positions: impl ExactSizeIterator<Item = IdPosition>,
    cancel: &Cancel,
) -> Result<ArrayRef> {
    let count = id_positions.len();
    assert!(count <= 1 << ROW_BITS, "{count} rows");
    // The ids of a range are their positions, so no file is read.
    if graph.manifest().ids == IdType::Range {
        let ids = id_positions
            .map(|id_position| (id_position != IdPosition::NONE).then_some(id_position.0));
        return Ok(Arc::new(ids.collect::<UInt64Array>()));
    }
    let rows = id_positions.zip(0..).filter(|&(id_position, _)| id_position != IdPosition::NONE);
    let mut wanted: Vec<Wanted> =
        rows.map(|(id_position, row)| Wanted::new(id_position, row)).collect();
    wanted.sort_unstable();
    let mut found = Found::none(&id_type(graph), count);
    let (mut first, mut next) = (0, 0);
    let walk = graph.original_ids()?.for_each_chunk(|ids, _| {
        cancel.check().map_err(Error::from)?;
        let end = first + ids.len();
        let here = wanted[next..].partition_point(|wanted| (wanted.id_position().0 as usize) < end);
        for wanted in &wanted[next..next + here] {
            let id_position = wanted.id_position();
            found.put(wanted.row(), id_position, &ids, id_position.0 as usize - first);
        }
        (first, next) = (end, next + here);
        // Only an error ends the walk early.
        if next == wanted.len() { Err(End::Found) } else { Ok(()) }
    });
    match walk {
        Err(End::Failed(error)) => Err(error.into()),
        Err(End::Found) | Ok(()) => Ok(found.into_array()),
    }
}
