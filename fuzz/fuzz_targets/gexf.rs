//! GEXF documents.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tegula_import::input::Format;

fuzz_target!(|data: &[u8]| tegula_fuzz::edges::of_file(&[Format::Gexf], "graph.gexf", data));
