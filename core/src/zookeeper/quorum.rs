//! A request that only a leader with a quorum can answer. [`proof`](super::session_lease) explains this by ZooKeeper's
//! sources.

use alloc::{string::String, vec::Vec};

use super::wire::{Answer, Request, Write, code};

/// A transaction with one check, of the root. The server proposes it like every write, so a deposed leader never
/// answers it.
pub(super) fn check() -> Request {
    let path = String::from("/");
    let writes = Vec::from([Write::Check { path, version: None }]);
    Request::Multi { writes }
}

/// Whether a quorum has acknowledged the check. A client gets an error if it may not read the root, or if its root does
/// not exist. The server proposes that error, too. The check creates no nodes, so a reply with names belongs to another
/// transaction.
pub(super) const fn is_acknowledged(answer: &Answer) -> bool {
    match answer {
        Answer::Children(names) => names.is_empty(),
        Answer::Error(error) => matches!(*error, code::NO_NODE | code::NO_AUTH),
        Answer::Done | Answer::Created { .. } | Answer::Data { .. } => false,
    }
}
