//! The table of each command's machine, for the command's outcome and for the notice of the command's watch.

use crate::{CommandId, Key, numbered::Numbered};

/// The commands in flight, and the watches that may still fire.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Routes(Numbered<CommandId, Route>);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Route {
    key: Key,
    /// Whether the command's outcome may still arrive.
    outcome: bool,
    /// Whether the command's watch may still fire.
    watch: bool,
}

/// The machine of a command.
pub(super) struct Routed {
    pub(super) key: Key,
    /// Whether neither an outcome nor a notice of a watch can arrive any more. Then the route has been removed.
    pub(super) ended: bool,
}

impl Routes {
    /// Adds a command that the driver has taken. A `standing` command may cause a notice after its outcome.
    pub(super) fn add(&mut self, id: CommandId, key: Key, standing: bool) {
        let route = Route {
            key,
            outcome: true,
            watch: standing,
        };
        self.0.insert(id, route);
    }

    /// A command's outcome has arrived. Returns the command's machine.
    pub(super) fn settle(&mut self, id: CommandId) -> Option<Routed> {
        self.use_up(id, |route| route.outcome = false)
    }

    /// A command's watch has fired; a watch fires only once. Returns the command's machine.
    pub(super) fn spend(&mut self, id: CommandId) -> Option<Routed> {
        self.use_up(id, |route| route.watch = false)
    }

    fn use_up(&mut self, id: CommandId, with: impl FnOnce(&mut Route)) -> Option<Routed> {
        let route = self.0.get_mut(id)?;
        with(route);
        let Route { key, outcome, watch } = *route;
        let ended = !outcome && !watch;
        if ended {
            self.0.remove(id);
        }
        Some(Routed { key, ended })
    }

    /// Forgets all routes of a machine. This looks at every route, so the hub calls it only for a machine that has one.
    pub(super) fn forget(&mut self, key: Key) {
        self.0.retain(|route| route.key != key);
    }
}
