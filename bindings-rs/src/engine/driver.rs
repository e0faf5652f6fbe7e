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
    /// Starts a command. If the order matters, the client library has the command when this returns; otherwise, when
    /// the future is first polled. The engine calls this under its lock, so this must not block or call the engine.
    fn start(&self, command: Command<Request>) -> BoxFuture<'static, Completed>;

    /// The engine calls this without its lock, after it has started all commands of a poll.
    fn flush(&self) {}
}

/// Makes and watches a connection. It runs in the client's background task.
pub(crate) trait ConnectionTask: Send + Sync {
    /// Connects, reconnects, and passes the server's notices on. Ends when no more notices can come.
    fn run(self: Arc<Self>, sink: Arc<dyn Sink>) -> BoxFuture<'static, ()>;

    /// Stops using the connection. If the driver made it, it is closed when this completes: by `limit`, if possible.
    fn finish(self: Arc<Self>, limit: Instant) -> BoxFuture<'static, ()>;
}

/// Where a driver reports outcomes and notices: the engine.
pub(crate) trait Sink: Send + Sync {
    /// The connection is made.
    fn connected(&self);

    /// The driver cannot connect, or has lost the connection. It retries.
    fn connection_failed(&self, native: Native);

    /// The server has refused the connection, or the connection has ended for good. The client refuses acquires with
    /// this reason until there is a connection again.
    fn rejected(&self, reason: Refusal, native: Native);

    /// The client library cannot carry out a call. A retry would fail in the same way, so everything ends at once.
    #[cfg(feature = "zookeeper")]
    fn fail(&self, native: Native);

    /// A notice of the server or of the connection.
    fn notice(&self, notice: Notice);

    /// The outcome of all commands in flight is unknown: their connection has ended.
    #[cfg(feature = "zookeeper")]
    fn fail_in_flight(&self);

    /// Another hub on the same server has caused outputs of this hub.
    fn wake(&self);
}

/// The outcome of a command, or the event of a watch.
pub(crate) enum Completed {
    /// A command's outcome.
    Outcome {
        id: CommandId,
        outcome: Outcome,
        /// The client library's error, if any.
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
