//! A hub on a server in memory.

use core::time::Duration;

use fencepost_core::{
    ContenderId, Instant, Intent, Key, Misuse, Output, Settings, Wait, hub, lowered, zookeeper::ZooKeeper,
};

use super::Server;

/// A hub with one session at a time on a [`Server`]. Its methods are those of [`lowered::Hub`].
///
/// While the hub is [paused](Server::pause), it accepts intents, but it has no outputs, and no time passes for it.
#[derive(Debug)]
pub struct Hub {
    inner: hub::Hub<ZooKeeper>,
    id: u64,
}

impl Hub {
    /// Connects to the server with a new session. `session_timeout` is the timeout with which the hub calculates; the
    /// server does not enforce it.
    pub fn connect(server: &mut Server, now: Instant, seed: u64, session_timeout: Duration) -> Self {
        let mut new = Self {
            inner: hub::Hub::new(seed),
            id: server.connect(session_timeout),
        };
        new.listen(server, now);
        new
    }

    /// The hub's id on its server. It stays the same when the hub gets a new session.
    #[must_use]
    pub const fn id(&self) -> u64 {
        self.id
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
        if !server.is_paused(self.id) {
            self.inner.handle_timeout(now);
        }
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
            if server.is_paused(self.id) {
                return (Key::HUB, Output::Wait(Wait::default()));
            }
            self.listen(server, now);
            match self.inner.poll_output(only) {
                (_, Output::Command(command)) => {
                    if let Some(outcome) = server.execute(self.id, now, command.id, command.request) {
                        // The model's reply always has the shape that the request requires.
                        let _accepted = self.inner.handle_outcome(now, command.id, outcome);
                    }
                }
                (key, Output::Event(event)) => return (key, Output::Event(event)),
                (key, Output::Wait(wait)) => return (key, Output::Wait(wait)),
                _ => {}
            }
        }
    }

    /// See [`lowered::Hub::close`].
    pub fn close(&mut self, server: &mut Server, now: Instant, key: Key) -> Option<Key> {
        self.listen(server, now);
        self.inner.close(now, key)
    }

    /// See [`lowered::Hub::serves`].
    #[must_use]
    pub fn serves(&self, key: Key) -> bool {
        self.inner.serves(key)
    }

    /// See [`lowered::Hub::shutdown`]. Resumes a paused hub first, because a paused hub cannot release its grants.
    pub fn shutdown(&mut self, server: &mut Server, now: Instant) {
        server.resume(self.id);
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
        let closed = server.disconnect(self.id, now);
        let _accepted = self.inner.handle_notice(now, closed);
    }

    /// Passes the server's notices for this hub to the machines.
    fn listen(&mut self, server: &mut Server, now: Instant) {
        for notice in server.take_notices(self.id, now) {
            // The model's notices refer only to commands that it received.
            let _accepted = self.inner.handle_notice(now, notice);
        }
    }
}
