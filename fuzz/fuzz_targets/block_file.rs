//! Block files, whose checksums need not be right.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| tegula_fuzz::block_file::read(data));
