//! Tables of vertices and their values, in text.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| tegula_fuzz::tables::vertices_of_text(data));
