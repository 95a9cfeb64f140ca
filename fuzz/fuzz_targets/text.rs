//! Edge lists in lines of text, with or without a header, plain or compressed.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tegula_import::input::Format;

fuzz_target!(|data: &[u8]| tegula_fuzz::edges::of_stream(
    &[Format::Auto, Format::Text, Format::Csv, Format::Tsv],
    data
));
