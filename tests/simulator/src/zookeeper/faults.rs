//! The actions of servers as time passes, and their faults.

use core::time::Duration;

use fencepost_core::Instant;

use crate::{
    backend::{Aftermath, Owner},
    step::ServerFault,
};

use super::{DIRECTORY, LONGER, Servers};

/// How often followers report the active sessions to the leader.
const HALF_TICK: Duration = Duration::from_millis(200);

/// How long a follower may lag.
const LAG: Duration = Duration::from_millis(150);

/// The time until a follower notices that it is cut off.
const NOTICES: Duration = Duration::from_millis(700);

/// The time until a leader notices that it has lost its followers: by default five ticks. A session timeout
/// may be as short as two ticks.
const MISSES: Duration = Duration::from_millis(2200);

impl Servers {
    /// Servers send pings and reports, apply transactions, and notice lost connections. Sessions end.
    pub(super) fn time_passes(&mut self, now: Instant) {
        for number in 0..self.members.len() {
            let member = &mut self.members[number];
            // The first ping that is due reports everything since the last ping.
            let due = member.pinged.plus(HALF_TICK);
            while member.pinged.plus(HALF_TICK) <= now {
                member.pinged = member.pinged.plus(HALF_TICK);
                member.ping_waits = true;
            }
            match member.cut_off {
                Some(since) if self.server.is_deposed(number) => {
                    if since.plus(MISSES) <= now {
                        self.members[number].cut_off = None;
                        self.server.rejoin(number);
                    }
                }
                Some(since) if since.plus(NOTICES) <= now => {
                    self.server.disconnect_all(number);
                }
                Some(_) => {}
                None => {
                    self.server.take_report(now, number);
                    if core::mem::take(&mut member.ping_waits) {
                        self.server.report(number);
                        self.server.take_report(due.min(now), number);
                    }
                    if self.members[number].level.plus(LAG) <= now {
                        self.members[number].level = now;
                        self.server.catch_up(number, usize::MAX);
                    }
                }
            }
        }
        self.server.expire_due(now);
    }

    /// Applies a fault, if it is possible now.
    pub(super) fn apply_fault(&mut self, now: Instant, fault: ServerFault) -> Option<Aftermath> {
        match fault {
            ServerFault::Expire(nth) => {
                // An operator, or a leader whose clock was set, ends a session.
                let (_, owner) = self.contenders().into_iter().nth(nth.into())?;
                let Owner::Client(client) = owner else {
                    return None;
                };
                let session = self.session(client).id?;
                self.server.end_session(session);
                self.level();
                return Some(Aftermath { two_may_hold: true });
            }
            ServerFault::Operator(nth) => {
                let (path, _) = self.contenders().into_iter().nth(nth.into())?;
                let path = path.to_owned();
                self.server.delete(&path);
                self.operated = true;
                return Some(Aftermath { two_may_hold: true });
            }
            ServerFault::Forget => {
                self.server.reap_containers();
                // Operators also delete empty directories of locks. The numbers of the next directory start
                // again. (If operators also delete nodes, a contender in the layout `plain` can mistake
                // another one's node for its own.)
                if !self.operated {
                    self.server.delete(DIRECTORY);
                }
            }
            ServerFault::FailOver => {
                let next = (0..self.members.len()).find(|member| {
                    *member != self.server.leader() && self.members[*member].cut_off.is_none()
                });
                let next = next.unwrap_or(self.server.leader());
                self.server.change_leader(now, next);
            }
            ServerFault::Depose => {
                let old = self.server.leader();
                let next = (0..self.members.len())
                    .find(|member| *member != old && self.members[*member].cut_off.is_none())?;
                self.server.depose(now, next);
                if !self.server.is_deposed(old) {
                    return None;
                }
                self.members[old].cut_off = Some(now);
            }
            ServerFault::Restart => {
                let leader = self.server.leader();
                self.server.change_leader(now, leader);
            }
            ServerFault::Timeouts => {
                self.timeout = LONGER;
            }
            ServerFault::CatchUp(server) => {
                let member = self.member(server);
                self.server.catch_up(member, 1);
            }
            ServerFault::CutOff(server) => {
                let number = self.member(server);
                if self.members[number].cut_off.take().is_some() {
                    self.server.rejoin(number);
                } else if number != self.server.leader() {
                    self.members[number].cut_off = Some(now);
                    self.server.cut_off(number);
                } else {
                    return None;
                }
            }
            ServerFault::Throttle(_)
            | ServerFault::Full
            | ServerFault::NoDisk
            | ServerFault::FewReplicas
            | ServerFault::NoChannels
            | ServerFault::Older => return None,
        }
        Some(Aftermath::default())
    }
}
