//! Any machine of the family, as a hub drives it.

use alloc::boxed::Box;

use crate::{
    CommandId, ContenderId, Event, Instant, Intent, Misuse, Outcome, Output, hub, io::sealed, outbox::Outbox,
};

use super::{Contender, LockSettings, Notice, Redis, Reply, Request, SingleStep, subject::Subject};

/// Any machine of the family.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[expect(unnameable_types, reason = "it is the hub's alone")]
#[expect(
    clippy::large_enum_variant,
    reason = "a hub boxes it, and contenders are the many"
)]
pub enum Member {
    Contender(Contender),
    SingleStep(Box<SingleStep>),
}

/// Calls the same method of the machine, whichever kind it is.
macro_rules! each {
    ($self:expr, $machine:ident => $body:expr) => {
        match $self {
            Member::Contender($machine) => $body,
            Member::SingleStep($machine) => $body,
        }
    };
}

impl Member {
    pub(super) fn new(settings: LockSettings, contender: ContenderId, seed: u64) -> Self {
        let subject = match settings {
            LockSettings::String(settings) => Subject::Lock(settings),
            LockSettings::Claim(settings) => Subject::Claim(settings),
            LockSettings::Step(settings) => {
                return Self::SingleStep(Box::new(SingleStep::new(settings, contender, seed)));
            }
        };
        Self::Contender(Contender::new(subject, contender, seed))
    }

    const fn outbox(&mut self) -> &mut Outbox<Request> {
        each!(self, machine => machine.outbox())
    }
}

impl sealed::Sealed for Member {}

impl crate::Machine for Member {
    type Request = Request;
    type Reply = Reply;
    type Notice = Notice;
    type Event = Event;

    fn handle_outcome(&mut self, now: Instant, id: CommandId, outcome: Outcome<Reply>) -> Result<(), Misuse> {
        each!(self, machine => machine.handle_outcome(now, id, outcome))
    }

    fn handle_notice(&mut self, now: Instant, notice: Notice) -> Result<(), Misuse> {
        each!(self, machine => machine.handle_notice(now, notice))
    }

    fn handle_timeout(&mut self, now: Instant) {
        each!(self, machine => machine.handle_timeout(now));
    }

    fn poll_output(&mut self) -> Output<Request, Event> {
        each!(self, machine => machine.poll_output())
    }
}

impl hub::Member<Redis> for Member {
    fn intent(&mut self, now: Instant, intent: Intent) -> Result<(), Misuse> {
        each!(self, machine => machine.intent(now, intent))
    }

    fn is_idle(&self) -> bool {
        each!(self, machine => machine.is_idle())
    }

    // A single step is granted nothing.
    fn contends(&self) -> bool {
        !matches!(self, Self::SingleStep(_)) && !self.is_idle()
    }

    fn next_id(&mut self) -> &mut u64 {
        self.outbox().next_id()
    }

    #[cfg(feature = "states")]
    fn observe(&self, observer: &mut impl crate::states::Observer) {
        each!(self, machine => machine.observe(observer));
    }
}
