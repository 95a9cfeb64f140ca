//! A whole import in any format of one file, and the graph that it makes.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| tegula_fuzz::graph::import_any(data));
