//! Rules by which two result tables agree: the three rules of LDBC Graphalytics.
//!
//! All rules first require the same vertices on both sides. Tables are ordered by vertex. An error
//! names the first vertex at which they disagree.

use std::collections::HashMap;
use std::fmt::Debug;

/// Graphalytics' relative tolerance for PageRank, LCC and SSSP.
pub const GRAPHALYTICS_EPSILON: f64 = 1e-4;

/// Checks for equal values (BFS, CDLP).
pub fn exact<T: PartialEq + Debug>(
    expected: &[(u64, T)],
    actual: &[(u64, T)],
) -> Result<(), String> {
    same_vertices(expected, actual)?;
    compare(expected, actual, |expected, actual| expected == actual)
}

/// Checks that `|expected - actual| <= tolerance * |expected|`. An expected 0 must be 0, and an
/// infinity only matches itself (PageRank, LCC, SSSP).
pub fn epsilon(
    expected: &[(u64, f64)],
    actual: &[(u64, f64)],
    tolerance: f64,
) -> Result<(), String> {
    same_vertices(expected, actual)?;
    compare(expected, actual, |expected, actual| {
        expected == actual
            || (expected.is_finite() && (expected - actual).abs() <= tolerance * expected.abs())
    })
}

/// Checks for the same partition of the vertices, with any labels (WCC).
pub fn equivalent<T: PartialEq + Debug + Copy + Eq + std::hash::Hash>(
    expected: &[(u64, T)],
    actual: &[(u64, T)],
) -> Result<(), String> {
    same_vertices(expected, actual)?;
    let (mut forward, mut backward) = (HashMap::new(), HashMap::new());
    compare(expected, actual, |&expected, &actual| {
        *forward.entry(expected).or_insert(actual) == actual
            && *backward.entry(actual).or_insert(expected) == expected
    })
}

/// Checks that both tables have one row for each of the same vertices, in order.
pub fn same_vertices<A, B>(expected: &[(u64, A)], actual: &[(u64, B)]) -> Result<(), String> {
    if let Some(row) =
        expected.iter().zip(actual).position(|(expected, actual)| expected.0 != actual.0)
    {
        return Err(format!(
            "row {row}: vertex {} is expected, found {}",
            expected[row].0, actual[row].0
        ));
    }
    if expected.len() != actual.len() {
        return Err(format!("{} vertices are expected, found {}", expected.len(), actual.len()));
    }
    Ok(())
}

fn compare<T: Debug>(
    expected: &[(u64, T)],
    actual: &[(u64, T)],
    mut agree: impl FnMut(&T, &T) -> bool,
) -> Result<(), String> {
    for ((vertex, expected), (_, actual)) in expected.iter().zip(actual) {
        if !agree(expected, actual) {
            return Err(format!("vertex {vertex}: {expected:?} is expected, found {actual:?}"));
        }
    }
    Ok(())
}
