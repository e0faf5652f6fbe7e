//! What an application is told.

use alloc::{string::String, vec::Vec};
use core::time::Duration;

use crate::{AttemptId, CommandId, Fence, Instant, SessionId};

/// What a machine tells its application.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Event {
    /// The contender waits. `ahead` contenders come before it, where the server keeps a queue.
    Queued {
        /// How many contenders come first; `None` where nobody knows.
        ahead: Option<u32>,
    },
    /// The lock is held.
    Acquired {
        /// The right to hold.
        grant: Grant,
    },
    /// The grant is valid for longer.
    Extended {
        /// Until when.
        valid_until: Option<Instant>,
    },
    /// The connection is gone, the lock perhaps not: start nothing new. [`Event::Resumed`] or [`Event::Lost`] follows.
    Suspended,
    /// The lock is held as before.
    Resumed {
        /// Until when the grant is valid.
        valid_until: Option<Instant>,
    },
    /// The grant is a reader's from now on, with the fence it had: others may share the lock.
    Downgraded,
    /// Somebody would like to have the lock: it may be released, or kept (Curator's revocation, which asks and does not force). Told once a grant.
    RevokeRequested,
    /// A contender of a layout that does not look for ours is in the lock's directory: it is waited for if it came earlier, but it may be
    /// granted the lock while we hold it. Told once an acquire.
    MixedLayouts {
        /// The name of its node.
        node: String,
    },
    /// What an inspection has found: the contenders, or the one that was meant.
    Found {
        /// In no particular order.
        contenders: Vec<Found>,
    },
    /// The grant has ended without a release. Somebody else may hold the lock.
    Lost {
        /// Why.
        reason: Loss,
        /// What brought it to light.
        cause: Cause,
    },
    /// The release has been carried out: the server has said so, or the session that held the lock is over.
    Released,
    /// An acquire has come to nothing; or a release has been refused, and the lock goes with its session or lease; or a downgrade has been
    /// refused, and the grant stays what it was.
    Refused {
        /// Why.
        reason: Refusal,
        /// What brought it to light.
        cause: Cause,
    },
}

impl Event {
    /// The kebab-case name, the same in every language.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Queued { .. } => "queued",
            Self::Acquired { .. } => "acquired",
            Self::Extended { .. } => "extended",
            Self::Suspended => "suspended",
            Self::Resumed { .. } => "resumed",
            Self::Downgraded => "downgraded",
            Self::RevokeRequested => "revoke-requested",
            Self::MixedLayouts { .. } => "mixed-layouts",
            Self::Found { .. } => "found",
            Self::Lost { .. } => "lost",
            Self::Released => "released",
            Self::Refused { .. } => "refused",
        }
    }
}

/// A contender, as an inspection has found it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Found {
    /// Its node's path.
    pub node: String,
    /// Whether it holds (at the moment of the list). Of a semaphore, permits that went while the others were being read are not counted. After a
    /// break or a wish it is `false`: nobody has looked at the others.
    pub holds: bool,
    /// Whether it shares the lock with others of its kind: a reader.
    pub shared: bool,
    /// The session that its node goes with.
    pub session: SessionId,
    /// Since when it contends, by the server's clock: milliseconds since 1970.
    pub since: i64,
    /// The fence that it has, or would have.
    pub fence: Fence,
    /// What its node says: a host's name, for example.
    pub identifier: String,
}

/// The right to hold a lock, from `Acquired` to `Released` or `Lost`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Grant {
    /// Which attempt it was given to.
    pub attempt: AttemptId,
    /// Its number, where the backend can give one. Present it to the resource, which refuses lower ones.
    pub fence: Option<Fence>,
    /// When it stops being valid unless it is renewed; `None` where there is no lease.
    pub valid_until: Option<Instant>,
}

impl Grant {
    /// Whether the grant is still valid, by the caller's clock alone: right also straight after a suspend.
    #[must_use]
    pub fn is_valid(&self, now: Instant) -> bool {
        self.valid_until.is_none_or(|until| now < until)
    }

    /// How long it stays valid; `None` where there is no lease.
    #[must_use]
    pub fn remaining(&self, now: Instant) -> Option<Duration> {
        self.valid_until.map(|until| until.since(now))
    }
}

/// What brought a refusal or a loss to light. The driver finds its native error by the command.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Cause {
    /// The command whose outcome or watch it was, if it was one.
    pub command: Option<CommandId>,
    /// What the server said, or which value is in the way; for people.
    pub detail: Option<String>,
}

impl Cause {
    pub(crate) const fn none() -> Self {
        Self {
            command: None,
            detail: None,
        }
    }

    pub(crate) const fn command(id: CommandId) -> Self {
        Self {
            command: Some(id),
            detail: None,
        }
    }

    pub(crate) const fn detail(detail: String) -> Self {
        Self {
            command: None,
            detail: Some(detail),
        }
    }

    pub(crate) const fn answer(id: CommandId, detail: String) -> Self {
        Self {
            command: Some(id),
            detail: Some(detail),
        }
    }
}

macro_rules! reasons {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $code:literal, $kebab:literal, $text:literal;)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, thiserror::Error)]
        #[error("{}", self.message())]
        #[non_exhaustive]
        pub enum $name {
            $($(#[$variant_doc])* $variant,)*
        }

        impl $name {
            /// The number, the same in every language.
            #[must_use]
            pub const fn code(self) -> u16 {
                match self { $(Self::$variant => $code,)* }
            }

            /// The kebab-case name, the same in every language.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $kebab,)* }
            }

            /// What it says to people.
            #[must_use]
            pub const fn message(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }

            /// All there are, in the order of their numbers.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];
        }

    };
}

reasons! {
    /// Why an acquire came to nothing, or a release was refused.
    Refusal {
        /// The caller's patience has ended while somebody else held the lock.
        Timeout = 301, "timeout", "another contender held the lock until this acquire timed out";
        /// A try found the lock held.
        NotAvailable = 302, "not-available", "another contender holds the lock";
        /// The application has cancelled the acquire.
        Cancelled = 303, "cancelled", "the acquire was cancelled";
        /// No server has answered in time.
        Unreachable = 304, "unreachable", "no server answered in time";
        /// The server does not let this client do what the lock needs.
        NoPermission = 305, "no-permission", "the server denies this client a right that the lock needs";
        /// The server has refused the client's credentials.
        AuthFailed = 306, "auth-failed", "the server has refused the client's credentials";
        /// The directory above the lock does not exist and cannot be made (a missing chroot, for example).
        NoParent = 307, "no-parent", "the directory above the lock is missing and cannot be created";
        /// Not given any more: contenders of other layouts are waited for, and told of by [`Event::MixedLayouts`].
        MixedLayouts = 308, "mixed-layouts", "a contender of another layout is in the lock's directory";
        /// The directory's 32-bit sequence is at its end, where real servers hand out numbers twice.
        SequenceExhausted = 309, "sequence-exhausted", "the sequence numbers of the lock's directory are used up: delete the directory while no client uses it, or choose another name";
        /// The key holds something that is not a lock of this layout.
        WrongType = 310, "wrong-type", "the lock's key holds a value of another type: choose another name";
        /// The server lacks what the lock needs.
        Unsupported = 311, "unsupported", "the server lacks a feature that the lock needs";
        /// The server answered with another error, and would again.
        ServerError = 312, "server-error", "the server answered with an error";
        /// The connection has been closed for good.
        ConnectionClosed = 313, "connection-closed", "the connection has been closed";
        /// The attempt had been given up before this acquire reached the server.
        GivenUp = 314, "given-up", "the attempt was abandoned before this request reached the server";
        /// The semaphore has another number of permits.
        InconsistentPermits = 315, "inconsistent-permits", "permit count mismatch: all clients of a semaphore must use the same number of permits";
        /// The contender that was meant is not there.
        NoContender = 316, "no-contender", "this contender no longer exists";
    }
}

reasons! {
    /// Why a grant has ended without a release.
    Loss {
        /// Its time has run out: by this client's clock it could no longer be renewed or confirmed.
        LeaseEnded = 401, "lease-ended", "the lease ended before it could be renewed";
        /// The server has ended the session that held it.
        SessionExpired = 402, "session-expired", "the server has ended the session";
        /// Somebody has deleted what the lock wrote (an operator, or a forced release).
        Deleted = 403, "deleted", "the lock was deleted on the server";
        /// Somebody else holds it.
        Taken = 404, "taken", "another contender holds the lock";
        /// The cap on the whole hold was reached.
        MaxHold = 405, "max-hold", "the longest hold allowed was reached";
        /// The connection has been closed for good.
        ConnectionClosed = 406, "lost-connection-closed", "the connection has been closed";
        /// The server no longer lets this client renew or read its lock.
        Refused = 407, "renewal-refused", "the server has refused to renew the lock";
    }
}
