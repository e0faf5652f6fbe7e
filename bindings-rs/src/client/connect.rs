//! Makes a client from an address or a connection.

use alloc::sync::Arc;
use core::{fmt, time::Duration};

use fencepost_core::{ConfigError, positive, url::Address};
use fencepost_models::hub::Hub;

use super::{
    Client,
    close::Closing,
    shared::{Place, Shared},
};
use crate::{
    Error,
    drivers::memory,
    engine::{
        Engine, background,
        driver::{ConnectionTask, Driver, Sink},
        runtime::Runtime,
    },
    hub::settings::micros,
};

/// How long the first connection may take by default, as in all languages.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Options for a [`Client`].
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), fencepost::Error> {
/// use core::time::Duration;
///
/// let client = fencepost::Client::builder()
///     .connect_timeout(Duration::from_secs(1))
///     .connect("memory:")
///     .await?;
/// # client.close().await }
/// ```
#[derive(Clone, Default)]
#[must_use]
pub struct Builder {
    connect_timeout: Option<Duration>,
    #[cfg(feature = "zookeeper")]
    acl: Option<Vec<zookeeper_client::Acl>>,
    #[cfg(feature = "zookeeper")]
    auth: Vec<(String, Vec<u8>)>,
    #[cfg(feature = "zookeeper")]
    prefix: Option<String>,
    #[cfg(feature = "redis")]
    subscribe_with: Option<redis::Client>,
}

/// The origin of a client's connection.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    Memory,
    #[cfg(feature = "zookeeper")]
    ZooKeeperAddress,
    #[cfg(feature = "redis")]
    RedisAddress,
    #[cfg(feature = "zookeeper")]
    ZooKeeperClient,
    #[cfg(feature = "redis")]
    RedisConnection,
}

impl Builder {
    /// The connect timeout (5 s). Until the first connection exists, `connect` and every acquire
    /// fail after this time with [`Refusal::Unreachable`](crate::Refusal::Unreachable), the address
    /// and the cause. The client makes later connections in the background, and the acquires that
    /// wait for them count that time towards their own timeouts.
    pub const fn connect_timeout(mut self, limit: Duration) -> Self {
        self.connect_timeout = Some(limit);
        self
    }

    /// The ACL of the nodes that locks create on ZooKeeper (by default every client may do
    /// everything). All contenders for a lock must be allowed to create, read and delete. For
    /// ZooKeeper only, with an address or a client of the program; `memory:` accepts it and permits
    /// everything.
    #[cfg(feature = "zookeeper")]
    pub fn acl(mut self, acl: impl Into<Vec<zookeeper_client::Acl>>) -> Self {
        self.acl = Some(acl.into());
        self
    }

    /// Credentials for ZooKeeper, such as `("digest", b"user:password")`. A program may set
    /// several. For `zk://` addresses only: a client of the program has its own credentials.
    /// `memory:` accepts them and checks nothing.
    #[cfg(feature = "zookeeper")]
    pub fn auth(mut self, scheme: &str, credentials: &[u8]) -> Self {
        self.auth.push((scheme.into(), credentials.into()));
        self
    }

    /// The path below which the locks are, for a ZooKeeper client of the program only (by default
    /// the root). In an address, it is the path of the URL.
    #[cfg(feature = "zookeeper")]
    pub fn prefix(mut self, prefix: &str) -> Self {
        self.prefix = Some(prefix.into());
        self
    }

    /// The client that makes the connection for subscriptions, for a Redis connection of the
    /// program only.
    #[cfg(feature = "redis")]
    pub fn subscribe_with(mut self, client: redis::Client) -> Self {
        self.subscribe_with = Some(client);
        self
    }

    /// Returns how long the first connection may take. Fails for an option that does not apply to
    /// this origin: if the client ignored it, locks could be in another place, or unprotected.
    fn check(&self, from: Origin) -> Result<Duration, ConfigError> {
        #[cfg(feature = "zookeeper")]
        {
            let (by_address, given) = (from == Origin::ZooKeeperAddress, from == Origin::ZooKeeperClient);
            let memory = from == Origin::Memory;
            refuse(
                "acl",
                self.acl.is_some() && !(by_address || given || memory),
                "only ZooKeeper has it",
            )?;
            refuse(
                "auth",
                !(self.auth.is_empty() || by_address || memory),
                "it is for zk:// addresses: a client of your own has credentials of its own, and a redis:// address has them inside",
            )?;
            refuse(
                "prefix",
                self.prefix.is_some() && !given,
                "it is for a ZooKeeper client of your own: write it into an address, as in zk://HOST:PORT/PREFIX",
            )?;
        }
        #[cfg(feature = "redis")]
        refuse(
            "subscribe_with",
            self.subscribe_with.is_some() && from != Origin::RedisConnection,
            "it is for a Redis connection of your own: a client of an address subscribes by itself",
        )?;
        positive(
            "connect_timeout",
            micros(self.connect_timeout.unwrap_or(CONNECT_TIMEOUT)),
            ": the connection is not ready yet",
        )
    }

    /// Connects to the server at `url`.
    ///
    /// # Errors
    /// The errors of [`connect`](crate::connect).
    pub async fn connect(self, url: &str) -> Result<Client, Error> {
        let client = self.connect_lazily(url)?;
        client.0.engine.ready(client.0.connect_timeout).await?;
        Ok(client)
    }

    /// Makes a client for the server at `url`, which connects in the background. The first acquires
    /// wait for the connection, within their own timeouts, and fail with
    /// [`Refusal::Unreachable`](crate::Refusal::Unreachable) if it takes too long.
    ///
    /// # Errors
    /// [`Error::Config`] for an address that is not valid; [`Error::NoRuntime`] outside of a tokio
    /// runtime.
    pub fn connect_lazily(self, url: &str) -> Result<Client, Error> {
        let address = Address::parse(url)?;
        let at = address.shown();
        match address {
            Address::Memory {
                name,
                session_timeout,
            } => {
                let limit = self.check(Origin::Memory)?;
                let (runtime, seed) = (Runtime::here()?, crate::drivers::seed());
                let (hub, driver) = memory::Driver::connect(&name, seed, session_timeout);
                let driver = Arc::new(driver);
                let engine = Engine::new(runtime, at, seed, hub, Arc::clone(&driver) as _);
                engine.connected();
                let place = Place::Memory(Arc::clone(&driver));
                Ok(Client::start(engine, driver, place, limit))
            }
            #[cfg(feature = "zookeeper")]
            Address::ZooKeeper {
                hosts,
                prefix,
                session_timeout,
            } => {
                use crate::drivers::zookeeper::{Driver, Source};
                let limit = self.check(Origin::ZooKeeperAddress)?;
                let source = Source::Hosts {
                    hosts,
                    session_timeout,
                    auth: self.auth,
                };
                let driver = Driver::new(source, self.acl);
                driven(
                    Runtime::with_sockets()?,
                    at,
                    driver,
                    Place::ZooKeeper { prefix },
                    limit,
                )
            }
            #[cfg(feature = "redis")]
            Address::Redis(server) => {
                let limit = self.check(Origin::RedisAddress)?;
                let driver = crate::drivers::redis::Driver::own(&server)?;
                driven(Runtime::with_sockets()?, at, driver, Place::Redis, limit)
            }
            other => Err(ConfigError::InvalidUrl {
                url: other.shown(),
                why: "this build has no driver for it: turn on the feature zookeeper or redis".into(),
            }
            .into()),
        }
    }

    /// The same as [`Client::from_zookeeper`], with these options.
    ///
    /// # Errors
    /// [`Error::NoRuntime`] outside of a tokio runtime; [`Error::Config`] for an option that does not belong here.
    #[cfg(feature = "zookeeper")]
    pub fn from_zookeeper(self, client: zookeeper_client::Client) -> Result<Client, Error> {
        use crate::drivers::zookeeper::{Driver, Source};
        let limit = self.check(Origin::ZooKeeperClient)?;
        let driver = Driver::new(Source::Given(client), self.acl);
        let prefix = self.prefix.unwrap_or_default();
        let at = "on the ZooKeeper client that was given".into();
        driven(Runtime::here()?, at, driver, Place::ZooKeeper { prefix }, limit)
    }

    /// The same as [`Client::from_redis`], with these options.
    ///
    /// # Errors
    /// [`Error::NoRuntime`] outside of a tokio runtime; [`Error::Config`] for an option that does not belong here.
    #[cfg(feature = "redis")]
    pub fn from_redis<C>(self, connection: C) -> Result<Client, Error>
    where
        C: redis::aio::ConnectionLike + Clone + Send + Sync + 'static,
    {
        let limit = self.check(Origin::RedisConnection)?;
        let driver = crate::drivers::redis::Driver::given(connection, self.subscribe_with);
        let at = "on the Redis connection that was given".into();
        driven(Runtime::here()?, at, driver, Place::Redis, limit)
    }
}

impl fmt::Debug for Builder {
    /// Does not show the credentials.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Builder");
        shown.field("connect_timeout", &self.connect_timeout);
        #[cfg(feature = "zookeeper")]
        {
            let schemes: Vec<&str> = self.auth.iter().map(|(scheme, _)| scheme.as_str()).collect();
            shown
                .field("acl", &self.acl.as_ref().map(Vec::len))
                .field("auth", &schemes)
                .field("prefix", &self.prefix);
        }
        #[cfg(feature = "redis")]
        shown.field("subscribe_with", &self.subscribe_with.is_some());
        shown.finish()
    }
}

fn refuse(option: &str, given: bool, known: &'static str) -> Result<(), ConfigError> {
    if given {
        return Err(ConfigError::UnknownOption {
            option: option.into(),
            known: known.into(),
        });
    }
    Ok(())
}

/// Makes a client on a hub whose commands this driver carries out.
fn driven<D: Driver + ConnectionTask + 'static>(
    runtime: Runtime,
    at: String,
    driver: D,
    place: Place,
    connect_timeout: Duration,
) -> Result<Client, Error> {
    let family = match place {
        Place::ZooKeeper { .. } | Place::Memory(_) => "zookeeper",
        #[cfg(feature = "redis")]
        Place::Redis => "redis",
    };
    let seed = crate::drivers::seed();
    let (hub, driver) = (Hub::driven(family, seed)?, Arc::new(driver));
    let engine = Engine::new(runtime, at, seed, hub, Arc::clone(&driver) as _);
    Ok(Client::start(engine, driver, place, connect_timeout))
}

impl Client {
    /// Options for a client.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// Makes a client on a ZooKeeper client that the program already has. fencepost never closes
    /// that client, and never replaces its session: after the session has expired, every acquire
    /// fails with [`Refusal::ConnectionClosed`](crate::Refusal::ConnectionClosed). Make a new
    /// client then.
    ///
    /// Stop the program before the servers lower `maxSessionTimeout` or `tickTime`: after a
    /// reconnect, the library does not report the new timeout of its session.
    ///
    /// # Errors
    /// [`Error::NoRuntime`] outside of a tokio runtime.
    #[cfg(feature = "zookeeper")]
    pub fn from_zookeeper(client: zookeeper_client::Client) -> Result<Self, Error> {
        Self::builder().from_zookeeper(client)
    }

    /// Makes a client on a Redis connection that the program already has: a `ConnectionManager`, or
    /// any other connection that can be cloned. fencepost never closes it. Prefer one that
    /// reconnects. A `MultiplexedConnection` ends with its socket, for example when the server
    /// restarts; every acquire then fails with
    /// [`Refusal::ConnectionClosed`](crate::Refusal::ConnectionClosed), and the program has to make
    /// a new client. Such a connection cannot subscribe, so waiting acquires poll every 100 ms;
    /// with [`Builder::subscribe_with`] the server notifies them at once.
    ///
    /// Choose the database and the user in the address of the `redis::Client`. A
    /// `ConnectionManager` forgets a `SELECT` or `AUTH` that was sent on it when it reconnects, and
    /// the locks would then be in another database.
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
}
