//! Rows in each encoding, their index and their weights.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tegula_fuzz::graph;

fuzz_target!(|data: &[u8]| graph::content(graph::OF_ROWS, data));
