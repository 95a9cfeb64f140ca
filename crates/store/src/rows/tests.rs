//! Rows come back in every encoding, take the documented bits, and stay within bounds when damaged.

use super::bits::{BitWriter, RowBits};
use super::encoding::{RowCode, RowEncoder, RowEncoding};
use super::gap::GapCode;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::{ControlFlow, Range};
use std::sync::Once;
use tegula_testkit::data::skip;

/// Sources with their targets, sorted by id.
pub(super) type Rows = Vec<(u32, Vec<u32>)>;

/// Encoded rows, the bit where each begins, and the bit where the last ends.
pub(super) struct Encoded {
    pub code: RowCode,
    pub bytes: Vec<u8>,
    pub offsets: Vec<u64>,
    sources: Vec<u32>,
}

fn without_loops(source: u32, targets: &[u32]) -> Vec<u32> {
    targets.iter().copied().filter(|&target| target != source).collect()
}

/// The targets that a row of this encoding holds, in stored order.
fn stored(encoding: RowEncoding, source: u32, targets: &[u32]) -> Vec<u32> {
    let kept =
        if encoding.holds_loops() { targets.to_vec() } else { without_loops(source, targets) };
    let mut edges: Vec<(u32, ())> = kept.into_iter().map(|target| (target, ())).collect();
    encoding.sort(source, &mut edges);
    edges.into_iter().map(|edge| edge.0).collect()
}

pub(super) fn encode(encoding: RowEncoding, vertex_count: u32, rows: &Rows) -> Encoded {
    let stored: Rows = rows
        .iter()
        .map(|(source, targets)| (*source, stored(encoding, *source, targets)))
        .collect();
    let arcs = stored.iter().flat_map(|(source, row)| row.iter().map(|target| (*source, *target)));
    let mut encoder = RowEncoder::new(encoding, vertex_count, arcs);
    let mut out = BitWriter::default();
    let mut offsets = vec![0];
    for (source, row) in &stored {
        encoder.encode(*source, row, &mut out);
        offsets.push(out.len());
    }
    let parameters = encoder.into_code().parameters();
    let code = RowCode::from_parameters(encoding, vertex_count, &parameters).unwrap();
    let sources = rows.iter().map(|row| row.0).collect();
    Encoded { code, bytes: out.into_bytes(), offsets, sources }
}

impl Encoded {
    pub fn row(&self, index: usize) -> RowBits<'_> {
        RowBits::new(&self.bytes, self.offsets[index]..self.offsets[index + 1]).unwrap()
    }

    pub fn decode(&self, vertex_count: u32, source: u32, index: usize) -> Result<Vec<u32>, String> {
        let reference = self.reference(vertex_count, index)?;
        decode(&self.code, vertex_count, source, self.row(index), reference.as_deref())
    }

    /// The neighbours of the row that this one copies from, if it copies.
    pub fn reference(&self, vertex_count: u32, index: usize) -> Result<Option<Vec<u32>>, String> {
        let Some(code) = self.code.copying() else { return Ok(None) };
        let (distance, _) = code.reference(self.row(index))?;
        if distance == 0 {
            return Ok(None);
        }
        let wanted = self.sources[index].checked_sub(distance);
        let place = self.sources[..index].iter().position(|source| Some(*source) == wanted);
        let place = place.ok_or("a reference that is not there")?;
        decode(&self.code, vertex_count, self.sources[place], self.row(place), None).map(Some)
    }
}

/// Folds a row, copied neighbours included, until `step` breaks.
pub(super) fn try_fold<A>(
    code: &RowCode,
    vertex_count: u32,
    source: u32,
    row: RowBits<'_>,
    reference: Option<&[u32]>,
    init: A,
    step: impl FnMut(A, u32) -> ControlFlow<A, A>,
) -> Result<A, String> {
    let (Some(reference), Some(copying)) = (reference, code.copying()) else {
        return code.try_fold(source, row, vertex_count, init, step);
    };
    let (_, codes) = copying.reference(row)?;
    copying.try_fold_copying(source, codes, reference, &mut vec![7], vertex_count, init, step)
}

fn decode(
    code: &RowCode,
    vertex_count: u32,
    source: u32,
    row: RowBits<'_>,
    reference: Option<&[u32]>,
) -> Result<Vec<u32>, String> {
    let visit = |code: &RowCode| {
        let mut found = Vec::new();
        let ended = try_fold(code, vertex_count, source, row, reference, (), |(), target| {
            found.push(target);
            ControlFlow::Continue(())
        });
        (found, ended)
    };
    let (found, ended) = visit(code);
    // Reading several gaps at a time gives the same as reading one by one, damaged or not.
    let one_by_one = match code {
        RowCode::Gap(code) => Some(RowCode::Gap(Box::new(code.one_by_one()))),
        RowCode::Copy(code) => Some(RowCode::Copy(Box::new(code.one_by_one()))),
        RowCode::Plain(_) | RowCode::Ceesor(_) => None,
    };
    if let Some(one_by_one) = one_by_one {
        static SKIPPED: Once = Once::new();
        if !GapCode::has_blocks() {
            SKIPPED.call_once(|| skip("this processor reads gaps one by one"));
        }
        let (expected, end_expected) = visit(&one_by_one);
        assert_eq!((&found, &ended), (&expected, &end_expected));
    }
    ended.map(|()| found)
}

fn assert_comes_back(vertex_count: u32, rows: &Rows) {
    for encoding in RowEncoding::ALL {
        let encoded = encode(encoding, vertex_count, rows);
        for (index, (source, targets)) in rows.iter().enumerate() {
            let expected = stored(encoding, *source, targets);
            let found = encoded.decode(vertex_count, *source, index).unwrap();
            assert_eq!(found, expected, "{encoding:?}, row of {source}");
            if encoding.is_ascending() {
                assert!(found.is_sorted(), "{encoding:?}, row of {source}");
            }
        }
    }
}

/// Graphs of all sizes. Targets lie anywhere, close to their source, or at either end.
fn graphs() -> impl Strategy<Value = (u32, Rows)> {
    let vertex_count =
        prop_oneof![1..40_u32, 1..100_000_u32, Just(u32::MAX), Just(1 << 31), any::<u32>()];
    vertex_count.prop_map(|count| count.max(1)).prop_flat_map(|count| {
        let id = prop_oneof![Just(0), Just(count - 1), 0..count];
        let near = (any::<bool>(), 0..40_u32);
        let target = prop_oneof![id.clone().prop_map(Ok), near.prop_map(Err)];
        let row = (id, prop::collection::vec(target, 0..60)).prop_map(move |(source, targets)| {
            let mut targets: Vec<u32> = targets
                .into_iter()
                .map(|target| match target {
                    Ok(target) => target,
                    Err((true, distance)) => source.saturating_add(distance).min(count - 1),
                    Err((false, distance)) => source.saturating_sub(distance),
                })
                .collect();
            targets.sort_unstable();
            (source, targets)
        });
        let rows = prop::collection::vec(row, 0..12)
            .prop_map(|rows| rows.into_iter().collect::<BTreeMap<_, _>>().into_iter().collect());
        (Just(count), rows)
    })
}

/// The same graph without loops and repeated edges, which cost `gap` a bit here and there.
fn simple((count, rows): (u32, Rows)) -> (u32, Rows) {
    let rows = rows.into_iter().map(|(source, targets)| {
        let mut targets = without_loops(source, &targets);
        targets.dedup();
        (source, targets)
    });
    (count, rows.collect())
}

proptest! {
    #[test]
    fn rows_with_loops_and_duplicates_come_back((count, rows) in graphs()) {
        assert_comes_back(count, &rows);
    }

    #[test]
    fn rows_of_simple_graphs_come_back((count, rows) in graphs().prop_map(simple)) {
        assert_comes_back(count, &rows);
    }

    #[test]
    fn garbage_leads_to_no_target_out_of_bounds(
        bytes in prop::collection::vec(any::<u8>(), 0..80),
        widths in prop::collection::vec(0..=33_u8, 31),
        flags in 0..4_u8,
        range in (0..640_u64, 0..640_u64),
        ids in (any::<u32>(), any::<u32>()),
    ) {
        let (source, count) = (ids.0.min(ids.1), ids.0.max(ids.1).max(1));
        let gap = [&[flags], &widths[..24]].concat();
        let copy = [&[flags | 4], &widths[..]].concat();
        let reference: Vec<u32> = (0..count).step_by(7).take(30).collect();
        for encoding in RowEncoding::ALL {
            let (parameters, reference) = match encoding {
                RowEncoding::Plain | RowEncoding::Ceesor => (&[][..], None),
                RowEncoding::Gap => (&gap[..], None),
                RowEncoding::Copy => (&copy[..], Some(&reference[..])),
            };
            let code = RowCode::from_parameters(encoding, count, parameters).unwrap();
            let Some(row) = RowBits::new(&bytes, range.0..range.1) else { continue };
            for reference in [None, reference] {
                if let Ok(found) = decode(&code, count, source, row, reference) {
                    prop_assert!(found.iter().all(|&target| target < count));
                    prop_assert!(found.len() as u64 <= row.len() + 30);
                }
            }
        }
    }
}

/// One row has near and far neighbours, one has none, one has a hub's, and one has both ends.
fn example() -> (u32, Rows) {
    let hub = (0..1000).map(|index| index * index % 4999).collect::<BTreeSet<_>>();
    let rows = vec![
        (7, vec![3, 6, 8, 9, 100, 4998]),
        (8, vec![]),
        (9, hub.into_iter().filter(|&target| target != 9).collect()),
        (4998, vec![0, 4999]),
    ];
    (5000, rows)
}

#[test]
fn a_visit_ends_where_the_visitor_breaks() {
    let (count, rows) = example();
    for encoding in RowEncoding::ALL {
        let encoded = encode(encoding, count, &rows);
        let all = encoded.decode(count, 9, 2).unwrap();
        for wanted in 1..20 {
            let found = try_fold(
                &encoded.code,
                count,
                9,
                encoded.row(2),
                None,
                vec![],
                |mut found, target| {
                    found.push(target);
                    if found.len() == wanted {
                        ControlFlow::Break(found)
                    } else {
                        ControlFlow::Continue(found)
                    }
                },
            );
            assert_eq!(found.unwrap(), all[..wanted], "{encoding:?}");
        }
    }
}

#[test]
fn a_flipped_bit_changes_no_other_row_and_gives_no_target_out_of_bounds() {
    let (count, rows) = example();
    for encoding in RowEncoding::ALL {
        let mut encoded = encode(encoding, count, &rows);
        let whole: Vec<_> = (0..rows.len())
            .map(|index| encoded.decode(count, rows[index].0, index).unwrap())
            .collect();
        for bit in 0..encoded.offsets[rows.len()] {
            encoded.bytes[bit as usize / 8] ^= 1 << (bit % 8);
            for (index, (source, _)) in rows.iter().enumerate() {
                let found = encoded.decode(count, *source, index);
                if (encoded.offsets[index]..encoded.offsets[index + 1]).contains(&bit) {
                    assert_ne!(found.as_ref(), Ok(&whole[index]), "{encoding:?}, bit {bit}");
                    assert!(found.unwrap_or_default().iter().all(|&target| target < count));
                } else {
                    assert_eq!(found.as_ref(), Ok(&whole[index]), "{encoding:?}, bit {bit}");
                }
            }
            encoded.bytes[bit as usize / 8] ^= 1 << (bit % 8);
        }
    }
}

#[test]
fn a_row_takes_the_documented_bits() {
    let (count, rows) = example();
    let lengths = |encoding| -> Vec<u64> {
        encode(encoding, count, &rows).offsets.windows(2).map(|pair| pair[1] - pair[0]).collect()
    };
    // 5000 ids take 13 bits.
    assert_eq!(lengths(RowEncoding::Plain)[..2], [6 * 13, 0]);
    // The magnitudes of the first row are 1, 1, 2, 4, 93, 4991.
    assert_eq!(lengths(RowEncoding::Ceesor)[..2], [(1 + 1 + 2 + 3 + 7 + 13) + 6 + 12, 0]);
}

/// Expected bits of a row of `gap` with these parameters, computed from the definition of the
/// format.
fn gap_bits(parameters: &[u8], source: u32, targets: &[u32]) -> u64 {
    let [has_loops, has_duplicates] = [1, 2].map(|flag| parameters[0] & flag != 0);
    let (mut bits, mut last_saved) = (0, 0);
    for (index, &target) in targets.iter().enumerate() {
        let number = |id: u32| i64::from(id) - i64::from(id > source && !has_loops);
        let offset = number(target) - i64::from(source);
        let (table, coded) = match index.checked_sub(1) {
            None if offset < 0 => (0, -2 * offset - 2),
            None => (0, 2 * offset + 1),
            Some(before) => {
                let before = number(targets[before]);
                let is_near = (before - i64::from(source)).abs() <= 16;
                let gap = number(target) - before - i64::from(!has_duplicates);
                (if is_near { 1 } else { 2 }, gap)
            }
        };
        let (mut place, mut class) = (coded, 0);
        let width = |class: usize| u32::from(parameters[1 + 8 * table + class]);
        while place >= 1 << width(class) {
            place -= 1 << width(class);
            class += 1;
        }
        bits += class as u64 + 1 + u64::from(width(class));
        last_saved =
            u64::from(width(class)) - (0..64).take_while(|bit| place >> bit > 0).count() as u64;
    }
    bits - last_saved
}

proptest! {
    #[test]
    fn a_row_of_gaps_takes_its_codes_less_the_zeros_in_the_middle((count, rows) in graphs()) {
        let encoded = encode(RowEncoding::Gap, count, &rows);
        let parameters = encoded.code.parameters();
        for (index, (source, targets)) in rows.iter().enumerate() {
            prop_assert_eq!(encoded.row(index).len(), gap_bits(&parameters, *source, targets));
        }
    }
}

#[test]
fn fitted_codes_take_less_than_gamma_codes() {
    // Short gaps and gaps around 2^12, as in an order with locality.
    let targets: Vec<u32> = (0..2000)
        .scan(0, |id, index| {
            *id += if index % 3 == 0 { 4000 + index } else { 1 };
            Some(*id)
        })
        .collect();
    let gamma: u64 =
        targets.windows(2).map(|pair| u64::from(2 * (pair[1] - pair[0]).ilog2() + 1)).sum();
    let count = targets[targets.len() - 1] + 1;
    let encoded = encode(RowEncoding::Gap, count, &vec![(0, targets)]);
    assert!(encoded.offsets[1] * 10 < gamma * 8, "{} bits, gamma {gamma}", encoded.offsets[1]);
}

#[test]
fn invalid_parameters_are_refused() {
    let code = |encoding, bytes: &[u8]| RowCode::from_parameters(encoding, 10, bytes);
    assert!(code(RowEncoding::Gap, &[0; 25]).is_ok());
    assert!(code(RowEncoding::Gap, &[0; 24]).is_err());
    let mut flags = [0; 25];
    flags[0] = 4;
    assert!(code(RowEncoding::Gap, &flags).is_err());
    let mut widths = [0; 25];
    widths[24] = 34;
    assert!(code(RowEncoding::Gap, &widths).is_err());
    assert!(code(RowEncoding::Plain, &[0]).is_err());
    assert!(code(RowEncoding::Ceesor, &[0]).is_err());
    let copy = |flags: u8, width: u8| [&[flags], &[0; 30][..], &[width]].concat();
    assert!(code(RowEncoding::Copy, &copy(0, 0)).is_ok());
    assert!(code(RowEncoding::Copy, &copy(4, 33)).is_ok());
    assert!(code(RowEncoding::Copy, &copy(4, 34)).is_err());
    assert!(code(RowEncoding::Copy, &copy(8, 0)).is_err());
    assert!(code(RowEncoding::Copy, &[0; 31]).is_err());
    // Widths of runs, where no row copies.
    assert!(code(RowEncoding::Copy, &copy(0, 1)).is_err());
}

#[test]
fn a_range_outside_the_bytes_is_no_row() {
    let bytes = [0; 3];
    assert!(RowBits::new(&bytes, 3..24).is_some());
    assert!(RowBits::new(&bytes, 3..25).is_none());
    assert!(RowBits::new(&bytes, Range { start: 4, end: 3 }).is_none());
}

#[test]
fn names_agree_with_serde() {
    for encoding in RowEncoding::ALL {
        let json = serde_json::to_string(&encoding).unwrap();
        assert_eq!(json, format!("\"{}\"", encoding.name()));
    }
}

/// Asserts that a code encodes the row in docs/FORMAT.md: source 9 with these targets, among 16
/// vertices.
fn assert_is_the_example(code: &RowCode, targets: &[u32], bytes: &[u8], bits: u64) {
    let mut out = BitWriter::default();
    match code {
        RowCode::Plain(code) => code.encode(targets, &mut out),
        RowCode::Ceesor(code) => code.encode(9, targets, &mut out),
        RowCode::Gap(code) => code.encode(9, targets, &mut out),
        RowCode::Copy(_) => unreachable!("its example is of two rows"),
    }
    assert_eq!(out.len(), bits);
    assert_eq!(out.into_bytes(), bytes);
    let row = RowBits::new(bytes, 0..bits).unwrap();
    assert_eq!(decode(code, 16, 9, row, None).unwrap(), targets);
}

#[test]
fn the_examples_of_the_specification_are_right() {
    let code =
        |encoding, parameters: &[u8]| RowCode::from_parameters(encoding, 16, parameters).unwrap();
    assert_is_the_example(&code(RowEncoding::Plain, &[]), &[3, 8, 10, 14], &[0x83, 0xea], 16);
    assert_is_the_example(&code(RowEncoding::Ceesor, &[]), &[8, 10, 14, 3], &[0xc7, 0x34], 14);
    let gaps = [1, 1, 2, 3, 4, 5, 6, 7];
    let widths = [&[0][..], &[2, 2, 3, 3, 4, 4, 5, 5], &gaps, &gaps].concat();
    assert_is_the_example(&code(RowEncoding::Gap, &widths), &[3, 8, 10, 14], &[0x64, 0x43], 16);
}
