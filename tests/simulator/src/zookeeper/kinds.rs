//! Whether a server answers a request alone, or needs its leader or a quorum.

use fencepost_core::zookeeper::{Request, Write};

use super::Ask;

/// Whether a server answers without the leader.
pub(super) const fn alone(ask: &Ask) -> bool {
    matches!(ask, Ask::Request(Request::Children { .. } | Request::Get { .. }))
}

pub(super) const fn is_sync(ask: &Ask) -> bool {
    matches!(ask, Ask::Request(Request::Sync { .. }))
}

/// Whether a request only checks for a quorum.
pub(super) fn is_check(ask: &Ask) -> bool {
    let Ask::Request(Request::Multi { writes }) = ask else {
        return false;
    };
    writes.iter().all(|write| matches!(write, Write::Check { .. }))
}
