//! Manifests and block files of a shard.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| tegula_fuzz::shard::read(data));
