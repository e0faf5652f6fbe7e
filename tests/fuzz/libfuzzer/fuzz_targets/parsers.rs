//! Parsers accept any input.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fencepost_fuzz::fuzz_parsers(data));
