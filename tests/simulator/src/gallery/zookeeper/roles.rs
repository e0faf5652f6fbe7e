//! The kinds of the small lock: a mutex, a reader or a writer, a permit, or a single node; and the contender
//! that each waits for.

use fencepost_core::{
    Misuse,
    zookeeper::{Request, ZooKeeper},
};

use crate::{
    backend::Subject,
    checker::Mode,
    run::Machine,
    step::Number,
    subject::{Fencepost, owner},
    zookeeper::Servers,
};

use super::{Defect, Small, What};

/// The kind of a small lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// A contender in a queue; the mode determines which may hold at once. A mutex is a writer in a queue
    /// without readers.
    Queued(Mode),
    /// The client that has created the single node holds.
    Single,
}

/// A part of the name of a reader's node.
const READER: &str = "read-";

impl Role {
    pub(super) const fn mode(self) -> Mode {
        match self {
            Self::Queued(mode) => mode,
            Self::Single => Mode::Exclusive,
        }
    }

    pub(super) const fn node(self) -> &'static str {
        match self {
            Self::Queued(Mode::Shared) => READER,
            _ => "lock-",
        }
    }
}

/// A small lock as a client of that machine.
pub fn small(
    like: &Machine<Servers, Fencepost<ZooKeeper>>,
    client: Number,
    crashes: u8,
    seed: u64,
    defect: Option<Defect>,
) -> Small {
    let role = if like.profile.nameless {
        Role::Single
    } else {
        Role::Queued(Subject::<Servers>::mode(&(like.make)(client, crashes, seed)))
    };
    Small::new(owner(client, crashes), role, defect)
}

impl Small {
    /// The position in the queue of the contender that the one at `place` waits for; none if it may hold.
    pub(super) fn waits_behind(&self, queue: &[&String], place: usize) -> Option<usize> {
        let writer = |at: &usize| !queue[*at].contains(READER);
        let mut before = 0..place;
        match self.role.mode() {
            // No single node is the right one to watch, because the holders may leave in any order.
            Mode::Permit(most) => place.checked_sub(most.into()),
            Mode::Shared if self.has(Defect::FirstWriter) => before.find(writer),
            Mode::Shared if self.has(Defect::LaterWriters) => {
                let later = (place..queue.len()).find(writer);
                before.rev().find(writer).or(later)
            }
            Mode::Shared => before.rev().find(writer),
            Mode::Exclusive if self.has(Defect::WritersOnly) => before.rev().find(writer),
            Mode::Exclusive if self.has(Defect::WatchFirst) => before.next(),
            Mode::Exclusive => before.next_back(),
        }
    }

    /// Becomes a reader with a new number.
    pub(super) fn downgrade(&mut self) -> Result<(), Misuse> {
        if self.role != Role::Queued(Mode::Exclusive) || self.in_doubt {
            return Err(Misuse::NotAWriter);
        }
        // From now on there may be two nodes to clean up.
        self.in_doubt = true;
        self.create_in_queue(What::Reader, READER);
        Ok(())
    }

    pub(super) fn goes_on_as_reader(&mut self, path: &str, zxid: i64) {
        let name = path.rsplit_once('/').map_or(path, |(_, name)| name);
        if let Some((writer, _)) = self.node.replace((name.into(), zxid)) {
            let path = format!("{}/{writer}", self.directory);
            self.send(What::Delete, Request::Delete { path });
        }
    }
}
