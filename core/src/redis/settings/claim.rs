//! The settings of a claim.

use core::time::Duration;

use crate::claim::{Claim, Name};

use super::LeaseSettings;

/// The checked settings of a claim on one operation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ClaimSettings {
    pub(in crate::redis) name: Name,
    /// The claim. Its lease is the `ttl` of the next field, in ms.
    pub(in crate::redis) claim: Claim,
    pub(in crate::redis) lease: LeaseSettings,
}

impl ClaimSettings {
    /// A claim on the operation with this name. The lease of `claim` replaces the `ttl` of `lease`.
    #[must_use]
    pub fn new(name: Name, claim: Claim, lease: LeaseSettings) -> Self {
        let ttl = Duration::from_millis(claim.lease);
        let lease = LeaseSettings { ttl, ..lease };
        Self { name, claim, lease }
    }
}
