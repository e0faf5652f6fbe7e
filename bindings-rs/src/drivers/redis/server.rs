//! The server of an address, and how the driver connects to it.

use core::{
    net::{IpAddr, SocketAddr},
    time::Duration,
};
use std::{io, net::ToSocketAddrs as _};

use fencepost_core::{
    ConfigError,
    url::{Address, RedisAddress},
};
use futures_util::{FutureExt, future::BoxFuture};
use redis::{
    AsyncConnectionConfig, RedisConnectionInfo, RedisError,
    aio::{MultiplexedConnection, PubSub},
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
    sync::oneshot,
};

use super::tls::Tls;
use crate::engine::alarm::within;

/// How long one attempt to connect may take.
const CONNECT_WITHIN: Duration = Duration::from_secs(5);

/// A connection, and the future that drives it until its end.
pub(super) type Made = (MultiplexedConnection, BoxFuture<'static, ()>);

/// The address, the credentials, and whether to use TLS.
#[derive(Clone)]
pub(super) struct Server {
    host: String,
    port: u16,
    settings: RedisConnectionInfo,
    tls: Option<Tls>,
}

impl Server {
    /// The server of an address.
    pub(super) fn new(address: &RedisAddress) -> Result<Self, ConfigError> {
        let RedisAddress {
            host, credentials, ..
        } = address;
        let tls = || Tls::new(host, address.ca.as_deref());
        let tls = address.tls.then(tls).transpose();
        let tls = tls.map_err(|why| ConfigError::InvalidUrl {
            url: Address::Redis(address.clone()).shown(),
            why,
        })?;
        let mut settings = RedisConnectionInfo::default().set_db(address.database.into());
        if !credentials.is_empty() {
            settings = settings.set_password(&credentials.password);
        }
        if !credentials.user.is_empty() {
            settings = settings.set_username(&credentials.user);
        }
        Ok(Self {
            host: host.clone(),
            port: address.port,
            settings,
            tls,
        })
    }

    /// Makes a connection for commands.
    pub(super) async fn connect(&self) -> Result<Made, RedisError> {
        let stream = self.dial().await?;
        match &self.tls {
            Some(tls) => self.commands(tls.wrap(stream).await?).await,
            None => self.commands(stream).await,
        }
    }

    /// Makes a connection for subscriptions.
    pub(super) async fn subscribe(&self) -> Result<PubSub, RedisError> {
        let stream = self.dial().await?;
        match &self.tls {
            Some(tls) => PubSub::new(&self.settings, tls.wrap(stream).await?).await,
            None => PubSub::new(&self.settings, stream).await,
        }
    }

    async fn dial(&self) -> Result<TcpStream, RedisError> {
        let addresses = look_up(&self.host, self.port).await?;
        let stream = TcpStream::connect(addresses.as_slice()).await?;
        stream.set_nodelay(true)?;
        Ok(stream)
    }

    /// Without the library's own timeout: the machines have timers, and a late reply still counts.
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

/// The addresses of a host. tokio's own look-up of a name panics if no thread can be started.
async fn look_up(host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
    if let Ok(address) = host.parse::<IpAddr>() {
        return Ok(vec![(address, port).into()]);
    }
    let (found, addresses) = oneshot::channel();
    let name = host.to_owned();
    let work = move || {
        let all = (name.as_str(), port).to_socket_addrs();
        let _abandoned = found.send(all.map(Vec::from_iter));
    };
    std::thread::Builder::new()
        .name("fencepost-lookup".into())
        .spawn(work)?;
    addresses
        .await
        .unwrap_or_else(|_panicked| Err(io::Error::other("the look-up of the host's name has failed")))
}

/// Limits the time to connect.
pub(super) async fn limited<T>(
    connecting: impl Future<Output = Result<T, RedisError>>,
) -> Result<T, RedisError> {
    let timed_out = || Err(io::Error::from(io::ErrorKind::TimedOut).into());
    within(CONNECT_WITHIN, connecting).await.unwrap_or_else(timed_out)
}
