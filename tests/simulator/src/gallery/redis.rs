//! A small lock on Redis, as found in many programs, and its known mistakes.
//!
//! Without a defect it is correct: it acquires, renews and releases by scripts that compare, counts its lease
//! from the request, and deletes the lock of an abandoned acquire. It polls instead of subscribing, and uses
//! no hub.

mod inputs;

use core::time::Duration;
use std::collections::VecDeque;

use fencepost_core::{
    AttemptId, Cause, Command, CommandId, ContenderId, Event, Fence, Grant, Instant, Loss, Output, Refusal,
    Target, lease,
    redis::{Reply, Script},
};

use crate::redis::{Ask, FENCE, KEY, TTL};

/// The possible mistakes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Defect {
    /// SETNX first, then PEXPIRE.
    ExpiryApart,
    /// SET NX without an end.
    NoExpiry,
    /// DEL, without a compare.
    BlindDelete,
    /// GET, compare, DEL.
    DeleteApart,
    /// No fence.
    NoFence,
    /// The fence is the time on the holder's clock.
    FenceByClock,
    /// The fence is a counter, which the server loses with its data.
    FenceByCounter,
    /// The lease is counted from the answer.
    ValidFromReply,
    /// The holder never looks at its clock.
    NoLoss,
    /// PEXPIRE by name, without a compare.
    RenewByName,
    /// SET by name, without a compare.
    RenewBySet,
    /// The client treats a missing answer as a success.
    SilenceIsYes,
    /// One value for all acquires of a client.
    OneToken,
    /// Every try has the caller's whole acquire timeout.
    TimeoutAnew,
    /// A waiter waits only for the message of a release.
    MessageOnly,
}

/// A small lock.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Small {
    defect: Option<Defect>,
    attempt: AttemptId,
    phase: Phase,
    out: VecDeque<Output<Ask, Event>>,
    last: u64,
    /// The request whose answer the lock waits for, when it was sent, and its kind.
    asked: Option<(CommandId, Instant, Asked)>,
    acquire_timeout: Option<Duration>,
    deadline: Option<Instant>,
    /// When to act next: to send the acquire again, or to renew.
    next: Option<Instant>,
    until: Option<Instant>,
    nonblocking: bool,
    in_doubt: bool,
    shut: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Phase {
    Idle,
    Wants,
    Holds,
    Leaves { release: bool },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Asked {
    Acquire,
    Expire,
    Renew,
    Release,
    Compare,
}

/// How long a request may go without an answer.
const ANSWER_WITHIN: Duration = Duration::from_millis(90);
/// How long it waits before it sends the acquire again.
const PAUSE: Duration = Duration::from_millis(25);
const MARGIN: Duration = Duration::from_millis(2);

impl Small {
    /// A lock that has not sent a request yet.
    #[must_use]
    pub const fn new(owner: ContenderId, defect: Option<Defect>) -> Self {
        Self {
            defect,
            attempt: AttemptId {
                contender: owner,
                number: 0,
            },
            phase: Phase::Idle,
            out: VecDeque::new(),
            last: 0,
            asked: None,
            acquire_timeout: None,
            deadline: None,
            next: None,
            until: None,
            nonblocking: false,
            in_doubt: false,
            shut: false,
        }
    }

    fn has(&self, defect: Defect) -> bool {
        self.defect == Some(defect)
    }

    fn value(&self) -> Vec<u8> {
        let mut attempt = self.attempt;
        if self.has(Defect::OneToken) {
            attempt.number = 1;
        }
        attempt.to_string().into_bytes()
    }

    fn send(&mut self, now: Instant, asked: Asked, ask: Ask) {
        self.last += 1;
        let id = CommandId(self.last);
        self.asked = Some((id, now, asked));
        self.next = Some(now.plus(ANSWER_WITHIN));
        self.out.push_back(Output::Command(Command {
            id,
            target: Target::Any,
            deadline: None,
            request: ask,
        }));
    }

    fn script(&self, script: Script, keys: &[&str], arguments: &[Vec<u8>]) -> Ask {
        let gone = format!("{{{KEY}}}:gone:{}", self.attempt);
        let mut call = vec![
            b"EVAL".to_vec(),
            script.text().into(),
            keys.len().to_string().into(),
        ];
        call.extend(keys.iter().map(|key| {
            if *key == "gone" {
                gone.clone().into()
            } else {
                (*key).into()
            }
        }));
        call.extend_from_slice(arguments);
        Ask::Call(call)
    }

    fn acquire(&mut self, now: Instant) {
        if self.has(Defect::TimeoutAnew) {
            self.deadline = self.acquire_timeout.map(|limit| now.plus(limit));
        }
        let lease = millis(TTL);
        let ask = match self.defect {
            Some(Defect::ExpiryApart) => call(&[b"SETNX", KEY.as_bytes(), &self.value()]),
            Some(Defect::NoExpiry) => call(&[b"SET", KEY.as_bytes(), &self.value(), b"NX"]),
            Some(Defect::FenceByCounter) => Ask::Call(vec![
                b"EVAL".to_vec(),
                BY_COUNTER.into(),
                b"2".to_vec(),
                KEY.into(),
                FENCE.into(),
                self.value(),
                lease,
            ]),
            _ => self.script(
                Script::Acquire,
                &[KEY, FENCE, "gone"],
                &[self.value(), lease, b"604800000".to_vec(), b"10000".to_vec()],
            ),
        };
        self.send(now, Asked::Acquire, ask);
    }

    fn renew(&mut self, now: Instant) {
        let lease = millis(TTL);
        let ask = match self.defect {
            Some(Defect::RenewByName) => call(&[b"PEXPIRE", KEY.as_bytes(), &lease]),
            Some(Defect::RenewBySet) => call(&[b"SET", KEY.as_bytes(), &self.value(), b"PX", &lease]),
            _ => self.script(
                Script::Renew,
                &[KEY, FENCE],
                &[self.value(), lease, b"604800000".to_vec()],
            ),
        };
        self.send(now, Asked::Renew, ask);
    }

    fn give_back(&mut self, now: Instant) {
        let ask = match self.defect {
            Some(Defect::BlindDelete) => {
                return self.send(now, Asked::Release, call(&[b"DEL", KEY.as_bytes()]));
            }
            Some(Defect::DeleteApart) => {
                return self.send(now, Asked::Compare, call(&[b"GET", KEY.as_bytes()]));
            }
            _ => {
                let channel = format!("{{{KEY}}}:released").into_bytes();
                self.script(
                    Script::Release,
                    &[KEY, "gone"],
                    &[self.value(), channel, b"10000".to_vec()],
                )
            }
        };
        self.send(now, Asked::Release, ask);
    }

    fn leave(&mut self, now: Instant, release: bool) {
        self.phase = Phase::Leaves { release };
        self.deadline = None;
        self.until = None;
        self.give_back(now);
    }

    fn rest(&mut self) {
        self.phase = Phase::Idle;
        self.asked = None;
        self.next = None;
        self.in_doubt = false;
    }

    fn refuse(&mut self, now: Instant, reason: Refusal) {
        self.emit(Event::Refused {
            reason,
            cause: Cause::default(),
        });
        let under_way = self.asked.take().is_some();
        self.in_doubt |= under_way;
        if self.in_doubt {
            self.leave(now, false);
        } else {
            self.rest();
        }
    }

    fn is_over(&self, now: Instant) -> bool {
        self.until.is_some_and(|until| until <= now)
    }

    fn lose(&mut self, now: Instant) {
        self.emit(Event::Lost {
            reason: Loss::LeaseEnded,
            cause: Cause::default(),
        });
        self.leave(now, false);
    }

    fn emit(&mut self, event: Event) {
        if !self.shut {
            self.out.push_back(Output::Event(event));
        }
    }

    fn granted(&mut self, now: Instant, start: Instant, fence: u64) {
        let start = if self.has(Defect::ValidFromReply) {
            now
        } else {
            start
        };
        let until = lease::valid_until(start, TTL, MARGIN);
        if until <= now {
            return self.acquire(now);
        }
        let endless = self.has(Defect::NoLoss) || self.has(Defect::NoExpiry);
        self.phase = Phase::Holds;
        self.deadline = None;
        self.until = (!endless).then_some(until);
        self.next = Some(start.plus(TTL / 3));
        let fence = match self.defect {
            Some(Defect::NoFence) => None,
            Some(Defect::FenceByClock) => Some(Fence(now.as_micros())),
            Some(Defect::ExpiryApart | Defect::NoExpiry) => None,
            _ => Some(Fence(fence)),
        };
        self.emit(Event::Acquired {
            grant: Grant {
                attempt: self.token(),
                fence,
                takeovers: 0,
                valid_until: self.until,
            },
        });
    }

    fn token(&self) -> AttemptId {
        let mut attempt = self.attempt;
        if self.has(Defect::OneToken) {
            attempt.number = 1;
        }
        attempt
    }

    fn held_by_another(&mut self, now: Instant) {
        if self.nonblocking {
            return self.refuse(now, Refusal::NotAvailable);
        }
        if self.has(Defect::MessageOnly) {
            self.next = None;
            let channel = format!("{{{KEY}}}:released").into_bytes();
            self.last += 1;
            self.out.push_back(Output::Command(Command {
                id: CommandId(self.last),
                target: Target::Any,
                deadline: None,
                request: Ask::Subscribe(channel),
            }));
            return;
        }
        self.next = Some(now.plus(PAUSE));
    }
}

fn call(words: &[&[u8]]) -> Ask {
    Ask::Call(words.iter().map(|word| word.to_vec()).collect())
}

fn millis(time: Duration) -> Vec<u8> {
    time.as_millis().to_string().into_bytes()
}

fn fence_of(reply: &Reply) -> u64 {
    let Reply::Array(items) = reply else {
        return 0;
    };
    match items.get(1) {
        Some(Reply::Bytes(digits)) => str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok()),
        Some(Reply::Int(number)) => u64::try_from(*number).ok(),
        _ => None,
    }
    .unwrap_or_default()
}

/// Acquires the lock and increments a counter, as many programs do: the server loses the counter with its
/// data.
const BY_COUNTER: &str = "\
local holder = redis.call('GET', KEYS[1])
if holder == ARGV[1] then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  return {1, redis.call('GET', KEYS[2])}
end
if holder then return {0} end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return {1, redis.call('INCR', KEYS[2])}";
