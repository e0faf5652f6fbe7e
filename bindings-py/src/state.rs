//! What a hub has inside: the core's hub, or one that carries out its own commands on a server in memory.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use fencepost_core::{
    CommandId, ConfigError, ContenderId, Instant, Intent, Key, Misuse, Settings,
    lowered::{self, Notice, Outcome},
};
use fencepost_models::memory;
use pyo3::{exceptions::PyTypeError, prelude::*};

/// A hub and its clock.
#[derive(Debug)]
pub(crate) struct State {
    inner: Inner,
    /// The time of the last input, for a hub that carries out its own commands.
    now: Instant,
}

#[derive(Debug)]
enum Inner {
    Driven(lowered::Hub),
    Memory(memory::Hub, Arc<Mutex<memory::Server>>),
}

/// Calls a method of the hub, whichever it is. The one in memory takes its server first.
macro_rules! call {
    ($state:ident.$method:ident($($argument:expr),*)) => {
        match &mut $state.inner {
            Inner::Driven(hub) => hub.$method($($argument),*),
            Inner::Memory(hub, server) => hub.$method(&mut locked(server), $($argument),*),
        }
    };
}

impl State {
    /// A hub of that family, whose commands a driver carries out.
    pub(crate) fn driven(family: &str, seed: u64) -> Result<Self, ConfigError> {
        Ok(Self {
            inner: Inner::Driven(lowered::Hub::new(family, seed)?),
            now: Instant::ZERO,
        })
    }

    /// A new session on a server in memory.
    pub(crate) fn in_memory(server: &Arc<Mutex<memory::Server>>, now: u64, seed: u64) -> Self {
        let now = Instant::from_micros(now);
        let hub = memory::Hub::connect(&mut locked(server), now, seed);
        Self {
            inner: Inner::Memory(hub, Arc::clone(server)),
            now,
        }
    }

    /// It is that time, or later: time does not go back.
    pub(crate) fn at(&mut self, now: u64) {
        self.now = self.now.max(Instant::from_micros(now));
    }

    pub(crate) fn family(&self) -> &'static str {
        match &self.inner {
            Inner::Driven(hub) => hub.family(),
            Inner::Memory(..) => "zookeeper",
        }
    }

    /// The number on its server of a hub in memory; 0 for others.
    pub(crate) fn id(&self) -> u64 {
        match &self.inner {
            Inner::Driven(_) => 0,
            Inner::Memory(hub, _) => hub.id(),
        }
    }

    pub(crate) fn open(
        &mut self,
        settings: &Settings,
        contender: ContenderId,
        seed: u64,
    ) -> Result<Key, Misuse> {
        call!(self.open(self.now, settings, contender, seed))
    }

    pub(crate) fn intent(&mut self, key: Key, intent: Intent) -> Result<(), Misuse> {
        call!(self.intent(self.now, key, intent))
    }

    pub(crate) fn outcome(&mut self, id: u64, outcome: Outcome) -> Result<(), Misuse> {
        match &mut self.inner {
            Inner::Driven(hub) => hub.handle_outcome(self.now, CommandId(id), outcome),
            // It carries out its own commands: none was ever issued.
            Inner::Memory(..) => Err(Misuse::UnknownCommand { id }),
        }
    }

    pub(crate) fn notice(&mut self, notice: Notice) -> Result<(), Misuse> {
        match &mut self.inner {
            Inner::Driven(hub) => hub.handle_notice(self.now, notice),
            Inner::Memory(..) => Ok(()),
        }
    }

    pub(crate) fn handle_timeout(&mut self) {
        call!(self.handle_timeout(self.now));
    }

    pub(crate) fn poll(&mut self, only: Option<Key>) -> lowered::HubOutput {
        match &mut self.inner {
            Inner::Driven(hub) => hub.poll_output(only),
            Inner::Memory(hub, server) => hub.poll_output(&mut locked(server), self.now, only),
        }
    }

    pub(crate) fn close(&mut self, key: Key) {
        call!(self.close(self.now, key));
    }

    pub(crate) fn shutdown(&mut self) {
        call!(self.shutdown(self.now));
    }

    pub(crate) fn pending(&self) -> usize {
        match &self.inner {
            Inner::Driven(hub) => hub.pending(),
            Inner::Memory(hub, _) => hub.pending(),
        }
    }

    pub(crate) fn unreleased(&self) -> usize {
        match &self.inner {
            Inner::Driven(hub) => hub.unreleased(),
            Inner::Memory(hub, _) => hub.unreleased(),
        }
    }

    /// Ends the session of a hub in memory.
    pub(crate) fn disconnect(&mut self) -> PyResult<()> {
        match &mut self.inner {
            Inner::Driven(_) => Err(PyTypeError::new_err(
                "disconnect() is for hubs of a MemoryServer: report this hub's session with session(), or a lost subscription with gone()",
            )),
            Inner::Memory(hub, server) => {
                hub.disconnect(&mut locked(server), self.now);
                Ok(())
            }
        }
    }
}

/// The core never panics; if it did, a poisoned lock would say nothing about its state that the panic has not said.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
