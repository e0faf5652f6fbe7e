//! From an address or a connection to a client.

use alloc::sync::Arc;
use core::{fmt, time::Duration};

use fencepost_core::{ConfigError, lowered::Hub, positive, url::Address};

use super::{Client, Place};
use crate::{
    Error,
    drivers::memory,
    hub::{
        engine::Engine,
        machines::{Driven, Driver, Keep},
        settings::micros,
    },
};

/// How long the first connection may take by default.
const CONNECT_WITHIN: Duration = Duration::from_secs(5);

/// Options for a [`Client`].
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), fencepost::Error> {
/// use core::time::Duration;
///
/// let client = fencepost::Client::builder()
///     .connect_within(Duration::from_secs(1))
///     .connect("memory:")
///     .await?;
/// # client.close().await }
/// ```
#[derive(Clone)]
#[must_use]
pub struct Builder {
    connect_within: Duration,
    #[cfg(feature = "zookeeper")]
    acl: Vec<zookeeper_client::Acl>,
    #[cfg(feature = "zookeeper")]
    auth: Vec<(String, Vec<u8>)>,
    #[cfg(feature = "zookeeper")]
    prefix: String,
    #[cfg(feature = "redis")]
    subscribe_with: Option<redis::Client>,
}

/// Without credentials.
impl fmt::Debug for Builder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("Builder");
        shown.field("connect_within", &self.connect_within);
        #[cfg(feature = "zookeeper")]
        {
            let schemes: Vec<&str> = self.auth.iter().map(|(scheme, _)| scheme.as_str()).collect();
            shown
                .field("acl", &self.acl.len())
                .field("auth", &schemes)
                .field("prefix", &self.prefix);
        }
        #[cfg(feature = "redis")]
        shown.field("subscribe_with", &self.subscribe_with.is_some());
        shown.finish_non_exhaustive()
    }
}

impl Default for Builder {
    fn default() -> Self {
        Self {
            connect_within: CONNECT_WITHIN,
            #[cfg(feature = "zookeeper")]
            acl: crate::drivers::zookeeper::open_acl(),
            #[cfg(feature = "zookeeper")]
            auth: Vec::new(),
            #[cfg(feature = "zookeeper")]
            prefix: String::new(),
            #[cfg(feature = "redis")]
            subscribe_with: None,
        }
    }
}

impl Builder {
    /// How long the first connection may take (5 s). Later ones are made in the background, and count towards the patience of the
    /// acquires that wait for them.
    pub const fn connect_within(mut self, limit: Duration) -> Self {
        self.connect_within = limit;
        self
    }

    /// The ACL of the nodes that locks create on ZooKeeper: everything for everybody by default. All contenders for a lock have to
    /// be allowed to create and read.
    #[cfg(feature = "zookeeper")]
    pub fn acl(mut self, acl: impl Into<Vec<zookeeper_client::Acl>>) -> Self {
        self.acl = acl.into();
        self
    }

    /// Credentials for ZooKeeper, such as `("digest", b"user:password")`. May be given several times.
    #[cfg(feature = "zookeeper")]
    pub fn auth(mut self, scheme: &str, credentials: &[u8]) -> Self {
        self.auth.push((scheme.into(), credentials.into()));
        self
    }

    /// Where the locks lie on a ZooKeeper connection of your own: the root by default. In an address it is the path.
    #[cfg(feature = "zookeeper")]
    pub fn prefix(mut self, prefix: &str) -> Self {
        self.prefix = prefix.into();
        self
    }

    /// What to subscribe with, for a client on a Redis connection of your own.
    #[cfg(feature = "redis")]
    pub fn subscribe_with(mut self, client: redis::Client) -> Self {
        self.subscribe_with = Some(client);
        self
    }

    /// Connects to the server at `url`.
    ///
    /// # Errors
    /// As [`connect`](crate::connect).
    pub async fn connect(self, url: &str) -> Result<Client, Error> {
        let client = self.connect_lazily(url)?;
        client.0.engine.ready(client.0.connect_within).await?;
        Ok(client)
    }

    /// A client for the server at `url` that connects in the background: what is left of that counts towards the patience of the first
    /// acquires, which fail with [`Refusal::Unreachable`](crate::Refusal::Unreachable) if it takes too long.
    ///
    /// # Errors
    /// [`Error::Config`] for an address that makes no sense; [`Error::NoRuntime`] outside of a tokio runtime.
    pub fn connect_lazily(self, url: &str) -> Result<Client, Error> {
        positive(
            "connect_within",
            micros(self.connect_within),
            ": connecting takes its time",
        )?;
        match Address::parse(url)? {
            Address::Memory { name } => {
                let (engine, keep) = memory::open(&name);
                let place = Place::ZooKeeper {
                    prefix: String::new(),
                };
                Client::start(engine, keep, place, self.connect_within)
            }
            #[cfg(feature = "zookeeper")]
            Address::ZooKeeper {
                hosts,
                prefix,
                session_timeout,
            } => {
                use crate::drivers::zookeeper::{Driver, Source};
                let source = Source::Hosts {
                    hosts,
                    session_timeout,
                    auth: self.auth,
                };
                let driver = Arc::new(Driver::new(source, self.acl));
                driven(driver, Place::ZooKeeper { prefix }, self.connect_within)
            }
            #[cfg(feature = "redis")]
            Address::Redis(server) => {
                let driver = crate::drivers::redis::Driver::own(&server)?;
                driven(Arc::new(driver), Place::Redis, self.connect_within)
            }
            other => Err(ConfigError::InvalidUrl {
                url: other.shown(),
                why: "this build has no driver for it: turn on the feature zookeeper or redis".into(),
            }
            .into()),
        }
    }

    /// As [`Client::from_zookeeper`].
    ///
    /// # Errors
    /// [`Error::NoRuntime`] outside of a tokio runtime.
    #[cfg(feature = "zookeeper")]
    pub fn from_zookeeper(self, client: zookeeper_client::Client) -> Result<Client, Error> {
        use crate::drivers::zookeeper::{Driver, Source};
        let driver = Arc::new(Driver::new(Source::Given(client), self.acl));
        let place = Place::ZooKeeper { prefix: self.prefix };
        driven(driver, place, self.connect_within)
    }

    /// As [`Client::from_redis`].
    ///
    /// # Errors
    /// [`Error::NoRuntime`] outside of a tokio runtime.
    #[cfg(feature = "redis")]
    pub fn from_redis<C>(self, connection: C) -> Result<Client, Error>
    where
        C: redis::aio::ConnectionLike + Clone + Send + Sync + 'static,
    {
        let driver = crate::drivers::redis::Driver::given(connection, self.subscribe_with);
        driven(Arc::new(driver), Place::Redis, self.connect_within)
    }
}

/// A client on a hub and a driver.
fn driven<D: Driver + Keep + 'static>(
    driver: Arc<D>,
    place: Place,
    connect_within: Duration,
) -> Result<Client, Error> {
    let family = match place {
        Place::ZooKeeper { .. } => "zookeeper",
        #[cfg(feature = "redis")]
        Place::Redis => "redis",
    };
    let seed = crate::drivers::seed();
    let hub = Hub::new(family, seed)?;
    let commands: Arc<dyn Driver> = Arc::clone(&driver) as Arc<dyn Driver>;
    let engine = Engine::new(seed, |_| Box::new(Driven::new(hub, commands)));
    Client::start(engine, driver, place, connect_within)
}
