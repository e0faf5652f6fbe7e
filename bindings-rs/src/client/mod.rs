//! What a user sees: client, lock, grant.

mod builder;
mod closing;
mod contender;
mod found;
mod grant;
mod lock;
mod options;
mod recipes;

use alloc::sync::Arc;
use core::{fmt, time::Duration};

use fencepost_core::{
    RawSettings,
    options::{Kind, Server},
};

use crate::{
    Error,
    hub::{background, engine::Engine, machines::ConnectionTask},
};

use closing::Closing;

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
    closing: Closing,
}

/// Where a client's locks lie.
#[derive(Clone, Debug)]
pub(crate) enum Place {
    /// In ZooKeeper's tree, below a prefix.
    #[cfg_attr(
        not(feature = "zookeeper"),
        expect(dead_code, reason = "this build has no driver for it")
    )]
    ZooKeeper { prefix: String },
    /// On a server inside the process, which stands for both.
    Memory,
    /// In Redis.
    #[cfg(feature = "redis")]
    Redis,
}

impl Place {
    /// The settings of a lock of this kind, without its name and options.
    fn settings(&self, kind: Kind) -> RawSettings {
        match self {
            Self::ZooKeeper { prefix } => {
                RawSettings::on(Server::ZooKeeper, kind).with("prefix", prefix.as_str())
            }
            Self::Memory => RawSettings::on(Server::Memory, kind),
            #[cfg(feature = "redis")]
            Self::Redis => RawSettings::on(Server::Redis, kind),
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
    fn start(
        engine: Arc<Engine>,
        connection: Arc<dyn ConnectionTask>,
        place: Place,
        connect_timeout: Duration,
    ) -> Self {
        let task = engine
            .runtime
            .spawn(background::run(Arc::clone(&engine), connection));
        Self(Arc::new(Shared {
            engine,
            place,
            connect_timeout,
            closing: Closing::of(task),
        }))
    }

    /// The lock of that name, with the usual settings. Nothing is sent.
    ///
    /// # Errors
    /// [`Error::Config`] for a name that the server would not take; [`Misuse::Closed`](crate::Misuse::Closed) after [`close`](Self::close).
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
        self.named(Kind::Mutex, name, options)
    }

    /// A lock of a kind that has a name.
    fn named(&self, kind: Kind, name: &str, options: LockOptions) -> Result<Lock, Error> {
        self.contend(self.0.place.settings(kind).with("name", name), name, options)
    }

    /// A lock of any kind. `raw` has what the kind requires.
    fn contend(&self, raw: RawSettings, name: &str, options: LockOptions) -> Result<Lock, Error> {
        self.0.engine.check_process()?;
        self.0.engine.check_open()?;
        Ok(Lock::new(Arc::clone(&self.0), name, raw, options)?)
    }

    /// Ends all grants as lost and releases them, gives up all acquires, and waits at most 5 s for the server's answers. Afterwards every
    /// grant of this client fails with [`Error::Lost`], and everything else that was made with it with [`Misuse::Closed`](crate::Misuse::Closed). A
    /// connection that you have brought along stays open.
    ///
    /// The first call reports what came of it. Another one, at the same time or later, on this client or a clone, waits until the first
    /// has ended, and succeeds. Dropping the future does not stop the closing: the next call waits for its end, and reports.
    ///
    /// # Errors
    /// [`Error::CleanupIncomplete`] with a count of what the server has not answered for, or has refused to take back: it goes with its leases or its session;
    /// [`Error::DriverFailed`] if the client library could not be used; [`Error::WrongProcess`] after a fork, as everything that was made with the client.
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
        // Without a count, the runtime was shut down, and the task with it.
        match left.unwrap_or_else(|| engine.left()) {
            0 => Ok(()),
            left => Err(Error::CleanupIncomplete { left }),
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
        self.engine.close_client_in_background();
    }
}
