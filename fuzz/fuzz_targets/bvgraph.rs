//! BVGraphs: the properties, a zero byte, and the lists.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tegula_import::input::Format;

fuzz_target!(|data: &[u8]| {
    tegula_fuzz::edges::of_files(Format::BvGraph, ["graph.properties", "graph.graph"], data)
});
