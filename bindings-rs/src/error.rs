//! Errors, by their cause: the arguments, the call, the server, or the client library.

use alloc::sync::Arc;
use core::{error, fmt, time::Duration};

use fencepost_core::{Cause, ConfigError, Loss, Misuse, Refusal, claim::Record};

/// The error of a client library, unchanged: [`zookeeper_client::Error`](https://docs.rs/zookeeper-client) or
/// [`redis::RedisError`](https://docs.rs/redis). It is the [`source`](error::Error::source) of the client's error.
pub type Native = Arc<dyn error::Error + Send + Sync>;

/// All errors of a client. Each has a number and a name, which are the same in every language.
///
/// `Debug` shows the same text as `Display`, as for all errors here. So if `main` returns the error, it prints a
/// sentence.
#[derive(Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A setting or an argument is not valid (1xx). The client has sent nothing.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The present state does not allow the call (2xx): the client has been closed, for example.
    #[error(transparent)]
    Misuse(#[from] Misuse),
    /// Another acquire of the same [owner](crate::LockOptions::owner) already waits for this lock (204).
    #[error(
        "the owner {owner:?} is already waiting for this lock: wait for that acquire, or give this one an owner of its own"
    )]
    OwnerBusy {
        /// The owner that waits.
        owner: String,
    },
    /// A connect, an acquire or a release has failed (3xx).
    #[error(transparent)]
    Refused(#[from] Refused),
    /// The grant has ended without a release (4xx). Another contender may hold the lock.
    #[error(transparent)]
    Lost(#[from] Lost),
    /// The server has not confirmed a release within 5 s (501). The client retries the release in the background. The
    /// lock ends with its lease or session at the latest.
    #[error(
        "lock {lock:?}: the server has not confirmed the release within 5 s: the client continues in the background"
    )]
    ReleaseUnconfirmed {
        /// The lock's name.
        lock: Shown,
    },
    /// A forked process uses a client or grant of its parent (502). The runtime, the connection and the place in the
    /// queue belong to the parent. Make a new client in the child.
    #[error("it was made in another process, before a fork: make a client in each process")]
    WrongProcess,
    /// The server has not confirmed the end of some contenders of a closed client (503). They end with their leases or
    /// the session.
    #[error(
        "the server has not confirmed the end of {left} contender{} of this client: until their leases or the session end, other clients may wait for them", if *left == 1 { "" } else { "s" }
    )]
    CleanupIncomplete {
        /// The number of these contenders.
        left: usize,
    },
    /// A client was made outside of a tokio runtime, or in one without timers or I/O (504). Tokio writes to standard
    /// error which of them is missing.
    #[error(
        "there is no tokio runtime with timers and sockets here: make the client inside of one that was built with enable_all, and keep it running"
    )]
    NoRuntime,
    /// The operating system returns no random bytes, which identify contenders (505).
    #[error("the operating system gives no random bytes: contenders could not be told apart")]
    NoRandomness,
    /// The client library failed (506): it refused a call as invalid, or a connection of the program returned values of
    /// a wrong type. A retry would fail in the same way, so the client has ended, with all its grants and acquires.
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

/// The client library failed. Its error is the [`source`](error::Error::source).
#[derive(Clone)]
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

/// The stored result of an operation is an error, which an earlier attempt [stored](crate::OnError::Store) (507). It
/// has the text of that error.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct StoredError {
    text: String,
}

impl StoredError {
    pub(crate) fn new(result: &[u8]) -> Self {
        let text = String::from_utf8_lossy(result).into_owned();
        Self { text }
    }

    /// The number, the same in every language.
    #[must_use]
    pub const fn code(&self) -> u16 {
        507
    }

    /// The kebab-case name, the same in every language.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        "stored-error"
    }

    /// The text of the error that was stored.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// The name of a lock or an operation in errors: its first 64 characters.
#[derive(Clone, PartialEq, Eq)]
pub struct Shown {
    of: &'static str,
    name: Arc<str>,
}

impl Shown {
    const LONGEST: usize = 64;

    pub(crate) fn lock(name: &str) -> Self {
        Self::new("lock", name)
    }

    pub(crate) fn operation(scope: &str, key: &str) -> Self {
        Self::new("operation", &format!("{scope}/{key}"))
    }

    pub(crate) fn scope(scope: &str) -> Self {
        Self::new("scope", scope)
    }

    fn new(of: &'static str, name: &str) -> Self {
        let name = match name.char_indices().nth(Self::LONGEST) {
            Some((end, _)) => format!("{}…", &name[..end]).into(),
            None => name.into(),
        };
        Self { of, name }
    }

    /// The kind of object that has the name: `lock`, `operation` or `scope`.
    #[cfg(feature = "tracing")]
    pub(crate) const fn of(&self) -> &'static str {
        self.of
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.name
    }
}

impl fmt::Debug for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.name, f)
    }
}

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

macro_rules! reasoned {
    ($(#[$doc:meta])* $name:ident, $reason:ident $(, $field:ident: $type:ty)*) => {
        $(#[$doc])*
        #[derive(Clone)]
        pub struct $name {
            reason: $reason,
            lock: Option<Shown>,
            detail: Option<String>,
            native: Option<Native>,
            $($field: $type,)*
        }

        impl $name {
            pub(crate) const fn new(reason: $reason, detail: Option<String>, native: Option<Native>) -> Self {
                Self { reason, lock: None, detail, native, $($field: None,)* }
            }

            /// Makes the error with the details of an event, and the client library's error.
            pub(crate) fn caused(reason: $reason, cause: Cause, native: Option<Native>) -> Self {
                Self {
                    $($field: cause.$field,)*
                    ..Self::new(reason, cause.detail, native)
                }
            }

            /// Adds the lock to the error.
            pub(crate) fn of(mut self, lock: &Shown) -> Self {
                self.lock = Some(lock.clone());
                self
            }

            /// The name of the lock or the operation, or the first 64 characters of it; `None` if the error is about no
            /// lock or operation.
            #[must_use]
            pub fn lock(&self) -> Option<&str> {
                self.lock.as_ref().map(Shown::as_str)
            }

            /// The reason.
            #[must_use]
            pub const fn reason(&self) -> $reason {
                self.reason
            }

            /// The server's message, or the value that is wrong; for people.
            #[must_use]
            pub fn detail(&self) -> Option<&str> {
                self.detail.as_deref()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                if let Some(lock) = &self.lock {
                    write!(f, "{} {lock:?}: ", lock.of)?;
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
    /// The failure of a connect, an acquire or a release. Its source is the client library's error, if there was one.
    Refused, Refusal, retry_after: Option<Duration>, record: Option<Box<Record>>
}

reasoned! {
    /// The end of a grant without a release. Its source is the client library's error, if there was one.
    Lost, Loss
}

/// The text of an error with the texts of its causes. The redis crate repeats the texts of its causes; here, each text
/// occurs once.
fn with_causes(error: &dyn error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.ends_with(&cause_text) {
            text = format!("{text}: {cause_text}");
        }
        source = cause.source();
    }
    text
}

macro_rules! debug_as_a_sentence {
    ($($name:ident)*) => {
        $(impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&with_causes(self))
            }
        })*
    };
}

debug_as_a_sentence! { Error DriverFailed StoredError Refused Lost }

impl Refused {
    /// The remaining lease of the holder or of the running attempt, if the server has reported it.
    #[must_use]
    pub const fn retry_after(&self) -> Option<Duration> {
        self.retry_after
    }

    /// The present value, after a [`Refusal::Conflict`].
    #[must_use]
    pub fn record(&self) -> Option<&Record> {
        self.record.as_deref()
    }
}
