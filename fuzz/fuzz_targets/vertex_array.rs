//! Saved vertex arrays of algorithms that make passes.
//!
//! The reader is compiled from its files, with stand-ins for what it takes from other modules: all
//! algorithms together take a quarter of an hour to build.

#![no_main]

use std::collections::BTreeMap;

use libfuzzer_sys::fuzz_target;
use tegula_engine::{Arrays, RunOptions, Value};
use tegula_fuzz::answer;
use tegula_fuzz::vertex_array::{Beside, HEAD, NAME, open};
use zerocopy::IntoBytes;

use passes::Passes;

#[allow(dead_code, reason = "algorithms use the rest")]
#[path = "../../crates/algorithms/src/passes"]
mod passes {
    use std::collections::BTreeMap;

    use tegula_engine::{Graph, RunOptions, Value};

    pub mod arrays;

    pub struct Passes<'p> {
        pub graph: &'p Graph,
        pub options: RunOptions<'p>,
        pub in_memory: BTreeMap<String, u64>,
    }

    /// The values of an array.
    pub fn values<S: Value>(mut array: arrays::VertexArray<S>) -> Vec<S> {
        array.take().into_vec().expect("they lie in memory")
    }
}

#[allow(dead_code, reason = "algorithms use the rest")]
#[path = "../../crates/algorithms/src/shared"]
mod shared {
    pub mod states_in_order;
}

mod error {
    pub type Result<T> = tegula_store::Result<T>;
}

/// Loads the array, and checks that the values of the other rank are zeroes. If the payload of the
/// file is known, the values of this rank are those in it.
fn load<S: Value>(Beside { graph, folder, payload, .. }: &Beside) {
    let options = RunOptions {
        memory: 256 << 20,
        threads: 1,
        arrays: Arrays::InMemory,
        ..RunOptions::default()
    };
    let mut passes = Passes { graph, options, in_memory: BTreeMap::new() };
    let Some(array) = answer(passes.load::<S>(NAME, folder)) else { return };
    let values = passes::values(array.expect("the file is there"));
    assert_eq!(values.len() as u64, graph.vertex_count());
    let own = graph.own_vertices();
    let (before, rest) = values.split_at(own.start as usize);
    let (own, behind) = rest.split_at((own.end - own.start) as usize);
    assert!(before.as_bytes().iter().chain(behind.as_bytes()).all(|&byte| byte == 0));
    assert!(payload.as_ref().is_none_or(|payload| own.as_bytes() == &payload[HEAD..]));
}

fuzz_target!(|data: &[u8]| {
    let Some(beside) = open(data) else { return };
    match beside.choice % 4 {
        0 => load::<u32>(&beside),
        1 => load::<f64>(&beside),
        2 => load::<[u16; 3]>(&beside),
        _ => load::<u8>(&beside),
    }
});
