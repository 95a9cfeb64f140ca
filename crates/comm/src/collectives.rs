//! Exchanges in which all ranks take part, built on messages between two ranks.

use tegula_machine::threads::Cancel;

use crate::comm::{Comm, Tag};
use crate::error::Result;

pub(crate) fn gather<C: Comm + ?Sized>(
    comm: &C,
    root: usize,
    bytes: Vec<u8>,
    tag: Tag,
    cancel: &Cancel,
) -> Result<Option<Vec<Vec<u8>>>> {
    if comm.rank() != root {
        comm.send_long(root, tag, &bytes)?;
        return Ok(None);
    }
    receive_all(comm, bytes, tag, cancel).map(Some)
}

pub(crate) fn all_gather<C: Comm + ?Sized>(
    comm: &C,
    bytes: Vec<u8>,
    tag: Tag,
    cancel: &Cancel,
) -> Result<Vec<Vec<u8>>> {
    let (rank, size) = (comm.rank(), comm.size());
    // Each rank begins with its successor, so that no rank gets the bytes of all others at once.
    for distance in 1..size {
        comm.send_long((rank + distance) % size, tag, &bytes)?;
    }
    receive_all(comm, bytes, tag, cancel)
}

/// Returns by rank what each other rank sends, and `own`.
fn receive_all<C: Comm + ?Sized>(
    comm: &C,
    own: Vec<u8>,
    tag: Tag,
    cancel: &Cancel,
) -> Result<Vec<Vec<u8>>> {
    let mut own = Some(own);
    let received = (0..comm.size()).map(|from| match own.take_if(|_| from == comm.rank()) {
        Some(own) => Ok(own),
        None => comm.receive_long(from, tag, cancel),
    });
    received.collect()
}

/// Sends along a binomial tree: in step k, the ranks at distances below 2^k from the root send to
/// those 2^k further.
pub(crate) fn broadcast<C: Comm + ?Sized>(
    comm: &C,
    root: usize,
    bytes: Option<Vec<u8>>,
    tag: Tag,
    cancel: &Cancel,
) -> Result<Vec<u8>> {
    let (rank, size) = (comm.rank(), comm.size());
    assert!(root < size, "the root is rank {root} of {size}");
    assert_eq!(bytes.is_some(), rank == root, "only the root gives the bytes of a broadcast");
    let distance = (rank + size - root) % size;
    let rank_at = |distance: usize| (root + distance) % size;
    let first_step = if distance == 0 { 0 } else { distance.ilog2() + 1 };
    let bytes = match bytes {
        Some(bytes) => bytes,
        None => comm.receive_long(rank_at(distance - (1 << (first_step - 1))), tag, cancel)?,
    };
    let targets = (first_step..).map(|step| distance + (1 << step));
    for target in targets.take_while(|&target| target < size) {
        comm.send_long(rank_at(target), tag, &bytes)?;
    }
    Ok(bytes)
}

/// A dissemination barrier (Hensgen, Finkel, Manber, 1988): in step k, each rank tells the one 2^k
/// further that it and the 2^k - 1 before it have come.
pub(crate) fn barrier<C: Comm + ?Sized>(comm: &C, tag: Tag, cancel: &Cancel) -> Result<()> {
    let (rank, size) = (comm.rank(), comm.size());
    let distances = (0..).map(|step| 1 << step);
    for distance in distances.take_while(|&distance| distance < size) {
        comm.send((rank + distance) % size, tag, Vec::new())?;
        comm.receive((rank + size - distance) % size, tag, cancel)?;
    }
    Ok(())
}
