//! The small lock's confirmation of its session: by three probes, like the core's session lease. It is slower
//! after a reconnect, and sends each probe through a quorum.

use fencepost_core::{
    Instant, lease,
    zookeeper::{Answer, Request, Write, code},
};

use crate::zookeeper::TIMEOUT;

use super::{Defect, Small};

/// The first probe: an answered confirmation that is not proved yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct FirstProbe {
    start: Instant,
    answered: Instant,
    /// Whether the second probe was answered. The next answer is that of the confirming probe.
    second_answered: bool,
}

/// The time by which the leader has pinged a follower that received something at `received`.
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

    /// Whether the answer to a confirmation shows that the server has asked a quorum.
    pub(super) fn confirms(&self, answer: &Answer) -> bool {
        match answer {
            Answer::Done => self.has(Defect::SyncProves),
            Answer::Children(_) | Answer::Error(code::NO_NODE) => true,
            _ => false,
        }
    }

    /// Whether a grant has ended by the holder's clock.
    pub(super) fn is_over(&self, now: Instant) -> bool {
        self.valid_until().is_none_or(|until| until <= now)
    }

    pub(super) fn valid_until(&self) -> Option<Instant> {
        Some(lease::valid_until(self.proved?, TIMEOUT, lease::DEFAULT_MARGIN))
    }

    pub(super) fn confirmed(&mut self, now: Instant, start: Instant) {
        let fresh = FirstProbe {
            start,
            answered: now,
            second_answered: false,
        };
        match self.first_probe {
            None => self.first_probe = Some(fresh),
            Some(earlier) if earlier.second_answered || self.has(Defect::OneBreath) => {
                self.proved = Some(earlier.start);
                self.first_probe = Some(fresh);
            }
            Some(earlier) if reported_by(earlier.answered) <= start => {
                self.first_probe = Some(FirstProbe {
                    second_answered: true,
                    ..earlier
                });
                self.confirm_at = None;
                return self.confirm(now);
            }
            Some(_) => {}
        }
        let unproved = self.is_over(now);
        self.confirm_at = Some(match self.first_probe {
            Some(_) if unproved && self.has(Defect::OneBreath) => now,
            Some(first_probe) if unproved => reported_by(first_probe.answered),
            _ => lease::renew_at(start, TIMEOUT),
        });
    }
}
