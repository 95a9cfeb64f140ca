//! Parquet files as edges and as tables.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| tegula_fuzz::tables::parquet(data));
