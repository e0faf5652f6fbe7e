//! The contract between a machine and its driver: inputs and outputs.

use core::fmt::Debug;

use crate::{CommandId, Instant, Misuse};

/// An output of [`Machine::poll_output`]: queued commands and events one by one, then [`Wait`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Output<Q, E> {
    /// Carry out this command, and pass its outcome to [`Machine::handle_outcome`].
    Command(Command<Q>),
    /// Pass this event to the application.
    Event(E),
    /// No output is left. Wait for the next input, or call [`Machine::handle_timeout`] at the given time.
    Wait(Wait),
}

impl<Q, E> Output<Q, E> {
    /// Converts the request into another form.
    #[must_use]
    pub fn with_request<R: From<Q>>(self) -> Output<R, E> {
        match self {
            Self::Command(Command {
                id,
                target,
                deadline,
                request,
            }) => Output::Command(Command {
                id,
                target,
                deadline,
                request: request.into(),
            }),
            Self::Event(event) => Output::Event(event),
            Self::Wait(wait) => Output::Wait(wait),
        }
    }
}

/// There is nothing to do before the next input or the given time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Wait {
    /// When to call [`Machine::handle_timeout`] at the latest; `None`: only an input can change the state.
    pub until: Option<Instant>,
    /// The timer's purpose, for logs and transcripts.
    pub reason: Option<Timer>,
}

impl Wait {
    /// Returns the wait that ends earlier.
    pub(crate) fn or_earlier(self, other: Self) -> Self {
        match (self.until, other.until) {
            (Some(ours), Some(theirs)) if theirs < ours => other,
            (None, Some(_)) => other,
            _ => self,
        }
    }
}

/// The purpose of a timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Timer {
    /// When the acquire's timeout expires. On ZooKeeper the timer then starts again, for the deletion of the node. When
    /// it expires again, the machine reports the refusal, even if the node may still exist.
    AcquireTimeout,
    /// When to retry a command that failed.
    Retry,
    /// When to check again on the server whether the lock is free or still held. Redis does not announce expiry or the
    /// releases of foreign holders. ZooKeeper sends no notice to a client that has lost the right to read. A client
    /// library can lose a notice.
    Poll,
    /// When to renew a lease or confirm a session.
    Renew,
    /// When the present grant stops being valid.
    Validity,
    /// When the grant reaches `max_hold`, the longest hold allowed.
    MaxHold,
    /// When to give up a shared resource that no machine uses any more.
    Linger,
}

impl Timer {
    /// The kebab-case name, the same in every language.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::AcquireTimeout => "acquire-timeout",
            Self::Retry => "retry",
            Self::Poll => "poll",
            Self::Renew => "renew",
            Self::Validity => "validity",
            Self::MaxHold => "max-hold",
            Self::Linger => "linger",
        }
    }
}

/// A command for the driver.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Command<Q> {
    /// Identifies the command in its outcome and in notices.
    pub id: CommandId,
    /// Which connection has to send the command.
    pub target: Target,
    /// When the machine stops waiting for the outcome. The driver may use it as a timeout; the machine has its own
    /// timer.
    pub deadline: Option<Instant>,
    /// The request to the server.
    pub request: Q,
}

/// Which connection has to send a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Target {
    /// Any connection of the client.
    Any,
    /// The n-th server of a quorum, from 0.
    Server(u32),
    /// One connection that is reserved for this machine as long as the machine exists.
    Own,
}

/// The outcome of a command.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Outcome<R> {
    /// The server answered, possibly with an error. The core interprets errors.
    Reply(R),
    /// There is no answer.
    Failed(Failure),
}

/// Why there is no answer. The core always keeps the difference between "not executed" and "perhaps executed" (Jepsen's
/// `:fail` and `:info`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Failure {
    /// The client library did not send the command, so the server did not execute it. A retry may succeed.
    NotSent,
    /// In doubt: the server may have executed the command, or may still execute it.
    Unknown,
    /// The command was not sent, and no later command will be: the connection has been closed for good.
    Closed,
}

impl Failure {
    /// The kebab-case name, the same in every language.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::NotSent => "not-sent",
            Self::Unknown => "unknown",
            Self::Closed => "closed",
        }
    }

    /// The failure with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::NotSent, Self::Unknown, Self::Closed]
            .into_iter()
            .find(|failure| failure.name() == name)
    }
}

/// One sans-IO state machine: one contender for one lock.
///
/// - **Inputs**: the `handle_*` methods, in any order. `now` is the present time.
/// - **Outputs**: [`poll_output`](Self::poll_output), until it returns [`Output::Wait`].
///
/// A driver has three duties: `now` never goes back, the driver takes all outputs after an input, and it reports at
/// most one outcome for each command. The trait is sealed: applications drive a machine through a
/// [`Hub`](crate::hub::Hub).
pub trait Machine: sealed::Sealed {
    /// A request of this machine to its server.
    type Request: Clone + Debug;
    /// An answer of its server.
    type Reply: Clone + Debug;
    /// A notice that its server or connection sends without a request.
    type Notice: Clone + Debug;
    /// An event for the application.
    type Event: Clone + Debug;

    /// Reports the outcome of a command. A late or repeated outcome changes nothing.
    ///
    /// # Errors
    /// [`Misuse::WrongReply`] for a reply of the wrong shape. The command then counts as [`Failure::Unknown`].
    fn handle_outcome(
        &mut self,
        now: Instant,
        id: CommandId,
        outcome: Outcome<Self::Reply>,
    ) -> Result<(), Misuse>;

    /// Reports a notice of the server or the connection. A notice may arrive before the answer to its own command,
    /// twice, or never.
    ///
    /// # Errors
    /// [`Misuse`] if the notice names a command that was never issued.
    fn handle_notice(&mut self, now: Instant, notice: Self::Notice) -> Result<(), Misuse>;

    /// Reports that time has passed. Early and repeated calls change nothing.
    fn handle_timeout(&mut self, now: Instant);

    /// Takes the next command or event. When none is left, returns the same [`Wait`] until the next input.
    #[must_use]
    fn poll_output(&mut self) -> Output<Self::Request, Self::Event>;
}

pub(crate) mod sealed {
    #[expect(unnameable_types, reason = "that is what seals the traits")]
    pub trait Sealed {}
}
