//! Orders of all vertices that look drawn at random, and what is the first by each of them.

use std::f64::consts::LN_2;

use tegula_machine::mix;

use crate::random;

/// The place of a vertex in an order. No two vertices have the same one.
pub type Place = u32;

/// A place to twelve binary digits: what stands first by its place has the least label.
pub type Label = u16;

/// Binary digits of a label behind its first one.
const FRACTION_BITS: u32 = 11;

/// The width of a label over its places, on average where these lie as widely as first places do: it is from `2^-12`
/// to `2^-11`.
///
/// Where two sets of `d` and `e` members have none in common, their first ones have the same label with this
/// probability times `d * e / ((d + e) (d + e - 1))`.
const CHANCE: f64 = 1.0 / ((2 << FRACTION_BITS) as f64 * LN_2);

/// Hashes that are looked at together.
pub const LANES: usize = 16;
/// Groups of hashes, each with an estimate of its own: hash `k` is in group `k % GROUPS`.
const GROUPS: usize = 8;

/// Orders of vertices, by as many hashes.
#[derive(Debug)]
pub struct Hashes {
    count: u32,
    /// The constants of each, and of those beyond the last one that make up whole lanes.
    lanes: Vec<Lanes>,
    /// In all lanes but the last, and in the last: 1 for each hash that there is, and 0 beyond.
    is_there: [[u16; LANES]; 2],
    /// By how many hashes agree: the share of two neighbourhoods that is common, and the same by each group alone.
    shares: Vec<f64>,
    shares_by_group: [Vec<f64>; GROUPS],
}

#[derive(Debug)]
struct Lanes {
    offset: [u32; LANES],
    factor: [u32; LANES],
}

impl Hashes {
    /// So many, of a seed.
    pub fn new(count: u32, seed: u64) -> Hashes {
        let lanes = (0..count.div_ceil(LANES as u32)).map(|lane| {
            let constants = |index: usize| {
                let number =
                    random::number(mix(seed), u64::from(lane) * LANES as u64 + index as u64);
                (number as u32, (number >> 32) as u32 | 1)
            };
            Lanes {
                offset: std::array::from_fn(|index| constants(index).0),
                factor: std::array::from_fn(|index| constants(index).1),
            }
        });
        let in_last = (count as usize).wrapping_sub(1) % LANES;
        let last = std::array::from_fn(|index| u16::from(index <= in_last));
        Hashes {
            count,
            lanes: lanes.collect(),
            is_there: [[1; LANES], last],
            shares: shares(count),
            shares_by_group: std::array::from_fn(|group| shares(group_len(count, group))),
        }
    }

    /// How many there are.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Labels in a signature.
    pub fn signature_len(&self) -> usize {
        self.lanes.len() * LANES
    }

    /// The signature of a vertex with such neighbours. `first` is room for as many places as a signature has labels.
    #[inline(always)]
    pub fn sign(
        &self,
        neighbours: impl Iterator<Item = u32>,
        first: &mut [Place],
        signature: &mut [Label],
    ) {
        first.fill(Place::MAX);
        // A closure would not be compiled for the vectors of the caller.
        for id in neighbours {
            self.take(id, first);
        }
        for (&first, own) in first.iter().zip(signature) {
            *own = label(first);
        }
    }

    /// Notes a neighbour by each hash by which it comes before those that were noted.
    #[inline(always)]
    fn take(&self, id: u32, first: &mut [Place]) {
        let scrambled = scramble(id);
        for (lanes, places) in self.lanes.iter().zip(first.as_chunks_mut::<LANES>().0) {
            for ((first, offset), factor) in places.iter_mut().zip(lanes.offset).zip(lanes.factor) {
                let place = (scrambled ^ offset).wrapping_mul(factor);
                let place = (place ^ (place >> 15)).wrapping_mul(0x2c1b_3c6d);
                *first = place.min(*first);
            }
        }
    }

    /// Counts the hashes by which two neighbourhoods seem to have the same first member, by lane.
    #[inline(always)]
    pub fn count_agreeing(&self, one: &[Label], other: &[Label], agreeing: &mut [u16; LANES]) {
        let (one, other) = (one.as_chunks::<LANES>().0, other.as_chunks::<LANES>().0);
        let Some(last) = one.len().checked_sub(1) else { return };
        for (index, (one, other)) in one.iter().zip(other).enumerate() {
            let is_there = &self.is_there[usize::from(index == last)];
            for lane in 0..LANES {
                agreeing[lane] += u16::from(one[lane] == other[lane]) & is_there[lane];
            }
        }
    }

    /// Half of how many of their neighbours two vertices have in common, which have so many. Adds what each group says
    /// of it.
    #[inline(always)]
    pub fn share(
        &self,
        agreeing: &[u16; LANES],
        neighbours: [u32; 2],
        sums: &mut GroupSums,
    ) -> f64 {
        let [one, other] = neighbours.map(f64::from);
        let ends = (one + other) / 2.0;
        let (mut all, mut by_group) = (0, [0; GROUPS]);
        for (lane, agreeing) in agreeing.iter().enumerate() {
            all += agreeing;
            by_group[lane % GROUPS] += agreeing;
        }
        let groups = self.shares_by_group.iter().zip(by_group);
        for (sum, (shares, agreeing)) in sums.0.iter_mut().zip(groups) {
            *sum += (ends * shares[usize::from(agreeing)] * UNITS) as u64;
        }
        let half = ends * self.shares[usize::from(all)];
        // Those that agree by chance, where they are not the same, are as many in all groups: what is taken off changes
        // nothing of how these differ.
        half - CHANCE / 2.0 * (one * other / (one + other - 1.0) - half)
    }

    /// The standard error of the mean of the sums; none where groups have a single hash, or none: the share that one
    /// hash finds is half as steep as that of many.
    pub fn standard_error(&self, sums: &GroupSums) -> Option<f64> {
        if (self.count as usize) < 2 * GROUPS {
            return None;
        }
        let sums = sums.0.map(|sum| sum as f64 / UNITS);
        let mean = sums.iter().sum::<f64>() / GROUPS as f64;
        let squares: f64 = sums.iter().map(|sum| (sum - mean).powi(2)).sum();
        Some((squares / (GROUPS * (GROUPS - 1)) as f64).sqrt())
    }
}

/// Hashes of a group, of so many in all.
fn group_len(count: u32, group: usize) -> u32 {
    (count + (GROUPS - 1 - group) as u32) / GROUPS as u32
}

/// What part of the members of two sets, those of both counted twice, are in both: by how many hashes agree.
///
/// Where that is `J / (1 + J)`, and Z of K hashes agree, `Z / K` in the place of J would be too little by `J (1 - J) /
/// (K (1 + J)^3)` on average, since the curve is bent. That is added, as estimated by Z. What is left of it is at most
/// `2 / K^2` of the estimate.
fn shares(count: u32) -> Vec<f64> {
    let share = |agreeing: u32| {
        let found = f64::from(agreeing) / f64::from(count.max(1));
        let too_little = match count {
            0 | 1 => 0.0,
            _ => found * (1.0 - found) / (f64::from(count - 1) * (1.0 + found).powi(3)),
        };
        found / (1.0 + found) + too_little
    };
    (0..=count).map(share).collect()
}

/// What each group of hashes says of a sum, in sixteenths: whole numbers have the same sum in any order.
#[derive(Debug, Clone, Copy, Default)]
pub struct GroupSums([u64; GROUPS]);

/// The units of these sums in 1.
const UNITS: f64 = 16.0;

impl GroupSums {
    /// Adds other ones.
    pub fn add(&mut self, other: &GroupSums) {
        self.0.iter_mut().zip(other.0).for_each(|(sum, other)| *sum += other);
    }
}

/// The label of a place.
#[inline(always)]
fn label(place: Place) -> Label {
    /// What stands before the digits of 1.0.
    const EXPONENT_OF_ONE: u32 = (f32::MAX_EXP as u32 - 1) << FRACTION_BITS;
    // Halved, as vectors convert signed numbers. The bits of floats that are not negative are in the order of these.
    let bits = ((place >> 1) as i32 as f32).to_bits() >> (f32::MANTISSA_DIGITS - 1 - FRACTION_BITS);
    (bits.max(EXPONENT_OF_ONE) - EXPONENT_OF_ONE) as Label
}

/// A number that looks drawn at random for each number, no two of which have the same.
#[inline(always)]
fn scramble(number: u32) -> u32 {
    let mut scrambled = number ^ (number >> 16);
    scrambled = scrambled.wrapping_mul(0x7feb_352d);
    scrambled ^= scrambled >> 15;
    scrambled = scrambled.wrapping_mul(0x846c_a68b);
    scrambled ^ (scrambled >> 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sign(hashes: &Hashes, members: impl Iterator<Item = u32>) -> Vec<Label> {
        let len = hashes.signature_len();
        let (mut first, mut signature) = (vec![0; len], vec![0; len]);
        hashes.sign(members, &mut first, &mut signature);
        signature
    }

    fn count_agreeing(hashes: &Hashes, one: &[Label], other: &[Label]) -> u16 {
        let mut lanes = [0; LANES];
        hashes.count_agreeing(one, other, &mut lanes);
        lanes.iter().sum()
    }

    #[test]
    fn labels_are_in_the_order_of_places() {
        let powers = (0..32).map(|power| 1 << power);
        let around = powers.flat_map(|power: Place| [power - 1, power, power + 1]);
        let mut places: Vec<Place> = around.chain([Place::MAX, Place::MAX - 1]).collect();
        places.extend((0..10_000).map(|number| scramble(number) >> (number % 32)));
        places.sort_unstable();
        assert!(places.is_sorted_by_key(|&place| label(place)));
        // Places of the same label are no farther apart than its digits tell, and the least ones than 1.
        for two in places.windows(2).filter(|two| label(two[0]) == label(two[1])) {
            let apart = two[1] - two[0];
            assert!(apart <= 2 || apart <= two[0] >> (FRACTION_BITS - 1), "{two:?}");
        }
    }

    #[test]
    fn as_many_agree_by_chance_as_are_taken_off() {
        let (runs, count) = (2000, 1024);
        let mut found = 0;
        for run in 0..runs {
            let hashes = Hashes::new(count, run.into());
            let [one, other] = [0..6, 6..16].map(|members| sign(&hashes, members));
            found += u32::from(count_agreeing(&hashes, &one, &other));
        }
        let expected = f64::from(runs * count) * CHANCE * 60.0 / (16.0 * 15.0);
        assert!((f64::from(found) - expected).abs() < 4.0 * expected.sqrt(), "{found}, {expected}");
    }

    /// Two sets of 60 and 40 members, 20 of which they share: their coefficient is 1/4.
    #[test]
    fn as_many_agree_as_are_shared() {
        for count in [1, 8, 17, 64, 1000] {
            let (mut agreeing, mut squares) = (0.0, 0.0);
            let runs = 400_000 / count.max(1000);
            for run in 0..runs {
                let hashes = Hashes::new(count, run.into());
                let signature = |members: std::ops::Range<u32>| {
                    sign(&hashes, members.map(|id| id + run * 1000))
                };
                let found = count_agreeing(&hashes, &signature(0..60), &signature(40..80));
                let found = f64::from(found) / f64::from(count);
                agreeing += found;
                squares += (found - 0.25).powi(2);
            }
            let variance = 0.25 * 0.75 / f64::from(count);
            let mean = agreeing / f64::from(runs);
            let deviation = (variance / f64::from(runs)).sqrt();
            assert!((mean - 0.25).abs() < 4.0 * deviation, "{count}: {mean}, {deviation}");
            let found = squares / f64::from(runs);
            assert!((0.7..1.3).contains(&(found / variance)), "{count}: {found} of {variance}");
        }
    }

    /// Sums over all outcomes, by the binomial distribution.
    #[test]
    fn shares_are_neither_too_little_nor_too_much_on_average() {
        for count in [2, 8, 16, 64] {
            let shares = shares(count);
            for coefficient in [0.001, 0.02, 0.1, 0.3, 0.5, 0.9, 0.999] {
                let odds = coefficient / (1.0 - coefficient);
                let truth = coefficient / (1.0 + coefficient);
                let mut probability = (1.0f64 - coefficient).powi(count as i32);
                let (mut mean, mut square) = (0.0, 0.0);
                for (agreeing, share) in shares.iter().enumerate() {
                    mean += probability * share;
                    square += probability * (share - truth).powi(2);
                    let (left, next) = (f64::from(count) - agreeing as f64, agreeing as f64 + 1.0);
                    probability *= odds * left / next;
                }
                let most = 2.0 / f64::from(count * count);
                assert!((mean / truth - 1.0).abs() <= most, "{count}, {coefficient}: {mean}");
                let bound = coefficient * (1.0 - coefficient) / f64::from(count);
                assert!(square <= bound, "{count}, {coefficient}: {square} beyond {bound}");
            }
        }
    }

    #[test]
    fn groups_have_all_hashes() {
        for count in [1, 7, 8, 9, 15, 16, 64, 100] {
            let hashes = Hashes::new(count, 1);
            assert_eq!((0..GROUPS).map(|group| group_len(count, group)).sum::<u32>(), count);
            let mut sums = GroupSums::default();
            let labels = vec![7; hashes.signature_len()];
            let mut lanes = [0; LANES];
            hashes.count_agreeing(&labels, &labels, &mut lanes);
            assert_eq!(u32::from(lanes.iter().sum::<u16>()), count);
            let half = hashes.share(&lanes, [10, 10], &mut sums);
            assert!((half - 5.0).abs() < CHANCE, "all of both are shared: {half}");
            assert_eq!(hashes.standard_error(&sums), (count >= 16).then_some(0.0));
        }
    }
}
