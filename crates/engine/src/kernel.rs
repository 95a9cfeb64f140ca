//! The process phase of one tile: the inner loop of every program.
//!
//! Cost, in memory on one core with 4-byte messages: 0.4 to 1.2 ns an edge, measured by
//! `make bench`. Bounds are checked once per strip ([`Tile::strips`]), so the loops have no check,
//! no lock and no branch on data. The same code is compiled for AVX-512, AVX2 and any processor; the
//! order of reduction is part of it (four lanes in a row of singles, two in masks), so all give the
//! same bits.

use tegula_store::tiles::{EdgeWeight, Encoding, Entries, Strip, Tile, WINDOW_SIZE};

use crate::program::Program;

/// The instructions that a kernel may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Instructions {
    /// AVX-512 F, BW, DQ and VL.
    Avx512,
    /// AVX2 and BMI.
    Avx2,
    /// Whatever the compiler was told to expect.
    Portable,
}

impl Instructions {
    /// The best that this processor has.
    pub fn detect() -> Instructions {
        #[cfg(target_arch = "x86_64")]
        {
            let has_avx512 = is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl");
            let has_avx2 = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("bmi2");
            if has_avx512 && has_avx2 {
                return Instructions::Avx512;
            }
            if has_avx2 {
                return Instructions::Avx2;
            }
        }
        Instructions::Portable
    }
}

/// What a kernel reads and writes.
pub struct KernelInput<'a, P: Program> {
    /// The program.
    pub program: &'a P,
    /// The tile.
    pub tile: Tile<'a>,
    /// A weight for each entry; empty in an unweighted graph.
    pub weights: &'a [f32],
    /// A message for each vertex, and one more that is the identity.
    pub messages: &'a [P::Message],
    /// The accumulators of the tile's target window.
    pub accumulators: &'a mut [P::Message; WINDOW_SIZE],
}

/// Reduces the messages of a tile's sources into the accumulators of its targets.
///
/// # Errors
/// What does not fit in the tile, in words.
pub fn process<P: Program>(
    input: KernelInput<'_, P>,
    instructions: Instructions,
) -> Result<(), String> {
    match instructions {
        // SAFETY: `Instructions::detect` found these features on this processor.
        #[cfg(target_arch = "x86_64")]
        Instructions::Avx512 => unsafe { process_avx512(input) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Instructions::Avx2 => unsafe { process_avx2(input) },
        _ => process_inline(input),
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,bmi1,bmi2,popcnt,lzcnt")]
fn process_avx512<P: Program>(input: KernelInput<'_, P>) -> Result<(), String> {
    process_inline(input)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
fn process_avx2<P: Program>(input: KernelInput<'_, P>) -> Result<(), String> {
    process_inline(input)
}

#[inline(always)]
fn process_inline<P: Program>(input: KernelInput<'_, P>) -> Result<(), String> {
    let KernelInput { program, tile, weights, messages, accumulators } = input;
    let sources = messages.len() - 1;
    for strip in tile.strips(sources as u32) {
        let strip = strip?;
        if P::Weight::IS_WEIGHTED && !weights.is_empty() {
            let first = strip.entry_offset();
            let weights = weights
                .get(first..first + strip.count())
                .ok_or_else(|| "it has more entries than weights".to_owned())?;
            let weigh = |entry: usize| P::Weight::from_f32(weights[entry]);
            reduce_strip(program, &strip, weigh, messages, accumulators);
        } else {
            let weigh = |_| P::Weight::from_f32(1.0);
            reduce_strip(program, &strip, weigh, messages, accumulators);
        }
    }
    Ok(())
}

#[inline(always)]
fn reduce_strip<P: Program>(
    program: &P,
    strip: &Strip<'_>,
    weigh: impl Fn(usize) -> P::Weight,
    messages: &[P::Message],
    accumulators: &mut [P::Message; WINDOW_SIZE],
) {
    match (strip.entries(), strip.encoding()) {
        (Entries::Row, _) => reduce_row(program, strip, weigh, messages, accumulators),
        (Entries::Singles, _) => reduce_singles(program, strip, weigh, messages, accumulators),
        (Entries::Masks, Encoding::Mask8) => {
            reduce_masks::<P, 8>(program, strip, messages, accumulators);
        }
        (Entries::Masks, _) => reduce_masks::<P, 16>(program, strip, messages, accumulators),
    }
}

/// The message that an entry carries: the identity, behind all others, where it is no edge.
#[inline(always)]
fn message_of<M: Copy>(messages: &[M], source: u32, is_edge: bool) -> M {
    let index = if is_edge { source as usize } else { messages.len() - 1 };
    // SAFETY: `Tile::strips` was given `messages.len() - 1` as the limit of the sources and passes on
    // none that reaches it.
    unsafe { *messages.get_unchecked(index) }
}

/// All edges lead to one target: four independent accumulators hide the latency of `reduce`.
#[inline(always)]
fn reduce_row<P: Program>(
    program: &P,
    strip: &Strip<'_>,
    weigh: impl Fn(usize) -> P::Weight,
    messages: &[P::Message],
    accumulators: &mut [P::Message; WINDOW_SIZE],
) {
    let mut lanes = [program.identity(); 4];
    strip.visit_singles(|lane, entry, source, _, is_edge| {
        let message = message_of(messages, source, is_edge);
        let carried = if is_edge { program.along(message, weigh(entry)) } else { message };
        lanes[lane] = program.reduce(lanes[lane], carried);
    });
    let [a, b, c, d] = lanes;
    let row = program.reduce(program.reduce(a, b), program.reduce(c, d));
    let target = &mut accumulators[strip.target_start()];
    *target = program.reduce(*target, row);
}

/// Edges lead to up to 65,536 targets, all of them in the L2 cache.
#[inline(always)]
fn reduce_singles<P: Program>(
    program: &P,
    strip: &Strip<'_>,
    weigh: impl Fn(usize) -> P::Weight,
    messages: &[P::Message],
    accumulators: &mut [P::Message; WINDOW_SIZE],
) {
    let start = strip.target_start();
    strip.visit_singles(|_, entry, source, low, is_edge| {
        let message = message_of(messages, source, is_edge);
        let carried = if is_edge { program.along(message, weigh(entry)) } else { message };
        let target = &mut accumulators[(start + low) & (WINDOW_SIZE - 1)];
        *target = program.reduce(*target, carried);
    });
}

/// Each source leads to some of `N` targets, whose accumulators stay in vector registers.
#[inline(always)]
fn reduce_masks<P: Program, const N: usize>(
    program: &P,
    strip: &Strip<'_>,
    messages: &[P::Message],
    accumulators: &mut [P::Message; WINDOW_SIZE],
) {
    let weight = P::Weight::from_f32(1.0);
    let mut even = [program.identity(); N];
    let mut odd = [program.identity(); N];
    strip.visit_masks(|entry, source, mask| {
        let message = program.along(message_of(messages, source, true), weight);
        let lanes = if entry % 2 == 0 { &mut even } else { &mut odd };
        for (bit, lane) in lanes.iter_mut().enumerate() {
            let reduced = program.reduce(*lane, message);
            *lane = if mask >> bit & 1 == 1 { reduced } else { *lane };
        }
    });
    // A strip of masks starts at a multiple of its width, so the slice lies within the window.
    let targets = &mut accumulators[strip.target_start()..][..N];
    for (target, (even, odd)) in targets.iter_mut().zip(even.into_iter().zip(odd)) {
        *target = program.reduce(*target, program.reduce(even, odd));
    }
}
