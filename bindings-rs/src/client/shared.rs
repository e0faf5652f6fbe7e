//! The state that the clones of a client share, with its locks and grants.

use alloc::sync::Arc;
use core::time::Duration;

use fencepost_core::{
    AcquireTimeout, RawSettings,
    options::{Kind, Server},
};

use super::close::Closing;
use crate::{Error, Shown, clock, drivers::memory, engine::Engine};

/// How long a try waits for the server's first reply.
const TRY_WITHIN: Duration = Duration::from_secs(5);

/// The shared state.
pub(super) struct Shared {
    pub(super) engine: Arc<Engine>,
    pub(super) place: Place,
    pub(super) connect_timeout: Duration,
    pub(super) closing: Closing,
}

/// The place of a client's locks.
#[derive(Clone, Debug)]
pub(super) enum Place {
    /// In ZooKeeper's tree, below a prefix.
    #[cfg_attr(
        not(feature = "zookeeper"),
        expect(dead_code, reason = "this build has no driver for it")
    )]
    ZooKeeper { prefix: String },
    /// On a server inside the process, which accepts the options of both.
    Memory(Arc<memory::Driver>),
    /// In Redis.
    #[cfg(feature = "redis")]
    Redis,
}

impl Place {
    /// The settings of a lock of this kind, without its name and options.
    pub(super) fn settings(&self, kind: Kind) -> RawSettings {
        match self {
            Self::ZooKeeper { prefix } => {
                RawSettings::on(Server::ZooKeeper, kind).with("prefix", prefix.as_str())
            }
            Self::Memory(_) => RawSettings::on(Server::Memory, kind),
            #[cfg(feature = "redis")]
            Self::Redis => RawSettings::on(Server::Redis, kind),
        }
    }
}

impl Shared {
    /// Waits for a client's first connection. Returns the rest of the acquire timeout.
    pub(super) async fn when_connected(
        &self,
        shown: &Shown,
        acquire_timeout: AcquireTimeout,
    ) -> Result<AcquireTimeout, Error> {
        let engine = &self.engine;
        if engine.is_connected() {
            return Ok(acquire_timeout);
        }
        let start = clock::now();
        let most = self.connect_timeout;
        let limit = match acquire_timeout {
            AcquireTimeout::Forever => most,
            AcquireTimeout::Try => most.min(TRY_WITHIN),
            AcquireTimeout::For(limit) => most.min(limit),
        };
        let ready = engine.ready(limit).await;
        ready.map_err(|error| match error {
            Error::Refused(refused) => Error::Refused(refused.of(shown)),
            other => other,
        })?;
        Ok(match acquire_timeout {
            AcquireTimeout::For(limit) => {
                let left = limit.saturating_sub(clock::now().since(start));
                AcquireTimeout::For(left.max(Duration::from_micros(1)))
            }
            AcquireTimeout::Forever | AcquireTimeout::Try => acquire_timeout,
        })
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.engine.close_client_in_background();
    }
}
