//! A hub accepts any input.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let _seen = fencepost_fuzz::fuzz_one(data);
});
