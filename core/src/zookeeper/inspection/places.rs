//! Reads the contenders in the lists of a lock's directories, and finds which of them hold the lock.

use alloc::{string::String, vec::Vec};

use crate::{Found, SessionId};

use crate::zookeeper::{
    layout::{Child, Role},
    path,
    settings::InspectionSettings,
    wire::Stat,
};

/// A contender in a list.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Contender {
    pub(super) path: String,
    pub(super) shared: bool,
    pub(super) holds: Holds,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Holds {
    Yes,
    No,
    /// No. The contender is the first in a semaphore's wait queue, and may already have created its permit's node.
    Next,
    /// Yes, if the contender is among the oldest ones, up to this number.
    Among(u32),
}

impl InspectionSettings {
    /// The contenders in a list of one of the lock's directories.
    pub(super) fn places(&self, directory: &str, names: &[String]) -> Vec<Contender> {
        let permits = match self.of {
            Role::Permit { permits } if self.permits_lie_in(directory) => Some(permits),
            _ => None,
        };
        let contenders = || {
            names.iter().filter_map(|name| match self.layout.read(name) {
                Child::Contender(contender) => Some((contender, name)),
                Child::Unrelated => None,
            })
        };
        let first = |shares: bool| {
            let some = contenders().filter(|(contender, _)| shares || !contender.shared);
            some.map(|(contender, name)| (contender.sequence, name)).min()
        };
        let (first, first_alone) = (first(true), first(false));
        let place = |name: &String| {
            let (holds, shared) = match (permits, self.layout.read(name)) {
                (Some(permits), _) => (Holds::Among(permits), false),
                (None, Child::Unrelated) => return None,
                (None, Child::Contender(contender)) => {
                    let place = Some((contender.sequence, name));
                    // A contender that shares the lock waits for earlier contenders that do not share it. All others
                    // wait for every earlier contender (as in `wait_queue`).
                    let before_all_alone = first_alone.is_none() || place < first_alone;
                    let leads = place == first || contender.shared && before_all_alone;
                    let in_a_queue = matches!(self.of, Role::Permit { .. });
                    let holds = match (leads, in_a_queue) {
                        (true, false) => Holds::Yes,
                        (true, true) => Holds::Next,
                        (false, _) => Holds::No,
                    };
                    (holds, contender.shared)
                }
            };
            Some(Contender {
                path: path::child_of(directory, name),
                shared,
                holds,
            })
        };
        names.iter().filter_map(place).collect()
    }

    pub(super) fn is_shared(&self, name: &str) -> bool {
        matches!(self.layout.read(name), Child::Contender(contender) if contender.shared)
    }

    /// The description of a contender whose node has been read.
    pub(super) fn describe(&self, contender: &Contender, data: &[u8], stat: Stat) -> Found {
        Found {
            node: contender.path.clone(),
            holds: contender.holds == Holds::Yes,
            shared: contender.shared,
            session: Some(SessionId(stat.ephemeral_owner)),
            since: Some(stat.created),
            expires_in: None,
            fence: stat.fence(),
            identifier: String::from_utf8_lossy(self.layout.identifier(data)).into_owned(),
        }
    }
}
