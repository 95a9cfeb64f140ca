//! Lists of the sources of a cell.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| tegula_fuzz::sources::read(data));
