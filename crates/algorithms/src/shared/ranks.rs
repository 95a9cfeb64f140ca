//! Sums over the edges of all ranks. Each rank has only the edges into its own targets.

use tegula_comm::{Comm, Tag};
use tegula_engine::{Error, Graph, of_comm};
use tegula_machine::threads::Cancel;

use super::exact_sum::{ExactSum, SharedSum};
use crate::error::Result;

const LEAST: Tag = Tag(101);
const SUMS: Tag = Tag(102);

/// Sums that a rank sends to another one before it takes some: 2.5 MiB.
const SUMS_AT_ONCE: usize = 1 << 16;

/// Returns the least of the numbers of all ranks.
///
/// # Errors
/// Cancellation; the failure of another rank.
pub(crate) fn least_of_all(own: u64, comm: &dyn Comm, cancel: &Cancel) -> Result<u64> {
    let all = comm.all_gather(own.to_le_bytes().to_vec(), LEAST, cancel).map_err(of_comm)?;
    let numbers = all.iter().filter_map(|bytes| bytes.first_chunk().copied());
    Ok(numbers.map(u64::from_le_bytes).min().unwrap_or(own))
}

/// Adds the sums of all other ranks to the sums of the own vertices. `sums` begins with the sum of
/// the vertex `first`. All ranks call it for the same vertices. The sums of vertices of other ranks
/// stay as they are.
///
/// # Errors
/// Cancellation; the failure of another rank.
pub(crate) fn add_those_of_others(
    sums: &mut [SharedSum],
    first: u64,
    graph: &Graph,
    comm: &dyn Comm,
    cancel: &Cancel,
) -> Result<()> {
    let Some(partition) = graph.partition() else { return Ok(()) };
    let end = first + sums.len() as u64;
    // The places of a rank's vertices among the sums.
    let places_of = |rank: usize| {
        let vertices = partition.vertices_of(rank);
        let (start, end) = (vertices.start.clamp(first, end), vertices.end.clamp(first, end));
        (start - first) as usize..(end - first) as usize
    };
    let round_of = |rank: usize, round: usize| {
        let places = places_of(rank);
        let start = places.end.min(places.start + round * SUMS_AT_ONCE);
        start..places.end.min(start + SUMS_AT_ONCE)
    };
    let others = || (0..comm.size()).filter(|&rank| rank != comm.rank());
    // All ranks make the rounds that the rank with the most vertices needs. With fewer, a rank
    // would leave others waiting for ever.
    let longest = (0..comm.size()).map(|rank| places_of(rank).len()).max().unwrap_or(0);
    for round in 0..longest.div_ceil(SUMS_AT_ONCE) {
        for rank in others() {
            let wanted = &mut sums[round_of(rank, round)];
            let bytes: Vec<u8> = wanted.iter_mut().flat_map(|sum| sum.now().to_bytes()).collect();
            comm.send_long(rank, SUMS, &bytes).map_err(of_comm)?;
        }
        for rank in others() {
            let bytes = comm.receive_long(rank, SUMS, cancel).map_err(of_comm)?;
            add(&mut sums[round_of(comm.rank(), round)], &bytes, rank)?;
        }
    }
    Ok(())
}

fn add(sums: &mut [SharedSum], bytes: &[u8], from: usize) -> Result<()> {
    let (found, rest) = bytes.as_chunks::<{ ExactSum::SIZE }>();
    if found.len() != sums.len() || !rest.is_empty() {
        let detail = format!("it sent {} bytes of sums for {} vertices", bytes.len(), sums.len());
        return Err(Error::RankFailed { rank: from, detail }.into());
    }
    sums.iter().zip(found).for_each(|(sum, found)| sum.add_sum(ExactSum::from_bytes(*found)));
    Ok(())
}
