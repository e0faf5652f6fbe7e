//! The small lock of a single node: the client that creates it holds the lock, and its data contains that
//! client's name.

use fencepost_core::{
    Instant, Refusal,
    zookeeper::{Answer, CreateMode, Request, code},
};

use super::{Defect, PAUSE, Phase, Role, Small, What};

/// The node.
const NODE: &str = "/shop/stock/single";

impl Small {
    pub(super) fn create_single(&mut self) {
        let (path, data) = (NODE.into(), self.attempt.to_string().into_bytes());
        let mode = CreateMode::Ephemeral;
        self.send(What::Create, Request::Create { path, data, mode });
    }

    /// Reads the node, and waits for its deletion if it is another client's.
    pub(super) fn look(&mut self) {
        self.send(What::Barrier, Request::Sync { path: NODE.into() });
        let (path, watch) = (NODE.into(), true);
        self.watched = Some(self.send(What::Look, Request::Get { path, watch }));
    }

    pub(super) fn looked(&mut self, now: Instant, answer: &Answer) {
        let mine = match answer {
            Answer::Data { data, stat } => {
                let mine = *data == self.attempt.to_string().into_bytes() && !self.has(Defect::NeverMine);
                mine.then_some(stat.czxid)
            }
            Answer::Error(code::NO_NODE) => None,
            _ => return self.retry = Some(now.plus(PAUSE)),
        };
        let there = matches!(answer, Answer::Data { .. });
        self.in_doubt = false;
        self.node = mine.map(|czxid| ("single".into(), czxid));
        match self.phase {
            Phase::Leaves { .. } => self.go_on(),
            Phase::Wants if mine.is_some() => self.first(now),
            Phase::Wants if there && self.nonblocking => self.refuse(Refusal::NotAvailable),
            Phase::Wants if there => {
                self.was_queued = true;
                self.look_later(now);
            }
            Phase::Wants => self.enter(),
            Phase::Idle | Phase::First | Phase::Holds => {}
        }
    }

    /// The connection has broken: the server may have executed the pending requests.
    pub(super) fn interrupted(&mut self) {
        let deletes = self.role == Role::Single && !self.has(Defect::DeleteAgain);
        self.in_doubt |= self.waits_for(What::Create) && !self.has(Defect::NeverMine)
            || deletes && self.waits_for(What::Delete);
    }
}
