//! The interfaces between a driver and the engine. The contract is in docs/reference/drivers.md.

use alloc::sync::Arc;
use core::{
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};

use fencepost_core::{
    Command, CommandId, Instant, Key, Refusal,
    lowered::{Notice, Outcome, Request},
};
use futures_util::future::BoxFuture;

use crate::Native;

/// Carries out commands with one client library.
pub(crate) trait Driver: Send + Sync {
    /// Starts a command. Where order matters it has been handed to the client library on return; elsewhere when it is first polled. Called
    /// under the engine's lock, so it neither blocks nor calls back.
    fn start(&self, command: Command<Request>) -> BoxFuture<'static, Completed>;

    /// Everything polled has been started, and the engine's lock is free.
    fn flush(&self) {}
}

/// Makes and watches a connection: run in the client's background task.
pub(crate) trait ConnectionTask: Send + Sync {
    /// Connects, reconnects, and passes the server's notices on. Ends when nothing will come any more.
    fn run(self: Arc<Self>, sink: Arc<dyn Sink>) -> BoxFuture<'static, ()>;

    /// Gives the connection up. One that was made for this client is closed when this ends, which is by `limit` if it can be.
    fn finish(self: Arc<Self>, limit: Instant) -> BoxFuture<'static, ()>;
}

/// Where a driver reports outcomes and notices: the engine.
pub(crate) trait Sink: Send + Sync {
    /// The connection is made.
    fn connected(&self);

    /// The connection cannot be made, or is lost. The driver tries again.
    fn connection_failed(&self, native: Native);

    /// The connection is refused, or is over for good: acquires are refused with this until there is one again.
    fn rejected(&self, reason: Refusal, native: Native);

    /// The client library cannot carry out a call. A retry would fail in the same way, so everything ends at once.
    #[cfg(feature = "zookeeper")]
    fn fail(&self, native: Native);

    /// A notice of the server or of the connection.
    fn notice(&self, notice: Notice);

    /// All commands in flight are in doubt: their connection is gone.
    #[cfg(feature = "zookeeper")]
    fn fail_in_flight(&self);

    /// The hub has something to poll, because of another one on its server.
    fn wake(&self);
}

/// The outcome of a command, or the event of a watch.
pub(crate) enum Completed {
    /// A command's outcome.
    Outcome {
        id: CommandId,
        outcome: Outcome,
        /// The client library's error, if it gave one.
        native: Option<Native>,
        /// The watch that the command has set.
        watch: Option<BoxFuture<'static, Notice>>,
    },
    /// The event of a watch.
    Notice(Notice),
    /// The client library could not carry out the call, and never will.
    #[cfg_attr(
        not(feature = "redis"),
        expect(dead_code, reason = "of the redis crate alone")
    )]
    Fault(Native),
    /// A watch that no machine needs any more.
    Nothing,
}

impl Completed {
    /// The outcome of a command that has set no watch.
    pub(crate) const fn outcome(id: CommandId, outcome: Outcome, native: Option<Native>) -> Self {
        Self::Outcome {
            id,
            outcome,
            native,
            watch: None,
        }
    }
}

/// A command or a watch in flight, with the key of its contender.
pub(crate) struct CommandFuture {
    pub(crate) key: Key,
    pub(crate) future: BoxFuture<'static, Completed>,
}

impl Future for CommandFuture {
    type Output = (Key, Completed);

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let key = self.key;
        self.future.as_mut().poll(cx).map(|completed| (key, completed))
    }
}
