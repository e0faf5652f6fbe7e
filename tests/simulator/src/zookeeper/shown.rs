//! Contenders on a server: the leader, or one that lags.

use fencepost_core::{SessionId, zookeeper::Stat};

use crate::{
    backend::Owner,
    checker::{Mode, Shown, turns},
    step::Number,
};

use super::{
    DIRECTORY, PERMITS, Servers,
    places::{DIRECTORIES, HALVES, RECORD, directory_of},
    words,
};

/// The parts of names that identify readers, in the layouts that have readers.
const READERS: [&str; 2] = ["__READ__", "__rlock__"];

/// A contender's node.
pub(super) struct Node<'a> {
    pub(super) path: &'a str,
    stat: Stat,
    session: Option<SessionId>,
    place: Place,
    /// Its number. A permit of Kazoo and a single node have none: for them, the number of their create
    /// counts.
    number: Option<i32>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Permits,
    Lock,
    /// The queue before a semaphore.
    Queue,
    /// Another lock.
    Other,
}

impl Servers {
    /// The contenders of each directory on a server, by their numbers.
    fn nodes_on(&self, member: usize) -> Vec<Node<'_>> {
        let nodes = self.server.nodes_on(member).filter_map(|(path, stat, session)| {
            let directory = directory_of(path);
            let known = DIRECTORIES.iter().position(|known| *known == directory)?;
            let name = path.get(directory.len() + 1..)?;
            if HALVES.contains(&name) {
                return None;
            }
            let unnumbered = directory == DIRECTORY && !path.contains('_') || directory == RECORD;
            let number = words::number(path).parse().ok().filter(|_: &i32| !unnumbered);
            let place = [
                Place::Permits,
                Place::Lock,
                Place::Queue,
                Place::Queue,
                Place::Other,
                Place::Lock,
            ][known];
            Some(Node {
                path,
                stat,
                session,
                place,
                number,
            })
        });
        let mut all: Vec<_> = nodes.collect();
        all.sort_by_key(|node| (node.place, node.number, node.stat.czxid));
        all
    }

    /// The same on the leader, with their owners.
    pub(super) fn contenders(&self) -> Vec<(&str, Owner)> {
        let all = self.nodes_on(self.server.leader()).into_iter();
        all.map(|node| {
            let owner = node.session.map_or(Owner::Ended, |session| self.owner(session));
            (node.path, owner)
        })
        .collect()
    }

    /// The contenders of the lock on a client's server.
    pub(super) fn shown_to(&self, client: Number) -> Vec<Shown> {
        let session = self.sessions[usize::from(client)].id;
        let Some(member) = session.and_then(|session| self.server.connected_to(session)) else {
            return Vec::new();
        };
        let all = self.nodes_on(member);
        let modes: Vec<Mode> = all.iter().map(Node::mode).collect();
        let permits = all.iter().filter(|node| node.is_permit()).count();
        // Permits come first, in the order of their creation.
        let in_turn = |at: usize| match all[at].place {
            Place::Queue | Place::Other => false,
            _ if all[at].is_permit() => at < PERMITS.into(),
            _ => turns(&modes[permits..=at]).last() == Some(true),
        };
        let shown = (0..).zip(&all).map(|(at, node)| Shown {
            node: node.path.into(),
            fence: node.fence(),
            session: Some(SessionId(node.stat.ephemeral_owner)),
            left: None,
            shared: node.mode() == Mode::Shared,
            holds: in_turn(at),
            permits: node.is_permit().then_some(PERMITS),
        });
        shown.collect()
    }
}

impl Node<'_> {
    fn is_permit(&self) -> bool {
        self.place == Place::Permits || self.place == Place::Lock && self.number.is_none()
    }

    fn mode(&self) -> Mode {
        if READERS.iter().any(|reader| self.path.contains(reader)) {
            Mode::Shared
        } else {
            Mode::Exclusive
        }
    }

    fn fence(&self) -> u64 {
        u64::try_from(self.stat.czxid).unwrap_or_default()
    }
}
