//! The times at which a grant becomes valid and invalid, by this machine's clock, which all processes share.

use std::time::Duration;

use fencepost::Grant;

/// How often a holder checks its grant.
pub(crate) const OFTEN: Duration = Duration::from_millis(20);

/// Microseconds.
pub(crate) fn now() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
    seconds * 1_000_000 + u64::try_from(time.tv_nsec / 1000).unwrap_or_default()
}

/// The state of a grant at the holder's last check.
#[derive(Default)]
pub(crate) struct Belief {
    valid: bool,
    /// The end of its validity, as it reported at the last check.
    until: u64,
}

impl Belief {
    /// If the grant's validity has changed: whether it is valid now, and the time of the change.
    pub(crate) fn change(&mut self, grant: &Grant) -> Option<(bool, u64)> {
        let remaining = grant.remaining();
        let now = now();
        let was = std::mem::replace(&mut self.valid, !remaining.is_zero());
        let said = self.until;
        if self.valid {
            self.until = now + u64::try_from(remaining.as_micros()).unwrap_or_default();
        }
        match (was, self.valid) {
            (false, true) => Some((true, now)),
            // This check is a moment late, but the grant ended no later than it had reported.
            (true, false) => Some((false, now.min(said))),
            _ => None,
        }
    }
}
