//! The family in a hub: its machines, and the subscriptions they share.

use crate::{
    CommandId, Instant, Intent, Misuse, OwnerId,
    hub::{Family, Member},
    io::sealed,
};

use super::{Notice, Reply, Request, StringLock, StringSettings, Subscriptions};

/// The family of machines that speak to Redis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "it has no values: it names the family")]
pub enum Redis {}

/// The settings of any machine of the family.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Machine {
    /// The lock in the layout `string`.
    String(StringSettings),
}

impl sealed::Sealed for Redis {}

impl Family for Redis {
    type Request = Request;
    type Reply = Reply;
    type Notice = Notice;
    type Settings = Machine;
    type Member = StringLock;
    type Shared = Subscriptions;

    const NAME: &'static str = "redis";

    fn machine(settings: Machine, owner: OwnerId, seed: u64) -> StringLock {
        let Machine::String(settings) = settings;
        StringLock::new(settings, owner, seed)
    }

    // What is subscribed to belongs to the hub: a machine hears of it from there.
    fn is_standing(_request: &Request) -> bool {
        false
    }

    fn subject(notice: &Notice) -> Option<CommandId> {
        let (Notice::Message { id } | Notice::Gone { id }) = notice;
        Some(*id)
    }
}

impl Member<Redis> for StringLock {
    fn intent(&mut self, now: Instant, intent: Intent) -> Result<(), Misuse> {
        Self::intent(self, now, intent)
    }

    fn is_idle(&self) -> bool {
        Self::is_idle(self)
    }

    fn next_id(&mut self) -> &mut u64 {
        self.outbox().next_id()
    }
}
