//! Whose a command is: for its outcome and, if it set a watch, for what the watch says later.

use alloc::{collections::BTreeMap, vec::Vec};

use crate::{CommandId, Key};

/// The commands under way, and the watches that may still fire.
#[derive(Debug, Default)]
pub(super) struct Routes {
    routes: BTreeMap<CommandId, (Key, bool)>,
    /// The same, by machine: what to forget when it goes.
    of: BTreeMap<Key, Vec<CommandId>>,
}

impl Routes {
    /// A command has been handed out. A `standing` one may be heard of again after its outcome.
    pub(super) fn add(&mut self, id: CommandId, key: Key, standing: bool) {
        self.routes.insert(id, (key, standing));
        self.of.entry(key).or_default().push(id);
    }

    /// An outcome has come: whose it is.
    pub(super) fn settle(&mut self, id: CommandId) -> Option<Key> {
        let (key, standing) = *self.routes.get(&id)?;
        if !standing {
            self.remove(id, key);
        }
        Some(key)
    }

    /// A watch has fired, which it does once: whose it is.
    pub(super) fn spend(&self, id: CommandId) -> Option<Key> {
        self.routes.get(&id).map(|(key, _)| *key)
    }

    /// A machine has gone.
    pub(super) fn forget(&mut self, key: Key) {
        for id in self.of.remove(&key).unwrap_or_default() {
            self.routes.remove(&id);
        }
    }

    fn remove(&mut self, id: CommandId, key: Key) {
        self.routes.remove(&id);
        if let Some(ids) = self.of.get_mut(&key) {
            ids.retain(|known| *known != id);
        }
    }
}
