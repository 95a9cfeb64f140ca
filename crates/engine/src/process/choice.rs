//! The choice in every iteration: through tiles, or along rows.
//!
//! A scan has to process all needed tiles, however few of their sources are active. Seeking has to
//! process little more than the rows of the active vertices. The process with the shortest
//! predicted time runs.

use std::fmt;

use super::{Prediction, ProcessKind};

/// Seconds below which no other process is asked: a prediction takes about as long.
const AT_ONCE: f64 = 100e-6;

/// Number of kinds of processes.
const KINDS: usize = 3;

/// The chosen process, and the reasons.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    /// Index among the processes.
    pub index: usize,
    /// Its prediction.
    pub prediction: Prediction,
    /// Predicted seconds of the processes that were asked, in their order.
    pub predicted: [Option<(ProcessKind, f64)>; KINDS],
}

/// Picks the quickest process. Processes that are quick to predict come first. If one takes next to
/// no time, the others are not asked; a scan that is the only process is not asked either.
///
/// # Panics
/// When there is no process, or two of a kind.
pub fn choose(kinds: &[ProcessKind], predict: impl Fn(usize) -> Prediction) -> Choice {
    let mut best: Option<(usize, Prediction)> = None;
    let mut otherwise = f64::INFINITY;
    let mut predicted = [None; KINDS];
    for (index, &kind) in kinds.iter().enumerate() {
        let is_asked = kinds.len() > 1 || kind != ProcessKind::Scan;
        let prediction = if is_asked { predict(index) } else { Prediction::default() };
        if is_asked {
            predicted[index] = Some((kind, prediction.seconds));
        }
        let worse = match best {
            Some((_, best)) if best.seconds <= prediction.seconds => prediction.seconds,
            earlier => {
                best = Some((index, prediction));
                earlier.map_or(f64::INFINITY, |(_, earlier)| earlier.seconds)
            }
        };
        otherwise = otherwise.min(worse);
        if prediction.seconds < AT_ONCE {
            break;
        }
    }
    let (index, mut prediction) = best.expect("there is a process");
    prediction.otherwise = Some(otherwise).filter(|seconds| seconds.is_finite());
    Choice { index, prediction, predicted }
}

impl Choice {
    /// Returns the predicted seconds, uncorrected; none if a scan was the only way.
    pub fn by_costs(&self) -> Option<f64> {
        self.predicted[self.index].map(|_| self.prediction.by_costs)
    }
}

impl fmt::Display for Choice {
    /// Writes the predictions, if there were any: `, predicted in ms: seek 0.021, scan 12.1`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = ", predicted in ms: ";
        let predicted = self.predicted.iter().flatten();
        for (kind, seconds) in predicted.filter(|(_, seconds)| seconds.is_finite()) {
            write!(f, "{separator}{} {:.3}", kind.name(), 1e3 * seconds)?;
            separator = ", ";
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;
    use ProcessKind::{Pull, Scan, Seek};

    /// Returns which process is chosen at these costs in seconds, and which ones were asked.
    fn chosen(costs: &[(ProcessKind, f64)]) -> (ProcessKind, Vec<ProcessKind>) {
        let (kind, asked, _) = chosen_or_otherwise(costs);
        (kind, asked)
    }

    /// Returns the seconds of the quickest other process as well.
    fn chosen_or_otherwise(
        costs: &[(ProcessKind, f64)],
    ) -> (ProcessKind, Vec<ProcessKind>, Option<f64>) {
        let kinds: Vec<_> = costs.iter().map(|cost| cost.0).collect();
        let asked = RefCell::new(Vec::new());
        let choice = choose(&kinds, |index| {
            asked.borrow_mut().push(kinds[index]);
            Prediction { seconds: costs[index].1, by_costs: 1.0, ..Prediction::default() }
        });
        assert_eq!(choice.by_costs(), (!asked.borrow().is_empty()).then_some(1.0));
        assert_eq!(choice.predicted.iter().flatten().count(), asked.borrow().len());
        (kinds[choice.index], asked.into_inner(), choice.prediction.otherwise)
    }

    #[test]
    fn a_choice_knows_the_time_of_the_second_quickest() {
        let otherwise = |costs| chosen_or_otherwise(costs).2;
        assert_eq!(otherwise(&[(Seek, 2e-3), (Pull, 1e-3), (Scan, 3e-3)]), Some(2e-3));
        assert_eq!(otherwise(&[(Seek, 1e-3), (Pull, 4e-3), (Scan, 3e-3)]), Some(3e-3));
        assert_eq!(otherwise(&[(Seek, 50e-6), (Scan, 3e-3)]), None);
        assert_eq!(otherwise(&[(Scan, 3e-3)]), None);
    }

    #[test]
    fn a_process_that_has_been_given_up_is_not_chosen_again() {
        let kinds = [Seek, Pull, Scan];
        let choice = choose(&kinds, |index| match index {
            0 => Prediction::NEVER,
            _ => Prediction { seconds: 2.0 - index as f64, ..Prediction::default() },
        });
        assert_eq!(kinds[choice.index], Scan);
        assert_eq!(choice.prediction.otherwise, Some(1.0));
    }

    #[test]
    fn the_quickest_is_chosen() {
        assert_eq!(chosen(&[(Seek, 2e-3), (Pull, 1e-3), (Scan, 3e-3)]).0, Pull);
        assert_eq!(chosen(&[(Seek, 2e-3), (Pull, 4e-3), (Scan, 1e-3)]).0, Scan);
        assert_eq!(chosen(&[(Seek, 2e-3), (Scan, 2e-3)]).0, Seek);
    }

    #[test]
    fn a_process_that_takes_next_to_no_time_is_chosen_at_once() {
        assert_eq!(chosen(&[(Seek, 99e-6), (Pull, 0.0), (Scan, 0.0)]), (Seek, vec![Seek]));
        let (kind, asked) = chosen(&[(Seek, 2e-3), (Pull, 50e-6), (Scan, 0.0)]);
        assert_eq!((kind, asked), (Pull, vec![Seek, Pull]));
    }

    #[test]
    fn a_scan_that_is_the_only_way_is_not_predicted() {
        assert_eq!(chosen(&[(Scan, 1.0)]), (Scan, vec![]));
    }
}
