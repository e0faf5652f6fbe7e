//! Inspections of a lock of ZooKeeper.

use core::time::Duration;

use fencepost_core::{
    Fence,
    zookeeper::{Action, InspectionSettings, Layout, LockSettings, Role, ZooKeeper},
};

use crate::checker::{Aim, Task};

use super::{Lock, Tasks};

/// A lock of ZooKeeper.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OnZooKeeper {
    /// Its name.
    pub name: &'static str,
    /// Its layout.
    pub layout: Layout,
    /// Its kind.
    pub of: Role,
    /// Whether it is only listed. Another owner may use a path again between the read of a node and its
    /// deletion. An inspection cannot prevent this, because ZooKeeper compares no fences. The documentation
    /// of inspections describes this.
    pub only_listed: bool,
}

impl Lock for OnZooKeeper {
    type Family = ZooKeeper;

    fn tasks(&self) -> Tasks {
        if self.only_listed {
            Tasks::Lists
        } else {
            Tasks::All
        }
    }

    fn settings(&self, task: &Task) -> LockSettings {
        let action = match task.clone() {
            Task::List => Action::List,
            Task::Break(Aim { node, fence }) => Action::Break {
                node,
                fence: Fence(fence),
            },
            Task::Revoke(Aim { node, fence }) => Action::Revoke {
                node,
                fence: Fence(fence),
            },
        };
        let Self { name, layout, of, .. } = self.clone();
        let mut settings = InspectionSettings::new("shop", name, layout, of, action).expect("good settings");
        settings.answer_within = Duration::from_millis(500);
        LockSettings::Inspection(settings)
    }
}
