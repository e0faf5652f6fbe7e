//! The server of `memory:`, which several hubs share.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use fencepost_models::memory::Server;

/// The server, and the lock around it.
#[derive(Clone, Debug, Default)]
pub(crate) struct MemoryServer(Arc<Mutex<Server>>);

impl MemoryServer {
    pub(crate) fn lock(&self) -> MutexGuard<'_, Server> {
        // A panic inside the model was reported to its caller. The other hubs go on.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
