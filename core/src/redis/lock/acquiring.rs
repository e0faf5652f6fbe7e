//! Acquiring the lock: ask the server, subscribe, ask again.

use alloc::{string::String, vec::Vec};
use core::time::Duration;

use crate::{
    AttemptId, Cause, CommandId, Event, Failure, Fence, Grant, Instant, Refusal, Timer, lease,
    text::{decimal, quoted},
    time::millis_up,
};

use super::super::{
    reply::{self, Acquired, Trouble},
    scripts::Script,
    wire::{Reply, Request},
};
use super::{Phase, Running, StringLock, Subscription};

/// How long the server keeps a fence after the last use of its lock. A resource that remembers fences for longer must
/// be informed when a name is taken out of use.
const KEEP_FENCE: Duration = Duration::from_secs(7 * 86_400);

impl StringLock {
    pub(super) fn ask(&mut self, now: Instant) {
        self.go_to(Phase::Asking);
        self.acquire.hinted = false;
        self.out.stop(Timer::Poll);
        self.run(now, Script::Acquire, false);
    }

    /// A script's arguments, and how many of them are keys.
    pub(super) fn arguments(&self, script: Script) -> (usize, Vec<Vec<u8>>) {
        let settings = &self.settings;
        let mut arguments = Vec::with_capacity(MOST_ARGUMENTS);
        arguments.push(settings.key());
        if script != Script::Release {
            arguments.push(settings.fence_key());
        }
        if script != Script::Renew {
            arguments.push(settings.tombstone_key(&self.stored));
        }
        let keys = arguments.len();
        arguments.push(self.stored.as_bytes().to_vec());
        if script == Script::Release {
            // A release that a client library sent twice arrives within seconds. An acquire in doubt may arrive as late
            // as one lease after it was sent.
            let tombstone = if self.in_doubt() {
                self.pending_delete()
            } else {
                TOMBSTONE
            };
            arguments.extend([settings.channel(), number(tombstone)]);
        } else {
            let keep = KEEP_FENCE.max(settings.ttl.saturating_mul(2));
            arguments.extend([number(settings.ttl), number(keep)]);
        }
        if script == Script::Acquire {
            arguments.push(number(self.pending_delete()));
        }
        (keys, arguments)
    }

    /// How long the server keeps a tombstone for a late acquire.
    fn pending_delete(&self) -> Duration {
        self.settings.ttl.max(TOMBSTONE)
    }

    pub(super) fn asked(&mut self, now: Instant, ran: Running, result: Result<&Reply, Failure>) -> bool {
        let answer = match result {
            Ok(reply) => reply::acquired(reply),
            Err(failure) => {
                self.ask_failed(now, ran.id, failure);
                return true;
            }
        };
        match answer {
            Ok(Acquired::Yes(fence)) => self.granted(now, ran.start, fence),
            Ok(Acquired::Held { left, holder }) => self.held_by_another(now, left, holder),
            Ok(Acquired::BadFence(kept)) => {
                let detail = self.bad_fence(&kept);
                self.refuse(now, Refusal::ServerError, Cause::answer(ran.id, detail));
            }
            Ok(Acquired::GivenUp) => self.refuse(now, Refusal::GivenUp, Cause::command(ran.id)),
            Err(Trouble::NoScript) => self.run(now, Script::Acquire, true),
            Err(Trouble::Transient(detail)) => {
                self.acquire.trouble = Cause::answer(ran.id, detail);
                self.retry_later(now);
            }
            // The script writes the lock's key last, so it has not taken the lock.
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

    fn granted(&mut self, now: Instant, start: Instant, fence: u64) {
        let valid_until = lease::valid_until(start, self.settings.ttl, self.settings.margin);
        if valid_until <= now.plus(lease::least_told(self.settings.ttl)) {
            // The answer came so late that too little of the lease is left. The machine asks again: either the attempt
            // still holds the lock and gets a full lease, or it has lost the lock before the application got a grant.
            self.acquire.in_doubt = true;
            return self.retry_later(now);
        }
        self.stop_listening();
        self.out.stop_all();
        self.go_to(Phase::Held);
        self.acquire.failures = 0;
        self.acquire.trouble = Cause::none();
        if let Some(most) = self.settings.max_hold {
            self.out.set_after(Timer::MaxHold, now, most);
        }
        self.lease_runs(start, valid_until);
        let grant = Grant {
            attempt: self.attempt,
            fence: Some(Fence(fence)),
            valid_until: Some(valid_until),
        };
        self.out.event(Event::Acquired { grant });
    }

    fn bad_fence(&self, kept: &[u8]) -> String {
        let key = String::from_utf8_lossy(&self.settings.fence_key()).into_owned();
        let kept = String::from_utf8_lossy(kept.get(..MOST_SHOWN).unwrap_or(kept)).into_owned();
        let why = ", which is no whole number below 2^53: set the key to the last fence that the lock has given, or delete it";
        ["the key ", &quoted(&key), " holds ", &quoted(&kept), why].concat()
    }

    fn held_by_another(&mut self, now: Instant, left: Option<Duration>, holder: Vec<u8>) {
        self.acquire.failures = 0;
        if self.acquire.nonblocking {
            return self.refuse(now, Refusal::NotAvailable, Cause::none());
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
                    channel: self.settings.channel(),
                },
                None,
            );
            self.subscription = Subscription::Wanted(id);
        }
        // The server announces neither the end of the holder's lease nor a release by a foreign holder.
        let poll = self.poll_after(now, holder);
        let poll = self.jitter.spread(poll);
        let wait = left.map_or(poll, |left| {
            left.saturating_add(Duration::from_millis(1)).min(poll)
        });
        self.out.set_after(Timer::Poll, now, wait);
    }

    /// When a waiter asks again. A holder whose value has not the form of an attempt is foreign, and announces no
    /// release. The waiter then asks after half of the time for which it has seen this holder. So it is not much later
    /// than other clients that poll. It asks at most [`EAGER`] times within a poll interval.
    fn poll_after(&mut self, now: Instant, holder: Vec<u8>) -> Duration {
        let poll = self.settings.poll;
        if AttemptId::is_text(&holder) {
            self.acquire.foreign = None;
            return poll;
        }
        let since = match &self.acquire.foreign {
            Some((known, since)) if *known == holder => *since,
            _ => now,
        };
        self.acquire.foreign = Some((holder, since));
        let least = poll.checked_div(EAGER).unwrap_or_default();
        let half = now.since(since).checked_div(2).unwrap_or_default();
        half.clamp(least, poll)
    }

    /// Handles the server's answer to the subscription.
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

    /// The lock may be free: asks the server now, or after the answer that is pending.
    pub(super) fn hint(&mut self, now: Instant) {
        match self.phase {
            Phase::Waiting => self.ask(now),
            Phase::Asking => self.acquire.hinted = true,
            Phase::Idle | Phase::Held | Phase::Leaving { .. } => {}
        }
    }

    /// The subscription has ended, and messages may be lost. The machine asks the server, subscribes again, and asks
    /// once more when the server has confirmed the subscription.
    pub(super) fn subscription_gone(&mut self, now: Instant) {
        self.subscription = Subscription::No;
        self.hint(now);
    }

    /// Whether the server may have executed an acquire of this attempt, or may still execute it.
    pub(super) fn in_doubt(&self) -> bool {
        self.acquire.in_doubt || !self.acquire.overdue.is_empty()
    }

    /// The machine stops waiting for an acquire's outcome. The driver may still report that the acquire was never sent.
    pub(super) fn acquire_overdue(&mut self, ran: Running) {
        if ran.script != Script::Acquire {
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
        if !self.in_doubt() && matches!(self.phase, Phase::Leaving { release: false, .. }) {
            self.rest();
        }
    }

    /// Ends an acquire that failed. The application gets the event at once; the cleanup follows.
    pub(super) fn refuse(&mut self, now: Instant, reason: Refusal, cause: Cause) {
        self.out.event(Event::Refused { reason, cause });
        if let Some(running) = self.running.take() {
            self.acquire_overdue(running);
        }
        if self.in_doubt() && reason != Refusal::ConnectionClosed {
            self.leave(now, false);
        } else {
            self.rest();
        }
    }
}

/// The shortest time for which the server keeps a tombstone.
pub(super) const TOMBSTONE: Duration = Duration::from_secs(10);

/// How many overdue acquires the machine tracks one by one. Further ones count as in doubt.
const MOST_OVERDUE: usize = 8;

/// How many times within a poll interval a waiter asks at most, while a foreign holder has the lock.
const EAGER: u32 = 16;

/// How many bytes of the fence key's value an error repeats.
const MOST_SHOWN: usize = 64;

/// The arguments of `acquire`, and the three words that begin a command: its name, the script and the number of keys.
const MOST_ARGUMENTS: usize = 10;

/// A duration in whole milliseconds, as the scripts read it.
fn number(duration: Duration) -> Vec<u8> {
    decimal(millis_up(duration)).into_bytes()
}
