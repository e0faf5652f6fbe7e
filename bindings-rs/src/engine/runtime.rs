//! The tokio runtime in which a client was made.

use std::panic::{self, AssertUnwindSafe};

use tokio::runtime::{EnterGuard, Handle};

use crate::Error;

/// The runtime of a client: its background task runs there, and so do its timers.
pub(crate) struct Runtime(Handle);

impl Runtime {
    /// The runtime of the caller.
    ///
    /// # Errors
    /// [`Error::NoRuntime`] if there is none, or if it lacks timers.
    pub(crate) fn here() -> Result<Self, Error> {
        let handle = Handle::try_current().map_err(|_none| Error::NoRuntime)?;
        // Tokio reports missing timers only by a panic. At this point, nothing is locked, and no work is incomplete.
        let timers = || drop(tokio::time::sleep(core::time::Duration::ZERO));
        panic::catch_unwind(timers).map_err(|_panic| Error::NoRuntime)?;
        Ok(Self(handle))
    }

    /// The same for a client that makes connections: it needs a runtime with I/O, too.
    #[cfg(any(feature = "zookeeper", feature = "redis"))]
    pub(crate) fn with_sockets() -> Result<Self, Error> {
        let runtime = Self::here()?;
        let Ok(socket) = std::net::UdpSocket::bind((core::net::Ipv4Addr::LOCALHOST, 0)) else {
            // The first connection reports problems of this computer's network.
            return Ok(runtime);
        };
        let watched = AssertUnwindSafe(move || {
            let set = socket.set_nonblocking(true);
            drop(set.and_then(|()| tokio::net::UdpSocket::from_std(socket)));
        });
        panic::catch_unwind(watched).map_err(|_panic| Error::NoRuntime)?;
        Ok(runtime)
    }

    /// Enters the runtime until the returned guard is dropped. The caller's task may run on another executor, or on a
    /// runtime without timers.
    pub(crate) fn inside(&self) -> EnterGuard<'_> {
        self.0.enter()
    }

    /// Starts a task.
    pub(crate) fn spawn<T: Send + 'static>(
        &self,
        task: impl Future<Output = T> + Send + 'static,
    ) -> tokio::task::JoinHandle<T> {
        self.0.spawn(task)
    }
}
