//! The end of the small lock, by a cancel, a loss or a release: it searches for every node of the attempt,
//! and deletes it.

use fencepost_core::{Cause, Event, Loss, Refusal, zookeeper::Request};

use super::{Defect, Phase, Small, What};

impl Small {
    pub(super) fn refuse(&mut self, reason: Refusal) {
        self.emit(Event::Refused {
            reason,
            cause: Cause::default(),
        });
        if self.has(Defect::LeakOnTimeout) && reason == Refusal::Timeout {
            self.pending.clear();
            self.node = None;
            self.in_doubt = false;
            return self.rest();
        }
        self.leave(false);
    }

    pub(super) fn lose(&mut self, reason: Loss) {
        self.emit(Event::Lost {
            reason,
            cause: Cause::default(),
        });
        self.leave(false);
    }

    pub(super) fn leave(&mut self, release: bool) {
        self.phase = Phase::Leaves { release };
        self.deadline = None;
        self.watched = None;
        self.in_doubt |= self.waits_for(What::Create);
        self.pending.clear();
        self.go_on();
    }

    /// Searches for every node of this attempt, and deletes it.
    pub(super) fn go_on(&mut self) {
        let Phase::Leaves { release } = self.phase else {
            return self.enter();
        };
        if !self.connected || !self.pending.is_empty() {
            return;
        }
        match &self.node {
            Some((name, _)) if !(self.in_doubt || release && self.has(Defect::DeleteFirst)) => {
                let path = format!("{}/{name}", self.directory);
                self.send(What::Delete, Request::Delete { path });
            }
            None if !self.in_doubt => self.gone(),
            _ => self.list(),
        }
    }

    /// Deletes the nodes of this attempt that a list has shown.
    pub(super) fn delete_listed(&mut self, names: &[String]) {
        let own = self.own();
        let first = self.has(Defect::DeleteFirst);
        let mut queue: Vec<&String> = names
            .iter()
            .filter(|name| first || name.starts_with(&own))
            .collect();
        queue.sort_unstable_by_key(|name| name.rsplit_once('-').map(|(_, number)| number.to_owned()));
        if first {
            queue.truncate(1);
        }
        self.in_doubt = false;
        if queue.is_empty() {
            return self.gone();
        }
        for name in queue {
            let path = format!("{}/{name}", self.directory);
            self.send(What::Delete, Request::Delete { path });
        }
    }

    pub(super) fn gone(&mut self) {
        if self.phase == (Phase::Leaves { release: true }) {
            self.emit(Event::Released);
        }
        self.node = None;
        self.rest();
    }

    pub(super) fn rest(&mut self) {
        self.phase = Phase::Idle;
        self.deadline = None;
        self.retry = None;
        self.in_doubt = false;
    }
}
