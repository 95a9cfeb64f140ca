//! Writes a graph as an edge list file, in parallel and in little memory.

use std::io::{self, Write};

use rayon::prelude::*;

use crate::text::append_decimal;
use crate::{BLOCK_EDGES, Edge, Generator, weight};

/// Blocks that are encoded before they are written: at most about 64 MiB of text, for any graph.
const BLOCKS_PER_GROUP: u64 = 32;

/// The format of an edge list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// A line `source target` or `source target weight` per edge.
    Text,
    /// Two little-endian 32-bit integers per edge.
    Binary32,
    /// Two little-endian 64-bit integers per edge.
    Binary64,
}

/// Writes all edges of `generator` in the order of their numbers. `weights` is the seed of the
/// weights: with it, each edge has its [`weight()`]. From time to time, calls `advance` with the
/// number of edges written since the last call.
///
/// # Errors
/// Errors of `out`; [`io::ErrorKind::InvalidInput`] for a binary format with weights, or for ids
/// above `u32::MAX` in 32 bits.
pub fn write(
    generator: &dyn Generator,
    format: Format,
    weights: Option<u64>,
    out: &mut dyn Write,
    advance: &mut dyn FnMut(u64),
) -> io::Result<()> {
    check(generator, format, weights)?;
    let edge_count = generator.edge_count();
    let block_count = edge_count.div_ceil(BLOCK_EDGES);
    for group in (0..block_count).step_by(BLOCKS_PER_GROUP as usize) {
        let end = block_count.min(group + BLOCKS_PER_GROUP);
        let encoded: Vec<Vec<u8>> = (group..end)
            .into_par_iter()
            .map_init(Vec::new, |edges, block| {
                let first = block * BLOCK_EDGES;
                edges.resize(BLOCK_EDGES.min(edge_count - first) as usize, (0, 0));
                generator.fill(first, edges);
                encode(edges, first, format, weights)
            })
            .collect();
        for block in encoded {
            out.write_all(&block)?;
        }
        advance(edge_count.min(end * BLOCK_EDGES) - group * BLOCK_EDGES);
    }
    out.flush()
}

/// Refuses a graph that the format cannot hold.
fn check(generator: &dyn Generator, format: Format, weights: Option<u64>) -> io::Result<()> {
    let refuse = |message| Err(io::Error::new(io::ErrorKind::InvalidInput, message));
    if format != Format::Text && weights.is_some() {
        return refuse("binary edge lists hold no weights; write text instead");
    }
    if format == Format::Binary32 && generator.vertex_count() > 1 << 32 {
        return refuse("the graph has ids above 32 bits; write 64-bit pairs instead");
    }
    Ok(())
}

fn encode(edges: &[Edge], first: u64, format: Format, weights: Option<u64>) -> Vec<u8> {
    match format {
        Format::Text => encode_text(edges, first, weights),
        Format::Binary32 => encode_pairs(edges, |id| (id as u32).to_le_bytes()),
        Format::Binary64 => encode_pairs(edges, u64::to_le_bytes),
    }
}

fn encode_pairs<const BYTES: usize>(edges: &[Edge], bytes: impl Fn(u64) -> [u8; BYTES]) -> Vec<u8> {
    let mut pairs = vec![0; edges.len() * 2 * BYTES];
    let (slots, _) = pairs.as_chunks_mut::<BYTES>();
    for (slot, &(source, target)) in slots.chunks_exact_mut(2).zip(edges) {
        slot.copy_from_slice(&[bytes(source), bytes(target)]);
    }
    pairs
}

fn encode_text(edges: &[Edge], first: u64, weights: Option<u64>) -> Vec<u8> {
    let mut text = Vec::with_capacity(edges.len() * if weights.is_some() { 32 } else { 20 });
    for (number, &(source, target)) in (first..).zip(edges) {
        append_decimal(source, &mut text);
        text.push(b' ');
        append_decimal(target, &mut text);
        if let Some(seed) = weights {
            write!(text, " {}", weight(seed, number))
                .expect("a vector takes whatever is written to it");
        }
        text.push(b'\n');
    }
    text
}
