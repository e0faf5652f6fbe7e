//! Events: what a machine reports to the application.

use alloc::{boxed::Box, string::String, vec::Vec};
use core::time::Duration;

use crate::{AttemptId, CommandId, Fence, Instant, SessionId, claim::Record};

/// An event for the application.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Event {
    /// The contender waits for the lock. `ahead` contenders come first, if the server keeps a queue.
    Queued {
        /// The number of contenders that come first; `None` if the server keeps no queue.
        ahead: Option<u32>,
    },
    /// This contender holds the lock.
    Acquired {
        /// The grant.
        grant: Grant,
    },
    /// The grant has been extended.
    Extended {
        /// Until when the grant is valid; `None` if there is no lease.
        valid_until: Option<Instant>,
    },
    /// The connection is lost; the lock may still be held. The holder should start no new work. [`Event::Resumed`] or
    /// [`Event::Lost`] follows.
    Suspended,
    /// The connection is back, and this contender still holds the lock.
    Resumed {
        /// Until when the grant is valid; `None` if there is no lease.
        valid_until: Option<Instant>,
    },
    /// The grant is now a reader's grant with the same fence. Other readers may share the lock.
    Downgraded,
    /// Another client requests the lock (Curator's revocation). The holder may release the lock or keep it. The machine
    /// reports this once per grant.
    RevokeRequested,
    /// A contender of another layout is in the lock's directory, and its layout ignores this contender's node. If the
    /// foreign contender came earlier, this contender waits for it. Nevertheless, the foreign contender may get the
    /// lock while this contender holds it. The machine reports this once per acquire.
    MixedLayouts {
        /// The name of the foreign contender's node.
        node: String,
    },
    /// The server has stored the result of a claim's operation. For an update: the record contains the value's new
    /// version.
    Completed {
        /// The stored record.
        record: Box<Record>,
    },
    /// The operation already has a result, so the application does not run it. Or the update was applied before.
    Replayed {
        /// The operation's record, with its result.
        record: Box<Record>,
    },
    /// The record of an operation or a value.
    Looked {
        /// The record; `None` if there is none.
        record: Option<Box<Record>>,
    },
    /// A sweep is done.
    Swept {
        /// How many records the sweep has deleted, including the records of updates' ids. The number is approximate if
        /// the connection was lost while other sweeps ran.
        deleted: u64,
    },
    /// The result of an inspection: all contenders, or the one that the inspection named.
    Found {
        /// The contenders, in no particular order.
        contenders: Vec<Found>,
    },
    /// The grant has ended without a release. Another contender may hold the lock.
    Lost {
        /// Why the grant ended.
        reason: Loss,
        /// The command or answer that showed the loss.
        cause: Cause,
    },
    /// The lock is released: the server has confirmed it, or the session that held the lock has ended.
    Released,
    /// An acquire failed. Or the server refused a release, and the lock stays until its session or lease ends. Or the
    /// server refused a downgrade, and the grant is unchanged.
    Refused {
        /// Why the request was refused.
        reason: Refusal,
        /// The command or answer that caused the refusal.
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
            Self::Completed { .. } => "completed",
            Self::Replayed { .. } => "replayed",
            Self::Looked { .. } => "looked",
            Self::Swept { .. } => "swept",
            Self::Found { .. } => "found",
            Self::Lost { .. } => "lost",
            Self::Released => "released",
            Self::Refused { .. } => "refused",
        }
    }

    /// Until when the grant is valid, if the event contains this time.
    pub(crate) const fn valid_until_mut(&mut self) -> Option<&mut Option<Instant>> {
        match self {
            Self::Acquired { grant } => Some(&mut grant.valid_until),
            Self::Extended { valid_until } | Self::Resumed { valid_until } => Some(valid_until),
            _ => None,
        }
    }
}

/// A contender that an inspection found. Redis stores no waiters, so there it is the holder.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Found {
    /// The contender's name on the server. ZooKeeper: the path of its node. Redis: the value of the lock's key, which
    /// is the holder's token.
    pub node: String,
    /// Whether the contender held the lock when the server listed the directory. For a semaphore, permits that were
    /// released while the inspection read the other permits are not counted, and a new holder is listed a second time,
    /// as a waiter, until the server has deleted its node in the queue. After a break or a revocation request this is
    /// `false`, because the inspection did not read the other contenders.
    pub holds: bool,
    /// Whether the contender is a reader, which shares the lock with other readers.
    pub shared: bool,
    /// ZooKeeper: the session that owns the node.
    pub session: Option<SessionId>,
    /// ZooKeeper: since when the contender has been in the directory, by the server's clock: milliseconds since 1970.
    pub since: Option<i64>,
    /// Redis: how long the lease still runs, unless the holder renews it; `None` if it has no end.
    pub expires_in: Option<Duration>,
    /// The fence of its grant, or the fence that it would get. Redis: 0 if the holder uses another library, which has
    /// no fences.
    pub fence: Fence,
    /// ZooKeeper: the text in its node, for example a host name.
    pub identifier: String,
}

/// The right to hold a lock, from `Acquired` to `Released` or `Lost`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Grant {
    /// The attempt that got the grant.
    pub attempt: AttemptId,
    /// The fence, if the backend provides one. Send it with each request to the resource, which rejects lower fences.
    pub fence: Option<Fence>,
    /// For a claim: how often other attempts took the operation over before this grant. The operation may have run that
    /// often. Otherwise 0.
    pub takeovers: u64,
    /// When the grant stops being valid unless it is renewed, at most until the end of `max_hold`; `None` if there is
    /// neither a lease nor a `max_hold`.
    pub valid_until: Option<Instant>,
}

impl Grant {
    /// Whether the grant is still valid. Only the caller's clock decides, so the result is also right immediately after
    /// a suspend.
    #[must_use]
    pub fn is_valid(&self, now: Instant) -> bool {
        self.valid_until.is_none_or(|until| now < until)
    }

    /// How long the grant stays valid; `None` if there is no lease.
    #[must_use]
    pub fn remaining(&self, now: Instant) -> Option<Duration> {
        self.valid_until.map(|until| until.since(now))
    }
}

/// What caused a refusal or a loss. The driver finds its native error by the command's id.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Cause {
    /// The command whose outcome or watch was the cause, if a command was the cause.
    pub command: Option<CommandId>,
    /// The server's message, or the value that is wrong; for people to read.
    pub detail: Option<String>,
    /// How long the lease of the contender that holds the lock or the claim still runs, if the server has reported it.
    pub retry_after: Option<Duration>,
    /// The present value, if the version that an update expected is not the present one.
    pub record: Option<Box<Record>>,
}

impl Cause {
    pub(crate) const fn none() -> Self {
        Self {
            command: None,
            detail: None,
            retry_after: None,
            record: None,
        }
    }

    pub(crate) const fn command(id: CommandId) -> Self {
        let mut cause = Self::none();
        cause.command = Some(id);
        cause
    }

    pub(crate) fn detail(detail: String) -> Self {
        Self {
            detail: Some(detail),
            ..Self::none()
        }
    }

    pub(crate) fn answer(id: CommandId, detail: String) -> Self {
        Self {
            detail: Some(detail),
            ..Self::command(id)
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

            /// The message for people.
            #[must_use]
            pub const fn message(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }

            /// All variants, in the order of their numbers.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];
        }

    };
}

reasons! {
    /// Why an acquire failed, or why a release or downgrade was refused.
    Refusal {
        /// The acquire's timeout expired while another contender held the lock.
        Timeout = 301, "timeout", "another contender held the lock until this acquire timed out";
        /// Another contender held the lock, and the acquire was nonblocking.
        NotAvailable = 302, "not-available", "another contender holds the lock";
        /// The application cancelled the acquire.
        Cancelled = 303, "cancelled", "the acquire was cancelled";
        /// No server answered within the acquire's timeout, or within `answer_within` for a nonblocking acquire. Or the
        /// client had lost the connection when the timeout expired, and could not know whether the lock was still held.
        Unreachable = 304, "unreachable", "no server answered in time";
        /// The server denies this client a right that the lock needs.
        NoPermission = 305, "no-permission", "the server denies this client a right that the lock needs";
        /// The server refused the client's credentials.
        AuthFailed = 306, "auth-failed", "the server has refused the client's credentials";
        /// The directory above the lock does not exist and cannot be created (a missing chroot, for example).
        NoParent = 307, "no-parent", "the directory above the lock is missing and cannot be created";
        /// No longer used: a contender waits for contenders of other layouts, and reports [`Event::MixedLayouts`].
        MixedLayouts = 308, "mixed-layouts", "a contender of another layout is in the lock's directory";
        /// The directory's 32-bit sequence is used up. At its end, real servers hand out the same number twice.
        SequenceExhausted = 309, "sequence-exhausted", "the sequence numbers of the lock's directory are used up: delete the directory while no client uses it, or choose another name";
        /// A key with this name, or its fence key, holds a value of another type.
        WrongType = 310, "wrong-type", "a key with this name, or its fence key, holds a value of another type: choose another name";
        /// The server lacks a feature that the lock needs.
        Unsupported = 311, "unsupported", "the server lacks a feature that the lock needs";
        /// The server answered with an error that a retry would not change.
        ServerError = 312, "server-error", "the server answered with an error";
        /// The connection has been closed for good.
        ConnectionClosed = 313, "connection-closed", "the connection has been closed";
        /// The client abandoned the attempt before this request reached the server.
        GivenUp = 314, "given-up", "the attempt was abandoned before this request reached the server";
        /// The semaphore uses another number of permits.
        InconsistentPermits = 315, "inconsistent-permits", "permit count mismatch: all clients of a semaphore must use the same number of permits";
        /// The contender that the inspection named does not exist.
        NoContender = 316, "no-contender", "this contender no longer exists";
        /// Another attempt runs the operation. Or its lease has ended, and the policy is to block.
        InProgress = 317, "in-progress", "another attempt runs this operation: try again later, or wait longer";
        /// The key belongs to an operation with another fingerprint or binding, or to a record of another kind.
        Mismatch = 318, "mismatch", "this key belongs to another operation, or to the same one with other arguments: use a new key for each operation";
        /// The lease of an earlier attempt has ended without a result, and the policy is not to run the operation again.
        Indeterminate = 319, "indeterminate", "an earlier attempt ended without a result, so the operation may have run: find out, then settle or forget its record";
        /// The token was never issued, or has expired.
        UnknownToken = 320, "unknown-token", "this token was never issued here, or has expired: issue a new one";
        /// The record cannot be read, so the operation does not run, and the record stays as it is.
        CorruptRecord = 321, "corrupt-record", "the record of this operation cannot be read: it is damaged, of a later version, or of another program";
        /// The value has another version than the update expects.
        Conflict = 322, "conflict", "the value has another version than this update expects: read it, and update it again";
        /// The record has changed since the operator read it.
        RecordChanged = 323, "record-changed", "the record has changed since it was read: look at it again";
    }
}

reasons! {
    /// Why a grant has ended without a release.
    Loss {
        /// The lease ended by this client's clock before the client could renew it or confirm the session.
        LeaseEnded = 401, "lease-ended", "the lease ended before it could be renewed";
        /// The server has ended the session that held the lock.
        SessionExpired = 402, "session-expired", "the server has ended the session";
        /// Another client deleted the lock's node or key (an operator, or a forced release).
        Deleted = 403, "deleted", "the lock was deleted on the server";
        /// Another contender holds the lock.
        Taken = 404, "taken", "another contender holds the lock";
        /// The grant reached `max_hold`, the longest hold allowed.
        MaxHold = 405, "max-hold", "the longest hold allowed was reached";
        /// The connection has been closed for good.
        ConnectionClosed = 406, "lost-connection-closed", "the connection has been closed";
        /// The server no longer lets this client renew or read its lock.
        Refused = 407, "renewal-refused", "the server has refused to renew the lock";
        /// Another attempt has taken the operation over.
        Superseded = 408, "superseded", "another attempt has taken the operation over";
        /// The claim has already ended: this attempt has stored a result.
        Completed = 409, "already-completed", "this attempt has stored a result already";
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ContenderId;

    #[test]
    fn a_grant_is_valid_until_its_end_and_not_at_it() {
        let contender = ContenderId([1; 16]);
        let mut grant = Grant {
            attempt: AttemptId { contender, number: 1 },
            fence: None,
            takeovers: 0,
            valid_until: Some(Instant::from_micros(30)),
        };
        let at = |micros| Instant::from_micros(micros);
        assert_eq!(
            [29, 30, 31].map(|now| grant.is_valid(at(now))),
            [true, false, false]
        );
        let left = |micros| Some(Duration::from_micros(micros));
        assert_eq!(
            [10, 30, 31].map(|now| grant.remaining(at(now))),
            [left(20), left(0), left(0)]
        );
        grant.valid_until = None;
        assert!(grant.is_valid(at(31)));
        assert_eq!(grant.remaining(at(31)), None);
    }
}
