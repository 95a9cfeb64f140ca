//! Finds the most frequent of many labels.

/// At most `SORTED_MAX` labels are sorted: for few labels, a table is slower.
const SORTED_MAX: usize = 32;

/// Counts labels.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    labels: Vec<u32>,
    /// A hash table with linear probing. An entry is a label and its count, which is 0 in a free
    /// entry. Between calls, all entries are free. The length is a power of two.
    table: Vec<(u32, u32)>,
    /// The entries in use.
    used: Vec<u32>,
}

impl Tally {
    /// Returns the bytes for up to `labels` labels. Lists grow by doubling.
    pub(crate) fn size(labels: u64) -> u64 {
        8 * labels + 8 * (2 * labels).next_power_of_two() + 8 * labels
    }

    /// Returns the most frequent label; of equally frequent ones, the one with the smallest key.
    /// Returns `None` without labels. It asks for the keys of the most frequent labels only, once
    /// each, because a key may take longer than a count.
    pub(crate) fn most_frequent<K: Ord>(
        &mut self,
        labels: impl Iterator<Item = u32>,
        key: impl Fn(u32) -> K,
    ) -> Option<u32> {
        self.labels.clear();
        self.labels.extend(labels);
        match self.labels.len() {
            0..=SORTED_MAX => self.by_sorting(key),
            _ => self.by_table(key),
        }
    }

    fn by_sorting<K: Ord>(&mut self, key: impl Fn(u32) -> K) -> Option<u32> {
        self.labels.sort_unstable();
        let runs = || self.labels.chunk_by(|a, b| a == b);
        let longest = runs().map(<[u32]>::len).max()?;
        let candidates = runs().filter(|run| run.len() == longest);
        candidates.map(|run| run[0]).min_by_key(|&label| key(label))
    }

    fn by_table<K: Ord>(&mut self, key: impl Fn(u32) -> K) -> Option<u32> {
        let places = (2 * self.labels.len()).next_power_of_two();
        if self.table.len() < places {
            // Exactly the entries that are needed: a list that grows may take twice that.
            self.table = vec![(0, 0); places];
        }
        let mask = self.table.len() - 1;
        // The upper bits of the product depend on all bits of the label.
        let shift = 64 - self.table.len().trailing_zeros();
        for &label in &self.labels {
            let mut place =
                (u64::from(label).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> shift) as usize;
            while self.table[place].1 > 0 && self.table[place].0 != label {
                place = (place + 1) & mask;
            }
            let (held, count) = &mut self.table[place];
            if *count == 0 {
                *held = label;
                self.used.push(place as u32);
            }
            *count += 1;
        }
        let used = || self.used.iter().map(|&place| self.table[place as usize]);
        let most = used().map(|(_, count)| count).max()?;
        let candidates = used().filter(|&(_, count)| count == most);
        let found = candidates.map(|(label, _)| label).min_by_key(|&label| key(label));
        for place in self.used.drain(..) {
            self.table[place as usize].1 = 0;
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn of_the_most_frequent_labels_the_smallest_wins(
            lists in prop::collection::vec(
                prop::collection::vec(prop_oneof![0..9u32, any::<u32>()], 0..200), 1..6,
            )
        ) {
            let mut tally = Tally::default();
            for labels in lists {
                let mut counts: HashMap<u32, u32> = HashMap::new();
                labels.iter().for_each(|&label| *counts.entry(label).or_default() += 1);
                let most = counts.values().max().copied();
                let expected =
                    counts.into_iter().filter(|(_, count)| Some(*count) == most).map(|(label, _)| label).min();
                let found = tally.most_frequent(labels.iter().copied(), |label| label);
                prop_assert_eq!(found, expected);
                let most = |label: &u32| labels.iter().filter(|other| *other == label).count();
                let expected = labels.iter().copied().max_by_key(|label| (most(label), *label));
                let found = tally.most_frequent(labels.iter().copied(), std::cmp::Reverse);
                prop_assert_eq!(found, expected);
            }
        }
    }
}
