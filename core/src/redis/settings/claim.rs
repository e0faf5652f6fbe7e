//! The settings of a claim, and of a request that is not a claim.

use core::time::Duration;

use crate::claim::{Claim, Name, Step};

use super::LeaseSettings;

/// The checked settings of a claim on one operation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ClaimSettings {
    pub(in crate::redis) name: Name,
    /// Its lease is that of `lease`, in ms.
    pub(in crate::redis) claim: Claim,
    pub(in crate::redis) lease: LeaseSettings,
}

impl ClaimSettings {
    /// A claim on the operation of this name. The lease is that of `claim`, whatever `lease` says.
    #[must_use]
    pub fn new(name: Name, claim: Claim, lease: LeaseSettings) -> Self {
        let ttl = Duration::from_millis(claim.lease);
        let lease = LeaseSettings { ttl, ..lease };
        Self { name, claim, lease }
    }
}

/// The checked settings of a request about one operation or value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StepSettings {
    /// The operation or value, and the request; `None` for a sweep.
    pub(in crate::redis) asks: Option<(Name, Step)>,
    /// How long an answer may take. After this time the machine sends the request again.
    pub answer_within: Duration,
}

impl StepSettings {
    /// One step about the operation or value of this name.
    #[must_use]
    pub const fn new(name: Name, step: Step, answer_within: Duration) -> Self {
        Self {
            asks: Some((name, step)),
            answer_within,
        }
    }

    /// A sweep. It asks the server for nothing, because the server expires records by itself.
    #[must_use]
    pub const fn sweep(answer_within: Duration) -> Self {
        Self {
            asks: None,
            answer_within,
        }
    }
}
