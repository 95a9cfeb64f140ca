//! Non-negative least squares with a few unknowns.

/// One measurement: a value, and the amounts of the things that cause it.
#[derive(Debug, Clone, Copy)]
pub struct Observed<const N: usize> {
    pub parts: [f64; N],
    pub value: f64,
    /// The error of the value is relative to this.
    pub whole: f64,
}

/// Returns the cost of each thing, at least 0, with the least sum of squared errors, each error
/// relative to its `whole`.
///
/// Tries every choice of the things that cost nothing: there are few.
pub fn fit<const N: usize>(observed: &[Observed<N>]) -> [f64; N] {
    let relative =
        |one: &Observed<N>| (one.parts.map(|part| part / one.whole), one.value / one.whole);
    let rows: Vec<([f64; N], f64)> = observed.iter().map(relative).collect();
    let choices = (1..1u32 << N).filter_map(|chosen: u32| {
        // As many unknowns as runs would fit anything.
        if chosen.count_ones() > 1 && chosen.count_ones() as usize >= rows.len() {
            return None;
        }
        let costs = least_squares(&rows, |index| chosen >> index & 1 == 1)?;
        let is_possible = costs.iter().all(|&cost| cost >= 0.0);
        is_possible.then(|| (error(&rows, &costs), costs))
    });
    choices.min_by(|one, other| one.0.total_cmp(&other.0)).map_or([0.0; N], |(_, costs)| costs)
}

fn error<const N: usize>(rows: &[([f64; N], f64)], costs: &[f64; N]) -> f64 {
    let told = |row: &[f64; N]| row.iter().zip(costs).map(|(part, cost)| part * cost).sum::<f64>();
    rows.iter().map(|(row, value)| (told(row) - value).powi(2)).sum()
}

/// A pivot that keeps at most this share of its square depends on the earlier columns.
const INDISTINCT: f64 = 1e-9;

/// Solves the normal equations for the chosen costs; the others are 0. `None` where there is no
/// unique solution.
fn least_squares<const N: usize>(
    rows: &[([f64; N], f64)],
    is_chosen: impl Fn(usize) -> bool,
) -> Option<[f64; N]> {
    let sum = |of: &dyn Fn(&[f64; N], f64) -> f64| {
        rows.iter().map(|(row, value)| of(row, *value)).sum::<f64>()
    };
    let mut matrix = [[0.0; N]; N];
    let mut costs = [0.0; N];
    for i in 0..N {
        if !is_chosen(i) {
            matrix[i][i] = 1.0;
            continue;
        }
        costs[i] = sum(&|row, value| row[i] * value);
        for j in (0..N).filter(|&j| is_chosen(j)) {
            matrix[i][j] = sum(&|row, _| row[i] * row[j]);
        }
    }
    // The matrix is positive definite where the chosen columns differ, so it needs no pivoting.
    let squares: [f64; N] = std::array::from_fn(|index| matrix[index][index]);
    for pivot in 0..N {
        let (taken, cost) = (matrix[pivot], costs[pivot]);
        if taken[pivot] <= squares[pivot] * INDISTINCT {
            return None;
        }
        for row in (0..N).filter(|&row| row != pivot) {
            let factor = matrix[row][pivot] / taken[pivot];
            matrix[row].iter_mut().zip(taken).for_each(|(own, other)| *own -= factor * other);
            costs[row] -= factor * cost;
        }
    }
    for (index, cost) in costs.iter_mut().enumerate() {
        *cost /= matrix[index][index];
    }
    costs.iter().all(|cost| cost.is_finite()).then_some(costs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linear_costs_are_found() {
        let runs = [[16.0, 1.0, 3.0], [4.0, 1.0, 0.0], [10.0, 5.0, 2.0], [7.0, 9.0, 9.0]];
        let runs = runs.map(|parts| {
            let [e, f, v] = parts;
            let value = 2.0 * e + 0.5 * f + 3.0 * v;
            Observed { parts, value, whole: value + 1.0 }
        });
        let [e, f, v] = fit(&runs);
        assert!((e - 2.0).abs() < 1e-9 && (f - 0.5).abs() < 1e-9 && (v - 3.0).abs() < 1e-9);
    }

    #[test]
    fn no_rate_is_negative() {
        // By these values, more vertices take less time, which cannot be.
        let runs = [[10.0, 1.0, 20.0], [10.0, 5.0, 10.0]];
        let runs = runs.map(|[e, v, value]| Observed { parts: [e, v], value, whole: value });
        let [edge, vertex] = fit(&runs);
        assert!(edge >= 0.0 && vertex >= 0.0 && edge + vertex > 0.0, "{edge} {vertex}");
    }

    #[test]
    fn a_thing_that_never_occurs_costs_nothing() {
        let runs = [1.0, 2.0].map(|v| Observed { parts: [0.0, v], value: 3.0 * v, whole: v });
        let [none, vertex] = fit(&runs);
        assert!(none == 0.0 && (vertex - 3.0).abs() < 1e-9, "{none} {vertex}");
    }
}
