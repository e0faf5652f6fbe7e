//! Any machine of the family, as a hub drives it.

use alloc::boxed::Box;

use crate::{ContenderId, hub::forward_to_machines};

use super::{Contender, Inspection, LockSettings, MultiLock, Semaphore, ZooKeeper, layout::Role};

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
            LockSettings::Contender(settings) => Self::Contender(Contender::new(settings, contender, seed)),
        }
    }
}

// An inspection is granted nothing.
forward_to_machines!(ZooKeeper: contend Contender, Semaphore, MultiLock; never Inspection);
