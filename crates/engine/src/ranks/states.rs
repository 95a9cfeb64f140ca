//! The states of all vertices after a run, on every rank.

use std::ops::Range;

use tegula_store::Result;

use super::failure::rank_failed;
use super::{Ranks, tags};
use crate::states::cut::{Cut, shared};

/// Reads the bytes of the states of some vertices of one block.
pub type ReadStates<'a> = &'a mut dyn FnMut(Range<usize>) -> Result<Vec<u8>>;

/// Writes the bytes of the states of some vertices of one block.
pub type WriteStates<'a> = &'a mut dyn FnMut(Range<usize>, &[u8]) -> Result<()>;

impl Ranks<'_> {
    /// Completes the states of `size` bytes each: this rank has the states of its own vertices, and
    /// gets the others, block by block.
    ///
    /// # Errors
    /// Cancellation; the failure of another rank.
    pub fn complete(
        &self,
        cut: &Cut,
        size: usize,
        read: ReadStates<'_>,
        write: WriteStates<'_>,
    ) -> Result<()> {
        let (rank, ranks) = (self.comm.rank(), self.comm.size());
        for step in 1..ranks {
            let (to, from) = ((rank + step) % ranks, (rank + ranks - step) % ranks);
            let transfer = self.transfer((to, from), tags::STATES);
            let packet_size = transfer.packet_size();
            let mut theirs = blocks_of(cut, &self.vertices[from]);
            // The block at work, and what has come of it.
            let mut open: Option<(Range<usize>, Vec<u8>)> = None;
            let mut take = || {
                let next = || theirs.next().map(|vertices| (vertices, Vec::new()));
                let Some((vertices, mut bytes)) = open.take().or_else(next) else {
                    return Ok(false);
                };
                bytes.extend_from_slice(&transfer.take()?);
                let wanted = vertices.len() * size;
                match bytes.len() == wanted {
                    true => write(vertices, &bytes)?,
                    // Only the last packet of a block may be shorter than the others.
                    false if bytes.len() < wanted && bytes.len().is_multiple_of(packet_size) => {
                        open = Some((vertices, bytes));
                    }
                    false => {
                        let detail =
                            format!("it sent {} bytes of states, not {wanted}", bytes.len());
                        return Err(rank_failed(from, detail));
                    }
                }
                Ok(true)
            };
            for vertices in blocks_of(cut, &self.own_vertices()) {
                self.cancel.check()?;
                for packet in read(vertices)?.chunks(packet_size) {
                    // As for messages, each round sends a packet and takes one, so no rank waits
                    // for ever.
                    transfer.send(packet.to_vec())?;
                    take()?;
                }
            }
            while take()? {}
        }
        Ok(())
    }

    /// Waits until nothing is on its way any more.
    ///
    /// # Errors
    /// Cancellation; the failure of another rank.
    pub fn end_transfers(&self) -> Result<()> {
        self.on_their_way.wait_for_all(self.comm, &self.cancel)
    }
}

/// Cuts vertices where blocks end.
fn blocks_of(cut: &Cut, vertices: &Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let (cut, vertices) = (*cut, vertices.clone());
    cut.blocks(&vertices).map(move |block| shared(&vertices, &cut.vertices(block)))
}
