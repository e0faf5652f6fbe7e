//! Errors of calls: [`ConfigError`] for wrong settings, [`Misuse`] for calls that the state does not allow. A failure
//! of the server or the network is not an error of a call. The machine reports it inside an event: see
//! [`Refusal`](crate::Refusal) and [`Loss`](crate::Loss).
//!
//! Every variant has a number and a kebab-case name. Both are the same in every language and never change. Numbers are
//! grouped by hundreds: settings 1xx, calls 2xx, refusals 3xx, losses 4xx. A retired number is never reused.

use alloc::{borrow::Cow, string::String};

use crate::text::{decimal, duration, quoted, quoted_whole};

/// A setting that is not valid. It is reported before any request is sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.message())]
#[non_exhaustive]
pub enum ConfigError {
    /// The name is empty.
    EmptyName,
    /// The server would refuse this name.
    InvalidName {
        /// The name as given.
        name: String,
        /// What the server does not accept, and what to do.
        why: &'static str,
    },
    /// A duration that has to be positive is zero or negative.
    NotPositive {
        /// Which setting.
        what: &'static str,
        /// The value in microseconds.
        micros: i64,
        /// Added to the message: what to do instead. May be empty.
        hint: &'static str,
    },
    /// A lease that is shorter than three times its margin, or than 5 ms.
    LeaseTooShort {
        /// The lease in microseconds.
        ttl: u64,
        /// The margin in microseconds.
        margin: u64,
        /// The shortest lease allowed with this margin, in microseconds.
        least: u64,
    },
    /// A duration longer than the maximum.
    TooLong {
        /// Which setting.
        what: &'static str,
        /// The value in microseconds.
        micros: u64,
        /// The maximum in microseconds.
        most: u64,
    },
    /// An address that cannot be parsed.
    InvalidUrl {
        /// The address as given, without its password.
        url: String,
        /// What is wrong, and what to do.
        why: String,
    },
    /// An address with an unknown scheme.
    UnknownScheme {
        /// The scheme as given.
        scheme: String,
    },
    /// An option that this kind of lock, server or address does not have.
    UnknownOption {
        /// The option as given.
        option: String,
        /// Where this option exists, and which options are allowed here.
        known: Cow<'static, str>,
    },
    /// An option with a value that is not valid.
    InvalidOption {
        /// The option.
        option: &'static str,
        /// The value as given.
        value: String,
        /// What is wrong, and what to do.
        why: &'static str,
    },
    /// Settings as data that cannot be parsed.
    Unreadable {
        /// The parser's message.
        why: String,
    },
}

impl ConfigError {
    /// The number, the same in every language.
    #[must_use]
    pub const fn code(&self) -> u16 {
        match self {
            Self::EmptyName => 101,
            Self::InvalidName { .. } => 102,
            Self::NotPositive { .. } => 103,
            Self::LeaseTooShort { .. } => 104,
            Self::TooLong { .. } => 105,
            Self::InvalidUrl { .. } => 106,
            Self::UnknownScheme { .. } => 107,
            Self::UnknownOption { .. } => 108,
            Self::Unreadable { .. } => 109,
            Self::InvalidOption { .. } => 110,
        }
    }

    /// The kebab-case name, the same in every language.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::EmptyName => "empty-name",
            Self::InvalidName { .. } => "invalid-name",
            Self::NotPositive { .. } => "not-positive",
            Self::LeaseTooShort { .. } => "lease-too-short",
            Self::TooLong { .. } => "too-long",
            Self::InvalidUrl { .. } => "invalid-url",
            Self::UnknownScheme { .. } => "unknown-scheme",
            Self::UnknownOption { .. } => "unknown-option",
            Self::Unreadable { .. } => "unreadable-settings",
            Self::InvalidOption { .. } => "invalid-option",
        }
    }

    /// The message for people.
    #[must_use]
    pub fn message(&self) -> String {
        match self {
            Self::EmptyName => "the name of a lock is empty: give it a name, such as \"stock/42\"".into(),
            Self::InvalidName { name, why } => ["invalid lock name ", &quoted(name), ": ", why].concat(),
            Self::NotPositive { what, micros, hint } => [
                what,
                " is ",
                &duration(micros.is_negative(), micros.unsigned_abs()),
                ": give a positive duration",
                hint,
            ]
            .concat(),
            Self::LeaseTooShort { ttl, margin, least } => [
                "a lease of ",
                &duration(false, *ttl),
                " is too short for a margin of ",
                &duration(false, *margin),
                ": give at least ",
                &duration(false, *least),
            ]
            .concat(),
            Self::TooLong { what, micros, most } => [
                what,
                " is ",
                &duration(false, *micros),
                ": the longest is ",
                &duration(false, *most),
            ]
            .concat(),
            Self::InvalidUrl { url, why } => {
                [&quoted_whole(url), " is not the address of a lock server: ", why].concat()
            }
            Self::UnknownScheme { scheme } => [
                "unknown scheme ",
                &quoted(scheme),
                ": use memory:, zk://HOST:PORT/PREFIX, redis://HOST:PORT or rediss://HOST:PORT",
            ]
            .concat(),
            Self::UnknownOption { option, known } => {
                ["unknown option ", &quoted(option), ": ", known].concat()
            }
            Self::InvalidOption { option, value, why } => {
                [option, " is ", &quoted(value), ": ", why].concat()
            }
            Self::Unreadable { why } => ["settings cannot be read: ", why].concat(),
        }
    }
}

/// A call that the present state does not allow. It changes nothing, with one exception: after a reply of the wrong
/// shape, the outcome of its command counts as unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.message())]
#[non_exhaustive]
pub enum Misuse {
    /// No machine has this key, or it has been closed.
    UnknownKey {
        /// The key as given.
        key: u64,
    },
    /// No command with this id has been issued.
    UnknownCommand {
        /// The id as given.
        id: u64,
    },
    /// The reply does not have the shape that the command requires. The outcome of the command counts as unknown.
    WrongReply {
        /// The command.
        id: u64,
        /// The shape that the command requires.
        expected: &'static str,
    },
    /// An acquire is in progress, the grant is still held, or the cleanup of the last attempt is in progress.
    Busy,
    /// This owner already waits for the lock, with another key.
    OwnerBusy,
    /// There is no grant to extend, release or downgrade: it was never acquired, has been released, or was lost.
    NotHeld,
    /// There is no acquire to cancel.
    NotWaiting,
    /// The hub has been shut down.
    Closed,
    /// An owner that holds the reader of a read/write lock acquires the writer: it would wait for itself.
    Upgrade,
    /// Only a writer's grant can be downgraded, and only once.
    NotAWriter,
    /// Only a claim can be completed or left.
    NotAClaim,
    /// Settings, an outcome or a notice of a family other than the hub's.
    WrongFamily {
        /// The hub's family.
        expected: &'static str,
    },
}

impl Misuse {
    /// The number, the same in every language.
    #[must_use]
    pub const fn code(&self) -> u16 {
        match self {
            Self::UnknownKey { .. } => 201,
            Self::UnknownCommand { .. } => 202,
            Self::WrongReply { .. } => 203,
            Self::Busy | Self::OwnerBusy => 204,
            Self::NotHeld => 205,
            Self::NotWaiting => 206,
            Self::Closed => 207,
            Self::WrongFamily { .. } => 208,
            Self::Upgrade => 209,
            Self::NotAWriter => 210,
            Self::NotAClaim => 211,
        }
    }

    /// The kebab-case name, the same in every language.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::UnknownKey { .. } => "unknown-key",
            Self::UnknownCommand { .. } => "unknown-command",
            Self::WrongReply { .. } => "wrong-reply",
            Self::Busy | Self::OwnerBusy => "busy",
            Self::NotHeld => "not-held",
            Self::NotWaiting => "not-waiting",
            Self::Closed => "client-closed",
            Self::WrongFamily { .. } => "wrong-family",
            Self::Upgrade => "upgrade",
            Self::NotAWriter => "not-a-writer",
            Self::NotAClaim => "not-a-claim",
        }
    }

    /// The message for people.
    #[must_use]
    pub fn message(&self) -> String {
        match self {
            Self::UnknownKey { key } => {
                ["no machine has key ", &decimal(*key), ": it was never opened, or has been closed"].concat()
            }
            Self::UnknownCommand { id } => ["command ", &decimal(*id), " has never been issued"].concat(),
            Self::WrongReply { id, expected } => Self::wrong_reply(*id, expected),
            Self::Busy => "this contender is busy: acquire again after it has been released and cleaned up, or open another one".into(),
            Self::OwnerBusy => "this owner is already waiting for the lock: wait for that acquire, or use another owner".into(),
            Self::NotHeld => "there is no grant: it was never acquired, has been released, or was lost".into(),
            Self::NotWaiting => "there is no acquire to cancel".into(),
            Self::Closed => "the client has been closed".into(),
            Self::Upgrade => "an owner that holds the reader cannot acquire the writer: it would wait for itself; release the reader first".into(),
            Self::NotAWriter => "only a writer's grant can be downgraded, and only once".into(),
            Self::NotAClaim => "only a claim can be completed or left: release a lock".into(),
            Self::WrongFamily { expected } => ["this hub accepts ", expected, " settings, replies and notices"].concat(),
        }
    }

    /// The message of [`WrongReply`](Self::WrongReply), for a binding that converts replies itself and so knows the
    /// expected shape.
    #[must_use]
    pub fn wrong_reply(id: u64, expected: &str) -> String {
        [
            "the reply to command ",
            &decimal(id),
            " has the wrong shape: expected ",
            expected,
            "; the command counts as unknown",
        ]
        .concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_misuse_has_a_number_a_name_and_a_message() {
        let (key, id, expected) = (7, 9, "data");
        for (misuse, code, name, says) in [
            (Misuse::UnknownKey { key }, 201, "unknown-key", "key 7"),
            (Misuse::UnknownCommand { id }, 202, "unknown-command", "command 9"),
            (Misuse::WrongReply { id, expected }, 203, "wrong-reply", "data"),
            (Misuse::Busy, 204, "busy", "contender is busy"),
            (Misuse::OwnerBusy, 204, "busy", "owner is already waiting"),
            (Misuse::NotHeld, 205, "not-held", "no grant"),
            (Misuse::NotWaiting, 206, "not-waiting", "no acquire"),
            (Misuse::Closed, 207, "client-closed", "closed"),
            (
                Misuse::WrongFamily { expected },
                208,
                "wrong-family",
                "data settings",
            ),
            (Misuse::Upgrade, 209, "upgrade", "release the reader first"),
            (Misuse::NotAWriter, 210, "not-a-writer", "only a writer's"),
            (Misuse::NotAClaim, 211, "not-a-claim", "only a claim"),
        ] {
            assert_eq!((misuse.code(), misuse.name()), (code, name));
            assert!(misuse.message().contains(says), "{misuse}");
        }
        assert_eq!(
            Misuse::wrong_reply(9, "data"),
            "the reply to command 9 has the wrong shape: expected data; the command counts as unknown"
        );
    }
}
