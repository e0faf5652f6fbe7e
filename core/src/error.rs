//! Errors, typed by who is to blame: [`ConfigError`] the settings, [`Misuse`] the call. What the world did is no error
//! of a call but a reason inside an event: see [`Refusal`](crate::Refusal) and [`Loss`](crate::Loss).
//!
//! Every variant has a number and a kebab-case name, the same in every language for ever. Numbers are grouped by
//! hundreds: settings 1xx, calls 2xx, refusals 3xx, losses 4xx. A retired number is never used again.

use alloc::string::String;

use crate::text::{decimal, quoted, quoted_whole, signed};

/// A setting that makes no sense. Raised before anything is sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.message())]
#[non_exhaustive]
pub enum ConfigError {
    /// A lock needs a name.
    EmptyName,
    /// The server would refuse this name.
    InvalidName {
        /// The name as given.
        name: String,
        /// What the server does not take, and what to do.
        why: &'static str,
    },
    /// A duration that has to be positive is zero or negative.
    NotPositive {
        /// Which setting.
        what: &'static str,
        /// The value in microseconds.
        micros: i64,
        /// What to do instead, or nothing.
        hint: &'static str,
    },
    /// A lease so short that hardly anything is left of it after drift and margin.
    LeaseTooShort {
        /// The lease in microseconds.
        ttl: u64,
        /// The margin in microseconds.
        margin: u64,
        /// The shortest lease that goes with this margin, in microseconds.
        least: u64,
    },
    /// A duration beyond what servers take.
    TooLong {
        /// Which setting.
        what: &'static str,
        /// The value in microseconds.
        micros: u64,
        /// The longest that is taken, in microseconds.
        most: u64,
    },
    /// An address that cannot be read.
    InvalidUrl {
        /// The address as given, without its password.
        url: String,
        /// What is wrong, and what to do.
        why: String,
    },
    /// A kind of server that fencepost does not know.
    UnknownScheme {
        /// The scheme as given.
        scheme: String,
    },
    /// An option that this kind of address does not have.
    UnknownOption {
        /// The option as given.
        option: String,
        /// Which options there are.
        known: &'static str,
    },
    /// An option with a value that makes no sense.
    InvalidOption {
        /// The option.
        option: &'static str,
        /// The value as given.
        value: String,
        /// What is wrong, and what to do.
        why: &'static str,
    },
    /// Settings in a form that cannot be read.
    Unreadable {
        /// What the reader said.
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

    /// What it says to people.
    #[must_use]
    pub fn message(&self) -> String {
        match self {
            Self::EmptyName => "the name of a lock is empty: give it a name, such as \"stock/42\"".into(),
            Self::InvalidName { name, why } => ["invalid lock name ", &quoted(name), ": ", why].concat(),
            Self::NotPositive { what, micros, hint } => [
                what,
                " is ",
                &signed(*micros),
                " µs: give a positive duration",
                hint,
            ]
            .concat(),
            Self::LeaseTooShort { ttl, margin, least } => [
                "a lease of ",
                &decimal(*ttl),
                " µs is too short: less than half of it would be left after drift and a margin of ",
                &decimal(*margin),
                " µs; give at least ",
                &decimal(*least),
                " µs",
            ]
            .concat(),
            Self::TooLong { what, micros, most } => [
                what,
                " is ",
                &decimal(*micros),
                " µs: the longest is ",
                &decimal(*most),
                " µs",
            ]
            .concat(),
            Self::InvalidUrl { url, why } => {
                [&quoted_whole(url), " is no address of a lock server: ", why].concat()
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

/// A call that makes no sense in the present state. It has changed nothing (a reply of the wrong shape excepted:
/// it settles its command as unknown).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.message())]
#[non_exhaustive]
pub enum Misuse {
    /// No machine has this key, or it has been closed.
    UnknownKey {
        /// The key as given.
        key: u64,
    },
    /// No command has had this id yet.
    UnknownCommand {
        /// The id as given.
        id: u64,
    },
    /// The reply has not the shape that the command asks for. The command counts as of unknown outcome.
    WrongReply {
        /// The command.
        id: u64,
        /// The shape that would fit.
        expected: &'static str,
    },
    /// An acquire is under way, or the grant is still held, or the last attempt is still being cleaned up.
    Busy,
    /// There is no grant to extend or release: never acquired, released before, or lost.
    NotHeld,
    /// There is no acquire to cancel.
    NotWaiting,
    /// The hub has been shut down.
    Closed,
    /// A share of a read/write lock, whose owner asks for all of it: it would wait for itself.
    Upgrade,
    /// Only a writer's grant can be turned into a reader's, and only once.
    NotAWriter,
    /// Settings, an outcome or a notice of another family than the hub's.
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
            Self::Busy => 204,
            Self::NotHeld => 205,
            Self::NotWaiting => 206,
            Self::Closed => 207,
            Self::WrongFamily { .. } => 208,
            Self::Upgrade => 209,
            Self::NotAWriter => 210,
        }
    }

    /// The kebab-case name, the same in every language.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::UnknownKey { .. } => "unknown-key",
            Self::UnknownCommand { .. } => "unknown-command",
            Self::WrongReply { .. } => "wrong-reply",
            Self::Busy => "busy",
            Self::NotHeld => "not-held",
            Self::NotWaiting => "not-waiting",
            Self::Closed => "client-closed",
            Self::WrongFamily { .. } => "wrong-family",
            Self::Upgrade => "upgrade",
            Self::NotAWriter => "not-a-writer",
        }
    }

    /// What it says to people.
    #[must_use]
    pub fn message(&self) -> String {
        match self {
            Self::UnknownKey { key } => {
                ["no machine has key ", &decimal(*key), ": it was never opened, or has been closed"].concat()
            }
            Self::UnknownCommand { id } => ["command ", &decimal(*id), " has never been issued"].concat(),
            Self::WrongReply { id, expected } => Self::wrong_reply(*id, expected),
            Self::Busy => "this contender is busy: acquire again after it has been released and cleaned up, or open another one".into(),
            Self::NotHeld => "there is no grant: it was never acquired, has been released, or was lost".into(),
            Self::NotWaiting => "there is no acquire to cancel".into(),
            Self::Closed => "the client has been closed".into(),
            Self::Upgrade => "an owner that holds the reader cannot acquire the writer: it would wait for itself; release the reader first".into(),
            Self::NotAWriter => "only a writer's grant can be downgraded, and only once".into(),
            Self::WrongFamily { expected } => ["this hub takes ", expected, " settings, replies and notices"].concat(),
        }
    }

    /// What [`WrongReply`](Self::WrongReply) says, of a shape that only whoever converts replies knows.
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
