//! The worker's address.

use core::time::Duration;

use crate::Failed;

/// `zk://HOST:PORT?session_timeout=MS` or `redis://HOST:PORT`.
pub(crate) enum Address {
    /// A ZooKeeper server, and the session timeout to request.
    ZooKeeper { host: String, session_timeout: Duration },
    /// A Redis server.
    Redis,
}

impl Address {
    pub(crate) fn read(url: &str) -> Result<Self, Failed> {
        if url.starts_with("redis://") {
            return Ok(Self::Redis);
        }
        let rest = url
            .strip_prefix("zk://")
            .ok_or("zk://HOST:PORT?session_timeout=MS or redis://HOST:PORT")?;
        let (host, query) = rest.split_once('?').unwrap_or((rest, ""));
        let timeout = query.strip_prefix("session_timeout=").unwrap_or("10000");
        Ok(Self::ZooKeeper {
            host: host.into(),
            session_timeout: Duration::from_millis(timeout.parse()?),
        })
    }
}
