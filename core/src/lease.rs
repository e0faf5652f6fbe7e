//! How long a grant is valid: one formula, in one place.
//!
//! `valid_until = start + ttl − drift − margin`, where `start` is the `now` of the input that caused the command asking
//! for the lease, so never later than the moment the server began to count. The drift covers clocks that run at different rates
//! (1 %, as Redlock has it), the margin what lies between reading a clock and acting on it.

use core::time::Duration;

use crate::{ConfigError, Instant, time::micros};

/// A lease by default.
pub const DEFAULT_TTL: Duration = Duration::from_secs(10);
/// The margin by default.
pub const DEFAULT_MARGIN: Duration = Duration::from_millis(2);
/// The longest lease that is taken: a year.
pub const MAX_TTL: Duration = Duration::from_secs(365 * 86_400);
/// Two clocks differ by at most one part in this many.
const DRIFT: u32 = 100;

/// When a lease that was asked for at `start` stops being valid.
#[must_use]
pub fn valid_until(start: Instant, ttl: Duration, margin: Duration) -> Instant {
    start.plus(ttl).minus(drift(ttl)).minus(margin)
}

/// When a lease that a server began to count at `start`, or before, has ended there, too.
#[must_use]
pub fn ended_by(start: Instant, ttl: Duration, margin: Duration) -> Instant {
    start.plus(ttl).plus(drift(ttl)).plus(margin)
}

/// When to renew: after a third of the lease.
#[must_use]
pub fn renew_at(start: Instant, ttl: Duration) -> Instant {
    start.plus(ttl.checked_div(3).unwrap_or(ttl))
}

/// How much of a lease must be left when its grant is told: an eighth. Less is used up by whoever has to be woken to use it.
pub(crate) fn least_told(ttl: Duration) -> Duration {
    ttl.checked_div(8).unwrap_or_default()
}

fn drift(ttl: Duration) -> Duration {
    ttl.checked_div(DRIFT).unwrap_or_default()
}

/// Checks that enough of a lease is left after drift and margin to work with.
pub(crate) fn check(ttl: Duration, margin: Duration) -> Result<(), ConfigError> {
    if ttl > MAX_TTL {
        return Err(ConfigError::TooLong {
            what: "ttl",
            micros: micros(ttl),
            most: micros(MAX_TTL),
        });
    }
    let least = margin.saturating_mul(3).max(Duration::from_millis(5));
    if ttl < least {
        return Err(ConfigError::LeaseTooShort {
            ttl: micros(ttl),
            margin: micros(margin),
            least: micros(least),
        });
    }
    Ok(())
}
