//! Messages of any length, cut into packets.
//!
//! The first message begins with the length of the whole as eight bytes, lowest first. If the whole
//! is short, its bytes follow in the same message, so that it costs the latency of one message.
//! Otherwise packets follow, each as long as a message may be, except the last.

use tegula_machine::threads::Cancel;

use crate::comm::{Comm, Tag};
use crate::error::{Error, Result};

/// The most bytes that travel behind their length. Copying them costs less than another message.
const INLINE_SIZE_MAX: usize = 4096;

/// Bytes of a length.
const LENGTH_SIZE: usize = size_of::<u64>();

pub(crate) fn send<C: Comm + ?Sized>(comm: &C, to: usize, tag: Tag, bytes: &[u8]) -> Result<()> {
    let message_size_max = comm.message_size_max();
    let is_inline = bytes.len() <= INLINE_SIZE_MAX.min(message_size_max - LENGTH_SIZE);
    let (inline, rest) = bytes.split_at(if is_inline { bytes.len() } else { 0 });
    let mut first = Vec::with_capacity(LENGTH_SIZE + inline.len());
    first.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
    first.extend_from_slice(inline);
    comm.send(to, tag, first)?;
    rest.chunks(message_size_max).try_for_each(|packet| comm.send(to, tag, packet.to_vec()))
}

pub(crate) fn receive<C: Comm + ?Sized>(
    comm: &C,
    from: usize,
    tag: Tag,
    cancel: &Cancel,
) -> Result<Vec<u8>> {
    let damaged = |detail: String| Error::Damaged { from, to: comm.rank(), detail };
    let mut first = comm.receive(from, tag, cancel)?;
    let Some(&length) = first.first_chunk::<LENGTH_SIZE>() else {
        return Err(damaged(format!("its length has {} bytes, not {LENGTH_SIZE}", first.len())));
    };
    let length = u64::from_le_bytes(length);
    let mut whole = first.split_off(LENGTH_SIZE);
    while (whole.len() as u64) < length {
        let packet = comm.receive(from, tag, cancel)?;
        // Empty packets would keep this loop waiting for ever.
        if packet.is_empty() {
            return Err(damaged(format!("a packet is empty at byte {} of {length}", whole.len())));
        }
        // Most long messages are one packet, which is not copied.
        if whole.is_empty() {
            whole = packet;
        } else {
            whole.extend_from_slice(&packet);
        }
    }
    if whole.len() as u64 > length {
        return Err(damaged(format!("its packets hold {} bytes, not {length}", whole.len())));
    }
    Ok(whole)
}
