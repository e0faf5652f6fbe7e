//! The ZooKeeper family in a hub: its machines, and the session that they share.

use alloc::vec::Vec;

use crate::{
    Command, CommandId, ContenderId, Event, Instant, Key, Misuse, Outcome, Output,
    hub::{Delivery, Family, Reentry, Shared},
    io::sealed,
};

use super::{
    ClaimSettings, ContenderSettings, InspectionSettings, Notice, Reply, Request, SessionLease, SessionState,
    StepSettings, SweepSettings, member::Member,
};

/// The family of machines for ZooKeeper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "it has no values: it names the family")]
pub enum ZooKeeper {}

/// The settings of any machine of the family.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LockSettings {
    /// A contender in a queue.
    Contender(ContenderSettings),
    /// A contender that acquires all of several locks or none.
    MultiLock(Vec<ContenderSettings>),
    /// An inspection of a lock.
    Inspection(InspectionSettings),
    /// A claim on an operation.
    Claim(ClaimSettings),
    /// One request about an operation or a value.
    Step(StepSettings),
    /// A sweep of a scope.
    Sweep(SweepSettings),
}

impl sealed::Sealed for ZooKeeper {}

impl Family for ZooKeeper {
    type Request = Request;
    type Reply = Reply;
    type Notice = Notice;
    type Settings = LockSettings;
    type Member = Member;
    type Shared = SessionLease;

    const NAME: &'static str = "zookeeper";

    fn machine(settings: LockSettings, contender: ContenderId, seed: u64) -> Member {
        Member::new(settings, contender, seed)
    }

    fn reentry(settings: &LockSettings) -> Option<Reentry> {
        match settings {
            LockSettings::Contender(settings) => settings.reentry(),
            LockSettings::MultiLock(_)
            | LockSettings::Inspection(_)
            | LockSettings::Claim(_)
            | LockSettings::Step(_)
            | LockSettings::Sweep(_) => None,
        }
    }

    fn is_standing(request: &Request) -> bool {
        matches!(
            request,
            Request::Get { watch: true, .. } | Request::Children { watch: true, .. }
        )
    }

    fn subject(notice: &Notice) -> Option<CommandId> {
        match notice {
            Notice::Watch { id, .. } => Some(*id),
            Notice::Session { .. } | Notice::Confirmed { .. } => None,
        }
    }
}

impl Shared<ZooKeeper> for SessionLease {
    fn new(seed: u64) -> Self {
        Self::new(seed)
    }

    fn next_id(&mut self) -> &mut u64 {
        Self::next_id(self)
    }

    fn opened(&mut self, _now: Instant) -> [Option<Notice>; 3] {
        self.present()
    }

    fn extend(&mut self, now: Instant) {
        self.confirm(now);
        self.record();
    }

    fn contended(&mut self, now: Instant, contended: bool) {
        self.want(now, contended);
        self.record();
    }

    fn intercept(
        &mut self,
        _now: Instant,
        _key: Key,
        command: Command<Request>,
        _deliveries: &mut Vec<Delivery<ZooKeeper>>,
    ) -> Option<Command<Request>> {
        Some(command)
    }

    fn handle_outcome(
        &mut self,
        now: Instant,
        id: CommandId,
        outcome: Outcome<Reply>,
        deliveries: &mut Vec<Delivery<ZooKeeper>>,
    ) -> Result<(), Misuse> {
        let confirmed = Self::handle_outcome(self, now, id, outcome);
        self.record();
        deliveries.extend(confirmed?.map(Delivery::All));
        Ok(())
    }

    fn handle_notice(&mut self, now: Instant, notice: Notice, deliveries: &mut Vec<Delivery<ZooKeeper>>) {
        match notice {
            Notice::Session {
                state,
                session,
                timeout,
            } => {
                let timeout = self.handle_session(now, state, session, timeout);
                self.record();
                deliveries.push(Delivery::All(Notice::Session {
                    state,
                    session,
                    timeout,
                }));
                if state == SessionState::Connected {
                    deliveries.extend(self.confirmed().map(Delivery::All));
                }
            }
            // The watch belongs to a machine that no longer exists. Only the hub itself may confirm a session.
            Notice::Watch { .. } | Notice::Confirmed { .. } => {}
        }
    }

    fn handle_timeout(&mut self, now: Instant) {
        Self::handle_timeout(self, now);
        self.record();
    }

    #[cfg(feature = "states")]
    fn observe(&self, observer: &mut impl crate::states::Observer) {
        Self::observe(self, observer);
    }

    fn poll_output(&mut self) -> Output<Request, Event> {
        Self::poll_output(self)
    }
}
