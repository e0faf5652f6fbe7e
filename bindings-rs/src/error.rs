//! What can go wrong, typed by who is to blame.

use alloc::sync::Arc;
use core::{error, fmt};

use fencepost_core::{ConfigError, Loss, Misuse, Refusal};

/// The error of a client library, as it came: [`zookeeper_client::Error`](https://docs.rs/zookeeper-client) or
/// [`redis::RedisError`](https://docs.rs/redis). It is the [`source`](error::Error::source) of the error that it led to.
pub type Native = Arc<dyn error::Error + Send + Sync>;

/// Anything that a client can fail with. Each has a number and a name, the same in every language.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A setting or argument makes no sense (1xx). Nothing has been sent.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A call makes no sense now (2xx); the client has been closed, for example.
    #[error(transparent)]
    Misuse(#[from] Misuse),
    /// An owner acquires what another acquire of the same [owner](crate::LockOptions::owner) still waits for (204): which of them would
    /// contend, and with which patience?
    #[error(
        "the owner {owner:?} is already waiting for this lock: wait for that acquire, or give this one an owner of its own"
    )]
    OwnerBusy {
        /// Who waits.
        owner: String,
    },
    /// A connect, an acquire or a release has come to nothing (3xx).
    #[error(transparent)]
    Refused(#[from] Refused),
    /// The grant has ended without a release (4xx). Somebody else may hold the lock.
    #[error(transparent)]
    Lost(#[from] Lost),
    /// The server has not confirmed a release within 5 s (501). The client goes on releasing in the background; at the latest, the
    /// lock goes with its lease or session.
    #[error(
        "lock {lock:?}: the server has not confirmed the release within 5 s: the client goes on in the background"
    )]
    ReleaseUnconfirmed {
        /// The lock's name.
        lock: Shown,
    },
    /// A client or grant is used in a fork of the process that it was made in (502): its runtime, its connection and its place in the
    /// line are the other process's.
    #[error("it was made in another process, before a fork: make a client in each process")]
    WrongProcess,
    /// A closing client has had to leave something to leases and sessions (503).
    #[error(
        "{left} contenders stay on the server, which has not answered within 5 s or has refused: they go with their leases or their session"
    )]
    CleanupIncomplete {
        /// How many contenders the server has not answered for, or has refused to take back.
        left: usize,
    },
    /// A client was made outside of a tokio runtime, or in one that lacks timers or sockets (504). Tokio itself has said on standard error which.
    #[error(
        "there is no tokio runtime with timers and sockets here: make the client inside of one that was built with enable_all, and keep it running"
    )]
    NoRuntime,
    /// The operating system gives no random bytes, without which contenders could not be told apart (505).
    #[error("the operating system gives no random bytes: contenders could not be told apart")]
    NoRandomness,
    /// The client library could not be used (506): it has refused a call of ours as a wrong one, or a connection of your own has answered with
    /// another type than the server's. That would come again, so nothing is tried again: the client has ended with everything on it.
    #[error(transparent)]
    DriverFailed(#[from] DriverFailed),
}

impl Error {
    /// The number, the same in every language.
    #[must_use]
    pub const fn code(&self) -> u16 {
        match self {
            Self::Config(error) => error.code(),
            Self::Misuse(error) => error.code(),
            Self::OwnerBusy { .. } => Misuse::Busy.code(),
            Self::Refused(error) => error.reason.code(),
            Self::Lost(error) => error.reason.code(),
            Self::ReleaseUnconfirmed { .. } => 501,
            Self::WrongProcess => 502,
            Self::CleanupIncomplete { .. } => 503,
            Self::NoRuntime => 504,
            Self::NoRandomness => 505,
            Self::DriverFailed(_) => 506,
        }
    }

    /// The kebab-case name, the same in every language.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Config(error) => error.name(),
            Self::Misuse(error) => error.name(),
            Self::OwnerBusy { .. } => Misuse::Busy.name(),
            Self::Refused(error) => error.reason.name(),
            Self::Lost(error) => error.reason.name(),
            Self::ReleaseUnconfirmed { .. } => "release-unconfirmed",
            Self::WrongProcess => "wrong-process",
            Self::CleanupIncomplete { .. } => "cleanup-incomplete",
            Self::NoRuntime => "no-runtime",
            Self::NoRandomness => "no-randomness",
            Self::DriverFailed(_) => "driver-failed",
        }
    }
}

/// The client library could not be used. Its error is the [`source`](error::Error::source).
#[derive(Clone, Debug)]
pub struct DriverFailed(Native);

impl DriverFailed {
    pub(crate) const fn new(native: Native) -> Self {
        Self(native)
    }

    pub(crate) const fn native(&self) -> &Native {
        &self.0
    }
}

impl fmt::Display for DriverFailed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the client library could not be used ({}): use a version of it that this crate supports, and look at the connection if it is your own; then make a new client",
            self.0
        )
    }
}

impl error::Error for DriverFailed {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        Some(&*self.0)
    }
}

/// A lock's name as errors show it: its first 64 characters.
#[derive(Clone, PartialEq, Eq)]
pub struct Shown(Arc<str>);

impl Shown {
    const LONGEST: usize = 64;

    pub(crate) fn new(name: &str) -> Self {
        match name.char_indices().nth(Self::LONGEST) {
            Some((end, _)) => Self(format!("{}…", &name[..end]).into()),
            None => Self(name.into()),
        }
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

macro_rules! reasoned {
    ($(#[$doc:meta])* $name:ident, $reason:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug)]
        pub struct $name {
            reason: $reason,
            lock: Option<Shown>,
            detail: Option<String>,
            native: Option<Native>,
        }

        impl $name {
            pub(crate) const fn new(reason: $reason, detail: Option<String>, native: Option<Native>) -> Self {
                Self { reason, lock: None, detail, native }
            }

            /// The same of that lock.
            pub(crate) fn of(mut self, lock: &Shown) -> Self {
                self.lock = Some(lock.clone());
                self
            }

            /// The lock's name, or the first 64 characters of it; `None` if no lock was concerned.
            #[must_use]
            pub fn lock(&self) -> Option<&str> {
                self.lock.as_ref().map(Shown::as_str)
            }

            /// Why.
            #[must_use]
            pub const fn reason(&self) -> $reason {
                self.reason
            }

            /// What the server said, or which value is in the way; for people.
            #[must_use]
            pub fn detail(&self) -> Option<&str> {
                self.detail.as_deref()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                if let Some(lock) = &self.lock {
                    write!(f, "lock {lock:?}: ")?;
                }
                write!(f, "{}", self.reason)?;
                match &self.detail {
                    Some(detail) => write!(f, " ({detail})"),
                    None => Ok(()),
                }
            }
        }

        impl error::Error for $name {
            fn source(&self) -> Option<&(dyn error::Error + 'static)> {
                self.native.as_deref().map(|native| native as _)
            }
        }
    };
}

reasoned! {
    /// Why a connect, an acquire or a release has come to nothing. Its source is the client library's error, if there was one.
    Refused, Refusal
}

reasoned! {
    /// Why a grant has ended without a release. Its source is the client library's error, if there was one.
    Lost, Loss
}
