//! Original ids, the order of vertices, and degrees.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| tegula_fuzz::graph::content(tegula_fuzz::graph::OF_VERTICES, data));
