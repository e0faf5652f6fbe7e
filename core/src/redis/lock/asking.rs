//! Wanting the lock: ask, listen, ask again.

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

/// How long a fence is kept after its lock was last used: a resource that remembers fences longer than this has to be told of a
/// name that was taken out of use.
const KEEP_FENCE: Duration = Duration::from_secs(7 * 86_400);

impl StringLock {
    pub(super) fn ask(&mut self, now: Instant) {
        self.phase = Phase::Asking;
        self.hinted = false;
        self.out.stop(Timer::Poll);
        self.run(now, Script::Acquire, false);
    }

    /// A script's arguments; how many of them are keys comes first.
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
            // A release that was sent twice arrives within seconds; an acquire in doubt may take as long as its lease.
            let tombstone = if self.in_doubt() { self.grave() } else { TOMBSTONE };
            arguments.extend([settings.channel(), number(tombstone)]);
        } else {
            let keep = KEEP_FENCE.max(settings.ttl.saturating_mul(2));
            arguments.extend([number(settings.ttl), number(keep)]);
        }
        if script == Script::Acquire {
            arguments.push(number(self.grave()));
        }
        (keys, arguments)
    }

    /// How long a late acquire is waited for.
    fn grave(&self) -> Duration {
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
                self.trouble = Cause::answer(ran.id, detail);
                self.retry_later(now);
            }
            // The lock is what the script writes last: it is not there.
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
        self.trouble = Cause::command(id);
        match failure {
            Failure::NotSent => self.retry_later(now),
            Failure::Unknown => {
                self.doubt = true;
                self.retry_later(now);
            }
            Failure::Closed => self.refuse(now, Refusal::ConnectionClosed, Cause::command(id)),
        }
    }

    fn granted(&mut self, now: Instant, start: Instant, fence: u64) {
        let valid_until = lease::valid_until(start, self.settings.ttl, self.settings.margin);
        if valid_until <= now.plus(lease::least_told(self.settings.ttl)) {
            // The answer has eaten the lease up: asked again, the lock is ours with a full one, or lost unseen.
            self.doubt = true;
            return self.retry_later(now);
        }
        self.stop_listening();
        self.out.stop_all();
        self.phase = Phase::Held;
        self.failures = 0;
        self.trouble = Cause::none();
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
        self.failures = 0;
        if self.trying {
            return self.refuse(now, Refusal::NotAvailable, Cause::none());
        }
        if !core::mem::replace(&mut self.placed, true) {
            self.out.event(Event::Queued { ahead: None });
        }
        if core::mem::take(&mut self.hinted) {
            return self.ask(now);
        }
        self.phase = Phase::Waiting;
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
        // The holder's lease ends unannounced, and so does a foreign holder's hold.
        let poll = self.poll_after(now, holder);
        let poll = self.jitter.spread(poll);
        let wait = left.map_or(poll, |left| {
            left.saturating_add(Duration::from_millis(1)).min(poll)
        });
        self.out.set_after(Timer::Poll, now, wait);
    }

    /// When to ask again. A holder whose value is no attempt of ours is foreign, and announces nothing: the waiter asks again after
    /// half of the time for which it has seen this holder, so that it is not much later than others that poll, and never more often
    /// than [`EAGER`] times within a poll.
    fn poll_after(&mut self, now: Instant, holder: Vec<u8>) -> Duration {
        let poll = self.settings.poll;
        if AttemptId::is_text(&holder) {
            self.foreign = None;
            return poll;
        }
        let since = match &self.foreign {
            Some((known, since)) if *known == holder => *since,
            _ => now,
        };
        self.foreign = Some((holder, since));
        let least = poll.checked_div(EAGER).unwrap_or_default();
        let half = now.since(since).checked_div(2).unwrap_or_default();
        half.clamp(least, poll)
    }

    /// The server has answered the subscription.
    pub(super) fn subscribed(&mut self, now: Instant, id: CommandId, result: Result<&Reply, Failure>) {
        self.subscription = match result {
            Ok(Reply::Error(error)) if !matches!(reply::judge(error), Trouble::Transient(_)) => {
                Subscription::Refused
            }
            Ok(Reply::Error(_)) | Err(_) => Subscription::No,
            Ok(_) => {
                // The lock may have been released before the server listened for us.
                self.hint(now);
                Subscription::Live(id)
            }
        };
    }

    /// The lock may be free.
    pub(super) fn hint(&mut self, now: Instant) {
        match self.phase {
            Phase::Waiting => self.ask(now),
            Phase::Asking => self.hinted = true,
            Phase::Idle | Phase::Held | Phase::Leaving { .. } => {}
        }
    }

    /// Messages may have been missed: listen again, and ask when that is confirmed.
    pub(super) fn subscription_gone(&mut self, now: Instant) {
        self.subscription = Subscription::No;
        self.hint(now);
    }

    /// Whether an acquire of this attempt may have been executed, or may be yet.
    pub(super) fn in_doubt(&self) -> bool {
        self.doubt || !self.overdue.is_empty()
    }

    /// The machine waits no longer for what came of a script. A driver may still say that it was never sent.
    pub(super) fn acquire_overdue(&mut self, ran: Running) {
        if ran.script != Script::Acquire {
            return;
        }
        if self.overdue.len() < MOST_OVERDUE {
            self.overdue.push(ran.id);
        } else {
            self.doubt = true;
        }
    }

    /// What came of an acquire that the machine had stopped waiting for: of one that was never sent there is nothing to bury.
    pub(super) fn asked_late(&mut self, id: CommandId, result: Result<&Reply, Failure>) {
        let Some(at) = self.overdue.iter().position(|known| *known == id) else {
            return;
        };
        self.overdue.remove(at);
        self.doubt |= !matches!(result, Err(Failure::NotSent | Failure::Closed));
        if !self.in_doubt() && matches!(self.phase, Phase::Leaving { release: false, .. }) {
            self.rest();
        }
    }

    /// The end of an acquire that has come to nothing: told at once, cleaned up behind.
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

/// How long a late acquire is waited for, at least.
pub(super) const TOMBSTONE: Duration = Duration::from_secs(10);

/// How many overdue acquires are remembered one by one.
const MOST_OVERDUE: usize = 8;

/// How often a waiter asks within a poll, at the most, while a foreign holder has the lock.
const EAGER: u32 = 16;

/// How many bytes of somebody's value an error repeats.
const MOST_SHOWN: usize = 64;

/// Those of `acquire`, and the three words that a command begins with.
const MOST_ARGUMENTS: usize = 10;

/// Whole milliseconds as the scripts read them.
fn number(duration: Duration) -> Vec<u8> {
    decimal(millis_up(duration)).into_bytes()
}
