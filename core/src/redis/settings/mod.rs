//! The checked settings of the machines, and the names of keys.

mod claim;
mod step;
mod string;

use core::time::Duration;

use crate::{ConfigError, lease};

pub use claim::ClaimSettings;
pub(super) use step::Question;
pub use step::StepSettings;
pub use string::StringSettings;

/// The default of [`LeaseSettings::poll`] for a lock.
pub const DEFAULT_POLL: Duration = Duration::from_millis(100);
/// The default of [`LeaseSettings::answer_within`].
pub const DEFAULT_ANSWER_WITHIN: Duration = Duration::from_secs(5);

/// A lease, and the times and limits with which a machine gets it and keeps it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct LeaseSettings {
    /// The length of the lease: how long the server keeps the lock or the claim without a renewal.
    pub ttl: Duration,
    /// The client subtracts this and the drift from the time for which a grant is valid.
    pub margin: Duration,
    /// Whether the machine renews the lease after each third of it.
    pub renew: bool,
    /// The longest mean time between two requests of a waiter. Each time is random, from half to one and a half of the
    /// mean. Waiters poll because a holder may announce no release.
    pub poll: Duration,
    /// How long a reply may take. After this time the machine sends the request again. A nonblocking acquire then fails
    /// with an unreachable server.
    pub answer_within: Duration,
}

impl LeaseSettings {
    /// A lease with the defaults of a lock. `option` is the lease's name in errors.
    ///
    /// # Errors
    /// [`ConfigError`] for a lease that is too short or too long.
    pub fn new(option: &'static str, ttl: Duration, margin: Duration) -> Result<Self, ConfigError> {
        lease::check(option, ttl, margin)?;
        Ok(Self {
            ttl,
            margin,
            renew: true,
            poll: DEFAULT_POLL,
            answer_within: DEFAULT_ANSWER_WITHIN,
        })
    }
}
