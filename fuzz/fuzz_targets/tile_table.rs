//! Tables of tiles.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tegula_fuzz::graph;

fuzz_target!(|data: &[u8]| graph::content(graph::OF_TILES, data));
