//! The bytes of messages between two ranks.
//!
//! The messages of a rank are sent in one of four forms:
//!
//! * **nothing** is sent if no listed source has a message;
//! * **pairs** are sent, of a position in the list and a message, if they take fewer bytes than the
//!   listed messages;
//! * **listed** messages are sent in the order of the list, one for each source in it, if at most
//!   half of the vertices are listed;
//! * **all** messages of the sender are sent if more are listed. Copying is quicker than picking.
//!
//! They are cut into packets, of which the first begins with the head.

use std::iter::zip;

use tegula_store::Result;
use zerocopy::little_endian::{U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use super::lists::{Listed, ListedVertices};
use crate::program::Value;

/// A list is used if it saves at least one in `LIST_GAIN_MIN` messages. It is a guess that picking a
/// message takes twice as long as copying one.
const LIST_GAIN_MIN: usize = 2;

/// Returns how many messages a rank sends if all of its `all` vertices have one and `listed` of them
/// are wanted.
pub fn messages_sent(listed: usize, all: usize) -> usize {
    if all - listed < all / LIST_GAIN_MIN { all } else { listed }
}

/// The form of the messages to a rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Nothing,
    Pairs,
    Listed,
    All,
}

impl Form {
    const EVERY: [Form; 4] = [Form::Nothing, Form::Pairs, Form::Listed, Form::All];

    /// Returns the bytes of an entry with a message of `size` bytes.
    fn entry_size(self, size: usize) -> usize {
        match self {
            Form::Nothing | Form::Listed | Form::All => size,
            Form::Pairs => POSITION_SIZE + size,
        }
    }
}

/// What stands before the entries.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct Head {
    /// The place of the form in [`Form::EVERY`].
    form: u8,
    reserved: [u8; 3],
    /// Number of packets.
    packets: U32,
    /// Number of entries.
    count: U64,
}

/// Listed messages that are picked at a time.
const PICKED: usize = 1 << 12;

/// Bytes of a position in a list.
const POSITION_SIZE: usize = size_of::<u32>();

/// Messages for another rank.
pub struct Outgoing<'m, M> {
    /// By vertex.
    pub messages: &'m [M],
    /// A bit for each vertex whose message may differ from the identity.
    pub published: &'m [u64],
    /// The vertices that have an edge on the other rank.
    pub list: Listed<'m>,
}

impl<M: Value> Outgoing<'_, M> {
    /// Chooses the form; returns it with the number of entries.
    fn form(&self) -> (Form, usize) {
        let words = zip(self.published, self.list.words);
        let sent: usize =
            words.map(|(published, listed)| (published & listed).count_ones() as usize).sum();
        let (size, all) = (size_of::<M>(), self.messages.len());
        if sent == 0 {
            (Form::Nothing, 0)
        } else if sent * (size + POSITION_SIZE) < self.list.count * size {
            (Form::Pairs, sent)
        } else if messages_sent(self.list.count, all) == all {
            (Form::All, all)
        } else {
            (Form::Listed, self.list.count)
        }
    }

    /// Sends the messages in packets of at most `packet_size_max` bytes.
    ///
    /// # Errors
    /// The errors of `send`.
    pub fn send(
        &self,
        packet_size_max: usize,
        send: &mut dyn FnMut(Vec<u8>) -> Result<()>,
    ) -> Result<()> {
        let (form, count) = self.form();
        let entry_size = form.entry_size(size_of::<M>());
        let mut packets = Packets::new(form, count, entry_size, packet_size_max, send);
        match form {
            Form::Nothing => {}
            Form::Pairs => self.for_each_pair(|position, message| {
                packets.push(position.as_bytes(), message.as_bytes())
            })?,
            Form::Listed => {
                let mut listed = self.list.vertices();
                let mut left = count;
                let mut values = Vec::with_capacity(PICKED);
                while left > 0 {
                    listed.for_each_of(PICKED, |vertex| values.push(self.messages[vertex]));
                    left -= values.len();
                    packets.extend(&values)?;
                    values.clear();
                }
            }
            Form::All => packets.extend(self.messages)?,
        }
        packets.finish()
    }

    /// Visits the published messages of listed sources, with their positions in the list.
    fn for_each_pair(&self, mut visit: impl FnMut(u32, M) -> Result<()>) -> Result<()> {
        let mut before = 0;
        for (word, (&published, &listed)) in zip(self.published, self.list.words).enumerate() {
            let mut rest = published & listed;
            while rest != 0 {
                let bit = rest.trailing_zeros();
                rest &= rest - 1;
                let position = before + (listed & !(u64::MAX << bit)).count_ones();
                visit(position, self.messages[64 * word + bit as usize])?;
            }
            before += listed.count_ones();
        }
        Ok(())
    }
}

/// Packets on their way to another rank.
struct Packets<'s> {
    bytes: Vec<u8>,
    entry_size: usize,
    packet_size_max: usize,
    send: &'s mut dyn FnMut(Vec<u8>) -> Result<()>,
}

impl<'s> Packets<'s> {
    fn new(
        form: Form,
        count: usize,
        entry_size: usize,
        packet_size_max: usize,
        send: &'s mut dyn FnMut(Vec<u8>) -> Result<()>,
    ) -> Packets<'s> {
        let in_first = (packet_size_max - size_of::<Head>()) / entry_size;
        let further = count.saturating_sub(in_first).div_ceil(packet_size_max / entry_size);
        let head = Head {
            form: form as u8,
            reserved: [0; 3],
            packets: (1 + further as u32).into(),
            count: (count as u64).into(),
        };
        let size = packet_size_max.min(size_of::<Head>() + count.saturating_mul(entry_size));
        let mut bytes = Vec::with_capacity(size);
        bytes.extend_from_slice(head.as_bytes());
        Packets { bytes, entry_size, packet_size_max, send }
    }

    /// Returns the number of entries for which the present packet has room.
    fn room(&self) -> usize {
        (self.packet_size_max - self.bytes.len()) / self.entry_size
    }

    /// Appends an entry, which comes in two pieces.
    #[inline]
    fn push(&mut self, first: &[u8], second: &[u8]) -> Result<()> {
        self.make_room(self.entry_size)?;
        self.bytes.extend_from_slice(first);
        self.bytes.extend_from_slice(second);
        Ok(())
    }

    /// Appends messages, each an entry.
    fn extend<M: Value>(&mut self, messages: &[M]) -> Result<()> {
        let mut rest = messages;
        while !rest.is_empty() {
            self.make_room(self.entry_size)?;
            let (here, behind) = rest.split_at(self.room().min(rest.len()));
            self.bytes.extend_from_slice(here.as_bytes());
            rest = behind;
        }
        Ok(())
    }

    #[inline]
    fn make_room(&mut self, size: usize) -> Result<()> {
        if self.bytes.len() + size <= self.packet_size_max {
            return Ok(());
        }
        let next = Vec::with_capacity(self.packet_size_max);
        (self.send)(std::mem::replace(&mut self.bytes, next))
    }

    fn finish(self) -> Result<()> {
        (self.send)(self.bytes)
    }
}

/// The places for messages of another rank.
pub struct Incoming<'m, M> {
    /// By vertex.
    messages: &'m mut [M],
    /// A bit for each vertex whose message may differ from the identity.
    published: &'m mut [u64],
    /// The vertices that have an edge here.
    list: Listed<'m>,
    identity: M,
    arrived: Option<Arrived<'m>>,
}

/// What has come of the messages.
struct Arrived<'m> {
    form: Form,
    /// All entries.
    count: usize,
    /// All packets.
    packets: usize,
    /// Entries that have come.
    done: usize,
    /// Packets that have come.
    taken: usize,
    /// The listed vertices whose messages have not come.
    listed: ListedVertices<'m>,
}

impl<'m, M: Value + PartialEq> Incoming<'m, M> {
    /// Makes places for messages of which none has come.
    pub fn new(
        messages: &'m mut [M],
        published: &'m mut [u64],
        list: Listed<'m>,
        identity: M,
    ) -> Incoming<'m, M> {
        Incoming { messages, published, list, identity, arrived: None }
    }

    /// Returns whether all messages have come, as they have if there are no vertices.
    pub fn is_complete(&self) -> bool {
        self.messages.is_empty()
            || self.arrived.as_ref().is_some_and(|arrived| arrived.taken == arrived.packets)
    }

    /// Writes the messages of the next packet to their places, and sets the bits of those that may
    /// differ from the identity. Messages of the iteration before are withdrawn. Messages of
    /// sources without an edge here may stay, since no tile reads them.
    ///
    /// # Errors
    /// A description of wrong bytes.
    pub fn take(&mut self, packet: &[u8]) -> Result<(), String> {
        let (mut arrived, start) = match self.arrived.take() {
            Some(arrived) => (arrived, 0),
            None => (self.begin(packet)?, size_of::<Head>()),
        };
        let entry_size = arrived.form.entry_size(size_of::<M>());
        let body = &packet[start..];
        let here = body.len() / entry_size;
        arrived.taken += 1;
        let is_last = arrived.taken == arrived.packets;
        if !body.len().is_multiple_of(entry_size)
            || arrived.done + here > arrived.count
            // Packets and entries end together, or `take` would wait for a packet that never comes.
            || is_last != (arrived.done + here == arrived.count)
        {
            return Err(format!("it sent {} bytes of messages, which do not fit", body.len()));
        }
        match arrived.form {
            Form::Nothing => {}
            Form::Pairs => self.take_pairs(body)?,
            Form::Listed => {
                let mut values = body.chunks_exact(size_of::<M>());
                arrived.listed.for_each_of(here, |vertex| {
                    let value = values.next().and_then(|value| M::read_from_bytes(value).ok());
                    self.messages[vertex] = value.unwrap_or(self.identity);
                });
            }
            Form::All => {
                let places = &mut self.messages[arrived.done..arrived.done + here];
                places.as_mut_bytes().copy_from_slice(body);
            }
        }
        arrived.done += here;
        match arrived.form {
            Form::Listed if is_last => {
                zip(&mut *self.published, self.list.words).for_each(|(word, list)| *word |= list);
            }
            Form::All if is_last => {
                for (word, messages) in zip(&mut *self.published, self.messages.chunks(64)) {
                    *word = u64::MAX >> (64 - messages.len());
                }
            }
            _ => {}
        }
        self.arrived = Some(arrived);
        Ok(())
    }

    fn begin(&mut self, packet: &[u8]) -> Result<Arrived<'m>, String> {
        let (form, count, packets) = self.head(packet)?;
        if matches!(form, Form::Nothing | Form::Pairs) {
            self.withdraw();
        }
        Ok(Arrived { form, count, packets, done: 0, taken: 0, listed: self.list.vertices() })
    }

    /// Reads the head of the first packet, and checks that it fits.
    fn head(&self, packet: &[u8]) -> Result<(Form, usize, usize), String> {
        let (head, _) =
            Head::ref_from_prefix(packet).map_err(|_| "it sent messages without a head")?;
        let form = Form::EVERY.get(usize::from(head.form)).copied();
        let form = form.ok_or("it sent messages of an unknown form")?;
        let count = head.count.get();
        let fits = match form {
            Form::Nothing => count == 0,
            Form::Pairs => (1..=self.list.count as u64).contains(&count),
            Form::Listed => count == self.list.count as u64,
            Form::All => count == self.messages.len() as u64,
        };
        match fits {
            true => Ok((form, count as usize, head.packets.get() as usize)),
            false => Err(format!("it sent {count} messages of {} listed sources", self.list.count)),
        }
    }

    fn take_pairs(&mut self, body: &[u8]) -> Result<(), String> {
        // Positions ascend within a packet, so one pass over the words finds all of them.
        let (mut word, mut before) = (0, 0u32);
        for pair in body.chunks_exact(POSITION_SIZE + size_of::<M>()) {
            let (position, message) = pair.split_at(POSITION_SIZE);
            let position = u32::read_from_bytes(position).unwrap_or_default();
            let misplaced = || {
                format!(
                    "it sent a message for position {position} of a list, which is out of place"
                )
            };
            let listed = loop {
                let listed = *self.list.words.get(word).ok_or_else(misplaced)?;
                if position < before + listed.count_ones() {
                    break listed;
                }
                before += listed.count_ones();
                word += 1;
            };
            let bit = nth_bit(listed, position.checked_sub(before).ok_or_else(misplaced)?);
            let message = M::read_from_bytes(message).unwrap_or(self.identity);
            self.messages[64 * word + bit as usize] = message;
            self.published[word] |= 1 << bit;
        }
        Ok(())
    }

    /// Replaces published messages by the identity.
    fn withdraw(&mut self) {
        for (messages, word) in zip(self.messages.chunks_mut(64), &mut *self.published) {
            if std::mem::take(word) != 0 {
                messages.fill(self.identity);
            }
        }
    }
}

/// Returns the number of the set bit that has `n` set bits below it.
fn nth_bit(word: u64, n: u32) -> u32 {
    let mut rest = word;
    for _ in 0..n {
        rest &= rest - 1;
    }
    rest.trailing_zeros()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::ranks::lists::SourceList;

    /// Sends messages in packets of some size, and returns what arrives, with the number of packets.
    fn deliver(
        own: &[u32],
        listed: &[bool],
        (messages, published): (&mut [u32], &mut [u64]),
        packet_size_max: usize,
    ) -> usize {
        let words = |is_set: &dyn Fn(usize) -> bool| {
            let word = |word: usize| {
                (0..64).fold(0, |bits, bit| {
                    let vertex = 64 * word + bit;
                    bits | u64::from(vertex < own.len() && is_set(vertex)) << bit
                })
            };
            (0..own.len().div_ceil(64)).map(word).collect::<Vec<u64>>()
        };
        let list = SourceList::new(words(&|vertex| listed[vertex]));
        let list = list.among(&(0..own.len()));
        let bits = words(&|vertex| own[vertex] != u32::MAX);
        let batch = Outgoing { messages: own, published: &bits, list };
        let mut packets: Vec<Vec<u8>> = Vec::new();
        batch
            .send(packet_size_max, &mut |packet| {
                packets.push(packet);
                Ok(())
            })
            .unwrap();
        let count = packets.len();
        assert!(packets.iter().all(|packet| packet.len() <= packet_size_max.max(24)));
        let mut places = Incoming::new(messages, published, list, u32::MAX);
        for packet in packets {
            assert!(!places.is_complete());
            assert_eq!(places.take(&packet), Ok(()));
        }
        assert!(places.is_complete());
        count
    }

    proptest! {
        #[test]
        fn listed_messages_arrive_in_every_form_and_old_ones_are_withdrawn(
            rounds in prop::collection::vec(0..100u32, 1..5),
            vertices in prop::collection::vec((any::<u32>(), any::<bool>(), 0..100u32), 1..300),
            packet_size_max in 24..2000usize,
        ) {
            let listed: Vec<bool> = vertices.iter().map(|vertex| vertex.1).collect();
            let mut messages = vec![u32::MAX; vertices.len()];
            let mut published = vec![0; vertices.len().div_ceil(64)];
            for share in rounds {
                let own = vertices.iter().map(|&(value, _, draw)| match draw < share {
                    true => value.min(u32::MAX - 1),
                    false => u32::MAX,
                });
                let own: Vec<u32> = own.collect();
                deliver(&own, &listed, (&mut messages, &mut published), packet_size_max);
                for (vertex, (&sent, &found)) in zip(&own, &messages).enumerate() {
                    if listed[vertex] {
                        prop_assert_eq!(sent, found);
                        let bit = published[vertex / 64] >> (vertex % 64) & 1;
                        prop_assert!(bit == 1 || sent == u32::MAX);
                    }
                }
            }
        }
    }

    #[test]
    fn wrong_bytes_are_refused() {
        let list = SourceList::new(vec![0b1011]);
        let head = |form: u8, packets: u32, count: u64| {
            let (packets, count) = (packets.into(), count.into());
            Head { form, reserved: [0; 3], packets, count }.as_bytes().to_vec()
        };
        let with = |mut bytes: Vec<u8>, body: &[u8]| {
            bytes.extend_from_slice(body);
            bytes
        };
        for bytes in [
            Vec::new(),
            head(9, 1, 0),
            head(0, 1, 1),
            head(0, 0, 0),
            head(1, 1, 4),
            head(2, 1, 2),
            head(2, 1, 3),
            head(2, 2, 3),
            head(3, 1, 3),
            with(head(2, 1, 3), &[0; 16]),
            with(head(2, 1, 3), &[0; 7]),
            with(head(2, 2, 3), &[0; 12]),
            with(head(1, 1, 1), &[3, 0, 0, 0, 1, 2, 3, 4]),
        ] {
            let (mut messages, mut published) = ([u32::MAX; 4], [0]);
            let list = list.among(&(0..4));
            let mut places = Incoming::new(&mut messages, &mut published, list, u32::MAX);
            // A second packet must be refused if the first one may have one behind it.
            let refused = places.take(&bytes).and_then(|()| places.take(&[]));
            assert!(refused.is_err(), "{bytes:?}");
        }
    }
}
