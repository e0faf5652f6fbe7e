//! A static library of another project that also catches panics.

/// The sum of the numbers below `end`; 0 after a panic, above 100.
#[unsafe(no_mangle)]
pub extern "C" fn other_sum(end: u64) -> u64 {
    let sum = || {
        if end > 100 {
            std::panic::resume_unwind(Box::new("too many"));
        }
        (0..end).sum()
    };
    std::panic::catch_unwind(sum).unwrap_or(0)
}
