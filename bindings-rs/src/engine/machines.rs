//! The machines behind an engine: a hub with its driver, or a hub on a server inside the process.

use alloc::sync::Arc;
use core::{
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};

use fencepost_core::{
    Command, CommandId, ContenderId, Event, Instant, Intent, Key, Misuse, Output, Settings,
    lowered::{Hub, Notice, Outcome, Request},
};
use futures_util::future::BoxFuture;

use super::inputs::Engine;
use crate::Native;

/// Carries out commands with one client library.
pub(crate) trait Driver: Send + Sync {
    /// Starts a command. Where order matters it has been handed to the client library on return; elsewhere when it is first polled. Called
    /// under the engine's lock, so it neither blocks nor calls back.
    fn start(&self, command: Command<Request>) -> BoxFuture<'static, Completed>;
}

/// Makes and watches a connection: run in the client's background task.
pub(crate) trait ConnectionTask: Send + Sync {
    /// Connects, reconnects, and passes the server's notices to the engine. Ends when nothing will come any more.
    fn run(self: Arc<Self>, engine: Arc<Engine>) -> BoxFuture<'static, ()>;

    /// Gives the connection up. One that was made for this client is closed when this ends, which is by `limit` if it can be.
    fn finish(self: Arc<Self>, limit: Instant) -> BoxFuture<'static, ()>;
}

/// What has come of a command or a watch.
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
    /// What a watch has said.
    Notice(Notice),
    /// The client library could not carry out the call, and never will.
    #[cfg_attr(
        not(feature = "redis"),
        expect(dead_code, reason = "of the redis crate alone")
    )]
    Fault(Native),
    /// A watch that nobody needs any more.
    Nothing,
}

/// Something under way, and whose it is.
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

/// What machines give when polled.
pub(crate) enum Polled {
    /// A command, already on its way.
    Command(CommandId, CommandFuture),
    Event(Key, Event),
    /// Nothing left to do before that time.
    Wait(Option<Instant>),
}

/// The verbs of the core's hub, with commands carried out.
pub(crate) trait Machines: Send {
    fn open(
        &mut self,
        now: Instant,
        settings: &Settings,
        contender: ContenderId,
        seed: u64,
    ) -> Result<Key, Misuse>;
    fn intent(&mut self, now: Instant, key: Key, intent: Intent) -> Result<(), Misuse>;
    fn handle_outcome(&mut self, now: Instant, id: CommandId, outcome: Outcome) -> Result<(), Misuse>;
    fn handle_notice(&mut self, now: Instant, notice: Notice) -> Result<(), Misuse>;
    fn handle_timeout(&mut self, now: Instant);
    fn poll(&mut self, now: Instant) -> Polled;
    fn close(&mut self, now: Instant, key: Key);
    fn shutdown(&mut self, now: Instant);
    fn pending(&self) -> usize;
    /// How many grants have come to an end since the shutdown without being given back.
    fn unreleased(&self) -> usize;
    /// Other engines that have something to poll because of this one's doing.
    fn woken(&mut self) -> Vec<Arc<Engine>> {
        Vec::new()
    }
    /// Nothing will be put in any more.
    fn end(&mut self, _now: Instant) {}
}

/// A hub whose commands a driver carries out.
pub(crate) struct Driven {
    hub: Hub,
    driver: Arc<dyn Driver>,
}

impl Driven {
    pub(crate) const fn new(hub: Hub, driver: Arc<dyn Driver>) -> Self {
        Self { hub, driver }
    }
}

impl Machines for Driven {
    fn open(
        &mut self,
        now: Instant,
        settings: &Settings,
        contender: ContenderId,
        seed: u64,
    ) -> Result<Key, Misuse> {
        self.hub.open(now, settings, contender, seed)
    }

    fn intent(&mut self, now: Instant, key: Key, intent: Intent) -> Result<(), Misuse> {
        self.hub.intent(now, key, intent)
    }

    fn handle_outcome(&mut self, now: Instant, id: CommandId, outcome: Outcome) -> Result<(), Misuse> {
        self.hub.handle_outcome(now, id, outcome)
    }

    fn handle_notice(&mut self, now: Instant, notice: Notice) -> Result<(), Misuse> {
        self.hub.handle_notice(now, notice)
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.hub.handle_timeout(now);
    }

    fn poll(&mut self, _now: Instant) -> Polled {
        loop {
            match self.hub.poll_output(None) {
                (key, Output::Command(command)) => {
                    let id = command.id;
                    let future = self.driver.start(command);
                    return Polled::Command(id, CommandFuture { key, future });
                }
                (key, Output::Event(event)) => return Polled::Event(key, event),
                (_, Output::Wait(wait)) => return Polled::Wait(wait.until),
                _ => {}
            }
        }
    }

    fn close(&mut self, now: Instant, key: Key) {
        self.hub.close(now, key);
    }

    fn shutdown(&mut self, now: Instant) {
        self.hub.shutdown(now);
    }

    fn pending(&self) -> usize {
        self.hub.pending()
    }

    fn unreleased(&self) -> usize {
        self.hub.unreleased()
    }
}
