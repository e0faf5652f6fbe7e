//! Times, as C sees them.

use core::time::Duration;

use fencepost_core::Instant;

/// A time that never comes: there is no deadline, no lease, or no timer.
pub const FENCEPOST_NEVER: u64 = u64::MAX;

pub(crate) fn time(instant: Option<Instant>) -> u64 {
    instant.map_or(FENCEPOST_NEVER, Instant::as_micros)
}

/// A duration that may be unknown.
pub(crate) fn micros(duration: Option<Duration>) -> u64 {
    duration.map_or(FENCEPOST_NEVER, |duration| {
        u64::try_from(duration.as_micros()).unwrap_or(FENCEPOST_NEVER)
    })
}
