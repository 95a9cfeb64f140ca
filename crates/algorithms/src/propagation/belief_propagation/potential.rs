//! Potentials: how well a state of one variable goes with a state of another.

use tegula_machine::memory::ALLOCATION_SIZE;

use crate::error::is_weight;

/// What a weight of 0 counts as in logarithms: small enough to decide every comparison, and large
/// enough for sums of its logarithms to stay finite.
pub const LEAST: f64 = 1e-304;
/// A probability below this is given as 0: it comes from a weight of 0, or from very many small
/// ones.
const IMPOSSIBLE: f64 = 1e-290;
/// The most states of a variable.
pub const STATES_MAX: usize = 1024;

/// The weights of all pairs of states of two variables. The greatest weight is 1.
#[derive(Debug, Clone)]
pub struct Potential {
    states: usize,
    /// The weights row by row: a row for each state of the first variable, a column for each state
    /// of the second.
    values: Vec<f64>,
}

/// A potential as seen from one of its variables.
#[derive(Debug, Clone, Copy)]
pub struct Oriented<'p> {
    potential: &'p Potential,
    is_transposed: bool,
}

impl Potential {
    /// Makes a potential of `states` by `states` weights; `None` if all are 0, or one is below 0 or
    /// not finite.
    pub fn new(states: usize, mut values: Vec<f64>) -> Option<Potential> {
        let greatest = normalize(&mut values)?;
        (greatest > 0.0).then_some(Potential { states, values })
    }

    /// Returns the product of this and another potential of the same variables.
    pub fn times(mut self, other: &Potential) -> Option<Potential> {
        self.values.iter_mut().zip(&other.values).for_each(|(value, other)| *value *= other);
        Potential::new(self.states, self.values)
    }

    /// Returns the potential with its variables exchanged.
    #[must_use]
    pub fn transposed(&self) -> Potential {
        let states = self.states;
        let values = (0..states * states).map(|at| self.values[at % states * states + at / states]);
        Potential { states, values: values.collect() }
    }

    /// Returns whether the order of the variables makes no difference.
    pub fn is_symmetric(&self) -> bool {
        self.transposed().values == self.values
    }

    /// Returns the potential as seen from its first variable, or from the second if transposed.
    pub fn seen(&self, is_transposed: bool) -> Oriented<'_> {
        Oriented { potential: self, is_transposed }
    }

    /// Returns the bytes that its weights take.
    pub fn size(&self) -> u64 {
        ALLOCATION_SIZE + (self.values.len() * size_of::<f64>()) as u64
    }
}

impl Oriented<'_> {
    /// Returns the potential as seen from the other variable.
    pub fn reversed(self) -> Self {
        Oriented { is_transposed: !self.is_transposed, ..self }
    }

    /// Returns the weight of state `from` of the variable from which it is seen, with state `to` of
    /// the other one.
    #[inline(always)]
    pub fn of(self, from: usize, to: usize) -> f64 {
        let (row, column) = if self.is_transposed { (to, from) } else { (from, to) };
        self.potential.values[row * self.potential.states + column]
    }

    /// Computes the message to the other variable: the log odds of each of its states, except the
    /// first, against the first. It follows from `belief`, without the message `incoming` from the
    /// other variable. `terms` is room for a number per state.
    ///
    /// (Logarithms and exponentials are those of a library, not of the system: their last bits must
    /// not depend on the machine.)
    #[inline]
    pub fn message(self, belief: &[f64], incoming: &[f64], terms: &mut [f64], message: &mut [f64]) {
        let own = || belief.iter().zip(incoming).map(|(belief, incoming)| belief - incoming);
        // The log odds of the first state are 0, so the greatest is at least that.
        let greatest = own().fold(0.0, f64::max);
        terms[0] = exp(-greatest);
        terms[1..].iter_mut().zip(own()).for_each(|(term, own)| *term = exp(own - greatest));
        let sum = |to: usize| {
            let products = terms.iter().enumerate().map(|(from, term)| term * self.of(from, to));
            products.fold(0.0, |sum, product| sum + product).max(LEAST)
        };
        let first = sum(0);
        for (to, value) in message.iter_mut().enumerate() {
            *value = libm::log(sum(to + 1) / first);
        }
    }
}

/// Returns the exponential of a number of at most 0. In each use, at least one of the numbers is 0.
#[inline]
fn exp(exponent: f64) -> f64 {
    if exponent == 0.0 { 1.0 } else { libm::exp(exponent) }
}

/// Scales weights so that the greatest is 1, and returns what it was; `None` if one is below 0 or
/// not finite.
pub fn normalize(weights: &mut [f64]) -> Option<f64> {
    if weights.iter().any(|&weight| !is_weight(weight)) {
        return None;
    }
    let greatest = weights.iter().copied().fold(0.0, f64::max);
    if greatest > 0.0 {
        weights.iter_mut().for_each(|weight| *weight /= greatest);
    }
    Some(greatest)
}

/// Returns the log odds of each weight, except the first, against the first.
pub fn log_odds(weights: &[f64]) -> impl Iterator<Item = f64> {
    let first = weights[0].max(LEAST);
    weights[1..].iter().map(move |weight| libm::log(weight.max(LEAST) / first))
}

/// Computes the probabilities of all states from their log odds.
pub fn probabilities(log_odds: &[f64], found: &mut Vec<f64>) {
    let greatest = log_odds.iter().copied().fold(0.0, f64::max);
    found.clear();
    found.push(exp(-greatest));
    found.extend(log_odds.iter().map(|odds| exp(odds - greatest)));
    let sum: f64 = found.iter().sum();
    found.iter_mut().for_each(|value| *value /= sum);
    found.iter_mut().filter(|value| **value < IMPOSSIBLE).for_each(|value| *value = 0.0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_the_sum_over_the_own_states() {
        let potential = Potential::new(3, (1..=9).map(f64::from).collect()).unwrap();
        let (belief, incoming) = ([0.5, -1.0], [0.25, 2.0]);
        let own = [0.0_f64, 0.25, -3.0].map(f64::exp);
        for is_transposed in [false, true] {
            let of = |from: usize, to: usize| {
                (if is_transposed { 3 * to + from } else { 3 * from + to } + 1) as f64
            };
            let sums: Vec<f64> =
                (0..3).map(|to| (0..3).map(|from| own[from] * of(from, to)).sum::<f64>()).collect();
            let (mut terms, mut message) = ([0.0; 3], [0.0; 2]);
            potential.seen(is_transposed).message(&belief, &incoming, &mut terms, &mut message);
            for (to, value) in message.iter().enumerate() {
                assert!((value - (sums[to + 1] / sums[0]).ln()).abs() < 1e-14, "{value}");
            }
        }
    }

    #[test]
    fn messages_about_impossible_states_are_finite() {
        let equal = Potential::new(2, vec![1.0, 0.0, 0.0, 1.0]).unwrap();
        let (mut terms, mut message) = ([0.0; 2], [0.0; 1]);
        for belief in [-1e6, -700.0, 700.0, 1e6] {
            equal.seen(false).message(&[belief], &[0.0], &mut terms, &mut message);
            assert!(message[0].is_finite(), "{message:?}");
            assert_eq!(message[0].signum(), belief.signum());
            assert!(message[0].abs() >= 690.0, "{message:?}");
        }
        let mut found = Vec::new();
        probabilities(&[1e6], &mut found);
        assert_eq!(found, [0.0, 1.0]);
        probabilities(&[log_odds(&[0.5, 0.0]).next().unwrap()], &mut found);
        assert_eq!(found, [1.0, 0.0]);
    }

    #[test]
    fn weights_below_0_or_not_finite_are_refused() {
        for bad in [vec![0.0; 4], vec![1.0, -1.0, 0.0, 0.0], vec![1.0, f64::NAN, 0.0, 0.0]] {
            assert!(Potential::new(2, bad).is_none());
        }
    }
}
