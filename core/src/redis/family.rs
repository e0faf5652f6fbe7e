//! The Redis family in a hub: its machines, and the subscriptions that they share.

use crate::{
    CommandId, ContenderId, Instant, Intent, Misuse,
    hub::{Family, Member, Reentry},
    io::sealed,
};

use super::{Notice, Reply, Request, StringLock, StringSettings, Subscriptions};

/// The family of machines for Redis servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "it has no values: it names the family")]
pub enum Redis {}

/// The settings of any machine of the family.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LockSettings {
    /// The lock in the layout `string`.
    String(StringSettings),
}

impl sealed::Sealed for Redis {}

impl Family for Redis {
    type Request = Request;
    type Reply = Reply;
    type Notice = Notice;
    type Settings = LockSettings;
    type Member = StringLock;
    type Shared = Subscriptions;

    const NAME: &'static str = "redis";

    fn machine(settings: LockSettings, contender: ContenderId, seed: u64) -> StringLock {
        let LockSettings::String(settings) = settings;
        StringLock::new(settings, contender, seed)
    }

    fn reentry(settings: &LockSettings) -> Option<Reentry> {
        let LockSettings::String(settings) = settings;
        settings.reentry()
    }

    // The hub owns the subscriptions and delivers their messages, so no machine's command causes notices by itself.
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

    #[cfg(feature = "states")]
    fn observe(&self, observer: &mut impl crate::states::Observer) {
        Self::observe(self, observer);
    }
}
