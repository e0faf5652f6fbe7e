//! The inputs of the small lock, and its reactions.

use fencepost_core::{
    AcquireTimeout, CommandId, Event, Failure, Instant, Intent, Misuse, Outcome, Output, Refusal, Wait,
    lease,
    redis::{Notice, Reply},
};

use crate::{
    backend::Subject,
    redis::{Ask, KEY, Servers, TTL},
};

use super::{super::limit, Asked, Defect, MARGIN, PAUSE, Phase, Small, call, fence_of, millis};

impl Small {
    fn answered(&mut self, now: Instant, start: Instant, asked: Asked, reply: &Reply) {
        let first = match reply {
            Reply::Array(items) => items.first().cloned().unwrap_or(Reply::Nil),
            other => other.clone(),
        };
        if let Reply::Error(_) = first {
            self.next = Some(now.plus(PAUSE));
            return;
        }
        match (self.phase, asked) {
            (Phase::Wants, Asked::Acquire) => match first {
                Reply::Int(1) if self.has(Defect::ExpiryApart) => {
                    let ask = call(&[b"PEXPIRE", KEY.as_bytes(), &millis(TTL)]);
                    self.send(start, Asked::Expire, ask);
                }
                Reply::Int(1) | Reply::Bytes(_) => self.granted(now, start, fence_of(reply)),
                Reply::Int(2) => self.refuse(now, Refusal::GivenUp),
                _ => self.held_by_another(now),
            },
            (Phase::Wants, Asked::Expire) => self.granted(now, start, 0),
            (Phase::Holds, Asked::Renew) => match first {
                Reply::Int(1) | Reply::Bytes(_) => {
                    if self.is_over(now) {
                        return self.lose(now);
                    }
                    let until = lease::valid_until(start, TTL, MARGIN);
                    self.until = self.until.map(|_| until);
                    self.next = Some(start.plus(TTL / 3));
                    let valid_until = self.until;
                    self.emit(Event::Extended { valid_until });
                }
                _ => self.lose(now),
            },
            (Phase::Leaves { .. }, Asked::Compare) if first == Reply::Bytes(self.value()) => {
                self.send(now, Asked::Release, call(&[b"DEL", KEY.as_bytes()]));
            }
            (Phase::Leaves { release }, Asked::Release | Asked::Compare) => {
                if release {
                    self.emit(Event::Released);
                }
                self.rest();
            }
            _ => {}
        }
    }
}

impl Subject<Servers> for Small {
    fn intent(&mut self, now: Instant, intent: Intent) -> Result<(), Misuse> {
        match (intent, self.phase) {
            (Intent::Acquire(timeout), Phase::Idle) => {
                self.attempt.number += 1;
                self.nonblocking = timeout == AcquireTimeout::Try;
                self.acquire_timeout = limit(timeout);
                self.deadline = self.acquire_timeout.map(|limit| now.plus(limit));
                self.phase = Phase::Wants;
                self.acquire(now);
            }
            (Intent::Acquire(_), _) => return Err(Misuse::Busy),
            (Intent::Release, Phase::Holds) if self.is_over(now) => self.lose(now),
            (Intent::Release, Phase::Holds) => self.leave(now, true),
            (Intent::Extend, Phase::Holds) => self.renew(now),
            (Intent::Release | Intent::Extend, _) => return Err(Misuse::NotHeld),
            (Intent::Cancel, Phase::Wants) => self.refuse(now, Refusal::Cancelled),
            (_, _) => return Err(Misuse::NotWaiting),
        }
        Ok(())
    }

    fn handle_outcome(&mut self, now: Instant, id: CommandId, outcome: Outcome<Reply>) -> Result<(), Misuse> {
        let Some((_, start, asked)) = self.asked.take_if(|(waiting, ..)| *waiting == id) else {
            return Ok(());
        };
        match outcome {
            Outcome::Reply(reply) => self.answered(now, start, asked, &reply),
            Outcome::Failed(failure) => {
                if asked == Asked::Acquire && failure == Failure::Unknown {
                    self.in_doubt = true;
                    if self.has(Defect::SilenceIsYes) && self.phase == Phase::Wants {
                        self.granted(now, start, now.as_micros());
                        return Ok(());
                    }
                }
                self.next = Some(now.plus(PAUSE));
            }
        }
        Ok(())
    }

    fn handle_notice(&mut self, now: Instant, notice: Notice) -> Result<(), Misuse> {
        if let (Notice::Message { .. }, Phase::Wants, None) = (notice, self.phase, self.asked) {
            self.acquire(now);
        }
        Ok(())
    }

    fn handle_timeout(&mut self, now: Instant) {
        if self.deadline.take_if(|deadline| *deadline <= now).is_some() && self.phase == Phase::Wants {
            return self.refuse(now, Refusal::Timeout);
        }
        if self.is_over(now) && self.phase == Phase::Holds {
            return self.lose(now);
        }
        if self.next.take_if(|next| *next <= now).is_none() {
            return;
        }
        let overdue = self.asked.take();
        self.in_doubt |= matches!(overdue, Some((_, _, Asked::Acquire)));
        match self.phase {
            Phase::Idle => {}
            Phase::Wants => self.acquire(now),
            Phase::Holds => self.renew(now),
            Phase::Leaves { .. } => self.give_back(now),
        }
    }

    fn poll_output(&mut self) -> Output<Ask, Event> {
        self.out.pop_front().unwrap_or_else(|| {
            let until = [self.next, self.deadline, self.until].into_iter().flatten().min();
            Output::Wait(Wait { until, reason: None })
        })
    }

    fn shutdown(&mut self, now: Instant) {
        self.shut = true;
        match self.phase {
            Phase::Idle | Phase::Leaves { .. } => {}
            Phase::Wants => self.refuse(now, Refusal::Cancelled),
            Phase::Holds => self.leave(now, false),
        }
    }

    fn pending(&self) -> usize {
        usize::from(self.phase != Phase::Idle)
    }
}
