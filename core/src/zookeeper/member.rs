//! The type of all machines of the family, for the hub.

use alloc::boxed::Box;

use crate::{ContenderId, hub::forward_to_machines};

use super::{
    Claimant, Contender, Inspection, LockSettings, MultiLock, Semaphore, SingleStep, Sweep, ZooKeeper,
    layout::Role,
};

/// Any machine of the family. Most machines are contenders, so this type is as small as a contender and boxes the
/// others.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[expect(unnameable_types, reason = "it is the hub's alone")]
#[expect(
    clippy::large_enum_variant,
    reason = "a hub boxes it, and contenders are the many"
)]
pub enum Member {
    Contender(Contender),
    Semaphore(Box<Semaphore>),
    MultiLock(Box<MultiLock>),
    Inspection(Box<Inspection>),
    Claimant(Box<Claimant>),
    SingleStep(Box<SingleStep>),
    Sweep(Box<Sweep>),
}

impl Member {
    pub(super) fn new(settings: LockSettings, contender: ContenderId, seed: u64) -> Self {
        match settings {
            LockSettings::Contender(settings) if matches!(settings.role, Role::Permit { .. }) => {
                Self::Semaphore(Box::new(Semaphore::new(settings, contender, seed)))
            }
            LockSettings::MultiLock(settings) => {
                Self::MultiLock(Box::new(MultiLock::new(settings, contender, seed)))
            }
            LockSettings::Inspection(settings) => Self::Inspection(Box::new(Inspection::new(settings, seed))),
            LockSettings::Claim(settings) => {
                Self::Claimant(Box::new(Claimant::new(settings, contender, seed)))
            }
            LockSettings::Step(settings) => {
                Self::SingleStep(Box::new(SingleStep::new(settings, contender, seed)))
            }
            LockSettings::Sweep(settings) => Self::Sweep(Box::new(Sweep::new(settings, seed))),
            LockSettings::Contender(settings) => Self::Contender(Contender::new(settings, contender, seed)),
        }
    }
}

// An inspection, a single step and a sweep never get a grant.
forward_to_machines!(ZooKeeper: contend Contender, Semaphore, MultiLock, Claimant; never Inspection, SingleStep, Sweep);
