//! From when and until when a grant is valid: times of this machine's clock, so that processes can be compared.

use std::time::Duration;

use fencepost::Grant;

/// How often a holder looks.
pub(crate) const OFTEN: Duration = Duration::from_millis(20);

/// Microseconds.
pub(crate) fn now() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
    seconds * 1_000_000 + u64::try_from(time.tv_nsec / 1000).unwrap_or_default()
}

/// What a holder has seen of its grant.
#[derive(Default)]
pub(crate) struct Belief {
    valid: bool,
    /// Until when it would be valid, as it said when it was last looked at.
    until: u64,
}

impl Belief {
    /// Whether the grant is valid now, if that is not what it was, and since when.
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
            // This look is a moment late; the grant ended no later than it had said.
            (true, false) => Some((false, now.min(said))),
            _ => None,
        }
    }
}
