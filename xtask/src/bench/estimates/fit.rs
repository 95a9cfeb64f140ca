//! Least squares in two numbers that are not negative.

use super::observed::Observed;

/// The seconds of a visit to an edge, and to a vertex, with which the times of some runs come out best, each relative to
/// what it took: both at least 0.
pub fn fit(observed: &[Observed]) -> (f64, f64) {
    let rows: Vec<(f64, f64)> = observed
        .iter()
        .map(|run| (run.edges / run.thread_seconds, run.vertices / run.thread_seconds))
        .collect();
    let sum = |of: &dyn Fn(f64, f64) -> f64| rows.iter().map(|&(x, y)| of(x, y)).sum::<f64>();
    let (xx, xy, yy) = (sum(&|x, _| x * x), sum(&|x, y| x * y), sum(&|_, y| y * y));
    let (x, y) = (sum(&|x, _| x), sum(&|_, y| y));
    let determinant = xx * yy - xy * xy;
    let both = ((x * yy - y * xy) / determinant, (y * xx - x * xy) / determinant);
    if both.0 >= 0.0 && both.1 >= 0.0 {
        return both;
    }
    // The better of those with one of them at 0.
    let alone = |first: f64, second: f64| if second > 0.0 { first / second } else { 0.0 };
    let (edge, vertex) = (alone(x, xx), alone(y, yy));
    let error = |edge: f64, vertex: f64| sum(&|x, y| (x * edge + y * vertex - 1.0).powi(2));
    if error(edge, 0.0) <= error(0.0, vertex) { (edge, 0.0) } else { (0.0, vertex) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(edges: f64, vertices: f64, thread_seconds: f64) -> Observed {
        Observed { edges, vertices, thread_seconds }
    }

    #[test]
    fn what_is_linear_is_found() {
        let runs =
            [(16.0, 1.0), (4.0, 1.0), (10.0, 5.0)].map(|(e, v)| run(e, v, 2.0 * e + 3.0 * v));
        let (edge, vertex) = fit(&runs);
        assert!((edge - 2.0).abs() < 1e-9 && (vertex - 3.0).abs() < 1e-9, "{edge} {vertex}");
    }

    #[test]
    fn no_rate_is_negative() {
        // The more vertices, the less time: that is not believed.
        let runs = [run(10.0, 1.0, 20.0), run(10.0, 5.0, 10.0)];
        let (edge, vertex) = fit(&runs);
        assert!(edge >= 0.0 && vertex >= 0.0 && edge + vertex > 0.0, "{edge} {vertex}");
    }
}
