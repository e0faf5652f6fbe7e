//! A server inside the process that several hubs stand on.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use fencepost_models::memory::Server;

/// The server, and the lock around it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Room(Arc<Mutex<Server>>);

impl Room {
    pub(crate) fn enter(&self) -> MutexGuard<'_, Server> {
        // A panic inside the model has been told to its caller; the others go on.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
