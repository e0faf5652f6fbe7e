//! The hub of a client, with a driver or without one.
//!
//! A driver carries out the commands of a [`Hub::driven`]. A hub on a [`MemoryServer`] carries them out itself. A
//! client uses both in the same way.

use alloc::{string::ToString, sync::Arc, vec::Vec};
use core::time::Duration;
use std::sync::{Mutex, MutexGuard, PoisonError};

use fencepost_core::{
    CommandId, ConfigError, ContenderId, Instant, Intent, Key, Misuse, Settings,
    lowered::{self, HubOutput, Notice, Outcome},
};

use crate::memory;

/// A server inside the process. All clones refer to the same server, and any thread may use it.
#[derive(Clone, Debug, Default)]
pub struct MemoryServer(Arc<Mutex<memory::Server>>);

impl MemoryServer {
    /// A hub with its own session on this server. See [`memory::Hub::connect`].
    #[must_use]
    pub fn connect(&self, now: Instant, seed: u64, session_timeout: Duration) -> Hub {
        let hub = memory::Hub::connect(&mut self.lock(), now, seed, session_timeout);
        Hub {
            inner: Inner::Memory(hub, self.clone()),
            now,
        }
    }

    /// See [`memory::Server::take_woken`].
    #[must_use]
    pub fn take_woken(&self) -> Vec<u64> {
        self.lock().take_woken()
    }

    /// See [`memory::Server::expire`].
    ///
    /// # Errors
    /// [`ConfigError::InvalidOption`] if the server has no such hub.
    pub fn expire(&self, hub: u64) -> Result<(), ConfigError> {
        self.control(hub, memory::Server::expire)
    }

    /// See [`memory::Server::suspend`].
    ///
    /// # Errors
    /// As [`expire`](Self::expire).
    pub fn suspend(&self, hub: u64) -> Result<(), ConfigError> {
        self.control(hub, memory::Server::suspend)
    }

    /// See [`memory::Server::reconnect`].
    ///
    /// # Errors
    /// As [`expire`](Self::expire).
    pub fn reconnect(&self, hub: u64) -> Result<(), ConfigError> {
        self.control(hub, memory::Server::reconnect)
    }

    /// See [`memory::Server::pause`].
    ///
    /// # Errors
    /// As [`expire`](Self::expire).
    pub fn pause(&self, hub: u64) -> Result<(), ConfigError> {
        self.control(hub, memory::Server::pause)
    }

    /// See [`memory::Server::resume`].
    ///
    /// # Errors
    /// As [`expire`](Self::expire).
    pub fn resume(&self, hub: u64) -> Result<(), ConfigError> {
        self.control(hub, memory::Server::resume)
    }

    /// Calls a function that inspects the server. Other threads that use the server wait meanwhile.
    pub fn with<T>(&self, look: impl FnOnce(&mut memory::Server) -> T) -> T {
        look(&mut self.lock())
    }

    fn control(&self, hub: u64, control: fn(&mut memory::Server, u64) -> bool) -> Result<(), ConfigError> {
        if control(&mut self.lock(), hub) {
            return Ok(());
        }
        Err(ConfigError::InvalidOption {
            option: "hub",
            value: hub.to_string(),
            why: "no hub of this server has this id: give the id of a hub that has not disconnected",
        })
    }

    /// If a caller has panicked, the lock is poisoned. The other callers ignore this.
    fn lock(&self) -> MutexGuard<'_, memory::Server> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A hub and the time of its last input. Its methods are those of [`lowered::Hub`], at that time.
#[derive(Debug)]
pub struct Hub {
    inner: Inner,
    now: Instant,
}

#[derive(Debug)]
enum Inner {
    Driven(lowered::Hub),
    Memory(memory::Hub, MemoryServer),
}

/// Calls a method of the inner hub. For a hub in memory, the server is the first argument.
macro_rules! each {
    ($self:ident.$method:ident($($argument:expr),*)) => {
        match &mut $self.inner {
            Inner::Driven(hub) => hub.$method($($argument),*),
            Inner::Memory(hub, server) => hub.$method(&mut server.lock(), $($argument),*),
        }
    };
}

impl Hub {
    /// A hub for `family`, whose commands a driver carries out. See [`lowered::Hub::new`].
    ///
    /// # Errors
    /// [`ConfigError::UnknownOption`] for a family that does not exist.
    pub fn driven(family: &str, seed: u64) -> Result<Self, ConfigError> {
        Ok(Self {
            inner: Inner::Driven(lowered::Hub::new(family, seed)?),
            now: Instant::ZERO,
        })
    }

    /// Sets the time. Time does not go back.
    pub fn at(&mut self, now: Instant) -> &mut Self {
        self.now = self.now.max(now);
        self
    }

    /// See [`lowered::Hub::family`].
    #[must_use]
    pub const fn family(&self) -> &'static str {
        match &self.inner {
            Inner::Driven(hub) => hub.family(),
            Inner::Memory(..) => "zookeeper",
        }
    }

    /// The hub's id on its [`MemoryServer`], or 0 for a hub with a driver.
    #[must_use]
    pub const fn id(&self) -> u64 {
        match &self.inner {
            Inner::Driven(_) => 0,
            Inner::Memory(hub, _) => hub.id(),
        }
    }

    /// See [`lowered::Hub::open`].
    ///
    /// # Errors
    /// [`Misuse::WrongFamily`] for settings of another family; [`Misuse::Closed`] after a shutdown.
    pub fn open(&mut self, settings: &Settings, contender: ContenderId, seed: u64) -> Result<Key, Misuse> {
        each!(self.open(self.now, settings, contender, seed))
    }

    /// See [`lowered::Hub::intent`].
    ///
    /// # Errors
    /// [`Misuse`] for an unknown key, or for an intent that the machine's state does not allow.
    pub fn intent(&mut self, key: Key, intent: Intent) -> Result<(), Misuse> {
        each!(self.intent(self.now, key, intent))
    }

    /// See [`lowered::Hub::handle_outcome`].
    ///
    /// # Errors
    /// [`Misuse`] for an id that was never issued (a hub on a server in memory issues none), or a reply of the wrong
    /// shape.
    pub fn handle_outcome(&mut self, id: CommandId, outcome: Outcome) -> Result<(), Misuse> {
        match &mut self.inner {
            Inner::Driven(hub) => hub.handle_outcome(self.now, id, outcome),
            Inner::Memory(..) => Err(Misuse::UnknownCommand { id: id.0 }),
        }
    }

    /// See [`lowered::Hub::handle_notice`]. It has no effect on a hub on a server in memory, which receives only the
    /// notices of that server.
    ///
    /// # Errors
    /// [`Misuse`] for a command that was never issued, or a notice of another family.
    pub fn handle_notice(&mut self, notice: Notice) -> Result<(), Misuse> {
        match &mut self.inner {
            Inner::Driven(hub) => hub.handle_notice(self.now, notice),
            Inner::Memory(..) => Ok(()),
        }
    }

    /// See [`lowered::Hub::handle_timeout`].
    pub fn handle_timeout(&mut self) {
        each!(self.handle_timeout(self.now));
    }

    /// See [`lowered::Hub::poll_output`]. A hub on a server in memory never returns a command.
    #[must_use]
    pub fn poll_output(&mut self, only: Option<Key>) -> HubOutput {
        match &mut self.inner {
            Inner::Driven(hub) => hub.poll_output(only),
            Inner::Memory(hub, server) => hub.poll_output(&mut server.lock(), self.now, only),
        }
    }

    /// See [`lowered::Hub::close`].
    pub fn close(&mut self, key: Key) -> Option<Key> {
        each!(self.close(self.now, key))
    }

    /// See [`lowered::Hub::serves`].
    #[must_use]
    pub fn serves(&self, key: Key) -> bool {
        match &self.inner {
            Inner::Driven(hub) => hub.serves(key),
            Inner::Memory(hub, _) => hub.serves(key),
        }
    }

    /// See [`lowered::Hub::shutdown`].
    pub fn shutdown(&mut self) {
        each!(self.shutdown(self.now));
    }

    /// See [`lowered::Hub::pending`].
    #[must_use]
    pub fn pending(&self) -> usize {
        match &self.inner {
            Inner::Driven(hub) => hub.pending(),
            Inner::Memory(hub, _) => hub.pending(),
        }
    }

    /// See [`lowered::Hub::unreleased`].
    #[must_use]
    pub fn unreleased(&self) -> usize {
        match &self.inner {
            Inner::Driven(hub) => hub.unreleased(),
            Inner::Memory(hub, _) => hub.unreleased(),
        }
    }

    /// Ends the session on a server in memory. Returns `false` for a hub with a driver, because the driver owns its
    /// session.
    pub fn disconnect(&mut self) -> bool {
        match &mut self.inner {
            Inner::Driven(_) => false,
            Inner::Memory(hub, server) => {
                hub.disconnect(&mut server.lock(), self.now);
                true
            }
        }
    }
}
