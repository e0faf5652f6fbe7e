//! The family in a hub: its machines, and the session they share.

use alloc::vec::Vec;

use crate::{
    Command, CommandId, Event, Instant, Key, Misuse, Outcome, Output, OwnerId,
    hub::{Delivery, Family, Shared},
    io::sealed,
};

use super::{
    ContenderSettings, InspectionSettings, Keeper, Notice, Reply, Request, SessionState,
    member::Member as AnyMachine,
};

/// The family of machines that speak to ZooKeeper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "it has no values: it names the family")]
pub enum ZooKeeper {}

/// The settings of any machine of the family.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Machine {
    /// A contender in a line.
    Contender(ContenderSettings),
    /// A contender for many locks, all or none.
    MultiLock(Vec<ContenderSettings>),
    /// A look from outside.
    Inspection(InspectionSettings),
}

impl sealed::Sealed for ZooKeeper {}

impl Family for ZooKeeper {
    type Request = Request;
    type Reply = Reply;
    type Notice = Notice;
    type Settings = Machine;
    type Member = AnyMachine;
    type Shared = Keeper;

    const NAME: &'static str = "zookeeper";

    fn machine(settings: Machine, owner: OwnerId, seed: u64) -> AnyMachine {
        AnyMachine::new(settings, owner, seed)
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

impl Shared<ZooKeeper> for Keeper {
    fn new(seed: u64) -> Self {
        Self::new(seed)
    }

    fn next_id(&mut self) -> &mut u64 {
        Self::next_id(self)
    }

    fn opened(&mut self, _now: Instant) -> [Option<Notice>; 2] {
        self.present()
    }

    fn extend(&mut self, now: Instant) {
        self.confirm(now);
    }

    fn contended(&mut self, now: Instant, contended: bool) {
        self.want(now, contended);
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
        let confirmed = Self::handle_outcome(self, now, id, outcome)?;
        deliveries.extend(confirmed.map(Delivery::All));
        Ok(())
    }

    fn handle_notice(&mut self, now: Instant, notice: Notice, deliveries: &mut Vec<Delivery<ZooKeeper>>) {
        match notice {
            Notice::Session {
                state,
                session,
                timeout,
            } => {
                self.handle_session(now, state, session, timeout);
                // Machines hear of a session when there is one.
                if state != SessionState::Connecting {
                    deliveries.push(Delivery::All(notice));
                }
                if state == SessionState::Connected {
                    deliveries.extend(self.confirmed().map(Delivery::All));
                }
            }
            // A watch of a machine that has gone; a confirmation is the hub's own to give.
            Notice::Watch { .. } | Notice::Confirmed { .. } => {}
        }
    }

    fn handle_timeout(&mut self, now: Instant) {
        Self::handle_timeout(self, now);
    }

    fn poll_output(&mut self) -> Output<Request, Event> {
        Self::poll_output(self)
    }
}
