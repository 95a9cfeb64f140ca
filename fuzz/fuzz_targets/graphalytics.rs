//! Graphalytics: the properties, a zero byte, and the edges, whose file is `graph.e`.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tegula_import::input::Format;

fuzz_target!(|data: &[u8]| {
    tegula_fuzz::edges::of_files(Format::Graphalytics, ["graph.properties", "graph.e"], data)
});
