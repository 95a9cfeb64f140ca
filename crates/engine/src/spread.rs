//! Chooses which things stay in memory if not all of them fit: evenly spread ones.

/// Numbered things and their *residency order*, the order in which they get memory to stay in. It
/// follows the reversed bits of their numbers (van der Corput's sequence). So the first `n` are
/// evenly spread for every `n`, and what stays in less memory stays in more.
#[derive(Debug)]
pub struct Spread {
    in_order: Vec<usize>,
    order: Vec<usize>,
}

impl Spread {
    /// Orders `0..count`.
    pub fn over(count: usize) -> Spread {
        let bits = count.next_power_of_two().trailing_zeros();
        let reversed = (0..1usize << bits)
            // A shift by all bits would overflow.
            .map(|index| if bits == 0 { 0 } else { index.reverse_bits() >> (usize::BITS - bits) });
        let in_order: Vec<usize> = reversed.filter(|&index| index < count).collect();
        let mut order = vec![0; in_order.len()];
        in_order.iter().enumerate().for_each(|(place, &index)| order[index] = place);
        Spread { in_order, order }
    }

    /// Returns all numbers in residency order.
    pub fn in_order(&self) -> &[usize] {
        &self.in_order
    }

    /// Returns whether a number is among the first `count` in residency order. If `count` is 0, any
    /// number may be asked for.
    pub fn is_among_first(&self, count: usize, index: usize) -> bool {
        count > 0 && self.order[index] < count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_in_order_are_spread_evenly() {
        for count in [0, 1, 2, 3, 64, 1000] {
            let spread = Spread::over(count);
            let in_order = spread.in_order();
            let mut sorted = in_order.to_vec();
            sorted.sort_unstable();
            assert_eq!(sorted, (0..count).collect::<Vec<_>>());
            for kept in 1..=count {
                let mut kept: Vec<usize> = in_order[..kept].to_vec();
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
