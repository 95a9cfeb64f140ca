//! Columns of original ids.

use std::sync::Arc;

use arrow_array::{ArrayRef, LargeStringArray, UInt64Array};
use arrow_schema::DataType;
use tegula_store::Error;
use tegula_store::graph::{Graph, IdChunk, IdType};

use crate::errors::Result;

/// The type of a column of vertices.
pub fn id_type(graph: &Graph) -> DataType {
    match graph.manifest().ids {
        IdType::Range | IdType::Integer => DataType::UInt64,
        IdType::String => DataType::LargeUtf8,
    }
}

/// Original ids as a column.
pub fn id_array(ids: IdChunk) -> ArrayRef {
    match ids {
        IdChunk::Integers(ids) => Arc::new(UInt64Array::from(ids)),
        IdChunk::Strings(ids) => Arc::new(LargeStringArray::from(ids)),
    }
}

/// No vertex.
pub const NO_RANK: u32 = u32::MAX;

/// How many rows' ids to find at a time within a budget: they take a small share of it.
pub fn rows_per_group(memory: u64) -> usize {
    (memory / 1024).clamp(1 << 16, 1 << 23) as usize
}

/// Why a walk over the ids ends.
enum End {
    Found,
    Failed(Error),
}

impl From<Error> for End {
    fn from(error: Error) -> End {
        End::Failed(error)
    }
}

/// The original ids of vertices that are given by their rank, as a column; null for [`NO_RANK`].
///
/// The ids are read once from the front up to the last that is wanted, so this is done for as many
/// ranks at a time as memory allows: some 30 bytes each.
///
/// # Errors
/// Those of reading.
pub fn find_ids(graph: &Graph, ranks: &[u32]) -> Result<ArrayRef> {
    let is_there = |rank: u32| rank != NO_RANK;
    if graph.manifest().ids == IdType::Range {
        let ids = ranks.iter().map(|&rank| is_there(rank).then_some(u64::from(rank)));
        return Ok(Arc::new(ids.collect::<UInt64Array>()));
    }
    let mut integers: Vec<Option<u64>> = Vec::new();
    let mut strings: Vec<Option<String>> = Vec::new();
    match id_type(graph) {
        DataType::UInt64 => integers.resize(ranks.len(), None),
        _ => strings.resize(ranks.len(), None),
    }
    let mut wanted: Vec<(u32, u32)> = ranks.iter().copied().zip(0..).collect();
    wanted.retain(|&(rank, _)| is_there(rank));
    wanted.sort_unstable();
    let (mut first, mut next) = (0, 0);
    let walk = graph.original_ids()?.for_each_chunk(|ids, _| {
        let end = first + ids.len();
        while let Some(&(rank, row)) = wanted.get(next).filter(|(rank, _)| (*rank as usize) < end) {
            let index = rank as usize - first;
            match &ids {
                IdChunk::Integers(ids) => integers[row as usize] = Some(ids[index]),
                IdChunk::Strings(ids) => strings[row as usize] = Some(ids[index].clone()),
            }
            next += 1;
        }
        first = end;
        if next == wanted.len() { Err(End::Found) } else { Ok(()) }
    });
    if let Err(End::Failed(error)) = walk {
        return Err(error.into());
    }
    Ok(match id_type(graph) {
        DataType::UInt64 => Arc::new(UInt64Array::from(integers)),
        _ => Arc::new(LargeStringArray::from(strings)),
    })
}
