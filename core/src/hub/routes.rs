//! The table of each command's machine, for the command's outcome and for the notice of the command's watch.

use crate::{
    CommandId, Key,
    sorted::{SortedMap, SortedSet},
};

/// The commands in flight, and the watches that may still fire.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Routes {
    routes: SortedMap<CommandId, Route>,
    /// The same commands by machine, to forget them when the machine is removed.
    of: SortedSet<(Key, CommandId)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Route {
    key: Key,
    /// Whether the command's outcome may still arrive.
    outcome: bool,
    /// Whether the command's watch may still fire.
    watch: bool,
}

impl Routes {
    /// Adds a command that the driver has taken. A `standing` command may cause a notice after its outcome.
    pub(super) fn add(&mut self, id: CommandId, key: Key, standing: bool) {
        let route = Route {
            key,
            outcome: true,
            watch: standing,
        };
        self.routes.insert(id, route);
        self.of.insert((key, id));
    }

    /// A command's outcome has arrived. Returns the command's machine.
    pub(super) fn settle(&mut self, id: CommandId) -> Option<Key> {
        self.use_up(id, |route| route.outcome = false)
    }

    /// A command's watch has fired; a watch fires only once. Returns the command's machine.
    pub(super) fn spend(&mut self, id: CommandId) -> Option<Key> {
        self.use_up(id, |route| route.watch = false)
    }

    /// Changes a route. Removes it when neither an outcome nor a notice of a watch can arrive any more.
    fn use_up(&mut self, id: CommandId, with: impl FnOnce(&mut Route)) -> Option<Key> {
        let route = self.routes.get_mut(&id)?;
        with(route);
        let Route { key, outcome, watch } = *route;
        if !outcome && !watch {
            self.remove(id, key);
        }
        Some(key)
    }

    /// Forgets all routes of a machine.
    pub(super) fn forget(&mut self, key: Key) {
        let first = (key, CommandId(0));
        while let Some((_, id)) = self.of.first_from(&first).filter(|(of, _)| *of == key) {
            self.remove(*id, key);
        }
    }

    fn remove(&mut self, id: CommandId, key: Key) {
        self.routes.remove(&id);
        self.of.remove(&(key, id));
    }
}
