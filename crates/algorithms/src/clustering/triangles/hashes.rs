//! Pseudorandom orders of all vertices, and the first vertex by each of them.

use std::f64::consts::LN_2;

use tegula_machine::mix;

use crate::shared::random;

/// The place of a vertex in an order. No two vertices have the same place.
pub type Place = u32;

/// A place to twelve binary digits: the first vertex by place has the least label.
pub type Label = u16;

/// Binary digits of a label after its first one.
const FRACTION_BITS: u32 = 11;

/// The average width of a label relative to its places, if these are spread as widely as first
/// places are. The width is from `2^-12` to `2^-11`.
///
/// If two sets of `d` and `e` members have none in common, their first members have the same label
/// with this probability times `d * e / ((d + e) (d + e - 1))`.
const CHANCE: f64 = 1.0 / ((2 << FRACTION_BITS) as f64 * LN_2);

/// Hashes that are looked at together: hash `k` is in lane `k % LANES`. The hashes of a lane are
/// also a group, and the differences between groups tell the error of the estimate.
pub const LANES: usize = 16;

/// Orders of vertices, one for each hash.
#[derive(Debug)]
pub struct Hashes {
    count: u32,
    /// The constants of each hash, and of further ones that make up whole lanes.
    lanes: Vec<Lanes>,
    /// For all lanes but the last, and for the last: 1 for each hash, and 0 beyond the hashes.
    is_there: [[u16; LANES]; 2],
    /// The common share of two neighbourhoods, by the number of hashes that agree.
    shares: Vec<f64>,
    /// How much smaller this share is if one hash fewer agrees, by the number of hashes that agree.
    steps: Vec<f64>,
}

#[derive(Debug)]
struct Lanes {
    offset: [u32; LANES],
    factor: [u32; LANES],
}

impl Hashes {
    /// Makes `count` hashes from a seed.
    pub fn new(count: u32, seed: u64) -> Hashes {
        let lanes = (0..count.div_ceil(LANES as u32)).map(|lane| {
            let constants = |index: usize| {
                let number =
                    random::number(mix(seed), u64::from(lane) * LANES as u64 + index as u64);
                // An odd factor can be undone, so no two vertices get the same place.
                (number as u32, (number >> 32) as u32 | 1)
            };
            Lanes {
                offset: std::array::from_fn(|index| constants(index).0),
                factor: std::array::from_fn(|index| constants(index).1),
            }
        });
        let in_last = (count as usize).wrapping_sub(1) % LANES;
        let last = std::array::from_fn(|index| u16::from(index <= in_last));
        let shares = shares(count);
        let steps = shares.windows(2).map(|neighbours| neighbours[1] - neighbours[0]);
        Hashes {
            count,
            lanes: lanes.collect(),
            is_there: [[1; LANES], last],
            steps: std::iter::once(0.0).chain(steps).collect(),
            shares,
        }
    }

    /// Returns the number of hashes.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Returns the number of labels in a signature.
    pub fn signature_len(&self) -> usize {
        self.lanes.len() * LANES
    }

    /// Finds the signature of a vertex with these neighbours. `first` has room for a place per
    /// label.
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

    /// Notes a neighbour for each hash by which it comes before all earlier ones.
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

    /// Counts, by lane, the hashes by which two neighbourhoods seem to have the same first member.
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

    /// Returns half the number of neighbours that two vertices have in common. `agreeing` has the
    /// agreeing hashes of each lane, `neighbours` the number of neighbours of each vertex. Adds
    /// what each group contributes to `sums`.
    #[inline(always)]
    pub fn share(
        &self,
        agreeing: &[u16; LANES],
        neighbours: [u32; 2],
        sums: &mut GroupSums,
    ) -> f64 {
        let [one, other] = neighbours.map(f64::from);
        let ends = (one + other) / 2.0;
        let all = usize::from(agreeing.iter().sum::<u16>());
        let step = (ends * self.steps[all] * UNITS) as u64;
        for (sum, &agreeing) in sums.0.iter_mut().zip(agreeing) {
            *sum += step * u64::from(agreeing);
        }
        let half = ends * self.shares[all];
        // Agreements by chance are equally frequent in all groups, so the correction does not
        // change how the groups differ.
        half - CHANCE / 2.0 * (one * other / (one + other - 1.0) - half)
    }

    /// Returns the standard error of the sum of all [shares](Hashes::share); `None` if a group
    /// would have no hash.
    ///
    /// A hash contributes the step of each edge on which it agrees, summed over the edges. To first
    /// order, and except for a constant, the sum of shares is the sum of the contributions of K
    /// hashes. They are independent and have the same variance, so the square of the error is K
    /// times that variance. Edges that share a vertex share its signature, and err together. As a
    /// contribution is summed over all edges, it includes their covariances.
    ///
    /// The variance is estimated from the groups. Group g has the sum `S(g)` of the contributions
    /// of `K(g)` hashes. So `(S(g) - K(g) * mean)^2 / K(g)` has the variance of one contribution,
    /// over G - 1 degrees of freedom. The root of such an estimate is too small on average: G - 1.5
    /// in place of G - 1 corrects that.
    pub fn standard_error(&self, sums: &GroupSums) -> Option<f64> {
        if (self.count as usize) < LANES {
            return None;
        }
        let count = f64::from(self.count);
        let sums = sums.0.map(|sum| sum as f64 / UNITS);
        let mean = sums.iter().sum::<f64>() / count;
        let square = |(group, sum): (usize, &f64)| {
            let len = f64::from(group_len(self.count, group));
            (sum - len * mean).powi(2) / len
        };
        let squares: f64 = sums.iter().enumerate().map(square).sum();
        Some((count * squares / (LANES as f64 - 1.5)).sqrt())
    }
}

/// Returns the number of hashes in a group, of `count` hashes in all.
fn group_len(count: u32, group: usize) -> u32 {
    (count + (LANES - 1 - group) as u32) / LANES as u32
}

/// Returns the common members of two sets, as a share of the sum of their sizes, by the number of
/// hashes that agree.
///
/// The share is `J / (1 + J)`. If Z of K hashes agree, `Z / K` in the place of J gives too little,
/// by `J (1 - J) / (K (1 + J)^3)` on average, since the curve is concave. This is added, as
/// estimated by Z. The error that is left is at most `2 / K^2` of the estimate.
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

/// The contribution of each group of hashes to a sum, in units: whole numbers have the same sum in
/// any order.
#[derive(Debug, Clone, Copy, Default)]
pub struct GroupSums([u64; LANES]);

/// The number of units in 1. With 1024 hashes, an edge of the smallest triangle still has a step of
/// hundreds of units, and 10^14 triangles do not overflow 64 bits.
const UNITS: f64 = (1 << 18) as f64;

impl GroupSums {
    /// Adds the sums of others.
    pub fn add(&mut self, other: &GroupSums) {
        self.0.iter_mut().zip(other.0).for_each(|(sum, other)| *sum += other);
    }
}

/// Returns the label of a place.
#[inline(always)]
fn label(place: Place) -> Label {
    /// The bits of 1.0, shifted as below.
    const EXPONENT_OF_ONE: u32 = (f32::MAX_EXP as u32 - 1) << FRACTION_BITS;
    // Halved, as vector instructions convert signed numbers. The bits of non-negative floats are in
    // the order of the floats.
    let bits = ((place >> 1) as i32 as f32).to_bits() >> (f32::MANTISSA_DIGITS - 1 - FRACTION_BITS);
    (bits.max(EXPONENT_OF_ONE) - EXPONENT_OF_ONE) as Label
}

/// Returns a pseudorandom number for each number. No two numbers have the same one.
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
    use std::collections::BTreeSet;

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
        // Places with the same label differ by no more than its digits allow; the least ones, by at
        // most 2.
        for two in places.windows(2).filter(|two| label(two[0]) == label(two[1])) {
            let apart = two[1] - two[0];
            assert!(apart <= 2 || apart <= two[0] >> (FRACTION_BITS - 1), "{two:?}");
        }
    }

    #[test]
    fn the_correction_equals_the_agreements_by_chance() {
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

    /// Two sets of 60 and 40 members share 20: their Jaccard coefficient is 1/4.
    #[test]
    fn agreements_estimate_the_jaccard_coefficient() {
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

    /// Sums over all outcomes of the binomial distribution.
    #[test]
    fn shares_are_right_on_average() {
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
            assert_eq!((0..LANES).map(|group| group_len(count, group)).sum::<u32>(), count);
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

    /// Returns the neighbours of each vertex of a graph with these edges.
    fn neighbourhoods(edges: impl Iterator<Item = [u32; 2]>) -> Vec<BTreeSet<u32>> {
        let mut around = Vec::new();
        for [one, other] in edges.filter(|[one, other]| one != other) {
            around.resize_with(around.len().max(one.max(other) as usize + 1), BTreeSet::new);
            around[one as usize].insert(other);
            around[other as usize].insert(one);
        }
        around
    }

    /// Returns the sum of the shares of all edges of a graph, and the standard error reported for
    /// it.
    fn sum_of_shares(graph: &[BTreeSet<u32>], hashes: &Hashes) -> (f64, f64) {
        let signed = |own: &BTreeSet<u32>| sign(hashes, own.iter().copied());
        let signatures: Vec<_> = graph.iter().map(signed).collect();
        let (mut sum, mut groups) = (0.0, GroupSums::default());
        for (own, signature) in graph.iter().zip(&signatures) {
            for &neighbour in own {
                let (mut agreeing, neighbour) = ([0; LANES], neighbour as usize);
                hashes.count_agreeing(signature, &signatures[neighbour], &mut agreeing);
                let lens = [own, &graph[neighbour]].map(|around| around.len() as u32);
                sum += hashes.share(&agreeing, lens, &mut groups);
            }
        }
        (sum, hashes.standard_error(&groups).unwrap())
    }

    #[test]
    fn the_standard_error_is_the_spread_of_estimates_over_seeds() {
        let drawn = |index, end| random::number_below(1, index, end) as u32;
        let even = (0..2000).map(|edge| [drawn(2 * edge, 250), drawn(2 * edge + 1, 250)]);
        // Products of two numbers are mostly small, so vertices with small ids have many edges.
        let skewed = (0..1500)
            .map(|edge| [4 * edge, 4 * edge + 2].map(|at| drawn(at, 20) * drawn(at + 1, 20)));
        let mesh = (0..400).flat_map(|at| [1, 20, 21].map(|step| [at, (at + step) % 400]));
        let graphs = [
            ("even", neighbourhoods(even)),
            ("skewed", neighbourhoods(skewed)),
            ("mesh", neighbourhoods(mesh)),
        ];
        let seeds = 400;
        for (name, graph) in graphs {
            for count in [16, 24, 64] {
                let found = (0..seeds).map(|seed| sum_of_shares(&graph, &Hashes::new(count, seed)));
                let (sums, told): (Vec<f64>, Vec<f64>) = found.unzip();
                let mean = |values: &[f64]| values.iter().sum::<f64>() / seeds as f64;
                let center = mean(&sums);
                let squares: Vec<f64> = sums.iter().map(|sum| (sum - center).powi(2)).collect();
                let told_squares: Vec<f64> = told.iter().map(|told| told.powi(2)).collect();
                let ratio = (mean(&told_squares) / mean(&squares)).sqrt();
                // The spread of 400 estimates is itself an estimate, with an error of 4 %.
                assert!((0.94..1.2).contains(&ratio), "{name}, {count} hashes: {ratio}");
            }
        }
    }
}
