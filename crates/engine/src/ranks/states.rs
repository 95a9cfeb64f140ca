//! The states of all vertices after a run, on every rank.

use tegula_store::Result;
use zerocopy::IntoBytes;

use super::failure::{of_comm, rank_failed};
use super::{Ranks, tags};
use crate::program::Value;

impl Ranks<'_> {
    /// Completes the states: this rank has those of its own vertices, and gets the others.
    ///
    /// # Errors
    /// Cancellation; the failure of another rank.
    pub fn complete<S: Value>(&self, states: &mut [S]) -> Result<()> {
        let (rank, size) = (self.comm.rank(), self.comm.size());
        for step in 1..size {
            let (to, from) = ((rank + step) % size, (rank + size - step) % size);
            let own = states[self.own_vertices()].as_bytes();
            self.comm.send_long(to, tags::STATES, own).map_err(of_comm)?;
            let bytes = self.comm.receive_long(from, tags::STATES, &self.cancel);
            let bytes = bytes.map_err(of_comm)?;
            let places = states[self.vertices[from].clone()].as_mut_bytes();
            if bytes.len() != places.len() {
                let detail =
                    format!("it sent {} bytes of states, not {}", bytes.len(), places.len());
                return Err(rank_failed(from, detail));
            }
            places.copy_from_slice(&bytes);
        }
        Ok(())
    }
}
