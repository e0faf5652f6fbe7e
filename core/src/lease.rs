//! How long a grant is valid: one formula for all locks.
//!
//! `valid_until = start + ttl − drift − margin`. `start` is the `now` of the input that caused the command, so it is
//! never later than the moment at which the server began the lease. The drift covers clocks that run at different rates
//! (1 %, as in Redlock). The margin covers the time between reading a clock and acting on it.

use core::time::Duration;

use crate::{ConfigError, Instant, time::micros};

/// The default lease.
pub const DEFAULT_TTL: Duration = Duration::from_secs(10);
/// The default margin.
pub const DEFAULT_MARGIN: Duration = Duration::from_millis(2);
/// The longest lease allowed: a year.
pub const MAX_TTL: Duration = Duration::from_secs(365 * 86_400);
/// The rates of two clocks differ by at most 1 / `DRIFT`.
const DRIFT: u32 = 100;

/// When a lease that the client requested at `start` stops being valid for the client.
#[must_use]
pub fn valid_until(start: Instant, ttl: Duration, margin: Duration) -> Instant {
    start.plus(ttl).minus(drift(ttl)).minus(margin)
}

/// The time at which a lease has certainly ended on the server too, if the server began it at `start` or earlier.
#[must_use]
pub fn ended_by(start: Instant, ttl: Duration, margin: Duration) -> Instant {
    start.plus(ttl).plus(drift(ttl)).plus(margin)
}

/// When to renew a lease that the client requested at `start`: after a third of it.
#[must_use]
pub fn renew_at(start: Instant, ttl: Duration) -> Instant {
    start.plus(ttl.checked_div(3).unwrap_or(ttl))
}

/// How much of a lease must be left when the machine reports the grant: an eighth. A shorter rest could end before the
/// waiting task runs.
pub(crate) fn least_left(ttl: Duration) -> Duration {
    ttl.checked_div(8).unwrap_or_default()
}

fn drift(ttl: Duration) -> Duration {
    ttl.checked_div(DRIFT).unwrap_or_default()
}

/// Checks that enough of a lease is left after drift and margin. `option` is the lease's name in the settings.
pub(crate) fn check(option: &'static str, ttl: Duration, margin: Duration) -> Result<(), ConfigError> {
    if ttl > MAX_TTL {
        return Err(ConfigError::TooLong {
            what: option,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lease_may_be_as_long_as_the_longest_and_no_longer() {
        let margin = Duration::from_millis(1);
        assert_eq!(check("ttl", MAX_TTL, margin), Ok(()));
        for longer in [Duration::from_micros(1), Duration::from_secs(1)] {
            let error = check("ttl", MAX_TTL + longer, margin).unwrap_err();
            assert_eq!(error.name(), "too-long");
        }
    }
}
