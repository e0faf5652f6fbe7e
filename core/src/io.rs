//! The contract between a machine and its driver: what goes in, what comes out.

use core::fmt::Debug;

use crate::{CommandId, Instant, Misuse};

/// What [`Machine::poll_output`] gives: queued commands and events one by one, then [`Wait`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Output<Q, E> {
    /// Carry this out, and put what came of it into [`Machine::handle_outcome`].
    Command(Command<Q>),
    /// Tell this to the application.
    Event(E),
    /// Nothing is left: put the next input in, or call [`Machine::handle_timeout`] when the time has come.
    Wait(Wait),
}

impl<Q, E> Output<Q, E> {
    /// The same, of a driver that knows the request in another form.
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

/// Nothing to do before an input arrives or a time is reached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Wait {
    /// When to call [`Machine::handle_timeout`] at the latest; `None`: only an input can change anything.
    pub until: Option<Instant>,
    /// What the time is for, as a word for logs and transcripts.
    pub reason: Option<Timer>,
}

impl Wait {
    /// The one that ends earlier.
    pub(crate) fn or_earlier(self, other: Self) -> Self {
        match (self.until, other.until) {
            (Some(ours), Some(theirs)) if theirs < ours => other,
            (None, Some(_)) => other,
            _ => self,
        }
    }
}

/// What a machine waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Timer {
    /// When the caller's patience with an acquire ends; and then, on ZooKeeper, when a refusal is told though what was made may still be there.
    Patience,
    /// When to try again what a server or connection has failed.
    Retry,
    /// When to ask whether the lock has become free, or is held still: Redis announces neither expiry nor foreign releases, ZooKeeper nothing
    /// to whoever may not read any more, and a client library can lose an announcement.
    Poll,
    /// When to renew a lease or confirm a session.
    Renew,
    /// When the present grant stops being valid.
    Validity,
    /// When the cap on the whole hold is reached.
    MaxHold,
    /// When a shared resource that nobody uses any more is given back.
    Linger,
}

impl Timer {
    /// The kebab-case name, the same in every language.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Patience => "patience",
            Self::Retry => "retry",
            Self::Poll => "poll",
            Self::Renew => "renew",
            Self::Validity => "validity",
            Self::MaxHold => "max-hold",
            Self::Linger => "linger",
        }
    }
}

/// One thing for the driver to do.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Command<Q> {
    /// Names the command in its outcome and in notices.
    pub id: CommandId,
    /// Which connection has to carry it.
    pub target: Target,
    /// When the machine stops caring: advice for the driver. The machine's own timer decides.
    pub deadline: Option<Instant>,
    /// What to do.
    pub request: Q,
}

/// Which connection has to carry a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Target {
    /// Any connection of the client.
    Any,
    /// The n-th server of a quorum, from 0.
    Server(u32),
    /// One connection kept for this machine until its end.
    Own,
}

/// What came of a command.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Outcome<R> {
    /// The server answered: with an error, too. The core reads it.
    Reply(R),
    /// No answer.
    Failed(Failure),
}

/// Why there is no answer. The difference between "not done" and "perhaps done" is never given up
/// (Jepsen's `:fail` and `:info`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Failure {
    /// It never left the client's queue: certainly not executed. Trying again may help.
    NotSent,
    /// In doubt: perhaps executed, or still to be executed.
    Unknown,
    /// Not sent, and nothing ever will be: the connection has been closed for good.
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

    /// The failure of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::NotSent, Self::Unknown, Self::Closed]
            .into_iter()
            .find(|failure| failure.name() == name)
    }
}

/// One sans-IO state machine: one contender for one lock.
///
/// - **Push**: the `handle_*` methods. Any order is legal. `now` is the present time.
/// - **Pull**: [`poll_output`](Self::poll_output), until it gives [`Output::Wait`].
///
/// A driver has three duties: `now` does not go back, outputs are drained after an input, and each command
/// is answered at most once. The trait is sealed: a machine is driven through a [`Hub`](crate::hub::Hub).
pub trait Machine: sealed::Sealed {
    /// What this machine asks of its server.
    type Request: Clone + Debug;
    /// What its server answers.
    type Reply: Clone + Debug;
    /// What its server or connection says unasked.
    type Notice: Clone + Debug;
    /// What the application is told.
    type Event: Clone + Debug;

    /// Says what came of a command. A command settled before (a late or doubled outcome) changes nothing.
    ///
    /// # Errors
    /// [`Misuse::WrongReply`] for a reply that does not fit the command: the command then counts as
    /// [`Failure::Unknown`].
    fn handle_outcome(
        &mut self,
        now: Instant,
        id: CommandId,
        outcome: Outcome<Self::Reply>,
    ) -> Result<(), Misuse>;

    /// Says what the server or connection has announced. A notice may come before the reply of its own command,
    /// twice, or never.
    ///
    /// # Errors
    /// [`Misuse`] when the notice names a command that has never been issued.
    fn handle_notice(&mut self, now: Instant, notice: Self::Notice) -> Result<(), Misuse>;

    /// Says that time has passed. Early and repeated calls change nothing.
    fn handle_timeout(&mut self, now: Instant);

    /// Takes the next command or event, or says how long to wait: the same [`Wait`] again until something is put in.
    #[must_use]
    fn poll_output(&mut self) -> Output<Self::Request, Self::Event>;
}

pub(crate) mod sealed {
    #[expect(unnameable_types, reason = "that is what seals the traits")]
    pub trait Sealed {}
}
