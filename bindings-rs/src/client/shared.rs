//! What the clones of a client share, with its locks and grants.

use alloc::sync::Arc;
use core::time::Duration;

use fencepost_core::{
    RawSettings,
    options::{Kind, Server},
};

use super::close::Closing;
use crate::engine::Engine;

/// What clones share.
pub(super) struct Shared {
    pub(super) engine: Arc<Engine>,
    pub(super) place: Place,
    pub(super) connect_timeout: Duration,
    pub(super) closing: Closing,
}

/// Where a client's locks lie.
#[derive(Clone, Debug)]
pub(super) enum Place {
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
    pub(super) fn settings(&self, kind: Kind) -> RawSettings {
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

impl Drop for Shared {
    fn drop(&mut self) {
        self.engine.close_client_in_background();
    }
}
