//! Models in the format of the UAI competitions.
//!
//! The reader is compiled from its files, with stand-ins for what it takes from other modules: all
//! algorithms together take a quarter of an hour to build.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tegula_engine::RUN_OVERHEAD;
use tegula_fuzz::{answer, put};

use belief_propagation::uai::UaiModel;

#[allow(dead_code, reason = "algorithms use the rest")]
#[path = "../../crates/algorithms/src/propagation/belief_propagation"]
mod belief_propagation {
    pub mod model;
    pub mod potential;
    pub mod uai;
}

mod algorithm {
    pub trait SideFiles {
        #[allow(dead_code, reason = "algorithms use it")]
        fn size(&self) -> u64;
    }
}

mod error {
    pub fn is_weight(weight: impl Into<f64>) -> bool {
        (0.0..f64::INFINITY).contains(&weight.into())
    }
}

fuzz_target!(|data: &[u8]| {
    let path = put("model.uai", data);
    let Some(model) = answer(UaiModel::read(&path, RUN_OVERHEAD + (1 << 20))) else { return };
    let variables = model.variable_count();
    let model = model.into_model(&path);
    assert_eq!(model.priors.len(), variables * model.width());
    assert!(model.priors.iter().all(|prior| prior.is_finite()));
});
