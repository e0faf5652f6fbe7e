//! Any machine of the family, as a hub drives it.

use alloc::boxed::Box;

use crate::{
    CommandId, ContenderId, Event, Instant, Intent, Misuse, Outcome, Output, hub, io::sealed, outbox::Outbox,
};

use super::{
    Contender, Inspection, LockSettings, MultiLock, Notice, Reply, Request, Semaphore, ZooKeeper,
    layout::Role,
};

/// Any machine of the family. Most machines are contenders, so this type is as small as a contender and boxes the
/// others.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[expect(unnameable_types, reason = "it is the hub's alone")]
#[expect(
    clippy::large_enum_variant,
    reason = "a hub boxes it, and contenders are the many"
)]
pub enum Member {
    Contender(Contender),
    Semaphore(Box<Semaphore>),
    MultiLock(Box<MultiLock>),
    Inspection(Box<Inspection>),
}

/// Calls the same method of the machine, whichever kind it is.
macro_rules! each {
    ($self:expr, $machine:ident => $body:expr) => {
        match $self {
            Member::Contender($machine) => $body,
            Member::Semaphore($machine) => $body,
            Member::MultiLock($machine) => $body,
            Member::Inspection($machine) => $body,
        }
    };
}

impl Member {
    pub(super) fn new(settings: LockSettings, contender: ContenderId, seed: u64) -> Self {
        match settings {
            LockSettings::Contender(settings) if matches!(settings.role, Role::Permit { .. }) => {
                Self::Semaphore(Box::new(Semaphore::new(settings, contender, seed)))
            }
            LockSettings::MultiLock(settings) => {
                Self::MultiLock(Box::new(MultiLock::new(settings, contender, seed)))
            }
            LockSettings::Inspection(settings) => Self::Inspection(Box::new(Inspection::new(settings, seed))),
            LockSettings::Contender(settings) => Self::Contender(Contender::new(settings, contender, seed)),
        }
    }

    fn outbox(&mut self) -> &mut Outbox<Request> {
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

impl hub::Member<ZooKeeper> for Member {
    fn intent(&mut self, now: Instant, intent: Intent) -> Result<(), Misuse> {
        each!(self, machine => machine.intent(now, intent))
    }

    fn is_idle(&self) -> bool {
        each!(self, machine => machine.is_idle())
    }

    // An inspection is granted nothing.
    fn contends(&self) -> bool {
        !matches!(self, Self::Inspection(_)) && !self.is_idle()
    }

    fn next_id(&mut self) -> &mut u64 {
        self.outbox().next_id()
    }

    #[cfg(feature = "states")]
    fn observe(&self, observer: &mut impl crate::states::Observer) {
        each!(self, machine => machine.observe(observer));
    }
}
