//! What all ranks agree on between two iterations.

use tegula_store::Result;
use zerocopy::little_endian::{U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use super::failure::{of_comm, rank_failed};
use super::{Ranks, tags};
use crate::program::Aggregate;
use crate::superstep::active_set::ActiveSet;

/// How far a program is between two iterations, on one rank or several.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Standing {
    /// Active vertices.
    pub active: u64,
    /// Whether a vertex is not settled.
    pub has_open_targets: bool,
    /// Whether the program [has failed](crate::program::Program::has_failed).
    pub has_failed: bool,
}

/// The head of the message of a rank. The summary of its active vertices follows: a word for each
/// 2^16 vertices, from the word of its first one on. Then come the bytes of its sums, each with its
/// length before it.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct Head {
    active: U64,
    has_open_targets: u8,
    has_failed: u8,
    reserved: [u8; 2],
    sums: U32,
}

impl Ranks<'_> {
    /// Adds up the sums of all ranks, each by ascending batch. Vertices belong to ranks in ascending
    /// order, so this is the order of one machine. `active` gets the summary of all ranks, so each
    /// skips the tiles that one machine would skip: that decides how sums of floats are rounded.
    ///
    /// # Errors
    /// Cancellation; the failure of another rank.
    pub fn agree<A: Aggregate>(
        &self,
        sums: impl Iterator<Item = A>,
        own: Standing,
        active: &mut ActiveSet,
    ) -> Result<(A, Standing)> {
        let mut total = A::default();
        let mut add = |sum: &[u8]| A::from_bytes(sum).map(|sum| total.merge(sum));
        let others = self.agree_on(&mut sums.map(|sum| sum.to_bytes()), own, active, &mut add)?;
        Ok((total, others))
    }

    /// Like [`agree`](Ranks::agree), with the bytes of the sums. `add` takes those of all ranks; it
    /// returns `None` if they are damaged.
    fn agree_on(
        &self,
        sums: &mut dyn Iterator<Item = Vec<u8>>,
        own: Standing,
        active: &mut ActiveSet,
        add: &mut dyn FnMut(&[u8]) -> Option<()>,
    ) -> Result<Standing> {
        let _timing = self.times.agreeing.start();
        let summary = &active.summary()[ActiveSet::summary_words(&self.own_vertices())];
        let message = encode(summary, sums, own);
        let all = self.comm.all_gather(message, tags::AGREEMENT, &self.cancel).map_err(of_comm)?;
        let mut others = Standing::default();
        for (rank, message) in all.iter().enumerate() {
            let vertices = &self.vertices[rank];
            let words = ActiveSet::summary_words(vertices);
            let decoded = decode(message, words.len(), vertices.len(), add);
            let garbled = || rank_failed(rank, "its sums are garbled".to_owned());
            let (summary, standing) = decoded.ok_or_else(garbled)?;
            active.add_summary(words.start, summary.iter().map(|word| word.get()));
            // The caller knows the standing of this rank, and adds it itself.
            if rank != self.comm.rank() {
                others.active += standing.active;
                others.has_open_targets |= standing.has_open_targets;
                others.has_failed |= standing.has_failed;
            }
        }
        Ok(others)
    }
}

fn encode(summary: &[u64], sums: &mut dyn Iterator<Item = Vec<u8>>, own: Standing) -> Vec<u8> {
    let mut bytes = vec![0; size_of::<Head>()];
    summary.iter().for_each(|word| bytes.extend_from_slice(&word.to_le_bytes()));
    let mut count = 0u32;
    for sum in sums {
        bytes.extend_from_slice(U32::new(sum.len() as u32).as_bytes());
        bytes.extend_from_slice(&sum);
        count += 1;
    }
    let head = Head {
        active: own.active.into(),
        has_open_targets: u8::from(own.has_open_targets),
        has_failed: u8::from(own.has_failed),
        reserved: [0; 2],
        sums: count.into(),
    };
    bytes[..size_of::<Head>()].copy_from_slice(head.as_bytes());
    bytes
}

/// Decodes the message of a rank with this number of `vertices`: its summary and standing. `add`
/// takes the bytes of its sums. Returns `None` if the bytes are damaged.
fn decode<'b>(
    bytes: &'b [u8],
    summary_words: usize,
    vertices: usize,
    add: &mut dyn FnMut(&[u8]) -> Option<()>,
) -> Option<(&'b [U64], Standing)> {
    let (head, rest) = Head::ref_from_prefix(bytes).ok()?;
    // A greater number could wrap the sum over all ranks around to 0, which ends a run.
    if head.active.get() > vertices as u64 {
        return None;
    }
    let (summary, mut rest) = <[U64]>::ref_from_prefix_with_elems(rest, summary_words).ok()?;
    for _ in 0..head.sums.get() {
        let (len, behind) = U32::ref_from_prefix(rest).ok()?;
        let (sum, behind) = behind.split_at_checked(len.get() as usize)?;
        add(sum)?;
        rest = behind;
    }
    let standing = Standing {
        active: head.active.get(),
        has_open_targets: head.has_open_targets != 0,
        has_failed: head.has_failed != 0,
    };
    rest.is_empty().then_some((summary, standing))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_rank_has_more_active_vertices_than_vertices() {
        let message = |active| {
            let standing = Standing { active, has_open_targets: true, has_failed: false };
            encode(&[7], &mut std::iter::once(Vec::new()), standing)
        };
        let message_of_all = message(9);
        let mut sums = 0;
        let mut add = |_: &[u8]| {
            sums += 1;
            Some(())
        };
        let (summary, standing) = decode(&message_of_all, 1, 9, &mut add).unwrap();
        for active in [10, u64::MAX] {
            assert!(decode(&message(active), 1, 9, &mut add).is_none(), "{active} of 9");
        }
        assert_eq!((summary[0].get(), sums, standing.active), (7, 1, 9));
    }
}
