//! The clock for leases. It continues while the computer is suspended, because leases also end during that time.

use fencepost_core::Instant;

/// Microseconds of `CLOCK_BOOTTIME`.
#[cfg(any(target_os = "linux", target_os = "android"))]
#[must_use]
pub fn now() -> Instant {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
    let micros = u64::try_from(time.tv_nsec / 1000).unwrap_or_default();
    Instant::from_micros(seconds.saturating_mul(1_000_000).saturating_add(micros))
}

/// Microseconds of the steady clock. On this system, it may stop while the computer is suspended: only the fence
/// protects a resource then.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
#[must_use]
pub fn now() -> Instant {
    use std::{sync::LazyLock, time};
    static EPOCH: LazyLock<time::Instant> = LazyLock::new(time::Instant::now);
    Instant::from_micros(u64::try_from(EPOCH.elapsed().as_micros()).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::now;

    #[test]
    fn time_goes_on() {
        let before = now();
        std::thread::sleep(core::time::Duration::from_millis(2));
        assert!(now().since(before) >= core::time::Duration::from_millis(2));
    }
}
