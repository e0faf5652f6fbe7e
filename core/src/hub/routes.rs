//! Whose a command is: for its outcome and, if it set a watch, for what the watch says later.

use crate::{
    CommandId, Key,
    sorted::{SortedMap, SortedSet},
};

/// The commands under way, and the watches that may still fire.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Routes {
    routes: SortedMap<CommandId, Route>,
    /// The same, by machine: what to forget when it goes.
    of: SortedSet<(Key, CommandId)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Route {
    key: Key,
    /// Whether the outcome is still to come.
    outcome: bool,
    /// Whether a watch may still fire.
    watch: bool,
}

impl Routes {
    /// A command has been handed out. A `standing` one may be heard of again after its outcome.
    pub(super) fn add(&mut self, id: CommandId, key: Key, standing: bool) {
        let route = Route {
            key,
            outcome: true,
            watch: standing,
        };
        self.routes.insert(id, route);
        self.of.insert((key, id));
    }

    /// An outcome has come: whose it is.
    pub(super) fn settle(&mut self, id: CommandId) -> Option<Key> {
        self.use_up(id, |route| route.outcome = false)
    }

    /// A watch has fired, which it does once: whose it is.
    pub(super) fn spend(&mut self, id: CommandId) -> Option<Key> {
        self.use_up(id, |route| route.watch = false)
    }

    /// A route goes when neither an outcome nor a watch is to come.
    fn use_up(&mut self, id: CommandId, with: impl FnOnce(&mut Route)) -> Option<Key> {
        let route = self.routes.get_mut(&id)?;
        with(route);
        let Route { key, outcome, watch } = *route;
        if !outcome && !watch {
            self.remove(id, key);
        }
        Some(key)
    }

    /// A machine has gone.
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
