//! A second look at what is watched, now and then.
//!
//! A watch is a promise with an exception: a server keeps its event from whoever may not read the node any more, and says nothing of rights that are taken
//! away; and a client library can lose one. Nobody is to wait, or to believe in a grant, for ever for that. A look sets no watch: client libraries
//! would keep one for each until something happens.

use core::time::Duration;

use crate::{CommandId, Failure, Instant, Timer};

use super::super::{
    Verdict, judge, path,
    wire::{Answer, Request, WatchEvent, code},
};
use super::{
    Contender, Phase, Purpose,
    queued::{Obstacle, Queued},
};

/// A second look comes after about so many of the session's timeouts: rarely enough to be no traffic beside its pings and confirmations.
const TIMEOUTS: u32 = 3;

/// And after about so long at least, whatever a session's timeout is said to be.
const LEAST: Duration = Duration::from_secs(1);

impl Contender {
    /// The next look.
    pub(super) fn look_later(&mut self, now: Instant) {
        let about = self.session.timeout.saturating_mul(TIMEOUTS).max(LEAST);
        let wait = self.jitter.spread(about);
        self.out.set_after(Timer::Poll, now, wait);
    }

    /// Looks at the own node, and at what is in the way.
    pub(super) fn look_again(&mut self, now: Instant) {
        if !matches!(self.phase, Phase::Queued(_) | Phase::Held { .. }) {
            return;
        }
        self.look_later(now);
        // A lost connection has everything read again.
        if !self.session.connected {
            return;
        }
        let watch = false;
        if let (Some(node), Some(_)) = (&self.node, self.own_watch) {
            let path = path::child_of(&self.settings.directory, &node.name);
            self.send(Purpose::LookOwn, Request::Get { path, watch });
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
            Obstacle::Contender(behind) => path::child_of(&self.settings.directory, &behind.neighbour),
            Obstacle::Permits(_) | Obstacle::Holder(_) => self.settings.lock_path(),
        };
        if counts {
            self.send(Purpose::CountAgain, Request::Children { path, watch });
        } else {
            self.send(Purpose::LookAgain, Request::Get { path, watch });
        }
    }

    /// What the second look has shown. If it is news, the watch has not told it.
    pub(super) fn looked_again(&mut self, now: Instant, id: CommandId, result: &Result<Answer, Failure>) {
        let Phase::Queued(queued) = &self.phase else {
            return;
        };
        // A watch that was set after the look was asked for knows better: it may be another neighbour's.
        let Some(watch) = queued.watch.filter(|watch| *watch < id) else {
            return;
        };
        match result {
            Ok(Answer::Children(permits)) => self.find_place(now, watch, permits),
            // Another one holds now: our watch has gone with the one before.
            Ok(Answer::Data { stat, .. }) if queued.is_behind_another(stat.czxid) => self.list_again(false),
            Ok(Answer::Error(code::NO_NODE)) => self.watch_fired(now, watch, WatchEvent::Deleted),
            Ok(Answer::Error(error)) => {
                if let Verdict::Final(reason, cause) = judge(*error, id, "looking at the lock") {
                    self.refuse(now, reason, cause);
                }
            }
            // Somebody is in the way; or the next look tells.
            Ok(_) | Err(_) => {}
        }
    }
}
