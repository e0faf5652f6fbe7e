//! The type of all machines of the family, for the hub.

use alloc::boxed::Box;

use crate::{ContenderId, hub::forward_to_machines};

use super::{Contender, LockSettings, Redis, SingleStep, subject::Subject};

/// Any machine of the family.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[expect(unnameable_types, reason = "it is the hub's alone")]
#[expect(
    clippy::large_enum_variant,
    reason = "a hub boxes it, and contenders are the many"
)]
pub enum Member {
    Contender(Contender),
    SingleStep(Box<SingleStep>),
}

impl Member {
    pub(super) fn new(settings: LockSettings, contender: ContenderId, seed: u64) -> Self {
        let subject = match settings {
            LockSettings::String(settings) => Subject::Lock(settings),
            LockSettings::Claim(settings) => Subject::Claim(settings),
            LockSettings::Step(settings) => {
                return Self::SingleStep(Box::new(SingleStep::new(settings, contender, seed)));
            }
        };
        Self::Contender(Contender::new(subject, contender, seed))
    }
}

// A single step never gets a grant.
forward_to_machines!(Redis: contend Contender; never SingleStep);
