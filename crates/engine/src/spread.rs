//! Chooses which things stay in memory if not all of them fit: evenly spread ones.

/// Numbered things, ranked by the reversed bits of their numbers (van der Corput's sequence). So
/// the first `n` in rank are evenly spread for every `n`, and what stays in less memory stays in
/// more.
#[derive(Debug)]
pub struct Spread {
    ranked: Vec<usize>,
    ranks: Vec<usize>,
}

impl Spread {
    /// Ranks `0..count`.
    pub fn over(count: usize) -> Spread {
        let bits = count.next_power_of_two().trailing_zeros();
        let reversed = (0..1usize << bits)
            .map(|index| if bits == 0 { 0 } else { index.reverse_bits() >> (usize::BITS - bits) });
        let ranked: Vec<usize> = reversed.filter(|&index| index < count).collect();
        let mut ranks = vec![0; ranked.len()];
        ranked.iter().enumerate().for_each(|(rank, &index)| ranks[index] = rank);
        Spread { ranked, ranks }
    }

    /// Returns all numbers by ascending rank.
    pub fn in_order(&self) -> &[usize] {
        &self.ranked
    }

    /// Returns the rank of a number.
    pub fn rank(&self, index: usize) -> usize {
        self.ranks[index]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_in_rank_are_spread_evenly() {
        for count in [0, 1, 2, 3, 64, 1000] {
            let spread = Spread::over(count);
            let ranked = spread.in_order();
            let mut sorted = ranked.to_vec();
            sorted.sort_unstable();
            assert_eq!(sorted, (0..count).collect::<Vec<_>>());
            for kept in 1..=count {
                let mut kept: Vec<usize> = ranked[..kept].to_vec();
                kept.sort_unstable();
                let widest = kept.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0);
                assert!(
                    widest <= 4 * count.div_ceil(kept.len()),
                    "{widest} with {} of {count}",
                    kept.len()
                );
            }
        }
    }
}
