//! Packets to one rank and from another, in step.
//!
//! A rank that is quicker than its receiver may be [`IN_FLIGHT_MAX`] packets ahead: then it waits
//! until the receiver has taken one, for every packet is acknowledged. So messages on their way
//! take little memory, however many there are.
//!
//! No rank waits for ever. Say that each rank does the same three things in round `i` of a
//! transfer: it waits if its receiver has not taken all but [`IN_FLIGHT_MAX`] of the packets
//! before, sends packet `i`, and takes packet `i` of its sender. Of all ranks, look at one in the
//! earliest round of the earliest transfer. The ranks for which it might wait are no earlier, so
//! they have done what it waits for, or they need not wait to do it.
//!
//! A rank may scan between two transfers or during one. It does one transfer at a time, and a scan
//! waits for no other rank. So a scan delays other ranks, but not for ever.

use std::sync::atomic::{AtomicUsize, Ordering};

use tegula_comm::{Comm, Tag};
use tegula_machine::threads::Cancel;
use tegula_store::Result;

use super::failure::of_comm;
use super::tags;
use super::times::Clock;

/// The most packets that may be on their way from one rank to another.
const IN_FLIGHT_MAX: usize = 4;

/// All packets on their way to a rank take at most these bytes. With many senders they may take
/// more, for no packet is smaller than [`PACKET_SIZE_MIN`].
const PACKETS_SIZE: usize = 16 << 20;

/// The head of messages and one of them must fit.
const PACKET_SIZE_LEAST: usize = 64;

const PACKET_SIZE_MAX: usize = 1 << 20;
const PACKET_SIZE_MIN: usize = 64 << 10;

/// Returns the bytes of a packet between `ranks` ranks.
fn packet_size(ranks: usize) -> usize {
    // A single rank has no sender, and 0 must not be the divisor.
    let senders = ranks.saturating_sub(1).max(1);
    (PACKETS_SIZE / (IN_FLIGHT_MAX * senders)).clamp(PACKET_SIZE_MIN, PACKET_SIZE_MAX)
}

/// Returns the most bytes of packets on their way to a rank and from it, between `ranks` ranks.
pub fn packets_size(ranks: usize) -> u64 {
    2 * (IN_FLIGHT_MAX * packet_size(ranks) * ranks.saturating_sub(1)) as u64
}

/// The packets that other ranks have not taken yet, by rank, in all transfers of a run.
pub struct OnTheirWay(Vec<AtomicUsize>);

impl OnTheirWay {
    pub fn new(ranks: usize) -> OnTheirWay {
        OnTheirWay((0..ranks).map(|_| AtomicUsize::new(0)).collect())
    }

    /// Waits until at most `most` packets are on their way to a rank.
    fn wait(&self, to: usize, most: usize, comm: &dyn Comm, cancel: &Cancel) -> Result<()> {
        // Relaxed, because the count guards no memory, and one thread at a time does transfers.
        while self.0[to].load(Ordering::Relaxed) > most {
            // The acknowledgement may be that of an earlier transfer. All transfers to a rank share
            // a count.
            comm.receive(to, tags::PACKET_TAKEN, cancel).map_err(of_comm)?;
            self.0[to].fetch_sub(1, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Waits until all packets are taken.
    ///
    /// # Errors
    /// Cancellation; the failure of another rank.
    pub fn wait_for_all(&self, comm: &dyn Comm, cancel: &Cancel) -> Result<()> {
        (0..self.0.len()).try_for_each(|rank| self.wait(rank, 0, comm, cancel))
    }
}

/// Sends packets to the rank `to`, and takes packets of the rank `from`.
pub struct Transfer<'t> {
    comm: &'t dyn Comm,
    cancel: &'t Cancel,
    on_their_way: &'t OnTheirWay,
    /// Gets the time of all waits.
    waiting: &'t Clock,
    to: usize,
    from: usize,
    tag: Tag,
}

impl<'t> Transfer<'t> {
    /// Begins a transfer after the one before has ended. All ranks have the same transfers in the
    /// same order.
    pub fn new(
        comm: &'t dyn Comm,
        cancel: &'t Cancel,
        (on_their_way, waiting): (&'t OnTheirWay, &'t Clock),
        (to, from): (usize, usize),
        tag: Tag,
    ) -> Transfer<'t> {
        Transfer { comm, cancel, on_their_way, waiting, to, from, tag }
    }

    /// Returns the most bytes of a packet.
    ///
    /// # Panics
    /// When the transport takes no messages of [`PACKET_SIZE_LEAST`] bytes.
    pub fn packet_size(&self) -> usize {
        let size = packet_size(self.comm.size()).min(self.comm.message_size_max());
        assert!(size >= PACKET_SIZE_LEAST, "packets of {size} bytes");
        size
    }

    /// Sends the next packet, as soon as few enough are on their way.
    ///
    /// # Errors
    /// Cancellation; the failure of another rank.
    pub fn send(&self, packet: Vec<u8>) -> Result<()> {
        let timing = self.waiting.start();
        // One fewer than the most, because this packet comes on top.
        self.on_their_way.wait(self.to, IN_FLIGHT_MAX - 1, self.comm, self.cancel)?;
        // Only waits count, so the time ends before the packet is sent.
        drop(timing);
        self.on_their_way.0[self.to].fetch_add(1, Ordering::Relaxed);
        self.comm.send(self.to, self.tag, packet).map_err(of_comm)
    }

    /// Waits for the next packet, and acknowledges it.
    ///
    /// # Errors
    /// Cancellation; the failure of another rank.
    pub fn take(&self) -> Result<Vec<u8>> {
        let timing = self.waiting.start();
        let packet = self.comm.receive(self.from, self.tag, self.cancel).map_err(of_comm)?;
        drop(timing);
        self.comm.send(self.from, tags::PACKET_TAKEN, Vec::new()).map_err(of_comm)?;
        Ok(packet)
    }
}
