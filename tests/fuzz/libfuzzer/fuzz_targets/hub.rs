//! A hub takes anything.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let _seen = fencepost_fuzz::fuzz_one(data);
});
