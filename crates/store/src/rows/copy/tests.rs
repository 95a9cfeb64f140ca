//! Rows that copy are decoded alone, from bytes close before them. Damaged rows stay within bounds.

use std::ops::ControlFlow;

use proptest::prelude::*;

use super::{CopyCode, REACH_BITS};
use crate::rows::bits::{BitWriter, RowBits};
use crate::rows::codes::CodeWriter;
use crate::rows::copy::plan::Split;
use crate::rows::encoding::{RowCode, RowEncoding};
use crate::rows::gap::GapCode;
use crate::rows::tests::{Encoded, Rows, encode, try_fold};

const VERTICES: u32 = 100_000;

/// Rows that take most of their targets from one of the last few rows, with some changes.
fn similar_rows() -> impl Strategy<Value = Rows> {
    let change = (0..VERTICES, 0..100_u32);
    let first = prop::collection::vec(0..VERTICES, 20..60);
    let row = (1..5_u32, 1..8_usize, 0..100_u32, prop::collection::vec(change, 0..12));
    (first, prop::collection::vec(row, 20..80)).prop_map(|(first, rows)| {
        let mut found: Rows = vec![(3, sorted(first))];
        for (gap, back, kept, changes) in rows {
            let (last, _) = found[found.len() - 1];
            let (_, other) = &found[found.len().saturating_sub(back)];
            let is_kept = |target: &u32| target.wrapping_mul(31) % 100 >= kept / 4;
            let mut targets: Vec<u32> = other.iter().copied().filter(is_kept).collect();
            // Some targets are there twice, and some are the source.
            targets.extend(changes.iter().map(|&(target, _)| target));
            targets.extend(changes.iter().filter(|change| change.1 < 5).map(|change| change.0));
            targets.extend((kept > 90).then_some(last + gap));
            found.push((last + gap, sorted(targets)));
        }
        found
    })
}

fn sorted(mut targets: Vec<u32>) -> Vec<u32> {
    targets.sort_unstable();
    targets
}

fn copies(encoded: &Encoded) -> bool {
    encoded.code.copying().is_some()
}

proptest! {
    #[test]
    fn similar_rows_come_back(rows in similar_rows()) {
        let encoded = encode(RowEncoding::Copy, VERTICES, &rows);
        for (index, (source, targets)) in rows.iter().enumerate() {
            prop_assert_eq!(&encoded.decode(VERTICES, *source, index).unwrap(), targets);
        }
    }

    #[test]
    fn a_visit_ends_where_the_visitor_breaks(rows in similar_rows(), wanted in 1..30_usize) {
        let encoded = encode(RowEncoding::Copy, VERTICES, &rows);
        for (index, (source, targets)) in rows.iter().enumerate() {
            let reference = encoded.reference(VERTICES, index).unwrap();
            let (code, row, reference) = (&encoded.code, encoded.row(index), reference.as_deref());
            let found = try_fold(code, VERTICES, *source, row, reference, vec![], |mut found, target| {
                found.push(target);
                if found.len() == wanted {
                    ControlFlow::Break(found)
                } else {
                    ControlFlow::Continue(found)
                }
            });
            prop_assert_eq!(&found.unwrap()[..], &targets[..wanted.min(targets.len())]);
        }
    }

    #[test]
    fn damaged_rows_lead_to_no_target_out_of_bounds(rows in similar_rows(), flips in
        prop::collection::vec(any::<prop::sample::Index>(), 1..20)
    ) {
        let mut encoded = encode(RowEncoding::Copy, VERTICES, &rows);
        for flip in flips {
            let bit = flip.index(encoded.bytes.len() * 8);
            encoded.bytes[bit / 8] ^= 1 << (bit % 8);
        }
        for (index, (source, _)) in rows.iter().enumerate() {
            if let Ok(found) = encoded.decode(VERTICES, *source, index) {
                prop_assert!(found.iter().all(|&target| target < VERTICES));
            }
        }
    }
}

/// Every second row has the same neighbours, except one; the rows between have others, far away.
fn twins(count: u32, degree: u32) -> Rows {
    let targets = |source: u32| {
        let own = 50_000 + source * 13 % 1000;
        let shared = (0..degree).map(|index| index * index * 7 % 40_000);
        sorted(shared.chain([own]).collect())
    };
    (0..count).map(|source| (source, targets(source))).collect()
}

#[test]
fn similar_rows_copy_and_take_a_fraction_of_the_bits() {
    let rows = twins(200, 40);
    let [gap, copy] =
        [RowEncoding::Gap, RowEncoding::Copy].map(|encoding| encode(encoding, VERTICES, &rows));
    assert!(copies(&copy));
    let bits = |encoded: &Encoded| encoded.offsets[rows.len()];
    assert!(3 * bits(&copy) < bits(&gap), "{} of {}", bits(&copy), bits(&gap));
}

#[test]
fn rows_with_little_in_common_equal_gap_rows_bit_by_bit() {
    let rows: Rows = (0..100)
        .map(|source| {
            (source, sorted((0..20).map(|index| (source * 977 + index * 31) % 90_000).collect()))
        })
        .collect();
    let [gap, copy] =
        [RowEncoding::Gap, RowEncoding::Copy].map(|encoding| encode(encoding, VERTICES, &rows));
    assert!(!copies(&copy));
    assert_eq!((&gap.bytes, &gap.offsets), (&copy.bytes, &copy.offsets));
    assert_eq!(gap.code.parameters(), copy.code.parameters()[..GapCode::SIZE]);
}

#[test]
fn references_are_within_reach_even_with_long_rows_between() {
    // Now and then, a row longer than the reach lies between two similar rows.
    let mut rows = twins(300, 200);
    for (source, targets) in rows.iter_mut().filter(|row| row.0 % 10 == 5) {
        *targets = sorted((0..1000).map(|index| (index * 41 + *source * 17) % 99_000).collect());
    }
    let encoded = encode(RowEncoding::Copy, VERTICES, &rows);
    let code = encoded.code.copying().expect("they are alike");
    let mut count = 0;
    for (index, (source, targets)) in rows.iter().enumerate() {
        assert_eq!(&encoded.decode(VERTICES, *source, index).unwrap(), targets);
        let (distance, _) = code.reference(encoded.row(index)).unwrap();
        let reference = index - distance as usize;
        assert!(encoded.offsets[index] - encoded.offsets[reference] <= REACH_BITS);
        assert!(distance == 0 || code.reference(encoded.row(reference)).unwrap().0 == 0);
        count += usize::from(distance > 0);
    }
    assert!(count > 150, "{count} copy");
}

#[test]
fn the_example_of_the_specification_is_right() {
    let gaps = [1, 1, 2, 3, 4, 5, 6, 7];
    let widths = [&[4][..], &[2, 2, 3, 3, 4, 4, 5, 5], &gaps, &gaps, &[0, 1, 2, 3, 4, 5, 8]];
    let code = CopyCode::from_bytes(&widths.concat()).unwrap();
    // The row of 8 is copied except for one neighbour, and 14 is new.
    let reference = [3, 8, 10, 12];
    let split = Split { runs: vec![3], residuals: vec![14] };
    let mut out = BitWriter::default();
    let mut codes = CodeWriter::new(4);
    code.for_each_code(9, 1, &split, |code, number| codes.write(code, number, &mut out));
    codes.finish(&mut out);
    let bits = out.len();
    let bytes = out.into_bytes();
    let row = RowBits::new(&bytes, 0..bits).unwrap();
    let code = RowCode::Copy(Box::new(code));
    let found = try_fold(&code, 16, 9, row, Some(&reference), vec![], |mut found, target| {
        found.push(target);
        ControlFlow::Continue(found)
    });
    assert_eq!(found.unwrap(), [3, 8, 10, 14]);
    assert_eq!((bits, &bytes[..]), (16, &[0x4a, 0x06][..]));
}
