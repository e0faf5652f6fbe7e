//! The directories of contenders' nodes.

use fencepost_core::AttemptId;

use crate::{backend::Owner, step::Number};

use super::{DIRECTORY, Servers};

/// The directories of contenders' nodes, those of holders first. A semaphore keeps its permits and its queue below the lock's directory (or beside
/// it, as Kazoo does). The second lock of a multi-lock has its own directory.
pub(super) const DIRECTORIES: [&str; 6] = [
    "/shop/stock/leases",
    DIRECTORY,
    "/shop/stock/locks",
    "/shop/stock-__lock__",
    "/shop/till",
    RECORD,
];

/// The record of an operation. The leases of claims are below it.
pub const RECORD: &str = "/shop/fencepost/stock/d8/stock";

/// The queues of contenders that later hold by another node.
pub(super) const QUEUES: [&str; 2] = [DIRECTORIES[2], DIRECTORIES[3]];

/// The children of these directories that are no contenders.
pub(super) const HALVES: [&str; 2] = ["leases", "locks"];

impl Servers {
    /// The nodes that an attempt of a client has on the leader: each with its directory and its data.
    pub(super) fn own(&self, client: Number, attempt: &AttemptId) -> impl Iterator<Item = (&str, &[u8])> {
        // This is called at nearly every step, so it formats names only for a client that has a node.
        let mut names = None;
        let owned = self.server.owned().map(|(path, data, session)| {
            let directory = directory_of(path);
            (directory, &path[directory.len()..], data, session)
        });
        let own = owned.filter(move |(directory, name, data, session)| {
            self.owner(*session) == Owner::Client(client) && DIRECTORIES.contains(directory) && {
                let (uuid, hex, written) =
                    names.get_or_insert_with(|| (attempt.uuid(), attempt.hex(), attempt.to_string()));
                *data == written.as_bytes()
                    || name.contains(&**written)
                    || name.contains(&**uuid)
                    || name.contains(&**hex)
            }
        });
        own.map(|(directory, _, data, _)| (directory, data))
    }
}

/// The directory of a node.
pub(super) fn directory_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(directory, _)| directory)
}
