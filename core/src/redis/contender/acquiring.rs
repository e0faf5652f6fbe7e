//! Acquiring: the machine sends an acquire, subscribes to the lock's channel, and sends the acquire again.

use alloc::{boxed::Box, vec::Vec};
use core::time::Duration;

use crate::{Cause, CommandId, Event, Failure, Fence, Grant, Instant, Refusal, Timer, claim::Record, lease};

use super::super::{
    ask::{Acquired, End},
    reply::{self, Trouble},
    settings::LeaseSettings,
    wire::{Reply, Request},
};
use super::{Contender, Leaving, Phase, Purpose, Running, Subscription};

impl Contender {
    pub(super) fn ask(&mut self, now: Instant) {
        self.go_to(Phase::Asking);
        self.acquire.hinted = false;
        self.out.stop(Timer::Poll);
        self.run(now, false);
    }

    pub(super) fn asked(&mut self, now: Instant, ran: Running, result: Result<&Reply, Failure>) -> bool {
        let answer = match result {
            Ok(reply) => self.subject.acquired(reply),
            Err(failure) => {
                self.ask_failed(now, ran.id, failure);
                return true;
            }
        };
        match answer {
            Ok(Acquired::Yes { fence, takeovers }) => self.granted(now, ran.start, fence, takeovers),
            Ok(Acquired::Held { left, foreign }) => self.held_by_another(now, left, foreign),
            Ok(Acquired::Replayed(record)) => self.replayed(record),
            Ok(Acquired::No(reason, detail)) => {
                let cause = Cause {
                    detail,
                    ..Cause::command(ran.id)
                };
                self.refuse(now, reason, cause);
            }
            Ok(Acquired::GivenUp) => self.refuse(now, Refusal::GivenUp, Cause::command(ran.id)),
            Err(Trouble::NoScript) => self.run(now, true),
            Err(Trouble::Transient(detail)) => {
                self.acquire.trouble = Cause::answer(ran.id, detail);
                self.retry_later(now);
            }
            // The script writes the key of the lock or the claim last, so it has not taken the lock or the claim.
            Err(Trouble::Unwritable(detail)) => {
                self.refuse(now, Refusal::ServerError, Cause::answer(ran.id, detail));
            }
            Err(Trouble::Final(reason, detail)) => self.refuse(now, reason, Cause::answer(ran.id, detail)),
            Err(Trouble::Shape) => {
                self.ask_failed(now, ran.id, Failure::Unknown);
                return false;
            }
        }
        true
    }

    fn ask_failed(&mut self, now: Instant, id: CommandId, failure: Failure) {
        self.acquire.trouble = Cause::command(id);
        match failure {
            Failure::NotSent => self.retry_later(now),
            Failure::Unknown => {
                self.acquire.in_doubt = true;
                self.retry_later(now);
            }
            Failure::Closed => self.refuse(now, Refusal::ConnectionClosed, Cause::command(id)),
        }
    }

    fn granted(&mut self, now: Instant, start: Instant, fence: u64, takeovers: u64) {
        let &LeaseSettings { ttl, margin, .. } = self.subject.lease();
        let valid_until = lease::valid_until(start, ttl, margin);
        if valid_until <= now.plus(lease::least_left(ttl)) {
            // The reply came so late that too little of the lease is left. The machine sends the acquire again: either
            // the attempt still holds the lock and gets a full lease, or it has lost the lock before the application
            // got a grant.
            self.acquire.in_doubt = true;
            return self.retry_later(now);
        }
        self.stop_listening();
        self.out.stop_all();
        self.go_to(Phase::Held);
        self.acquire.failures = 0;
        self.acquire.trouble = Cause::none();
        self.acquire.fence = Fence(fence);
        self.acquire.takeovers = takeovers;
        if let Some(most) = self.subject.max_hold() {
            self.out.set_after(Timer::MaxHold, now, most);
        }
        self.lease_runs(start, valid_until);
        let grant = Grant {
            attempt: self.attempt,
            fence: Some(Fence(fence)),
            takeovers,
            valid_until: Some(valid_until),
        };
        self.out.event(Event::Acquired { grant });
    }

    /// The operation has a result, so there is nothing to acquire. After this reply, earlier acquires of the attempt
    /// are no longer in doubt.
    pub(super) fn replayed(&mut self, record: Box<Record>) {
        self.out.event(Event::Replayed { record });
        self.rest();
    }

    fn held_by_another(&mut self, now: Instant, left: Option<Duration>, foreign: Option<Vec<u8>>) {
        self.acquire.failures = 0;
        self.acquire.held_until = left.map(|left| now.plus(left));
        if self.acquire.nonblocking {
            let reason = self.subject.held_by_another(true);
            return self.refuse(now, reason, self.retry_after(now));
        }
        if !core::mem::replace(&mut self.acquire.was_queued, true) {
            self.out.event(Event::Queued { ahead: None });
        }
        if core::mem::take(&mut self.acquire.hinted) {
            return self.ask(now);
        }
        self.go_to(Phase::Waiting);
        self.out.stop(Timer::Retry);
        if self.subscription == Subscription::No {
            let id = self.out.command(
                Request::Subscribe {
                    channel: self.subject.channel(),
                },
                None,
            );
            self.subscription = Subscription::Wanted(id);
        }
        // No message announces the end of the holder's lease or a release by a foreign holder.
        let poll = self.poll_after(now, foreign);
        let poll = self.jitter.spread(poll);
        let wait = left.map_or(poll, |left| {
            left.saturating_add(Duration::from_millis(1)).min(poll)
        });
        self.out.set_after(Timer::Poll, now, wait);
        if self.subscription == Subscription::Gone {
            self.poll_soon(now);
        }
    }

    /// The cause of a refusal while another contender holds the lock or the claim: how long that contender's lease
    /// still runs.
    pub(super) fn retry_after(&self, now: Instant) -> Cause {
        Cause {
            retry_after: self.acquire.held_until.map(|until| until.since(now)),
            ..Cause::none()
        }
    }

    /// How long a waiter waits before the next poll. A holder whose value does not have the form of an attempt is
    /// foreign, and announces no release. The waiter then waits for half of the time for which it has seen this holder.
    /// So it is not much later than other clients that poll. It polls at most [`EAGER`] times within a poll interval.
    fn poll_after(&mut self, now: Instant, foreign: Option<Vec<u8>>) -> Duration {
        let poll = self.subject.lease().poll;
        let Some(holder) = foreign else {
            self.acquire.foreign = None;
            return poll;
        };
        let since = match &self.acquire.foreign {
            Some((known, since)) if *known == holder => *since,
            _ => now,
        };
        self.acquire.foreign = Some((holder, since));
        let least = poll.checked_div(EAGER).unwrap_or_default();
        let half = now.since(since).checked_div(2).unwrap_or_default();
        half.clamp(least, poll)
    }

    /// Handles the outcome of the subscription.
    pub(super) fn subscribed(&mut self, now: Instant, id: CommandId, result: Result<&Reply, Failure>) {
        self.subscription = match result {
            Ok(Reply::Error(error)) if !matches!(reply::classify_error(error), Trouble::Transient(_)) => {
                Subscription::Refused
            }
            Ok(Reply::Error(_)) | Err(_) => Subscription::No,
            Ok(_) => {
                // The holder may have released the lock before the subscription became active.
                self.hint(now);
                Subscription::Live(id)
            }
        };
    }

    /// The lock may be free: sends an acquire now or, if one is in flight, after its reply.
    pub(super) fn hint(&mut self, now: Instant) {
        match self.phase {
            Phase::Waiting => self.ask(now),
            Phase::Asking => self.acquire.hinted = true,
            Phase::Idle | Phase::Held | Phase::Leaving(_) | Phase::Lapsed => {}
        }
    }

    /// The subscription has ended, and messages may be lost. The machine soon polls, and subscribes again. When the
    /// server has confirmed the subscription, the machine sends one more acquire.
    pub(super) fn subscription_gone(&mut self, now: Instant) {
        self.subscription = Subscription::Gone;
        if self.phase == Phase::Waiting {
            self.poll_soon(now);
        }
    }

    /// Polls after a delay that grows with each lost subscription. Without it, a waiter would flood a server that
    /// confirms each subscription and then closes its connection.
    fn poll_soon(&mut self, now: Instant) {
        let soon = now.plus(self.jitter.backoff(self.acquire.lost_subscriptions));
        self.acquire.lost_subscriptions = self.acquire.lost_subscriptions.saturating_add(1);
        let due = self.out.at(Timer::Poll).map_or(soon, |poll| poll.min(soon));
        self.out.set(Timer::Poll, due);
    }

    /// The poll is due.
    pub(super) fn poll(&mut self, now: Instant) {
        if self.subscription == Subscription::Gone {
            self.subscription = Subscription::No;
        }
        self.ask(now);
    }

    /// Whether the server may have executed an acquire of this attempt, or may still execute it.
    pub(super) fn in_doubt(&self) -> bool {
        self.acquire.in_doubt || !self.acquire.overdue.is_empty()
    }

    /// The machine stops waiting for an acquire's outcome. The driver may still report that the acquire was never sent.
    pub(super) fn acquire_overdue(&mut self, ran: Running) {
        if ran.purpose != Purpose::Acquire {
            return;
        }
        if self.acquire.overdue.len() < MOST_OVERDUE {
            self.acquire.overdue.push(ran.id);
        } else {
            self.acquire.in_doubt = true;
        }
    }

    /// Handles the outcome of an acquire after the machine stopped waiting for it. An acquire that was never sent needs
    /// no cleanup.
    pub(super) fn asked_late(&mut self, id: CommandId, result: Result<&Reply, Failure>) {
        let Some(at) = self.acquire.overdue.iter().position(|known| *known == id) else {
            return;
        };
        self.acquire.overdue.remove(at);
        self.acquire.in_doubt |= !matches!(result, Err(Failure::NotSent | Failure::Closed));
        if !self.in_doubt() && matches!(self.phase, Phase::Leaving(Leaving { reported: false, .. })) {
            self.rest();
        }
    }

    /// Ends an acquire that has failed. The application gets the event at once; the cleanup follows.
    pub(super) fn refuse(&mut self, now: Instant, reason: Refusal, cause: Cause) {
        self.out.event(Event::Refused { reason, cause });
        if let Some(running) = self.running.take() {
            self.acquire_overdue(running);
        }
        if self.in_doubt() && reason != Refusal::ConnectionClosed {
            // The operation has not run, because the application had no grant.
            self.end(now, End::Release, false);
        } else {
            self.rest();
        }
    }
}

/// How many overdue acquires the machine tracks individually. All others count as in doubt.
const MOST_OVERDUE: usize = 8;

/// The maximum number of polls of a waiter within a poll interval, while a foreign holder has the lock.
const EAGER: u32 = 16;
