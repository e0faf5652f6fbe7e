//! How the small lock proves its session's time: by three confirmations, as the core's session lease does, without its haste after a reconnect and
//! without its thrift: each goes through a quorum.

use fencepost_core::{
    Instant, lease,
    zookeeper::{Answer, Request, Write, code},
};

use crate::zookeeper::TIMEOUT;

use super::{Defect, Small};

/// An answered confirmation, on its way to be a proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Candidate {
    start: Instant,
    answered: Instant,
    /// Whether its witness has been answered: the next answer is its seal.
    witnessed: bool,
}

/// When the leader must have pinged a follower that has received something by then.
fn reported_by(received: Instant) -> Instant {
    lease::ended_by(received, TIMEOUT / 4, lease::DEFAULT_MARGIN)
}

impl Small {
    pub(super) fn confirm(&mut self, now: Instant) {
        if self.connected && self.confirming.is_none() {
            let path = "/".into();
            let request = if self.has(Defect::SyncProves) {
                Request::Sync { path }
            } else {
                let writes = vec![Write::Check { path, version: None }];
                Request::Multi { writes }
            };
            let id = self.command(request.into());
            self.confirming = Some((id, now));
        }
    }

    /// Whether a confirmation was answered by a server that has asked the others.
    pub(super) fn confirms(&self, answer: &Answer) -> bool {
        match answer {
            Answer::Done => self.has(Defect::SyncProves),
            Answer::Children(_) | Answer::Error(code::NO_NODE) => true,
            _ => false,
        }
    }

    /// Whether a grant would have ended by its holder's clock.
    pub(super) fn is_over(&self, now: Instant) -> bool {
        self.valid_until().is_none_or(|until| until <= now)
    }

    pub(super) fn valid_until(&self) -> Option<Instant> {
        Some(lease::valid_until(self.proved?, TIMEOUT, lease::DEFAULT_MARGIN))
    }

    pub(super) fn confirmed(&mut self, now: Instant, start: Instant) {
        let fresh = Candidate {
            start,
            answered: now,
            witnessed: false,
        };
        match self.candidate {
            None => self.candidate = Some(fresh),
            Some(earlier) if earlier.witnessed || self.has(Defect::OneBreath) => {
                self.proved = Some(earlier.start);
                self.candidate = Some(fresh);
            }
            Some(earlier) if reported_by(earlier.answered) <= start => {
                self.candidate = Some(Candidate {
                    witnessed: true,
                    ..earlier
                });
                self.confirm_at = None;
                return self.confirm(now);
            }
            Some(_) => {}
        }
        let unproved = self.is_over(now);
        self.confirm_at = Some(match self.candidate {
            Some(_) if unproved && self.has(Defect::OneBreath) => now,
            Some(candidate) if unproved => reported_by(candidate.answered),
            _ => lease::renew_at(start, TIMEOUT),
        });
    }
}
