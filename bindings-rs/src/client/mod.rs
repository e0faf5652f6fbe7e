//! What a user sees: client, lock, grant.

mod builder;
mod contender;
mod found;
mod grant;
mod hold;
mod lock;
mod options;
mod owners;
mod recipes;

use alloc::sync::Arc;
use core::{fmt, time::Duration};
use std::sync::{Mutex, PoisonError};

use fencepost_core::Misuse;
use tokio::task::JoinHandle;

use crate::{
    Error,
    hub::{background, engine::Engine, machines::Keep},
};

use options::Kind;
use owners::Owners;

pub use builder::Builder;
pub use found::Found;
pub use grant::Grant;
pub use lock::Lock;
pub use options::LockOptions;
pub use recipes::ReadWriteLock;

/// A connection to a server, on which locks are taken. Clones share it.
///
/// When the last clone, lock and grant of a client are gone, it is closed in the background; [`close`](Self::close) says what came
/// of it.
#[derive(Clone)]
pub struct Client(Arc<Shared>);

/// What clones share.
struct Shared {
    engine: Arc<Engine>,
    place: Place,
    connect_timeout: Duration,
    owners: Owners,
    background: Mutex<Option<JoinHandle<usize>>>,
}

/// Where a client's locks lie.
#[derive(Clone, Debug)]
pub(crate) enum Place {
    /// In ZooKeeper's tree, below a prefix.
    ZooKeeper { prefix: String },
    /// On a server inside the process, which stands for both.
    Memory,
    /// In Redis.
    #[cfg(feature = "redis")]
    Redis,
}

impl Place {
    fn prefix(&self) -> &str {
        match self {
            Self::ZooKeeper { prefix } => prefix,
            Self::Memory => "",
            #[cfg(feature = "redis")]
            Self::Redis => "",
        }
    }
}

impl Client {
    /// Options for a client.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// A client on a ZooKeeper client that you already have. It is never closed for you. Its session is never renewed either: when it
    /// has expired, every acquire is refused with [`Refusal::ConnectionClosed`](crate::Refusal::ConnectionClosed), and it is time for a new
    /// client.
    ///
    /// # Errors
    /// [`Error::NoRuntime`] outside of a tokio runtime.
    #[cfg(feature = "zookeeper")]
    pub fn from_zookeeper(client: zookeeper_client::Client) -> Result<Self, Error> {
        Self::builder().from_zookeeper(client)
    }

    /// A client on a Redis connection that you already have: a `ConnectionManager` or anything else that can be cloned. It is never closed for you.
    /// Take one that is made again when it ends. A `MultiplexedConnection` is over with its socket, after a restart of the server for example:
    /// every acquire is refused with [`Refusal::ConnectionClosed`](crate::Refusal::ConnectionClosed) then, and it is time for a new client. Waiting acquires ask every 100 ms, because such a connection cannot subscribe:
    /// [`Builder::subscribe_with`] has them woken at once.
    ///
    /// # Errors
    /// [`Error::NoRuntime`] outside of a tokio runtime.
    #[cfg(feature = "redis")]
    pub fn from_redis<C>(connection: C) -> Result<Self, Error>
    where
        C: redis::aio::ConnectionLike + Clone + Send + Sync + 'static,
    {
        Self::builder().from_redis(connection)
    }

    /// Starts the background task.
    fn start(engine: Arc<Engine>, keep: Arc<dyn Keep>, place: Place, connect_timeout: Duration) -> Self {
        let task = engine.runtime.spawn(background::run(Arc::clone(&engine), keep));
        Self(Arc::new(Shared {
            engine,
            place,
            connect_timeout,
            owners: Owners::default(),
            background: Mutex::new(Some(task)),
        }))
    }

    /// The lock of that name, with the usual settings. Nothing is sent.
    ///
    /// # Errors
    /// [`Error::Config`] for a name that the server would not take; [`Misuse::Closed`] after [`close`](Self::close).
    pub fn lock(&self, name: &str) -> Result<Lock, Error> {
        self.lock_with(name, LockOptions::default())
    }

    /// The lock of that name. Nothing is sent.
    ///
    /// # Errors
    /// As [`lock`](Self::lock), and [`Error::Config`] for options that make no sense here.
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
    pub fn lock_with(&self, name: &str, options: LockOptions) -> Result<Lock, Error> {
        self.contend(options.plain(), name, options)
    }

    /// A lock of any kind.
    fn contend(&self, kind: Kind, name: &str, options: LockOptions) -> Result<Lock, Error> {
        self.0.engine.check_process()?;
        self.0.engine.check_open()?;
        Ok(Lock::new(Arc::clone(&self.0), kind, name, options)?)
    }

    /// Releases all grants, gives up all acquires and waits at most 5 s for the server's word on it. Afterwards everything that was made
    /// with this client fails with [`Misuse::Closed`]. A connection that you have brought along stays open.
    ///
    /// # Errors
    /// [`Error::CleanupIncomplete`] with a count of what the server has not answered for, or has refused to take back: it goes with its leases or its session;
    /// [`Error::DriverFailed`] if the client library could not be used; [`Misuse::Closed`] the second time; [`Error::WrongProcess`] after a fork, as everything that was made with the client.
    pub async fn close(&self) -> Result<(), Error> {
        self.0.engine.check_process()?;
        let task = self
            .0
            .background
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        let Some(task) = task else {
            return Err(Misuse::Closed.into());
        };
        self.0.engine.shutdown();
        self.0.engine.hang_up();
        let ended = task.await;
        if let Some(failed) = self.0.engine.failure() {
            return Err(failed.into());
        }
        match ended {
            Ok(0) => Ok(()),
            Ok(left) => Err(Error::CleanupIncomplete { left }),
            // The runtime was shut down, and the task with it.
            Err(_gone) => match self.0.engine.left() {
                0 => Ok(()),
                left => Err(Error::CleanupIncomplete { left }),
            },
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

impl Drop for Shared {
    fn drop(&mut self) {
        self.engine.hang_up();
    }
}
