//! The Redis family in a hub: its machines, and the subscriptions that they share.

use crate::{
    CommandId, ContenderId,
    hub::{Family, Reentry},
    io::sealed,
};

use super::{
    ClaimSettings, Notice, Reply, Request, StepSettings, StringSettings, Subscriptions, member::Member,
};

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
    /// A claim on an operation.
    Claim(ClaimSettings),
    /// One request about an operation or a value, or an inspection of a lock.
    Step(StepSettings),
}

impl sealed::Sealed for Redis {}

impl Family for Redis {
    type Request = Request;
    type Reply = Reply;
    type Notice = Notice;
    type Settings = LockSettings;
    type Member = Member;
    type Shared = Subscriptions;

    const NAME: &'static str = "redis";

    fn machine(settings: LockSettings, contender: ContenderId, seed: u64) -> Member {
        Member::new(settings, contender, seed)
    }

    fn reentry(settings: &LockSettings) -> Option<Reentry> {
        match settings {
            LockSettings::String(settings) => settings.reentry(),
            LockSettings::Claim(_) | LockSettings::Step(_) => None,
        }
    }

    // The hub owns the subscriptions and delivers their messages, so no command of a machine causes notices.
    fn is_standing(_request: &Request) -> bool {
        false
    }

    fn subject(notice: &Notice) -> Option<CommandId> {
        let (Notice::Message { id } | Notice::Gone { id }) = notice;
        Some(*id)
    }
}
