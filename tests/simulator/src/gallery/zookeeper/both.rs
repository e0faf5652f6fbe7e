//! Two small locks taken one after the other, which are held together or not at all. In the order of their names that is a multi-lock; in
//! the order in which the caller named them, two of them wait for each other.

use std::collections::VecDeque;

use fencepost_core::{
    AcquireTimeout, Cause, Command, CommandId, ContenderId, Event, Grant, Instant, Intent, Loss, Misuse,
    Outcome, Output, Refusal, Wait,
    zookeeper::{Notice, Reply},
};

use crate::{
    backend::Subject,
    checker::Mode,
    zookeeper::{Ask, DIRECTORY, Servers},
};

use super::{Role, Small};

/// The other lock's directory.
const OTHER: &str = "/shop/till";

/// Two small locks.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Both {
    /// In the order in which they are taken.
    parts: [Small; 2],
    phase: Phase,
    grants: [Option<Grant>; 2],
    deadline: Option<Instant>,
    forever: bool,
    out: VecDeque<Output<Ask, Event>>,
    waits: [Option<Instant>; 2],
    shut: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Phase {
    Idle,
    /// The first, or the second.
    Wants(usize),
    Holds,
    Leaves {
        release: bool,
    },
}

impl Both {
    /// Two locks that have not been asked for yet, to be taken in the order of their names or in the other one.
    #[must_use]
    pub fn new(owner: ContenderId, in_order: bool) -> Self {
        let directories = if in_order {
            [DIRECTORY, OTHER]
        } else {
            [OTHER, DIRECTORY]
        };
        let part = |directory| Small::new(owner, Role::Queued(Mode::Exclusive), None).inside(directory);
        Self {
            parts: directories.map(part),
            phase: Phase::Idle,
            grants: [None, None],
            deadline: None,
            forever: true,
            out: VecDeque::new(),
            waits: [None, None],
            shut: false,
        }
    }

    fn say(&mut self, event: Event) {
        if !self.shut {
            self.out.push_back(Output::Event(event));
        }
    }

    fn valid_until(&self) -> Option<Instant> {
        let grants = self.grants.iter().flatten();
        grants.filter_map(|grant| grant.valid_until).min()
    }

    /// Whether a grant has ended by its holder's clock.
    fn is_over(&self, now: Instant) -> bool {
        self.valid_until().is_none_or(|until| until <= now)
    }

    fn lose(&mut self, now: Instant) {
        self.say(Event::Lost {
            reason: Loss::LeaseEnded,
            cause: Cause::default(),
        });
        self.give_back(now, false);
    }

    /// Receives the events of both, until there are no more.
    fn heed(&mut self, now: Instant) {
        loop {
            let mut quiet = true;
            for part in 0..2 {
                match Subject::<Servers>::poll_output(&mut self.parts[part]) {
                    Output::Command(command) => {
                        quiet = false;
                        let id = CommandId(command.id.0 * 2 + part as u64);
                        self.out.push_back(Output::Command(Command { id, ..command }));
                    }
                    Output::Event(event) => {
                        quiet = false;
                        self.receive(now, part, event);
                    }
                    Output::Wait(wait) => self.waits[part] = wait.until,
                    _ => {}
                }
            }
            if quiet {
                break;
            }
        }
        if let Phase::Leaves { release } = self.phase
            && self.parts.iter().all(|part| part.pending() == 0)
        {
            self.phase = Phase::Idle;
            if release {
                self.say(Event::Released);
            }
        }
    }

    fn receive(&mut self, now: Instant, part: usize, event: Event) {
        match (self.phase, event) {
            (Phase::Wants(0), Event::Acquired { grant }) => {
                self.grants[0] = Some(grant);
                self.phase = Phase::Wants(1);
                let left = self
                    .deadline
                    .map_or(std::time::Duration::ZERO, |until| until.since(now));
                let timeout = match self.forever {
                    true => AcquireTimeout::Forever,
                    false => AcquireTimeout::For(left.max(std::time::Duration::from_micros(1))),
                };
                // It rests: it cannot refuse.
                let _accepted = self.parts[1].intent(now, Intent::Acquire(timeout));
            }
            (Phase::Wants(_), Event::Acquired { grant }) => {
                // The second's number is younger than the last holder of both.
                let (attempt, fence) = (grant.attempt, grant.fence);
                self.grants[1] = Some(grant);
                self.phase = Phase::Holds;
                let valid_until = self.valid_until();
                self.say(Event::Acquired {
                    grant: Grant {
                        attempt,
                        fence,
                        takeovers: 0,
                        valid_until,
                    },
                });
            }
            (Phase::Wants(_), Event::Refused { reason, .. }) => self.refuse(now, reason),
            (Phase::Wants(_), Event::Lost { .. }) => self.refuse(now, Refusal::Unreachable),
            // The other one has ended, and has not looked at its clock yet.
            (Phase::Holds, Event::Extended { .. }) if self.is_over(now) => self.lose(now),
            (Phase::Wants(_) | Phase::Holds, Event::Extended { valid_until }) => {
                if let Some(grant) = &mut self.grants[part] {
                    grant.valid_until = valid_until;
                }
                if self.phase == Phase::Holds {
                    let valid_until = self.valid_until();
                    self.say(Event::Extended { valid_until });
                }
            }
            (Phase::Holds, event @ Event::Lost { .. }) => {
                self.say(event);
                self.give_back(now, false);
            }
            _ => {}
        }
    }

    fn refuse(&mut self, now: Instant, reason: Refusal) {
        self.say(Event::Refused {
            reason,
            cause: Cause::default(),
        });
        self.give_back(now, false);
    }

    fn give_back(&mut self, now: Instant, release: bool) {
        self.phase = Phase::Leaves { release };
        self.grants = [None, None];
        for part in &mut self.parts {
            for intent in [Intent::Release, Intent::Cancel] {
                // One of the two makes sense, or neither is needed.
                let _was_there = part.intent(now, intent);
            }
        }
    }
}

impl Subject<Servers> for Both {
    fn intent(&mut self, now: Instant, intent: Intent) -> Result<(), Misuse> {
        match (intent, self.phase) {
            (intent @ Intent::Acquire(timeout), Phase::Idle) => {
                self.forever = timeout == AcquireTimeout::Forever;
                self.deadline = super::super::limit(timeout).map(|limit| now.plus(limit));
                self.parts[0].intent(now, intent)?;
                self.phase = Phase::Wants(0);
            }
            (Intent::Acquire(_), _) => return Err(Misuse::Busy),
            (Intent::Release, Phase::Holds) if self.is_over(now) => self.lose(now),
            (Intent::Release, Phase::Holds) => self.give_back(now, true),
            (Intent::Extend, Phase::Holds) => {
                for part in &mut self.parts {
                    part.intent(now, Intent::Extend)?;
                }
            }
            (Intent::Cancel, Phase::Wants(_)) => self.refuse(now, Refusal::Cancelled),
            (Intent::Release | Intent::Extend, _) => return Err(Misuse::NotHeld),
            (Intent::Downgrade, _) => return Err(Misuse::NotAWriter),
            (_, _) => return Err(Misuse::NotWaiting),
        }
        self.heed(now);
        Ok(())
    }

    fn handle_outcome(&mut self, now: Instant, id: CommandId, outcome: Outcome<Reply>) -> Result<(), Misuse> {
        let part = &mut self.parts[usize::from(id.0 % 2 == 1)];
        part.handle_outcome(now, CommandId(id.0 / 2), outcome)?;
        self.heed(now);
        Ok(())
    }

    fn handle_notice(&mut self, now: Instant, notice: Notice) -> Result<(), Misuse> {
        if let Notice::Watch { id, session, event } = notice {
            let own = Notice::Watch {
                id: CommandId(id.0 / 2),
                session,
                event,
            };
            self.parts[usize::from(id.0 % 2 == 1)].handle_notice(now, own)?;
        } else {
            for part in &mut self.parts {
                part.handle_notice(now, notice.clone())?;
            }
        }
        self.heed(now);
        Ok(())
    }

    fn handle_timeout(&mut self, now: Instant) {
        for part in &mut self.parts {
            part.handle_timeout(now);
        }
        self.heed(now);
        // The first may have come when the time was up.
        let over = self.deadline.is_some_and(|deadline| deadline <= now);
        if over && matches!(self.phase, Phase::Wants(_)) {
            self.refuse(now, Refusal::Timeout);
            self.heed(now);
        }
    }

    fn poll_output(&mut self) -> Output<Ask, Event> {
        self.out.pop_front().unwrap_or_else(|| {
            let until = self.waits.into_iter().flatten().min();
            Output::Wait(Wait { until, reason: None })
        })
    }

    fn shutdown(&mut self, now: Instant) {
        self.shut = true;
        for part in &mut self.parts {
            part.shutdown(now);
        }
        if self.phase != Phase::Idle {
            self.phase = Phase::Leaves { release: false };
        }
        self.heed(now);
    }

    fn pending(&self) -> usize {
        usize::from(self.phase != Phase::Idle)
    }
}
