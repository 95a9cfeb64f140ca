//! How an array codes its chunks, by what is known of its numbers.

use std::ops::Range;

use zerocopy::{FromBytes, IntoBytes};

use super::blocks::{self, Fault, Number};

/// The coding of an array. A writer keeps state from one chunk to the next; each chunk decodes by
/// itself.
///
/// A chunk is *regular* if all its numbers follow from the first. It takes a few bytes and constant
/// time, because a graph may have far more vertices than edges.
pub trait Coding {
    /// The type of the numbers.
    type Number: Number;

    /// The number `index` places behind `first` in a regular chunk.
    fn regular(first: Self::Number, index: u64) -> Self::Number;

    /// Appends a regular chunk of `count` numbers. Returns false if the chunk must be coded as any
    /// other.
    fn encode_regular(&mut self, first: Self::Number, count: usize, bytes: &mut Vec<u8>) -> bool;

    /// Appends a chunk that is not regular, or that [`encode_regular`](Self::encode_regular)
    /// refused.
    fn encode_any(&mut self, numbers: &[Self::Number], bytes: &mut Vec<u8>);

    /// Appends the next chunk.
    fn encode(&mut self, numbers: &[Self::Number], bytes: &mut Vec<u8>) {
        let is_regular = numbers.first().is_some_and(|&first| {
            numbers.iter().zip(0..).all(|(&number, index)| number == Self::regular(first, index))
                && self.encode_regular(first, numbers.len(), bytes)
        });
        if !is_regular {
            self.encode_any(numbers, bytes);
        }
    }

    /// Returns the first number of a chunk of `count`, if it is coded as regular.
    fn decode_regular(bytes: &[u8], count: usize) -> Result<Option<Self::Number>, Fault>;

    /// Fills `numbers` from a chunk with the same number of them. Bytes that no writer produces
    /// give an error.
    fn decode(bytes: &[u8], numbers: &mut [Self::Number]) -> Result<(), Fault>;
}

/// Numbers in any order. The closer neighbours are to each other, the fewer bits they take.
#[derive(Debug, Default, Clone, Copy)]
pub struct Unordered;

impl Coding for Unordered {
    type Number = u32;

    fn regular(first: u32, _index: u64) -> u32 {
        first
    }

    /// Zeros take no bytes at all.
    fn encode_regular(&mut self, first: u32, _count: usize, _bytes: &mut Vec<u8>) -> bool {
        first == 0
    }

    fn encode_any(&mut self, numbers: &[u32], bytes: &mut Vec<u8>) {
        blocks::encode(numbers, bytes);
    }

    fn decode_regular(bytes: &[u8], _count: usize) -> Result<Option<u32>, Fault> {
        Ok(bytes.is_empty().then_some(0))
    }

    fn decode(mut bytes: &[u8], numbers: &mut [u32]) -> Result<(), Fault> {
        if let Some(number) = Unordered::decode_regular(bytes, numbers.len())? {
            numbers.fill(number);
            return Ok(());
        }
        blocks::decode(&mut bytes, numbers)?;
        check_end(bytes)
    }
}

/// Numbers that never descend: the first number of each chunk, then the gaps.
#[derive(Debug, Default, Clone, Copy)]
pub struct Ascending;

impl Coding for Ascending {
    type Number = u64;

    fn regular(first: u64, index: u64) -> u64 {
        first.wrapping_add(index)
    }

    /// If each number is one more than the one before, the first suffices.
    fn encode_regular(&mut self, first: u64, _count: usize, bytes: &mut Vec<u8>) -> bool {
        bytes.extend(first.to_le_bytes());
        true
    }

    fn encode_any(&mut self, numbers: &[u64], bytes: &mut Vec<u8>) {
        debug_assert!(numbers.is_sorted());
        bytes.extend(numbers.first().unwrap_or(&0).to_le_bytes());
        let gaps: Vec<u64> = numbers.windows(2).map(|pair| pair[1] - pair[0]).collect();
        blocks::encode(&gaps, bytes);
    }

    fn decode_regular(bytes: &[u8], count: usize) -> Result<Option<u64>, Fault> {
        let Some(&first) = bytes.as_array() else { return Ok(None) };
        let first = u64::from_le_bytes(first);
        check_last(first, count)?;
        Ok(Some(first))
    }

    fn decode(mut bytes: &[u8], numbers: &mut [u64]) -> Result<(), Fault> {
        if let Some(first) = Ascending::decode_regular(bytes, numbers.len())? {
            count_up(first, numbers);
            return Ok(());
        }
        let first = bytes.split_off(..size_of::<u64>()).and_then(<[u8]>::as_array);
        let Some((number, gaps)) = numbers.split_first_mut() else { return check_end(bytes) };
        *number = u64::from_le_bytes(*first.ok_or("it ends within its first number")?);
        blocks::decode(&mut bytes, gaps)?;
        // Carries are gathered and looked at once, so that the loop has no branch.
        let (mut sum, mut is_too_large) = (*number, false);
        for gap in gaps {
            let carry;
            (sum, carry) = sum.overflowing_add(*gap);
            is_too_large |= carry;
            *gap = sum;
        }
        if is_too_large {
            return Err("its numbers are too large");
        }
        check_end(bytes)
    }
}

/// A permutation in which some ranges of numbers, the *runs*, come in ascending order. A number of
/// a run is coded as the number of its run; all others are written out. (J. Barbay, G. Navarro,
/// *Compressed representations of permutations*, STACS 2009, code runs with fewer bits, from a
/// tree.)
#[derive(Debug, Default, Clone)]
pub struct Permutation {
    /// The runs, ascending.
    runs: Vec<Run>,
    /// The next number of each run, in the order of their codes.
    next: Vec<u64>,
}

#[derive(Debug, Clone)]
struct Run {
    numbers: Range<u64>,
    code: u32,
}

/// Greatest number of runs: it is a byte, and so is a code.
const RUNS_MAX: usize = u8::MAX as usize;
/// The code of a number that is written out. Run `i` has the code `i + 1`.
const WRITTEN_OUT: u32 = 0;

impl Permutation {
    /// The coding of a permutation with these runs, which must not overlap. If a range is no run
    /// after all, its numbers take more bytes.
    pub fn new(mut runs: Vec<Range<u64>>) -> Permutation {
        // The longest have the smallest codes, so that most codes are small.
        runs.sort_by_key(|run| std::cmp::Reverse(run.end - run.start));
        runs.truncate(RUNS_MAX);
        let next = runs.iter().map(|run| run.start).collect();
        let mut runs: Vec<Run> =
            runs.into_iter().zip(1..).map(|(numbers, code)| Run { numbers, code }).collect();
        runs.sort_by_key(|run| run.numbers.start);
        Permutation { runs, next }
    }

    /// The run whose next number is `number`.
    fn run_of(&self, number: u64) -> Option<&Run> {
        let behind = self.runs.partition_point(|run| run.numbers.start <= number);
        let run = &self.runs[behind.checked_sub(1)?];
        let is_next = self.next[run.code as usize - 1] == number;
        (is_next && run.numbers.contains(&number)).then_some(run)
    }

    /// Codes the next number.
    fn code(&mut self, number: u64) -> u32 {
        let Some(&Run { code, .. }) = self.run_of(number) else { return WRITTEN_OUT };
        self.next[code as usize - 1] += 1;
        code
    }
}

impl Coding for Permutation {
    type Number = u64;

    fn regular(first: u64, index: u64) -> u64 {
        first.wrapping_add(index)
    }

    /// The next numbers of one run.
    fn encode_regular(&mut self, first: u64, count: usize, bytes: &mut Vec<u8>) -> bool {
        let holds = |run: &&Run| first + count as u64 <= run.numbers.end;
        let Some(&Run { code, .. }) = self.run_of(first).filter(holds) else { return false };
        self.next[code as usize - 1] += count as u64;
        bytes.push(1);
        blocks::encode(&[first], bytes);
        true
    }

    fn encode_any(&mut self, numbers: &[u64], bytes: &mut Vec<u8>) {
        bytes.push(self.next.len() as u8);
        blocks::encode(&self.next, bytes);
        let codes: Vec<u32> = numbers.iter().map(|&number| self.code(number)).collect();
        blocks::encode(&codes, bytes);
        let pairs = numbers.iter().zip(codes);
        let written_out: Vec<u64> =
            pairs.filter(|&(_, code)| code == WRITTEN_OUT).map(|(&number, _)| number).collect();
        blocks::encode(&written_out, bytes);
    }

    fn decode_regular(bytes: &[u8], count: usize) -> Result<Option<u64>, Fault> {
        let Some((1, mut rest)) = bytes.split_first() else { return Ok(None) };
        let mut first = [0];
        blocks::decode(&mut rest, &mut first)?;
        // Any other chunk with a single run begins with the same byte, but more follows.
        if !rest.is_empty() {
            return Ok(None);
        }
        check_last(first[0], count)?;
        Ok(Some(first[0]))
    }

    fn decode(mut bytes: &[u8], numbers: &mut [u64]) -> Result<(), Fault> {
        if let Some(first) = Permutation::decode_regular(bytes, numbers.len())? {
            count_up(first, numbers);
            return Ok(());
        }
        let &runs = bytes.split_off_first().ok_or("it ends within its number of runs")?;
        let mut next = [0u64; RUNS_MAX + 1];
        blocks::decode(&mut bytes, &mut next[1..=usize::from(runs)])?;
        let count = numbers.len();
        // The codes lie in the rear half of the memory for numbers, which is filled from the front.
        // So no code is overwritten before it is used.
        let halves = <[u32]>::mut_from_bytes(numbers.as_mut_bytes()).map_err(|_| "out of place")?;
        let codes = &mut halves[count..];
        blocks::decode(&mut bytes, codes)?;
        if codes.iter().fold(0, |most, &code| most.max(code)) > u32::from(runs) {
            return Err("a number is of no run");
        }
        let mut written_out = vec![0; codes.iter().filter(|&&code| code == WRITTEN_OUT).count()];
        blocks::decode(&mut bytes, &mut written_out)?;
        let mut written_out = written_out.into_iter();
        for index in 0..count {
            let code = halves[count + index];
            // The code fits a byte, which was checked, so the index is within bounds.
            let next = &mut next[usize::from(code as u8)];
            let expected = std::mem::replace(next, next.wrapping_add(1));
            let number = match code {
                WRITTEN_OUT => written_out.next().unwrap_or_default(),
                _ => expected,
            };
            halves[2 * index] = number as u32;
            halves[2 * index + 1] = (number >> u32::BITS) as u32;
        }
        check_end(bytes)
    }
}

/// Checks that the last of `count` consecutive numbers fits the type.
fn check_last(first: u64, count: usize) -> Result<(), Fault> {
    let last = first.checked_add((count as u64).saturating_sub(1));
    last.map(drop).ok_or("its numbers are too large")
}

/// Fills `numbers` with consecutive ones; [`check_last`] must hold.
fn count_up(first: u64, numbers: &mut [u64]) {
    numbers.iter_mut().zip(0..).for_each(|(place, index)| *place = first + index);
}

fn check_end(rest: &[u8]) -> Result<(), Fault> {
    if rest.is_empty() { Ok(()) } else { Err("there are bytes behind its last number") }
}
