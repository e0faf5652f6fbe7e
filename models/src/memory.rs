//! A hub on the model server, for `memory:` addresses.
//!
//! There is no driver: [`Hub::poll_output`] executes commands on the model and returns only events. A command of one
//! hub may cause notices for others. [`Server::take_woken`] returns the hubs that have something to poll.

use alloc::vec::Vec;
use core::time::Duration;

use fencepost_core::{
    Command, ContenderId, Instant, Intent, Key, Misuse, Outcome, Output, SessionId, Settings, hub, lowered,
    zookeeper::{Notice, SessionState, ZooKeeper},
};

use crate::zookeeper;

/// A server inside the process.
#[derive(Debug, Default)]
pub struct Server {
    model: zookeeper::Server,
    executed: u32,
}

/// After how many requests the model deletes empty containers.
const REAP_EVERY: u32 = 4096;

/// The session timeout, which has no effect: the model has no clock, so its sessions never expire.
const SESSION_TIMEOUT: Duration = Duration::from_secs(60);

impl Server {
    /// An empty server.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The ids of the hubs that have something to poll, as in [`Hub::id`]. The server returns a hub again until the hub
    /// polls.
    #[must_use]
    pub fn take_woken(&mut self) -> Vec<u64> {
        self.model
            .notified()
            .map(|session| session.0.unsigned_abs())
            .collect()
    }

    /// The model, for tests that inspect it or inject faults.
    pub const fn model(&mut self) -> &mut zookeeper::Server {
        &mut self.model
    }

    fn execute(
        &mut self,
        now: Instant,
        session: SessionId,
        command: Command<fencepost_core::zookeeper::Request>,
    ) -> fencepost_core::zookeeper::Reply {
        self.executed = self.executed.wrapping_add(1);
        if self.executed.is_multiple_of(REAP_EVERY) {
            self.model.reap_containers();
        }
        self.model
            .set_time(i64::try_from(now.as_micros() / 1000).unwrap_or(i64::MAX));
        self.model.execute(session, command.id, command.request)
    }
}

/// A hub with one session on a [`Server`]. Its methods are those of [`lowered::Hub`].
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

    /// The hub's id on its server.
    #[must_use]
    pub const fn id(&self) -> u64 {
        self.session.0.unsigned_abs()
    }

    /// See [`lowered::Hub::open`].
    ///
    /// # Errors
    /// [`Misuse::WrongFamily`] for settings of a family other than `zookeeper`; [`Misuse::Closed`] after a shutdown.
    pub fn open(
        &mut self,
        server: &mut Server,
        now: Instant,
        settings: &Settings,
        contender: ContenderId,
        seed: u64,
    ) -> Result<Key, Misuse> {
        let Settings::ZooKeeper(machine) = settings else {
            return Err(Misuse::WrongFamily {
                expected: "zookeeper",
            });
        };
        self.listen(server, now);
        self.inner.open(now, machine.clone(), contender, seed)
    }

    /// See [`lowered::Hub::intent`].
    ///
    /// # Errors
    /// [`Misuse`] for an unknown key, or for an intent that the machine's state does not allow.
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

    /// See [`lowered::Hub::poll_output`]. It never returns a command.
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
                    let reply = server.execute(now, self.session, command);
                    // The model's answer always has the shape that the request requires.
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

    /// Ends the session. Its grants are lost, and the machines get notices.
    pub fn disconnect(&mut self, server: &mut Server, now: Instant) {
        server.model.end_session(self.session);
        let closed = Notice::Session {
            state: SessionState::Closed,
            session: self.session,
            timeout: SESSION_TIMEOUT,
        };
        let _accepted = self.inner.handle_notice(now, closed);
    }

    /// Passes the notices that the server has for this session to the hub.
    fn listen(&mut self, server: &mut Server, now: Instant) {
        for notice in server.model.take_notices(self.session) {
            // The model's notices name only commands that it received.
            let _accepted = self.inner.handle_notice(now, notice);
        }
    }
}
