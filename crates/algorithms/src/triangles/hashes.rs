//! Orders of all vertices that look drawn at random, and what is the first by each of them.

use tegula_machine::mix;

use crate::random;

/// The place of a vertex in an order. No two vertices have the same one.
pub type Label = u32;

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
    is_there: [[u32; LANES]; 2],
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
        let last = std::array::from_fn(|index| u32::from(index <= in_last));
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

    /// Notes a neighbour in a signature, wherever it comes before those that were noted.
    #[inline(always)]
    pub fn take(&self, id: u32, signature: &mut [Label]) {
        let scrambled = scramble(id);
        for (lanes, labels) in self.lanes.iter().zip(signature.as_chunks_mut::<LANES>().0) {
            for ((first, offset), factor) in labels.iter_mut().zip(lanes.offset).zip(lanes.factor) {
                let label = (scrambled ^ offset).wrapping_mul(factor);
                let label = (label ^ (label >> 15)).wrapping_mul(0x2c1b_3c6d);
                *first = label.min(*first);
            }
        }
    }

    /// Counts the hashes by which two neighbourhoods have the same first member, by lane.
    #[inline(always)]
    pub fn count_agreeing(&self, one: &[Label], other: &[Label], agreeing: &mut [u32; LANES]) {
        let (one, other) = (one.as_chunks::<LANES>().0, other.as_chunks::<LANES>().0);
        let Some(last) = one.len().checked_sub(1) else { return };
        for (index, (one, other)) in one.iter().zip(other).enumerate() {
            let is_there = &self.is_there[usize::from(index == last)];
            for lane in 0..LANES {
                agreeing[lane] += u32::from(one[lane] == other[lane]) & is_there[lane];
            }
        }
    }

    /// How many of `ends` neighbours in all two vertices have in common. Adds what each group says of it.
    #[inline(always)]
    pub fn share(&self, agreeing: &[u32; LANES], ends: f64, sums: &mut GroupSums) -> f64 {
        let (mut all, mut by_group) = (0, [0; GROUPS]);
        for (lane, agreeing) in agreeing.iter().enumerate() {
            all += agreeing;
            by_group[lane % GROUPS] += agreeing;
        }
        let groups = self.shares_by_group.iter().zip(by_group);
        for (sum, (shares, agreeing)) in sums.0.iter_mut().zip(groups) {
            *sum += (ends * shares[agreeing as usize] * UNITS) as u64;
        }
        ends * self.shares[all as usize]
    }

    /// The standard error of the mean of the sums; none where groups have no hashes.
    pub fn standard_error(&self, sums: &GroupSums) -> Option<f64> {
        if (self.count as usize) < GROUPS {
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

    /// Two sets of 60 and 40 members, 20 of which they share: their coefficient is 1/4.
    #[test]
    fn as_many_agree_as_are_shared() {
        for count in [1, 8, 17, 64, 1000] {
            let (mut agreeing, mut squares) = (0.0, 0.0);
            let runs = 400_000 / count.max(1000);
            for run in 0..runs {
                let hashes = Hashes::new(count, run.into());
                let signature = |members: std::ops::Range<u32>| {
                    let mut signature = vec![Label::MAX; hashes.signature_len()];
                    members.for_each(|id| hashes.take(id + run * 1000, &mut signature));
                    signature
                };
                let mut lanes = [0; LANES];
                hashes.count_agreeing(&signature(0..60), &signature(40..80), &mut lanes);
                let found = f64::from(lanes.iter().sum::<u32>()) / f64::from(count);
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
        for count in [1, 7, 8, 9, 64, 100] {
            let hashes = Hashes::new(count, 1);
            assert_eq!((0..GROUPS).map(|group| group_len(count, group)).sum::<u32>(), count);
            let mut sums = GroupSums::default();
            let labels = vec![7; hashes.signature_len()];
            let mut agreeing = [0; LANES];
            hashes.count_agreeing(&labels, &labels, &mut agreeing);
            assert_eq!(agreeing.iter().sum::<u32>(), count);
            assert_eq!(hashes.share(&agreeing, 10.0, &mut sums), 5.0, "all of both are shared");
            assert_eq!(hashes.standard_error(&sums), (count >= 8).then_some(0.0));
        }
    }
}
