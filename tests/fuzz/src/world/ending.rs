//! How a story ends: in any state, the hub must free everything.

use core::time::Duration;

use fencepost_core::{Failure, Instant, Intent, lowered::Outcome, zookeeper::SessionState};

use super::{World, bound};
use crate::{
    contender::Account,
    step::{NewSession, Step},
};

/// The longest debug form of a hub without machines, which shows that it keeps no trace of them. On
/// ZooKeeper, it still has the state of the session's confirmations.
const FORGOTTEN: usize = 1000;
const FORGOTTEN_WITH_A_SESSION: usize = 1400;
/// The most rounds of answers that a shutdown needs.
const ROUNDS: usize = 200;
/// How a story ends.
#[derive(Clone, Copy, Debug)]
pub(super) enum Ending {
    /// A shutdown, after which a server answers every command.
    Served,
    /// A shutdown after the connection was closed permanently.
    Closed,
    /// Everything is cancelled or released first, so the shutdown needs no commands.
    AtRest,
}

impl World {
    /// The end: in any state, the hub must free everything.
    pub(super) fn end(&mut self, ending: Ending) {
        if self.aloud {
            println!("{ending:?}");
        }
        self.input = ("the end", "");
        self.drain();
        if matches!(ending, Ending::AtRest) {
            self.come_to_rest();
        }
        self.shut_down();
        self.serve(matches!(ending, Ending::Closed), |world| world.hub.pending() == 0);
        // Shared state lingers for a while.
        self.serve(false, |world| {
            let most = if world.is_zookeeper() {
                FORGOTTEN_WITH_A_SESSION
            } else {
                FORGOTTEN
            };
            format!("{:?}", world.hub).len() < most
        });
    }

    fn come_to_rest(&mut self) {
        for key in self.contenders.keys().copied().collect::<Vec<_>>() {
            for intent in [Intent::Leave, Intent::Release, Intent::Cancel] {
                let accepted = self
                    .hub
                    .intent(Instant::from_micros(self.now), key, intent.clone());
                if accepted.is_ok() {
                    self.contenders
                        .entry(key)
                        .and_modify(|contender| contender.accepted(&intent));
                }
                self.budget += bound(self.hub.pending() + 1, self.depth, self.directory.ever.len());
                self.drain();
            }
        }
        let quiet = |world: &Self| world.contenders.values().all(Account::is_at_rest);
        self.serve(false, quiet);
    }

    /// A server, or the end of the connection, answers every command until the condition holds.
    fn serve(&mut self, closed: bool, well: impl Fn(&Self) -> bool) {
        for _ in 0..ROUNDS {
            self.budget += 2 * bound(self.hub.pending() + 1, self.depth, self.directory.ever.len());
            self.drain();
            if well(self) {
                return;
            }
            if self.is_zookeeper() {
                let state = if closed {
                    SessionState::Closed
                } else {
                    SessionState::Connected
                };
                self.take_quietly(Step::Session(state, NewSession::Same, Duration::from_secs(9)));
            }
            while let Some(at) = self.open.first().copied() {
                if closed {
                    let _verdict = self.settle(at, Outcome::Failed(Failure::Closed));
                } else {
                    let _verdict = self.answer(at, 0);
                }
                self.budget += bound(self.hub.pending() + 1, self.depth, self.directory.ever.len());
                self.drain();
            }
            self.take_quietly(Step::UntilWait);
        }
        panic!(
            "{} machines are left: {:?} {:?}",
            self.hub.pending(),
            self.contenders,
            self.hub
        );
    }

    fn take_quietly(&mut self, step: Step) {
        self.hold = 0;
        self.take(step);
    }
}
