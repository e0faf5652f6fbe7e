//! The server of an address, and how connections to it are made.

use fencepost_core::ConfigError;
use futures_util::{FutureExt, future::BoxFuture};
use redis::{
    AsyncConnectionConfig, Client, ConnectionAddr, RedisConnectionInfo, RedisError,
    aio::{MultiplexedConnection, PubSub},
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
};

use super::tls::Tls;

/// A connection, and what has to be polled for it until it ends.
pub(super) type Made = (MultiplexedConnection, BoxFuture<'static, ()>);

/// Where, as whom, and whether by TLS.
#[derive(Clone)]
pub(super) struct Server {
    host: String,
    port: u16,
    settings: RedisConnectionInfo,
    tls: Option<Tls>,
}

impl Server {
    /// The server of an address that the core has read. `ca` is the file of the certificates that the server's own is checked against,
    /// instead of the system's.
    pub(super) fn new(url: &str, ca: Option<&str>) -> Result<Self, ConfigError> {
        let invalid = |why: String| ConfigError::InvalidUrl {
            // The password stays out of it.
            url: url.rsplit_once('@').map_or(url, |(_, place)| place).into(),
            why,
        };
        // The library reads the rest: the connections are ours, and so is their TLS.
        let (plain, secure) = match url.strip_prefix("rediss:") {
            Some(rest) => (format!("redis:{rest}"), true),
            None => (url.into(), false),
        };
        let client = Client::open(plain).map_err(|error| invalid(error.to_string()))?;
        let info = client.get_connection_info();
        let ConnectionAddr::Tcp(host, port) = info.addr() else {
            return Err(invalid("write redis://HOST:PORT".into()));
        };
        let tls = secure.then(|| Tls::new(host, ca)).transpose().map_err(invalid)?;
        Ok(Self {
            host: host.clone(),
            port: *port,
            settings: info.redis_settings().clone(),
            tls,
        })
    }

    /// A connection for commands.
    pub(super) async fn connect(&self) -> Result<Made, RedisError> {
        let stream = self.dial().await?;
        match &self.tls {
            Some(tls) => self.commands(tls.wrap(stream).await?).await,
            None => self.commands(stream).await,
        }
    }

    /// A connection for subscriptions.
    pub(super) async fn subscribe(&self) -> Result<PubSub, RedisError> {
        let stream = self.dial().await?;
        match &self.tls {
            Some(tls) => PubSub::new(&self.settings, tls.wrap(stream).await?).await,
            None => PubSub::new(&self.settings, stream).await,
        }
    }

    async fn dial(&self) -> Result<TcpStream, RedisError> {
        let stream = TcpStream::connect((self.host.as_str(), self.port)).await?;
        stream.set_nodelay(true)?;
        Ok(stream)
    }

    /// Without the library's own time limit: the machines have theirs, and a late answer still counts.
    async fn commands<S>(&self, stream: S) -> Result<Made, RedisError>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let config = AsyncConnectionConfig::new().set_response_timeout(None);
        let (connection, driver) =
            MultiplexedConnection::new_with_config(&self.settings, stream, config).await?;
        Ok((connection, driver.boxed()))
    }
}
