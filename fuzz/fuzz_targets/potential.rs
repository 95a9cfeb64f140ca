//! Matrices that are the potential of all edges in belief propagation.
//!
//! The reader is compiled from its files, with a stand-in for what it takes from another module:
//! all algorithms together take a quarter of an hour to build.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tegula_fuzz::{answer, put};
use tegula_machine::threads::Cancel;

use belief_propagation::matrix::read_potential;

#[allow(dead_code, reason = "algorithms use the rest")]
#[path = "../../crates/algorithms/src/propagation/belief_propagation"]
mod belief_propagation {
    pub mod matrix;
    pub mod potential;
}

mod error {
    pub fn is_weight(weight: impl Into<f64>) -> bool {
        (0.0..f64::INFINITY).contains(&weight.into())
    }
}

fuzz_target!(|data: &[u8]| {
    let path = put("potential.txt", data);
    let read = read_potential(&path, &Cancel::default());
    let Some((states, potential)) = answer(read) else { return };
    assert!(states >= 2 && potential.is_symmetric());
    let seen = potential.seen(false);
    let weights = |from| (0..states).map(move |to| seen.of(from, to));
    let greatest = (0..states).flat_map(weights).fold(0.0, f64::max);
    assert_eq!(greatest, 1.0);
    let (even, mut terms, mut message) =
        (vec![0.0; states - 1], vec![0.0; states], vec![0.0; states - 1]);
    seen.message(&even, &even, &mut terms, &mut message);
    assert!(message.iter().all(|odds| odds.is_finite()), "{message:?}");
});
