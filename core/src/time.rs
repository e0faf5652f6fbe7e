//! Time as an input. The core never reads a clock.

use core::time::Duration;

/// A point in time: microseconds since an epoch that the driver chooses.
///
/// The driver takes it from a clock that never goes back and **keeps running while the computer sleeps**
/// (`CLOCK_BOOTTIME` if available). A lease also keeps running during a suspend, so the clock that measures it must do
/// the same. All arithmetic saturates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(u64);

impl Instant {
    /// The driver's epoch.
    pub const ZERO: Self = Self(0);

    /// The instant `micros` microseconds after the epoch.
    #[must_use]
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros)
    }

    /// Microseconds since the epoch.
    #[must_use]
    pub const fn as_micros(self) -> u64 {
        self.0
    }

    /// This instant plus a duration.
    #[must_use]
    pub fn plus(self, by: Duration) -> Self {
        Self(self.0.saturating_add(micros(by)))
    }

    /// This instant minus a duration.
    #[must_use]
    pub fn minus(self, by: Duration) -> Self {
        Self(self.0.saturating_sub(micros(by)))
    }

    /// The time since `earlier`; zero if `earlier` is later than this instant.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_micros(self.0.saturating_sub(earlier.0))
    }
}

/// A duration in whole microseconds; saturates.
pub(crate) fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

/// A duration in whole milliseconds, the unit of the servers; rounds up and saturates.
pub(crate) fn millis_up(duration: Duration) -> u64 {
    micros(duration).div_ceil(1000)
}
