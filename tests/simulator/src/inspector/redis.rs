//! Inspections of a lock of Redis.

use fencepost_core::{
    Fence,
    redis::{LockSettings, Redis, StepSettings, StringSettings},
};

use crate::checker::{Aim, Task};

use super::{Lock, Tasks};

/// A lock of Redis, by the settings of its contenders.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OnRedis(pub StringSettings);

impl Lock for OnRedis {
    type Family = Redis;

    fn tasks(&self) -> Tasks {
        Tasks::ListsAndBreaks
    }

    /// Redis has no revocation requests: the core rejects their settings, and no plan contains them.
    fn settings(&self, task: &Task) -> LockSettings {
        let lock = self.0.clone();
        LockSettings::Step(match task.clone() {
            Task::List => StepSettings::list(lock),
            Task::Break(Aim { node, fence }) | Task::Revoke(Aim { node, fence }) => {
                StepSettings::break_holder(lock, node, Fence(fence))
            }
        })
    }
}
