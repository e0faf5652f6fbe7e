//! Replaces TLS in a build without it.

use redis::RedisError;
use tokio::net::TcpStream;

/// The settings of TLS: there are none.
#[derive(Clone)]
pub(super) enum Tls {}

impl Tls {
    pub(super) fn new(_host: &str, _ca: Option<&str>) -> Result<Self, String> {
        Err("TLS is not built in: turn on the feature redis-tls, or connect with the redis crate's own TLS and use Client::from_redis".into())
    }

    #[expect(clippy::unused_async, reason = "in place of the one that shakes hands")]
    pub(super) async fn wrap(&self, _stream: TcpStream) -> Result<TcpStream, RedisError> {
        match *self {}
    }
}
