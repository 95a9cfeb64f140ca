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

/// Ids by row, as far as they were found.
enum Found {
    Integers(Vec<Option<u64>>),
    Strings(Vec<Option<String>>),
}

impl Found {
    fn none(id_type: &DataType, count: usize) -> Found {
        match id_type {
            DataType::UInt64 => Found::Integers(vec![None; count]),
            _ => Found::Strings(vec![None; count]),
        }
    }

    fn put(&mut self, row: usize, ids: &IdChunk, index: usize) {
        match (self, ids) {
            (Found::Integers(rows), IdChunk::Integers(ids)) => rows[row] = Some(ids[index]),
            (Found::Strings(rows), IdChunk::Strings(ids)) => rows[row] = Some(ids[index].clone()),
            _ => unreachable!("a graph has ids of one type"),
        }
    }

    fn into_array(self) -> ArrayRef {
        match self {
            Found::Integers(rows) => Arc::new(UInt64Array::from(rows)),
            Found::Strings(rows) => Arc::new(LargeStringArray::from(rows)),
        }
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
    if graph.manifest().ids == IdType::Range {
        let ids = ranks.iter().map(|&rank| (rank != NO_RANK).then_some(u64::from(rank)));
        return Ok(Arc::new(ids.collect::<UInt64Array>()));
    }
    let rows = ranks.iter().zip(0u32..);
    let mut wanted: Vec<(u32, u32)> =
        rows.filter(|&(&rank, _)| rank != NO_RANK).map(|(&rank, row)| (rank, row)).collect();
    wanted.sort_unstable();
    let mut found = Found::none(&id_type(graph), ranks.len());
    let (mut first, mut next) = (0, 0);
    let walk = graph.original_ids()?.for_each_chunk(|ids, _| {
        let end = first + ids.len();
        let here = wanted[next..].partition_point(|&(rank, _)| (rank as usize) < end);
        for &(rank, row) in &wanted[next..next + here] {
            found.put(row as usize, &ids, rank as usize - first);
        }
        (first, next) = (end, next + here);
        if next == wanted.len() { Err(End::Found) } else { Ok(()) }
    });
    match walk {
        Err(End::Failed(error)) => Err(error.into()),
        Err(End::Found) | Ok(()) => Ok(found.into_array()),
    }
}
