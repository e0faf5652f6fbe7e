//! Recheck: from time to time the client reads the watched nodes again.
//!
//! A client can miss the event of a watch. A server does not send the event to a client that has lost the right to read
//! the node, and it does not report the loss of rights. A client library can also lose a watch. Without a recheck, a
//! waiter could wait without end, and a holder could trust a lost grant. A recheck sets no watch, because client
//! libraries would store each such watch until its event arrives.

use core::time::Duration;

use crate::{CommandId, Failure, Instant, Timer};

use super::super::{
    Verdict, classify_error, path,
    wire::{Answer, Request, WatchEvent, code},
};
use super::{
    Contender, Phase, Purpose,
    queued::{Obstacle, Queued},
};

/// The time between two rechecks, in session timeouts (randomized). The session's pings and confirmations are far more
/// frequent.
const TIMEOUTS: u32 = 3;

/// The minimum of the time between two rechecks (before it is randomized), even if the session's timeout is shorter.
const LEAST: Duration = Duration::from_secs(1);

impl Contender {
    /// Schedules the next recheck.
    pub(super) fn recheck_later(&mut self, now: Instant) {
        let about = self.session.timeout.saturating_mul(TIMEOUTS).max(LEAST);
        let wait = self.jitter.spread(about);
        self.out.set_after(Timer::Poll, now, wait);
    }

    /// Reads the contender's node again, and the obstacle that blocks the contender.
    pub(super) fn recheck(&mut self, now: Instant) {
        if !matches!(self.phase, Phase::Queued(_) | Phase::Held(_)) {
            return;
        }
        self.recheck_later(now);
        // After a reconnect the client reads everything again.
        if !self.session.connected {
            return;
        }
        let watch = false;
        if let (Some(node), Some(_)) = (&self.own.node, self.own.watch) {
            let path = path::child_of(&self.settings.directory, &node.name);
            self.send(Purpose::RecheckOwn, Request::Get { path, watch });
        }
        let Phase::Queued(Queued {
            obstacle,
            watch: Some(_),
            ..
        }) = &self.phase
        else {
            return;
        };
        let counts = matches!(obstacle, Obstacle::Permits(_));
        let path = match obstacle {
            Obstacle::Contender(behind) => path::child_of(&self.settings.directory, &behind.predecessor),
            Obstacle::Permits(_) | Obstacle::Holder(_) => self.settings.lock_path(),
        };
        if counts {
            self.send(Purpose::RecheckPermits, Request::Children { path, watch });
        } else {
            self.send(Purpose::Recheck, Request::Get { path, watch });
        }
    }

    /// Handles the reply to a recheck. If it shows a change, the watch has not reported that change.
    pub(super) fn rechecked(&mut self, now: Instant, id: CommandId, result: &Result<Answer, Failure>) {
        let Phase::Queued(queued) = &self.phase else {
            return;
        };
        // A watch that the client set after it sent the recheck is more recent, and may be on another predecessor.
        let Some(watch) = queued.watch.filter(|watch| *watch < id) else {
            return;
        };
        match result {
            Ok(Answer::Children(permits)) => self.find_place(now, watch, permits),
            // Another contender holds the lock now. The watch was on the earlier holder's node and ended with that
            // node.
            Ok(Answer::Data { stat, .. }) if queued.is_behind_another(stat.czxid) => self.list_again(false),
            Ok(Answer::Error(code::NO_NODE)) => self.watch_fired(now, watch, WatchEvent::Deleted),
            Ok(Answer::Error(error)) => {
                if let Verdict::Final(reason, cause) = classify_error(*error, id, "looking at the lock") {
                    self.refuse(now, reason, cause);
                }
            }
            // The obstacle still exists, or the next recheck will show whether it does.
            Ok(_) | Err(_) => {}
        }
    }
}
