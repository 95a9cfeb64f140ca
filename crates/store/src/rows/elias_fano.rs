//! Ascending numbers in about `2 + log2(u / n)` bits each, with access to any in constant time.
//!
//! The low `l = floor(log2(u / n))` bits of each number stand side by side. The high parts are in
//! unary: number `i` sets bit `(number >> l) + i` of a bitmap. So the position of the `i`-th set
//! bit gives the number (Elias 1974; Fano 1971; Vigna, *Quasi-succinct indices*, WSDM 2013, section
//! 3).
//!
//! A search in the bitmap starts from a sample, the position of every 32nd set bit. Samples are
//! taken once, when the words are read from disk.

/// Numbers per sample. On average, each takes two to three bits of the bitmap. So most are found in
/// two words, without a branch that could be mispredicted.
const SAMPLE_INTERVAL: usize = 32;

/// The layout of a sequence, which follows from the number of its elements and their bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shape {
    count: usize,
    low_bits: u32,
    low_words: usize,
    high_words: usize,
}

impl Shape {
    /// The shape of `count` numbers, each at most `last`.
    pub fn new(count: usize, last: u64) -> Shape {
        let low_bits = last.checked_div(count as u64).and_then(u64::checked_ilog2).unwrap_or(0);
        let high_bits = if count == 0 { 0 } else { count as u64 + (last >> low_bits) + 1 };
        Shape {
            count,
            low_bits,
            low_words: (count as u64 * u64::from(low_bits)).div_ceil(64) as usize,
            high_words: high_bits.div_ceil(64) as usize,
        }
    }

    /// Words of the sequence.
    pub fn words(&self) -> usize {
        self.low_words + self.high_words
    }

    /// Samples of the sequence.
    pub fn samples(&self) -> usize {
        self.count.div_ceil(SAMPLE_INTERVAL)
    }
}

/// Appends ascending numbers, each at most `last`. Returns their shape.
pub(super) fn write(numbers: &[u64], last: u64, words: &mut Vec<u64>) -> Shape {
    let shape = Shape::new(numbers.len(), last);
    let first = words.len();
    words.resize(first + shape.words(), 0);
    let (low, high) = words[first..].split_at_mut(shape.low_words);
    for (index, &number) in numbers.iter().enumerate() {
        debug_assert!(number <= last && (index == 0 || numbers[index - 1] <= number));
        put_bits(low, index as u64 * u64::from(shape.low_bits), shape.low_bits, number);
        let bit = (number >> shape.low_bits) as usize + index;
        high[bit / 64] |= 1 << (bit % 64);
    }
    shape
}

/// A view of a sequence's words and samples.
#[derive(Debug, Clone, Copy)]
pub(super) struct EliasFano<'a> {
    shape: Shape,
    low: &'a [u64],
    high: &'a [u64],
    samples: &'a [u32],
}

/// A position in a sequence, the place of its bit, and its number.
#[derive(Debug, Clone, Copy)]
pub(super) struct Walk {
    index: usize,
    place: usize,
    number: u64,
}

impl Default for Walk {
    /// Behind every position.
    fn default() -> Walk {
        Walk { index: usize::MAX, place: 0, number: 0 }
    }
}

impl<'a> EliasFano<'a> {
    /// A view of [`Shape::words`] words and [`Shape::samples`] samples, which [`sample`] took.
    pub fn new(shape: Shape, words: &'a [u64], samples: &'a [u32]) -> EliasFano<'a> {
        let (low, high) = words.split_at(shape.low_words);
        EliasFano { shape, low, high, samples }
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.shape.count
    }

    /// Returns the number before a position (0 for the first) and the one at it, and moves `walk`
    /// there. Faster if `walk` was a little before, fastest if it was right before.
    #[inline(always)]
    pub fn walk_to(&self, index: usize, walk: &mut Walk) -> (u64, u64) {
        let Some(before) = index.checked_sub(1) else {
            *walk = self.at(0, self.place(0));
            return (0, walk.number);
        };
        if walk.index != before {
            self.catch_up(before, walk);
        }
        let start = walk.number;
        *walk = self.at(index, self.next_place(walk.place));
        (start, walk.number)
    }

    /// Moves `walk` to a position, step by step if it is a little ahead.
    fn catch_up(&self, index: usize, walk: &mut Walk) {
        const STEPS_MAX: usize = 16;
        let place = match index.checked_sub(walk.index) {
            Some(steps) if steps <= STEPS_MAX => {
                (0..steps).fold(walk.place, |place, _| self.next_place(place))
            }
            _ => self.place(index),
        };
        *walk = self.at(index, place);
    }

    #[inline]
    fn at(&self, index: usize, place: usize) -> Walk {
        Walk { index, place, number: self.number(index, place) }
    }

    /// Searches distinct numbers for `number`. Returns its position, or else how many are less.
    pub fn position(&self, number: u64) -> Result<usize, usize> {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low.midpoint(high);
            if self.number(middle, self.place(middle)) < number {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        let is_found = low < self.len() && self.number(low, self.place(low)) == number;
        if is_found { Ok(low) } else { Err(low) }
    }

    /// The number at a position, whose bit is at `place`.
    #[inline]
    fn number(&self, index: usize, place: usize) -> u64 {
        let bits = self.shape.low_bits;
        let low = get_bits(self.low, index as u64 * u64::from(bits), bits);
        (((place - index) as u64) << bits) | low
    }

    /// The place of the `index`-th set bit, from 0.
    #[inline]
    fn place(&self, index: usize) -> usize {
        let mut place = self.samples[index / SAMPLE_INTERVAL] as usize;
        let mut rest = (index % SAMPLE_INTERVAL) as u64;
        // Ends, because `sample` has checked that there are as many set bits as numbers.
        loop {
            let bits = [self.bits_from(place), self.bits_from(place + 64)];
            let sums = bits.map(sums_of_bytes);
            let first = sums[0] >> 56;
            // A number and not a branch, which would often be mispredicted.
            let second = usize::from(rest >= first);
            rest -= [0, first][second];
            if rest < sums[second] >> 56 {
                let within = select(bits[second], sums[second], rest as u32);
                return place + 64 * second + within as usize;
            }
            rest -= sums[second] >> 56;
            place += 128;
        }
    }

    /// The 64 bits from `place` on; zeros behind the last.
    #[inline(always)]
    fn bits_from(&self, place: usize) -> u64 {
        let (number, shift) = (place / 64, place % 64);
        let word = |number: usize| self.high.get(number).copied().unwrap_or(0);
        // Shifted twice: the bits may be one word.
        word(number) >> shift | word(number + 1) << 1 << (63 - shift)
    }

    /// Returns the place of the first set bit behind `place`.
    #[inline]
    fn next_place(&self, place: usize) -> usize {
        let mut number = place / 64;
        // Shifted twice: the bit may be the last of its word.
        let mut word = self.high[number] & (u64::MAX << (place % 64) << 1);
        while word == 0 {
            number += 1;
            word = self.high[number];
        }
        number * 64 + word.trailing_zeros() as usize
    }
}

/// Appends the samples of a sequence. Wrong words give an error.
pub(super) fn sample(shape: Shape, words: &[u64], samples: &mut Vec<u32>) -> Result<(), String> {
    let mut seen = 0usize;
    for (number, &word) in words[shape.low_words..].iter().enumerate() {
        let ones = word.count_ones() as usize;
        for due in (seen.next_multiple_of(SAMPLE_INTERVAL)..seen + ones).step_by(SAMPLE_INTERVAL) {
            samples.push(number as u32 * 64 + select_in_word(word, (due - seen) as u32));
        }
        seen += ones;
    }
    if seen == shape.count {
        return Ok(());
    }
    Err(format!("{seen} numbers instead of {}", shape.count))
}

/// Upper bound for the difference of two consecutive numbers. Exceeds the greatest by less than two
/// steps of the high part. Scans the bitmap by words.
pub(super) fn step_max(shape: Shape, words: &[u64]) -> u64 {
    // Between the bits of two numbers, the high part grows by one for each zero.
    let (mut longest, mut run) = (0, 0);
    for &word in &words[shape.low_words..] {
        longest = longest.max(run + word.trailing_zeros());
        while has_zeros(word, longest + 1) {
            longest += 1;
        }
        run = if word == 0 { run + 64 } else { word.leading_zeros() };
    }
    (u64::from(longest) + 1).saturating_mul(1 << shape.low_bits)
}

/// Whether a word has `count` consecutive zeros.
fn has_zeros(word: u64, count: u32) -> bool {
    count <= 64 && (1..count).fold(!word, |ends, _| ends & ends >> 1) != 0
}

/// The place of the `ordinal`-th set bit, from 0, of a word that has more than `ordinal`.
fn select_in_word(word: u64, ordinal: u32) -> u32 {
    select(word, sums_of_bytes(word), ordinal)
}

const LOW_BITS: u64 = 0x0101_0101_0101_0101;

/// Counts, for each byte, the set bits in it and in the bytes below; at most 64.
#[inline(always)]
fn sums_of_bytes(word: u64) -> u64 {
    let sums = word - (word >> 1 & 0x5555_5555_5555_5555);
    let sums = (sums & 0x3333_3333_3333_3333) + (sums >> 2 & 0x3333_3333_3333_3333);
    ((sums + (sums >> 4)) & 0x0f0f_0f0f_0f0f_0f0f).wrapping_mul(LOW_BITS)
}

/// As [`select_in_word`], with the result of [`sums_of_bytes`] (Vigna, *Broadword implementation of
/// rank/select queries*, WEA 2008).
#[inline(always)]
fn select(word: u64, sums: u64, ordinal: u32) -> u32 {
    // The bytes whose sum is at most the ordinal are below the byte of the bit.
    let at_most =
        (((u64::from(ordinal) * LOW_BITS) | (0x80 * LOW_BITS)) - sums) & (0x80 * LOW_BITS);
    let byte = (at_most >> 7).wrapping_mul(LOW_BITS) >> 56;
    let before = (sums << 8) >> (8 * byte) & 0xff;
    let bits = word >> (8 * byte) & 0xff;
    // The remainder changes nothing, but spares a check of the index.
    let place = SELECT_IN_BYTE[bits as usize][(ordinal - before as u32) as usize % 8];
    8 * byte as u32 + u32::from(place)
}

/// For each byte, the places of its set bits.
const SELECT_IN_BYTE: [[u8; 8]; 256] = {
    let mut places = [[0; 8]; 256];
    let mut byte = 0;
    while byte < 256 {
        let (mut bit, mut ordinal) = (0, 0);
        while bit < 8 {
            if byte >> bit & 1 == 1 {
                places[byte][ordinal] = bit as u8;
                ordinal += 1;
            }
            bit += 1;
        }
        byte += 1;
    }
    places
};

/// Stores the low `count` bits (less than 64) of a number; they must be 0 before.
fn put_bits(words: &mut [u64], place: u64, count: u32, number: u64) {
    if count == 0 {
        return;
    }
    let bits = number & ((1 << count) - 1);
    let (word, shift) = ((place / 64) as usize, (place % 64) as u32);
    words[word] |= bits << shift;
    if shift + count > 64 {
        words[word + 1] |= bits >> (64 - shift);
    }
}

/// Reads `count` bits, less than 64.
#[inline]
fn get_bits(words: &[u64], place: u64, count: u32) -> u64 {
    // There may be no words at all, so not even the first one is looked at.
    if count == 0 {
        return 0;
    }
    let (word, shift) = ((place / 64) as usize, (place % 64) as u32);
    let mut bits = words[word] >> shift;
    if shift + count > 64 {
        bits |= words[word + 1] << (64 - shift);
    }
    bits & ((1 << count) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(numbers: &[u64], last: u64) {
        let mut words = vec![7];
        let shape = write(numbers, last, &mut words);
        let mut samples = Vec::new();
        sample(shape, &words[1..], &mut samples).unwrap();
        assert_eq!(samples.len(), shape.samples());
        let view = EliasFano::new(shape, &words[1..], &samples);
        for (index, &number) in numbers.iter().enumerate() {
            let before = if index == 0 { 0 } else { numbers[index - 1] };
            let found = view.walk_to(index, &mut Walk::default());
            assert_eq!(found, (before, number), "number {index}");
            assert!(number - before <= step_max(shape, &words[1..]), "number {index}");
        }
        for step in [1, 2, 7, 16, 17, 40] {
            let mut walk = Walk::default();
            for index in (0..numbers.len()).step_by(step) {
                let found = view.walk_to(index, &mut walk);
                assert_eq!(found, view.walk_to(index, &mut Walk::default()), "steps of {step}");
            }
        }
    }

    #[test]
    fn shapes_of_extreme_sequences_are_read_back() {
        check(&[], 0);
        check(&[], 1 << 50);
        check(&[0], 0);
        check(&[u64::MAX >> 1], u64::MAX >> 1);
        check(&[0; 200], 0);
        check(&[5; 200], 1 << 40);
        check(&(0..1000).collect::<Vec<_>>(), 999);
        check(&[vec![0; 300], vec![1 << 20; 300]].concat(), 1 << 20);
    }

    #[test]
    fn the_bound_of_steps_is_close_to_a_long_step() {
        let numbers: Vec<u64> =
            (0..2000).map(|index| index * 50 + index / 1000 * 900_000).collect();
        let mut words = Vec::new();
        let shape = write(&numbers, 999_950, &mut words);
        let bound = step_max(shape, &words);
        assert!((900_050..1_000_000).contains(&bound), "{bound}");
    }

    #[test]
    fn the_example_of_the_specification_is_right() {
        let mut words = Vec::new();
        write(&[5, 5, 9, 20], 20, &mut words);
        assert_eq!(words, [0x15, 0x116]);
        check(&[5, 5, 9, 20], 20);
    }

    #[test]
    fn a_number_is_found_among_distinct_ones() {
        let numbers: Vec<u64> = (0..500).map(|index| index * index).collect();
        let mut words = Vec::new();
        let shape = write(&numbers, 250_000, &mut words);
        let mut samples = Vec::new();
        sample(shape, &words, &mut samples).unwrap();
        let view = EliasFano::new(shape, &words, &samples);
        for number in 0..250_001 {
            assert_eq!(view.position(number), numbers.binary_search(&number), "{number}");
        }
    }

    #[test]
    fn words_with_too_few_or_too_many_numbers_are_refused() {
        let mut words = Vec::new();
        let shape = write(&[1, 5, 900], 1000, &mut words);
        for bit in 0..shape.high_words * 64 {
            let mut damaged = words.clone();
            damaged[shape.low_words + bit / 64] ^= 1 << (bit % 64);
            assert!(sample(shape, &damaged, &mut Vec::new()).is_err(), "bit {bit}");
        }
    }

    proptest! {
        #[test]
        fn written_numbers_are_read_back(
            mut numbers in prop::collection::vec(0u64..1 << 45, 0..400),
            shift in 0u32..45,
            above in 0u64..1 << 20,
        ) {
            numbers.iter_mut().for_each(|number| *number >>= shift);
            numbers.sort_unstable();
            let last = numbers.last().copied().unwrap_or(0) + above;
            check(&numbers, last);
        }

        #[test]
        fn a_set_bit_of_a_word_is_found(word in 1u64.., ordinal in 0u32..64) {
            let ordinal = ordinal % word.count_ones();
            let expected = (0..64).filter(|bit| word >> bit & 1 == 1).nth(ordinal as usize);
            prop_assert_eq!(Some(select_in_word(word, ordinal)), expected);
        }
    }
}
