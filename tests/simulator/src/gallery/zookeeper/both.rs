//! Two small locks that a client acquires one after the other, and holds together or not at all. If every
//! client acquires them in the order of their names, this is a correct multi-lock. If clients use different
//! orders, two clients deadlock.

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
    /// The locks, in the order in which they are acquired.
    components: [Small; 2],
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
    /// It waits for the first lock, or for the second.
    Wants(usize),
    Holds,
    Leaves {
        release: bool,
    },
}

impl Both {
    /// Two idle locks, to be acquired in the order of their names or in the reverse order.
    #[must_use]
    pub fn new(owner: ContenderId, in_order: bool) -> Self {
        let directories = if in_order {
            [DIRECTORY, OTHER]
        } else {
            [OTHER, DIRECTORY]
        };
        let component = |directory| Small::new(owner, Role::Queued(Mode::Exclusive), None).inside(directory);
        Self {
            components: directories.map(component),
            phase: Phase::Idle,
            grants: [None, None],
            deadline: None,
            forever: true,
            out: VecDeque::new(),
            waits: [None, None],
            shut: false,
        }
    }

    fn emit(&mut self, event: Event) {
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
        self.emit(Event::Lost {
            reason: Loss::LeaseEnded,
            cause: Cause::default(),
        });
        self.give_back(now, false);
    }

    /// Polls the outputs of both locks until there are no more.
    fn drain_events(&mut self, now: Instant) {
        loop {
            let mut quiet = true;
            for component in 0..2 {
                match Subject::<Servers>::poll_output(&mut self.components[component]) {
                    Output::Command(command) => {
                        quiet = false;
                        let id = CommandId(command.id.0 * 2 + component as u64);
                        self.out.push_back(Output::Command(Command { id, ..command }));
                    }
                    Output::Event(event) => {
                        quiet = false;
                        self.receive(now, component, event);
                    }
                    Output::Wait(wait) => self.waits[component] = wait.until,
                    _ => {}
                }
            }
            if quiet {
                break;
            }
        }
        if let Phase::Leaves { release } = self.phase
            && self.components.iter().all(|component| component.pending() == 0)
        {
            self.phase = Phase::Idle;
            if release {
                self.emit(Event::Released);
            }
        }
    }

    fn receive(&mut self, now: Instant, component: usize, event: Event) {
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
                // The second lock is idle, so it cannot refuse.
                let _accepted = self.components[1].intent(now, Intent::Acquire(timeout));
            }
            (Phase::Wants(_), Event::Acquired { grant }) => {
                // The second node was created after the last holder of both locks had left, so its number is the higher one.
                let (attempt, fence) = (grant.attempt, grant.fence);
                self.grants[1] = Some(grant);
                self.phase = Phase::Holds;
                let valid_until = self.valid_until();
                self.emit(Event::Acquired {
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
            // The grant of the other lock has ended, and that lock has not looked at its clock yet.
            (Phase::Holds, Event::Extended { .. }) if self.is_over(now) => self.lose(now),
            (Phase::Wants(_) | Phase::Holds, Event::Extended { valid_until }) => {
                if let Some(grant) = &mut self.grants[component] {
                    grant.valid_until = valid_until;
                }
                if self.phase == Phase::Holds {
                    let valid_until = self.valid_until();
                    self.emit(Event::Extended { valid_until });
                }
            }
            (Phase::Holds, event @ Event::Lost { .. }) => {
                self.emit(event);
                self.give_back(now, false);
            }
            _ => {}
        }
    }

    fn refuse(&mut self, now: Instant, reason: Refusal) {
        self.emit(Event::Refused {
            reason,
            cause: Cause::default(),
        });
        self.give_back(now, false);
    }

    fn give_back(&mut self, now: Instant, release: bool) {
        self.phase = Phase::Leaves { release };
        self.grants = [None, None];
        for component in &mut self.components {
            for intent in [Intent::Release, Intent::Cancel] {
                // A lock accepts at most one of the two intents.
                let _was_there = component.intent(now, intent);
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
                self.components[0].intent(now, intent)?;
                self.phase = Phase::Wants(0);
            }
            (Intent::Acquire(_), _) => return Err(Misuse::Busy),
            (Intent::Release, Phase::Holds) if self.is_over(now) => self.lose(now),
            (Intent::Release, Phase::Holds) => self.give_back(now, true),
            (Intent::Extend, Phase::Holds) => {
                for component in &mut self.components {
                    component.intent(now, Intent::Extend)?;
                }
            }
            (Intent::Cancel, Phase::Wants(_)) => self.refuse(now, Refusal::Cancelled),
            (Intent::Release | Intent::Extend, _) => return Err(Misuse::NotHeld),
            (Intent::Downgrade, _) => return Err(Misuse::NotAWriter),
            (_, _) => return Err(Misuse::NotWaiting),
        }
        self.drain_events(now);
        Ok(())
    }

    fn handle_outcome(&mut self, now: Instant, id: CommandId, outcome: Outcome<Reply>) -> Result<(), Misuse> {
        let component = &mut self.components[usize::from(id.0 % 2 == 1)];
        component.handle_outcome(now, CommandId(id.0 / 2), outcome)?;
        self.drain_events(now);
        Ok(())
    }

    fn handle_notice(&mut self, now: Instant, notice: Notice) -> Result<(), Misuse> {
        if let Notice::Watch { id, session, event } = notice {
            let own = Notice::Watch {
                id: CommandId(id.0 / 2),
                session,
                event,
            };
            self.components[usize::from(id.0 % 2 == 1)].handle_notice(now, own)?;
        } else {
            for component in &mut self.components {
                component.handle_notice(now, notice.clone())?;
            }
        }
        self.drain_events(now);
        Ok(())
    }

    fn handle_timeout(&mut self, now: Instant) {
        for component in &mut self.components {
            component.handle_timeout(now);
        }
        self.drain_events(now);
        // The grant of the first lock may have arrived after the deadline.
        let over = self.deadline.is_some_and(|deadline| deadline <= now);
        if over && matches!(self.phase, Phase::Wants(_)) {
            self.refuse(now, Refusal::Timeout);
            self.drain_events(now);
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
        for component in &mut self.components {
            component.shutdown(now);
        }
        if self.phase != Phase::Idle {
            self.phase = Phase::Leaves { release: false };
        }
        self.drain_events(now);
    }

    fn pending(&self) -> usize {
        usize::from(self.phase != Phase::Idle)
    }
}
