//! Checkpoints: the list of a version, and the header beside it.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| tegula_fuzz::checkpoint::resume(data));
