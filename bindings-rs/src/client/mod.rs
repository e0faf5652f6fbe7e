//! The public types: client, lock, grant.

mod close;
mod connect;
mod contender;
mod grant;
mod idempotency;
mod inspection;
mod kinds;
mod lock;
mod options;
mod shared;

use alloc::sync::Arc;
use core::fmt;

use fencepost_core::{RawSettings, options::Kind};

use crate::{Error, drivers::memory};
use shared::{Place, Shared};

pub use connect::Builder;
pub use grant::Grant;
pub use idempotency::{
    Claim, Claimed, Completion, Idempotency, IdempotencyOptions, OnError, OnceError, Operation, Outcome,
    Update,
};
pub use inspection::Found;
pub use kinds::ReadWriteLock;
pub use lock::Lock;
pub use options::LockOptions;

/// Locks on one connection to a server. Clones share the connection.
///
/// The client closes in the background when the program has dropped its last clone, lock and grant.
/// [`close`](Self::close) reports the result.
#[derive(Clone)]
pub struct Client(Arc<Shared>);

impl Client {
    /// The lock of that name, with default options. Sends nothing.
    ///
    /// # Errors
    /// [`Error::Config`] for a name that the server would refuse;
    /// [`Misuse::Closed`](crate::Misuse::Closed) after [`close`](Self::close).
    pub fn lock(&self, name: &str) -> Result<Lock, Error> {
        self.lock_with(name, LockOptions::default())
    }

    /// The lock of that name. Sends nothing.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), fencepost::Error> {
    /// use core::time::Duration;
    /// use fencepost::LockOptions;
    ///
    /// let client = fencepost::connect("memory:").await?;
    /// let report = client.lock_with("report", LockOptions::new().max_hold(Duration::from_secs(60)))?;
    /// # let _ = report;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// The errors of [`lock`](Self::lock); [`Error::Config`] for options that such a lock does not
    /// have.
    pub fn lock_with(&self, name: &str, options: LockOptions) -> Result<Lock, Error> {
        self.named(Kind::Mutex, name, options)
    }

    /// Makes a lock of a kind that has a name.
    fn named(&self, kind: Kind, name: &str, options: LockOptions) -> Result<Lock, Error> {
        self.contend(self.0.place.settings(kind).with("name", name), name, options)
    }

    /// Makes a lock of any kind. `raw` has the settings that the kind requires.
    fn contend(&self, raw: RawSettings, name: &str, options: LockOptions) -> Result<Lock, Error> {
        self.0.engine.check_process()?;
        self.0.engine.check_open()?;
        Ok(Lock::new(Arc::clone(&self.0), name, raw, options)?)
    }

    /// Ends all grants as lost and releases them, cancels all acquires, and waits at most 5 s for
    /// the server's replies. After that, every grant of this client fails with [`Error::Lost`], and
    /// its clones and locks with [`Misuse::Closed`](crate::Misuse::Closed). A connection of the
    /// program stays open.
    ///
    /// The first call reports the result. Other calls, at the same time or later, on this client or
    /// on a clone, wait for the first one and succeed. Dropping the future does not stop the close:
    /// the next call waits for it and reports the result.
    ///
    /// # Errors
    /// [`Error::CleanupIncomplete`] with the number of contenders whose end the server did not
    /// confirm, or refused: they end with their leases or the session. [`Error::DriverFailed`] if
    /// the client library failed. [`Error::WrongProcess`] after a fork.
    pub async fn close(&self) -> Result<(), Error> {
        let (engine, closing) = (&self.0.engine, &self.0.closing);
        engine.check_process()?;
        let first = closing.begin();
        engine.shutdown();
        engine.close_client_in_background();
        let left = closing.ended().await;
        let Some(report) = first.or_else(|| closing.begin()) else {
            return Ok(());
        };
        report.done();
        if let Some(failed) = engine.failure() {
            return Err(failed.into());
        }
        // Without a count, the runtime was shut down together with the task.
        match left.unwrap_or_else(|| engine.left()) {
            0 => Ok(()),
            left => Err(Error::CleanupIncomplete { left }),
        }
    }
}

impl Client {
    /// The driver of a client on a server inside the process.
    pub(crate) fn in_memory(&self) -> Option<&Arc<memory::Driver>> {
        if let Place::Memory(driver) = &self.0.place {
            Some(driver)
        } else {
            None
        }
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("place", &self.0.place)
            .finish_non_exhaustive()
    }
}
