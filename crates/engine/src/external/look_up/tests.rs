//! A look-up through the disk finds what a table in memory has, for any numbers and any memory.

use std::fs;

use tegula_machine::Error as MachineError;
use tegula_machine::disk::{Backend, Fault, FaultPlan, Pool};
use tegula_store::Error;
use tegula_testkit::{Scratch, XorShift};
use zerocopy::{FromBytes, Immutable, IntoBytes};

use super::*;

/// More memory than any test needs.
const AMPLE: u64 = 1 << 30;
/// So little memory that ranges are split in two, level by level, through blocks of one page.
const LITTLE: u64 = 8 << 10;

/// Numbers in memory.
struct Given(Vec<u64>);

impl Numbers for Given {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn for_each_chunk(&self, visit: &mut dyn FnMut(&[LookUpRequest]) -> Result<()>) -> Result<()> {
        for_each_chunk_of(0, &self.0, |&number| number, visit)
    }
}

/// A value of an odd size.
#[derive(Debug, Clone, Copy, PartialEq, FromBytes, IntoBytes, Immutable)]
#[repr(C, packed)]
struct Odd {
    number: u64,
    tail: [u8; 5],
}

impl Odd {
    fn of(number: usize) -> Odd {
        Odd { number: number as u64 * 7 + 1, tail: [number as u8; 5] }
    }
}

fn permutation(count: usize, random: &mut XorShift) -> Vec<u64> {
    let mut numbers: Vec<u64> = (0..count as u64).collect();
    for last in (1..count).rev() {
        numbers.swap(last, random.below(last as u64 + 1) as usize);
    }
    numbers
}

fn found_with<V: Values>(
    plan: LookUpPlan,
    numbers: &[u64],
    values: V,
    (backend, cancel): (Backend, &Cancel),
) -> Result<Vec<V::Value>> {
    let scratch = Scratch::new();
    let folder = &Directory::open(scratch.path()).unwrap();
    let reader = &Reader::open(backend, Pool::new(AMPLE))?;
    let mut found = Vec::new();
    let place = SortingPlace { folder, reader, caching: Caching::PageCache };
    let numbers = Given(numbers.to_vec());
    let result = look_up(plan, &numbers, values, place, cancel, &mut |values| {
        found.extend_from_slice(values);
        Ok(())
    });
    assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 0, "a file is left");
    result.map(|()| found)
}

fn found<V: Values>(plan: LookUpPlan, numbers: &[u64], values: V) -> Vec<V::Value> {
    found_with(plan, numbers, values, (Backend::Auto, &Cancel::default())).unwrap()
}

fn odds(numbers: Range<usize>) -> Result<Vec<Odd>> {
    Ok(numbers.map(Odd::of).collect())
}

fn expected(numbers: &[u64]) -> Vec<Odd> {
    let of = |&number: &u64| match number {
        LookUpRequest::NOTHING => Odd::new_zeroed(),
        number => Odd::of(number as usize),
    };
    numbers.iter().map(of).collect()
}

/// Returns the first place of each number, by a table of all.
fn first_places(numbers: &[u64]) -> Vec<u32> {
    let of = |number: &u64| numbers.iter().position(|other| other == number).unwrap() as u32;
    numbers.iter().map(of).collect()
}

#[test]
fn permutations_come_back_from_every_depth() {
    let mut random = XorShift::new(5);
    let mut depths = std::collections::BTreeSet::new();
    for count in [0, 1, 2, 3, 100, 315, 316, 1000, 20_000, 65_536] {
        let numbers = permutation(count, &mut random);
        for room in [1, LITTLE, 64 << 10, 1 << 20, AMPLE] {
            // With one byte of memory, each value is a range of its own, which takes a file of a
            // few pages.
            if room == 1 && count > 100 {
                continue;
            }
            let plan = LookUpPlan::new(count, size_of::<Odd>(), room);
            depths.insert(plan.levels());
            assert!(found(plan, &numbers, Loaded(odds)) == expected(&numbers), "{count}, {plan:?}");
        }
    }
    assert!(depths.contains(&0) && depths.contains(&1), "{depths:?}");
    assert!(depths.last() > Some(&5), "{depths:?}");
}

#[test]
fn numbers_may_repeat_and_name_nothing() {
    let mut random = XorShift::new(9);
    let (count, len) = (5000, 30_000);
    let skewed = |random: &mut XorShift| match random.below(4) {
        0 => LookUpRequest::NOTHING,
        1 => random.below(count),
        2 => count - 1,
        _ => {
            let bound = random.below(count) + 1;
            random.below(bound)
        }
    };
    let skewed: Vec<u64> = (0..len).map(|_| skewed(&mut random)).collect();
    for numbers in [skewed, vec![4321; len], vec![LookUpRequest::NOTHING; len]] {
        for room in [LITTLE, 40 << 10, AMPLE] {
            let plan = LookUpPlan::new(count as usize, size_of::<Odd>(), room);
            assert!(found(plan, &numbers, Loaded(odds)) == expected(&numbers), "{plan:?}");
        }
    }
}

#[test]
fn groups_are_named_by_their_first_place() {
    let mut random = XorShift::new(3);
    for groups in [1, 7, 600, 4000] {
        let count = 4000;
        let numbers: Vec<u64> =
            (0..count).map(|_| random.below(groups) * (count as u64 / groups)).collect();
        for room in [1 << 10, LITTLE, AMPLE] {
            let short = LookUpPlan::new(count, size_of::<u32>(), room);
            let names = found(short, &numbers, FirstPlaces::<u32>(PhantomData));
            assert!(names == first_places(&numbers), "{groups}, {short:?}");
            let long = LookUpPlan::new(count, size_of::<u64>(), room);
            let names = found(long, &numbers, FirstPlaces::<u64>(PhantomData));
            let is_same = |(long, short): (&u64, &u32)| *long == u64::from(*short);
            assert!(names.iter().zip(&first_places(&numbers)).all(is_same), "{groups}, {long:?}");
        }
    }
}

#[test]
fn values_are_sorted_once_they_exceed_half_of_the_memory() {
    let numbers = permutation(3000, &mut XorShift::new(1));
    let fits = 2 * 3000 * size_of::<Odd>() as u64;
    for (room, levels, loads) in [(fits, 0, 1), (fits - 1, 1, 2)] {
        let plan = LookUpPlan::new(3000, size_of::<Odd>(), room);
        let mut ranges = Vec::new();
        let load = |numbers: Range<usize>| {
            ranges.push(numbers.clone());
            odds(numbers)
        };
        assert!(found(plan, &numbers, Loaded(load)) == expected(&numbers));
        assert_eq!((plan.levels(), ranges.len()), (levels, loads), "{room}: {ranges:?}");
        assert_eq!(plan.file_size(3000, size_of::<u32>()) > 0, levels > 0);
    }
}

#[test]
fn a_plan_keeps_to_its_memory_and_ends() {
    for log2 in (0..=40).step_by(4) {
        for room in [1, LITTLE, 1 << 20, 16 << 20, 1 << 30] {
            for value_size in [1, 4, 8, 12] {
                let plan = LookUpPlan::new((1 << log2) - 1, value_size, room);
                let levels = plan.levels();
                assert!(levels <= 40, "{plan:?}: {levels} levels");
                if room >= 16 << 20 && log2 <= 32 {
                    assert!(plan.memory() <= room, "{plan:?}: {} bytes", plan.memory());
                    assert!(levels <= 3, "{plan:?}: {levels} levels");
                }
            }
        }
    }
}

#[test]
fn every_read_that_fails_is_an_error() {
    let errors = strike(|nth| FaultPlan::new().nth(nth, Fault::Errno(5)), "Input/output error");
    assert!(errors > 20, "only {errors} errors");
}

#[test]
fn every_bit_that_flips_is_found() {
    let plan = |nth| FaultPlan::new().nth(nth, Fault::FlipBit(7919 * nth));
    let errors = strike(plan, "is not what was written");
    assert!(errors > 10, "only {errors} errors");
}

#[test]
fn every_write_that_fails_is_an_error() {
    let errors = strike(|nth| FaultPlan::new().nth_write(nth, 28), "No space left");
    assert!(errors > 20, "only {errors} errors");
}

/// Looks up with each fault in turn until none strikes; returns how many ended in an error, which
/// says `why`.
fn strike(fault: impl Fn(u64) -> FaultPlan, why: &str) -> u64 {
    let numbers = permutation(3000, &mut XorShift::new(8));
    let plan = LookUpPlan::new(3000, size_of::<Odd>(), LITTLE);
    let mut errors = 0;
    for nth in 1.. {
        let fault = fault(nth);
        let backend = Backend::Auto.with_faults(&fault);
        match found_with(plan, &numbers, Loaded(odds), (backend, &Cancel::default())) {
            Ok(found) => assert!(found == expected(&numbers), "fault {nth}: a wrong answer"),
            Err(error) => {
                assert!(error.to_string().contains(why), "fault {nth}: {error}");
                errors += 1;
            }
        }
        if fault.struck() == 0 {
            break;
        }
    }
    errors
}

#[test]
fn values_that_cannot_be_loaded_are_an_error() {
    let numbers = permutation(3000, &mut XorShift::new(8));
    let plan = LookUpPlan::new(3000, size_of::<Odd>(), LITTLE);
    let load = |numbers: Range<usize>| match numbers.contains(&2000) {
        true => {
            Err(MachineError::io("load", "values")(std::io::Error::other("they are gone")).into())
        }
        false => odds(numbers),
    };
    let error = found_with(plan, &numbers, Loaded(load), (Backend::Auto, &Cancel::default()));
    assert!(error.unwrap_err().to_string().contains("they are gone"));
}

#[test]
fn a_look_up_ends_when_it_is_cancelled() {
    let numbers = permutation(9000, &mut XorShift::new(8));
    let plan = LookUpPlan::new(9000, size_of::<Odd>(), LITTLE);
    let mut ranges = 0;
    for at in 0.. {
        let (cancel, mut loads) = (Cancel::default(), 0);
        let load = |numbers: Range<usize>| {
            if loads == at {
                cancel.cancel();
            }
            loads += 1;
            odds(numbers)
        };
        match found_with(plan, &numbers, Loaded(load), (Backend::Auto, &cancel)) {
            Err(error) => {
                assert!(matches!(error, Error::Machine(MachineError::Cancelled)), "{error}")
            }
            Ok(found) => {
                assert!(found == expected(&numbers));
                ranges = at;
                break;
            }
        }
    }
    assert!(ranges > 2, "{ranges} ranges");
}
