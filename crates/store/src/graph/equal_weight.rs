//! Whether all edges have the same weight.

/// The weight that all edges seen so far have. Weights are the same if their bits are.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) enum EqualWeight {
    /// There was no edge.
    #[default]
    NoEdge,
    /// All have this weight.
    All(f32),
    /// Some differ.
    Differs,
}

impl EqualWeight {
    /// Adds the weight of an edge.
    #[inline]
    pub fn add(&mut self, weight: f32) {
        *self = match *self {
            EqualWeight::NoEdge => EqualWeight::All(weight),
            EqualWeight::All(one) if one.to_bits() == weight.to_bits() => *self,
            EqualWeight::All(_) | EqualWeight::Differs => EqualWeight::Differs,
        };
    }

    /// Adds the weights of the entries of a tile, which has `edges` edges. Every other entry is a
    /// skip, whose weight is 0.
    pub fn add_tile(&mut self, weights: &[f32], edges: usize) {
        // Further weights cannot make all of them equal again.
        if *self == EqualWeight::Differs {
            return;
        }
        let skips = weights.len().saturating_sub(edges);
        let is_zero = |weight: &f32| weight.to_bits() == 0;
        let zeros = weights.iter().filter(|weight| is_zero(weight)).count();
        // If there are more zeros than skips, one of them is the weight of an edge.
        if zeros > skips {
            self.add(0.0);
        }
        weights.iter().filter(|weight| !is_zero(weight)).for_each(|&weight| self.add(weight));
    }

    /// Returns the weight of every edge; `None` if there is no edge or some weights differ.
    pub fn get(self) -> Option<f32> {
        match self {
            EqualWeight::All(weight) => Some(weight),
            EqualWeight::NoEdge | EqualWeight::Differs => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_tiles(tiles: &[(&[f32], usize)]) -> Option<f32> {
        let mut equal = EqualWeight::default();
        tiles.iter().for_each(|(weights, edges)| equal.add_tile(weights, *edges));
        equal.get()
    }

    #[test]
    fn skips_have_no_weight_and_edges_of_weight_0_do() {
        assert_eq!(of_tiles(&[(&[2.0, 0.0, 2.0], 2), (&[0.0, 2.0], 1)]), Some(2.0));
        assert_eq!(of_tiles(&[(&[2.0, 0.0, 2.0], 3)]), None);
        assert_eq!(of_tiles(&[(&[0.0, 0.0, 0.0], 2)]), Some(0.0));
        assert_eq!(of_tiles(&[(&[0.0], 0), (&[], 0)]), None);
        assert_eq!(of_tiles(&[(&[2.0], 1), (&[3.0], 1), (&[2.0], 1)]), None);
        assert_eq!(of_tiles(&[(&[0.0], 1), (&[-0.0], 1)]), None);
    }
}
