//! How it gives up, loses and releases: everything that an attempt has made is looked for and deleted.

use fencepost_core::{Cause, Event, Loss, Refusal, zookeeper::Request};

use super::{Defect, Phase, Small, What};

impl Small {
    pub(super) fn refuse(&mut self, reason: Refusal) {
        self.say(Event::Refused {
            reason,
            cause: Cause::default(),
        });
        if self.has(Defect::LeakOnTimeout) && reason == Refusal::Timeout {
            self.pending.clear();
            self.node = None;
            self.doubt = false;
            return self.rest();
        }
        self.leave(false);
    }

    pub(super) fn lose(&mut self, reason: Loss) {
        self.say(Event::Lost {
            reason,
            cause: Cause::default(),
        });
        self.leave(false);
    }

    pub(super) fn leave(&mut self, release: bool) {
        self.phase = Phase::Leaves { release };
        self.deadline = None;
        self.watched = None;
        self.doubt |= self.waits_for(What::Create);
        self.pending.clear();
        self.go_on();
    }

    /// Looks for everything that this attempt has made, and deletes it.
    pub(super) fn go_on(&mut self) {
        let Phase::Leaves { release } = self.phase else {
            return self.enter();
        };
        if !self.connected || !self.pending.is_empty() {
            return;
        }
        match &self.node {
            Some((name, _)) if !(self.doubt || release && self.has(Defect::DeleteFirst)) => {
                let path = format!("{}/{name}", self.directory);
                self.send(What::Delete, Request::Delete { path });
            }
            None if !self.doubt => self.gone(),
            _ => self.list(),
        }
    }

    pub(super) fn bury(&mut self, names: &[String]) {
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
        self.doubt = false;
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
            self.say(Event::Released);
        }
        self.node = None;
        self.rest();
    }

    pub(super) fn rest(&mut self) {
        self.phase = Phase::Idle;
        self.deadline = None;
        self.retry = None;
        self.doubt = false;
    }
}
