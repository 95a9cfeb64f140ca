//! Raw pairs of 32 and of 64 bits.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tegula_import::input::Format;

fuzz_target!(|data: &[u8]| {
    tegula_fuzz::edges::of_file(&[Format::Pairs32, Format::Pairs64], "graph.bin", data)
});
