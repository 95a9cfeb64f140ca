//! Packed numbers come back, have the layout of `docs/FORMAT.md`, and stay within bounds when
//! damaged.

use std::path::PathBuf;

use proptest::prelude::*;
use tegula_machine::Error as MachineError;
use tegula_machine::disk::{Backend, BlockFile, BlockFileWriter, Caching, Pool, Reader};

use super::*;
use crate::{Error, Result};

fn encoded<C: Coding>(mut coding: C, numbers: &[C::Number]) -> Vec<u8> {
    let mut bytes = Vec::new();
    coding.encode(numbers, &mut bytes);
    bytes
}

fn decoded<C: Coding>(
    _coding: &C,
    bytes: &[u8],
    count: usize,
) -> Result<Vec<C::Number>, &'static str> {
    let mut numbers = vec![C::Number::default(); count];
    C::decode(bytes, &mut numbers)?;
    if let Some(first) = C::decode_regular(bytes, count)? {
        let expected = (0..).map(|index| C::regular(first, index)).take(count);
        assert!(numbers.iter().copied().eq(expected), "a chunk is not as regular as it says");
    }
    Ok(numbers)
}

/// Numbers of about the same length in bits, some of them far longer.
fn numbers(bits_max: u32) -> impl Strategy<Value = Vec<u64>> {
    let limit = move |bits: u32| (1u64 << (bits - 1) << 1).wrapping_sub(1);
    (1..=bits_max, 0..=bits_max, 0u32..300).prop_flat_map(move |(usual, long, rarity)| {
        let number = (any::<u64>(), 0..=rarity).prop_map(move |(number, draw)| {
            let bits = if draw == 0 { usual.max(long) } else { usual };
            number & limit(bits)
        });
        (prop::collection::vec(number, 0..700), any::<u64>()).prop_map(move |(numbers, base)| {
            let base = base & limit(bits_max);
            numbers.iter().map(|number| number.saturating_add(base).min(limit(bits_max))).collect()
        })
    })
}

/// A permutation of `0..count` in which ranges ascend, with these ranges.
fn permutation() -> impl Strategy<Value = (Vec<u64>, Vec<std::ops::Range<u64>>)> {
    let classes = prop::collection::vec(any::<u8>(), 0..3000);
    (classes, 0u32..12, any::<bool>()).prop_map(|(classes, bits, is_known)| {
        let class_of = |index: usize| u32::from(classes[index]) * bits / 8;
        let mut by_class: Vec<usize> = (0..classes.len()).collect();
        by_class.sort_by_key(|&index| class_of(index));
        let mut numbers = vec![0; classes.len()];
        let mut runs: Vec<std::ops::Range<u64>> = Vec::new();
        for (number, &index) in (0..).zip(&by_class) {
            numbers[index] = number;
            let is_new = number == 0 || class_of(by_class[number as usize - 1]) != class_of(index);
            match runs.last_mut() {
                Some(run) if !is_new => run.end += 1,
                _ => runs.push(number..number + 1),
            }
        }
        if !is_known {
            // Ranges that are no runs do no harm.
            runs.iter_mut().for_each(|run| run.end = run.end.min(run.start + 2));
        }
        (numbers, runs)
    })
}

/// Reads number `index` of a block of `count` numbers bit by bit. Also returns where the block
/// ends.
fn number_in_block(bytes: &[u8], count: usize, index: usize) -> (u64, usize) {
    let little_endian =
        |bytes: &[u8]| bytes.iter().rev().fold(0u64, |sum, &byte| sum << 8 | u64::from(byte));
    let (width, exceptions) = (usize::from(bytes[0]), usize::from(bytes[1]));
    let (base_len, excess_len) = (usize::from(bytes[2] & 15), usize::from(bytes[2] >> 4));
    let mut number = little_endian(&bytes[3..3 + base_len]);
    let mut start = 3 + base_len;
    for (first, plane_width) in [(0, width.min(32)), (32, width.saturating_sub(32))] {
        let (row, lane) = (index / 8, index % 8);
        for bit in 0..plane_width {
            let place = row * plane_width + bit;
            let byte = start + (place / 32 * 8 + lane) * 4 + place % 32 / 8;
            number += u64::from(bytes[byte] >> (place % 8) & 1) << (first + bit);
        }
        start += (count.div_ceil(8) * plane_width).div_ceil(32) * 32;
    }
    let excesses = start + exceptions;
    for exception in 0..exceptions {
        if usize::from(bytes[start + exception]) == index {
            let at = excesses + exception * excess_len;
            number += little_endian(&bytes[at..at + excess_len]) << width;
        }
    }
    (number, excesses + exceptions * excess_len)
}

#[test]
fn a_chunk_of_each_coding_has_these_bytes() {
    // Five rows of 5 to 12, and 900 as an exception. Over the base 5, its lowest 6 bits are 63 and
    // the others 13.
    let mut numbers: Vec<u32> = (0..40).map(|index| 5 + index % 8).collect();
    numbers[17] = 900;
    let mut expected = vec![6, 1, 0x11, 5];
    for lane in 0..8u32 {
        let in_each_row = lane * 0b1_000001_000001_000001_000001;
        let word = if lane == 1 { in_each_row + (62 << 12) } else { in_each_row };
        expected.extend(word.to_le_bytes());
    }
    expected.extend([17, 13]);
    assert_eq!(encoded(Unordered, &numbers), expected);

    // Ten rows of one bit.
    let numbers: Vec<u32> = (0..80).map(|index| 3 - index % 2).collect();
    let lanes = [0x3ff, 0, 0x3ff, 0, 0x3ff, 0, 0x3ff, 0].map(u32::to_le_bytes);
    assert_eq!(encoded(Unordered, &numbers), [&[1, 0, 1, 2], lanes.as_flattened()].concat());

    // Numbers at equal distances take no bits.
    let bytes = encoded(Ascending, &[7, 1007, 2007, 3007]);
    assert_eq!(bytes, [7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 232, 3]);

    // Runs 2..6 and 6..9. The codes of other numbers are 0; so few of them take less space as
    // exceptions.
    let bytes = encoded(Permutation::new(vec![2..6, 6..9]), &[2, 6, 1, 3, 7, 4, 0, 5, 8]);
    let next = [2, 0, 1, 0x11, 2, 1, 4];
    let codes = [0, 7, 0x10, 0, 1, 3, 4, 5, 7, 8, 1, 2, 1, 2, 1, 1, 2];
    let written_out = [0, 1, 0x10, 0, 1];
    assert_eq!(bytes, [&next[..], &codes[..], &written_out[..]].concat());
}

#[test]
fn a_regular_chunk_takes_a_few_bytes() {
    assert!(encoded(Unordered, &[0; 300]).is_empty());
    assert_eq!(encoded(Ascending, &[7, 8, 9, 10]), [7, 0, 0, 0, 0, 0, 0, 0]);
    // The numbers from 2^39 on, beside another run.
    let far = 1 << 39;
    let runs = || vec![2..6, far..far + 1000];
    let numbers: Vec<u64> = (far..far + 300).collect();
    let expected = [1, 0, 0, 5, 0, 0, 0, 0, 0x80];
    assert_eq!(encoded(Permutation::new(runs()), &numbers), expected);
    // Numbers beyond the run do not belong to it.
    let numbers: Vec<u64> = (far + 900..far + 1100).collect();
    assert!(encoded(Permutation::new(runs()), &numbers).len() > 200);
}

/// Writes `head`, `count` regular numbers and `tail`, at once and number by number.
fn assert_regular<C: Coding + Clone>(
    coding: C,
    head: &[C::Number],
    from: C::Number,
    count: u64,
    tail: &[C::Number],
) {
    let middle: Vec<C::Number> = (0..count).map(|index| C::regular(from, index)).collect();
    let place = place();
    let mut writer = PackedWriter::create(&place.path, coding.clone()).unwrap();
    writer.push(head).unwrap();
    writer.push_regular(from, count).unwrap();
    writer.push(tail).unwrap();
    writer.finish().unwrap();
    let all = [head, &middle, tail].concat();
    let (file, plain) = (open(&place), open(&written(coding, &all)));
    let bytes = |file: &BlockFile| file.read_range(0, file.len() as usize).unwrap();
    assert!(bytes(&file) == bytes(&plain));
    let array = Array::<C>::open(file, all.len()).unwrap();
    assert!(array.read_all().unwrap() == all);
}

#[test]
fn regular_numbers_are_written_the_same_at_once_and_one_by_one() {
    let chunk = CHUNK as u64;
    for count in [0, 1, chunk - 3, chunk, 3 * chunk + 7] {
        for head in [0, 3, chunk] {
            let numbers: Vec<u32> = (0..head as u32).map(|number| number % 5).collect();
            assert_regular(Unordered, &numbers, 0, count, &[3, 0]);
            assert_regular(Unordered, &numbers, 7, count, &[]);
            let ids: Vec<u64> = (0..head).map(|number| 2 * number).collect();
            assert_regular(Ascending, &ids, 2 * head, count, &[2 * head + count, u64::MAX]);
            let coding = Permutation::new(vec![0..head, head..head + count]);
            let mut ids: Vec<u64> = (0..head).collect();
            assert_regular(coding, &ids, head, count, &[head + count + 1, head + count]);
            ids.reverse();
            assert_regular(Permutation::default(), &ids, head, count, &[]);
        }
    }
}

#[test]
fn a_chunk_of_zeros_is_recognised_without_reading_it() {
    let mut numbers = vec![0; 3 * CHUNK];
    numbers[CHUNK + 1] = 1;
    let array = Array::<Unordered>::open(open(&written(Unordered, &numbers)), numbers.len());
    let array = array.unwrap();
    let chunks = [0, CHUNK - 1, CHUNK, 2 * CHUNK - 1, 2 * CHUNK];
    assert_eq!(chunks.map(|at| array.is_empty_at(at)), [true, true, false, false, true]);
}

#[test]
fn sorted_ids_and_degrees_take_a_few_bits() {
    let bits = |bytes: Vec<u8>, count: usize| bytes.len() as f64 * 8.0 / count as f64;
    let every_id: Vec<u64> = (0..CHUNK as u64).collect();
    assert!(bits(encoded(Ascending, &every_id), CHUNK) < 0.15);
    let odd_gaps: Vec<u64> =
        (0..CHUNK as u64).map(|id| 2 * id + id.wrapping_mul(0x9e37) % 2).collect();
    assert!(bits(encoded(Ascending, &odd_gaps), CHUNK) < 2.2);
    let one_hub: Vec<u32> =
        (0..CHUNK as u32).map(|id| if id == 77 { 1 << 30 } else { id % 4 }).collect();
    assert!(bits(encoded(Unordered, &one_hub), CHUNK) < 2.2);
}

proptest! {
    #[test]
    fn numbers_in_any_order_come_back(numbers in numbers(32)) {
        let numbers: Vec<u32> = numbers.into_iter().map(|number| number as u32).collect();
        let bytes = encoded(Unordered, &numbers);
        prop_assert_eq!(decoded(&Unordered, &bytes, numbers.len()).unwrap(), numbers);
    }

    #[test]
    fn numbers_lie_where_the_format_says(numbers in numbers(64)) {
        let mut bytes = Vec::new();
        blocks::encode(&numbers, &mut bytes);
        let mut rest = &bytes[..];
        for block in numbers.chunks(256) {
            for (index, &number) in block.iter().enumerate() {
                prop_assert_eq!(number_in_block(rest, block.len(), index).0, number);
            }
            rest = &rest[number_in_block(rest, block.len(), 0).1..];
        }
        prop_assert!(rest.is_empty());
    }

    #[test]
    fn ascending_numbers_come_back(mut numbers in numbers(64)) {
        numbers.sort_unstable();
        let bytes = encoded(Ascending, &numbers);
        prop_assert_eq!(decoded(&Ascending, &bytes, numbers.len()).unwrap(), numbers);
    }

    #[test]
    fn permutations_come_back_chunk_by_chunk((numbers, runs) in permutation()) {
        let mut coding = Permutation::new(runs);
        for chunk in numbers.chunks(500) {
            let mut bytes = Vec::new();
            coding.encode(chunk, &mut bytes);
            prop_assert_eq!(decoded(&coding, &bytes, chunk.len()).unwrap(), chunk);
        }
    }

    #[test]
    fn damaged_chunks_are_refused_or_give_other_numbers(
        numbers in numbers(32),
        (permutation, runs) in permutation(),
        flips in prop::collection::vec(any::<prop::sample::Index>(), 1..40),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut ids = numbers.clone();
        ids.sort_unstable();
        let numbers: Vec<u32> = numbers.into_iter().map(|number| number as u32).collect();
        assert_damage_is_borne(Unordered, &numbers, &flips, cut);
        assert_damage_is_borne(Ascending, &ids, &flips, cut);
        assert_damage_is_borne(Permutation::new(runs), &permutation, &flips, cut);
    }
}

/// Asserts that a chunk with a flipped bit decodes or is refused. One of another length must be
/// refused, unless its rest is a regular chunk.
fn assert_damage_is_borne<C: Coding>(
    mut coding: C,
    numbers: &[C::Number],
    flips: &[prop::sample::Index],
    cut: prop::sample::Index,
) {
    let mut intact = Vec::new();
    coding.encode(numbers, &mut intact);
    if intact.is_empty() {
        return;
    }
    for flip in flips {
        // Half of the flips are in the first head.
        for bit in [flip.index(8 * intact.len()), flip.index(8 * intact.len().min(12))] {
            let mut damaged = intact.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            if let Ok(found) = decoded(&coding, &damaged, numbers.len()) {
                assert_eq!(found.len(), numbers.len());
            }
        }
    }
    let is_regular = |found: Vec<C::Number>| {
        found.iter().zip(0..).all(|(&number, index)| number == C::regular(found[0], index))
    };
    let found = decoded(&coding, &intact[..cut.index(intact.len())], numbers.len());
    assert!(found.is_err() || found.is_ok_and(is_regular));
    assert!(decoded(&coding, &[&intact[..], &[0]].concat(), numbers.len()).is_err());
}

/// A file in a folder of its own.
struct Place {
    _folder: tempfile::TempDir,
    path: PathBuf,
}

fn place() -> Place {
    let folder = tempfile::tempdir().unwrap();
    Place { path: folder.path().join("array"), _folder: folder }
}

fn open(place: &Place) -> BlockFile {
    let reader = Reader::open(Backend::Auto, Pool::new(64 << 20)).unwrap();
    BlockFile::open(&reader, &place.path, Caching::PageCache).unwrap()
}

/// Writes numbers in portions of many sizes.
fn written<C: Coding>(coding: C, numbers: &[C::Number]) -> Place {
    let place = place();
    let mut writer = PackedWriter::create(&place.path, coding).unwrap();
    let mut rest = numbers;
    for size in (1..).map(|portion| portion * 7919 % 150_001) {
        if rest.is_empty() {
            break;
        }
        writer.push(rest.split_off(..size.min(rest.len())).unwrap()).unwrap();
    }
    writer.finish().unwrap();
    place
}

fn ids(count: u64) -> Vec<u64> {
    (0..count).map(|number| 3 * number + number.wrapping_mul(0x9e37_79b9) % 3).collect()
}

#[test]
fn every_part_of_an_array_of_any_length_is_read() {
    let chunk = CHUNK as u64;
    for count in [0, 1, 255, chunk - 1, chunk, chunk + 1, 5 * chunk + 4321] {
        let ids = ids(count);
        let file = open(&written(Ascending, &ids));
        let array = Array::<Ascending>::open(file, ids.len()).unwrap();
        assert_eq!(array.read_all().unwrap(), ids);
        let mut next = 0;
        array
            .for_each_chunk(|first, numbers| -> Result<()> {
                assert_eq!(first, next);
                assert_eq!(numbers, &ids[first..first + numbers.len()]);
                next += numbers.len();
                Ok(())
            })
            .unwrap();
        assert_eq!(next, ids.len());
        let chunk_end = CHUNK.min(ids.len());
        for range in [
            0..0,
            0..chunk_end.min(1),
            chunk_end..ids.len(),
            ids.len() / 3..ids.len(),
            0..ids.len(),
        ] {
            assert_eq!(array.read(range.clone()).unwrap(), ids[range]);
        }
    }
}

fn is_corrupt<T>(result: Result<T>) -> bool {
    matches!(result, Err(Error::Machine(MachineError::Corrupt { .. })))
}

#[test]
fn chunks_that_do_not_follow_each_other_are_refused() {
    let place = written(Ascending, &ids(200_000));
    let file = open(&place);
    let payload = file.read_range(0, file.len() as usize).unwrap();
    let index = payload.len() - 5 * size_of::<u64>();
    let with = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut damaged = payload.clone();
        change(&mut damaged);
        let place = super::tests::place();
        let mut writer = BlockFileWriter::create(&place.path).unwrap();
        std::io::Write::write_all(&mut writer, &damaged).unwrap();
        writer.finish().unwrap();
        Array::<Ascending>::open(open(&place), 200_000).and_then(|array| array.read_all())
    };
    assert!(with(&|_| {}).is_ok());
    for byte in index..payload.len() {
        for bit in 0..8 {
            assert!(
                is_corrupt(with(&|payload| payload[byte] ^= 1 << bit)),
                "bit {bit} of byte {byte}"
            );
        }
    }
    assert!(is_corrupt(with(&|payload| payload.truncate(31))));
    assert!(is_corrupt(with(&|payload| payload.truncate(index))));
    assert!(is_corrupt(with(&|payload| payload.extend([0; 8]))));
    for len in [200_000 - CHUNK, 199_999, 200_001, 200_000 + CHUNK] {
        assert!(is_corrupt(Array::<Ascending>::open(open(&place), len)));
    }
}
