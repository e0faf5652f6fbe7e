//! Where contenders' nodes lie.

use fencepost_core::AttemptId;

use crate::{backend::Owner, step::Number};

use super::{DIRECTORY, Servers};

/// Where contenders' nodes lie, those of holders first: a semaphore keeps its permits and its queue below the directory (or beside it, as Kazoo
/// does), and of many locks there is another one.
pub(super) const DIRECTORIES: [&str; 6] = [
    "/shop/stock/leases",
    DIRECTORY,
    "/shop/stock/locks",
    "/shop/stock-__lock__",
    "/shop/till",
    RECORD,
];

/// The record of an operation, below which the leases of claims lie.
pub const RECORD: &str = "/shop/fencepost/stock/d8/stock";

/// The queues of contenders that will hold by another node.
pub(super) const QUEUES: [&str; 2] = [DIRECTORIES[2], DIRECTORIES[3]];

/// What is no contender there.
pub(super) const HALVES: [&str; 2] = ["leases", "locks"];

impl Servers {
    /// What an attempt of a client's has on the leader: in which directory, and with which data.
    pub(super) fn own(&self, client: Number, attempt: &AttemptId) -> impl Iterator<Item = (&str, &[u8])> {
        // Asked at nearly every step: names are written only for a client that has a node.
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

/// Where a node lies.
pub(super) fn directory_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(directory, _)| directory)
}
