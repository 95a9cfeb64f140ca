//! Manifests of a graph directory, without their checksum.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| tegula_fuzz::graph::manifest(data));
