//! A hub on the model server: `memory:`.
//!
//! There is no driver: [`Hub::poll_output`] carries out commands itself and gives events only. What one hub does may concern others;
//! [`Server::take_woken`] says which have something to poll.

use alloc::vec::Vec;
use core::time::Duration;

use fencepost_core::{
    Command, Instant, Intent, Key, Misuse, Outcome, Output, OwnerId, SessionId, Settings, hub, lowered,
    zookeeper::{Notice, SessionState, ZooKeeper},
};

use crate::zookeeper;

/// A server inside the process.
#[derive(Debug, Default)]
pub struct Server {
    model: zookeeper::Server,
    executed: u32,
}

/// Empty directories are tidied up once in so many requests.
const REAP_EVERY: u32 = 4096;

/// A session has nothing to fear from a model without a clock: any timeout will do.
const SESSION_TIMEOUT: Duration = Duration::from_secs(60);

impl Server {
    /// An empty server.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The hubs that have something to poll, by [`Hub::id`]. Asking again gives them again until they have polled.
    #[must_use]
    pub fn take_woken(&mut self) -> Vec<u64> {
        self.model
            .notified()
            .map(|session| session.0.unsigned_abs())
            .collect()
    }

    /// The model, to look at it or to break something.
    pub const fn model(&mut self) -> &mut zookeeper::Server {
        &mut self.model
    }

    fn execute(
        &mut self,
        session: SessionId,
        command: Command<fencepost_core::zookeeper::Request>,
    ) -> fencepost_core::zookeeper::Reply {
        self.executed = self.executed.wrapping_add(1);
        if self.executed.is_multiple_of(REAP_EVERY) {
            self.model.reap_containers();
        }
        self.model.execute(session, command.id, command.request)
    }
}

/// A hub with one session on a [`Server`]. The verbs are those of [`lowered::Hub`].
#[derive(Debug)]
pub struct Hub {
    inner: hub::Hub<ZooKeeper>,
    session: SessionId,
}

impl Hub {
    /// Opens a session on the server.
    pub fn connect(server: &mut Server, now: Instant, seed: u64) -> Self {
        let session = server.model.open_session();
        let mut inner = hub::Hub::new(seed);
        for state in [SessionState::Connecting, SessionState::Connected] {
            let notice = Notice::Session {
                state,
                session,
                timeout: SESSION_TIMEOUT,
            };
            // A session notice names no command, so it cannot be refused.
            let _accepted = inner.handle_notice(now, notice);
        }
        Self { inner, session }
    }

    /// The hub's number on its server.
    #[must_use]
    pub const fn id(&self) -> u64 {
        self.session.0.unsigned_abs()
    }

    /// See [`lowered::Hub::open`].
    ///
    /// # Errors
    /// [`Misuse::WrongFamily`] for settings of another family than `zookeeper`; [`Misuse::Closed`] after a shutdown.
    pub fn open(
        &mut self,
        server: &mut Server,
        now: Instant,
        settings: &Settings,
        owner: OwnerId,
        seed: u64,
    ) -> Result<Key, Misuse> {
        let Settings::ZooKeeper(machine) = settings else {
            return Err(Misuse::WrongFamily {
                expected: "zookeeper",
            });
        };
        self.listen(server, now);
        self.inner.open(now, machine.clone(), owner, seed)
    }

    /// See [`lowered::Hub::intent`].
    ///
    /// # Errors
    /// [`Misuse`] for an unknown key, or for an intent that makes no sense now.
    pub fn intent(
        &mut self,
        server: &mut Server,
        now: Instant,
        key: Key,
        intent: Intent,
    ) -> Result<(), Misuse> {
        self.listen(server, now);
        self.inner.intent(now, key, intent)
    }

    /// See [`lowered::Hub::handle_timeout`].
    pub fn handle_timeout(&mut self, server: &mut Server, now: Instant) {
        self.listen(server, now);
        self.inner.handle_timeout(now);
    }

    /// See [`lowered::Hub::poll_output`]; it never gives a command.
    #[must_use]
    pub fn poll_output(
        &mut self,
        server: &mut Server,
        now: Instant,
        only: Option<Key>,
    ) -> lowered::HubOutput {
        loop {
            self.listen(server, now);
            match self.inner.poll_output(only) {
                (_, Output::Command(command)) => {
                    let id = command.id;
                    let reply = server.execute(self.session, command);
                    // The model answers every request in its own shape.
                    let _accepted = self.inner.handle_outcome(now, id, Outcome::Reply(reply));
                }
                (key, Output::Event(event)) => return (key, Output::Event(event)),
                (key, Output::Wait(wait)) => return (key, Output::Wait(wait)),
                _ => {}
            }
        }
    }

    /// See [`lowered::Hub::close`].
    pub fn close(&mut self, server: &mut Server, now: Instant, key: Key) {
        self.listen(server, now);
        self.inner.close(now, key);
    }

    /// See [`lowered::Hub::shutdown`].
    pub fn shutdown(&mut self, server: &mut Server, now: Instant) {
        self.listen(server, now);
        self.inner.shutdown(now);
    }

    /// See [`lowered::Hub::pending`].
    #[must_use]
    pub fn pending(&self) -> usize {
        self.inner.pending()
    }

    /// See [`lowered::Hub::unreleased`].
    #[must_use]
    pub fn unreleased(&self) -> usize {
        self.inner.unreleased()
    }

    /// Ends the session: everything held is gone, and the machines are told.
    pub fn disconnect(&mut self, server: &mut Server, now: Instant) {
        server.model.end_session(self.session);
        let closed = Notice::Session {
            state: SessionState::Closed,
            session: self.session,
            timeout: SESSION_TIMEOUT,
        };
        let _accepted = self.inner.handle_notice(now, closed);
    }

    /// Takes in what the server has said since last time.
    fn listen(&mut self, server: &mut Server, now: Instant) {
        for notice in server.model.take_notices(self.session) {
            // The model names only commands that it was given.
            let _accepted = self.inner.handle_notice(now, notice);
        }
    }
}
