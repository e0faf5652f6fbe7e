//! `memory:`, a server in this process. The hub carries out its own commands, and the driver wakes the other hubs.

use alloc::{
    collections::BTreeMap,
    sync::{Arc, Weak},
};
use core::{fmt, time::Duration};
use std::{
    process,
    sync::{Mutex, MutexGuard, OnceLock, PoisonError},
};

use fencepost_core::{Command, Instant, lowered::Request};
use fencepost_models::hub::{Hub, MemoryServer};
use futures_util::{
    FutureExt,
    future::{self, BoxFuture},
};

use crate::{
    clock,
    engine::driver::{Completed, ConnectionTask, Driver as Commands, Sink},
};

/// The named servers. A server exists as long as a client is connected to it.
type Named = BTreeMap<String, Weak<Place>>;

/// The named servers of one process. A forked process gets new ones: there, the sessions of the parent's servers would
/// never end, and a thread of the parent may have locked these servers.
struct InProcess {
    process: u32,
    named: Mutex<Named>,
    after_fork: OnceLock<Box<Self>>,
}

static FIRST: OnceLock<Box<InProcess>> = OnceLock::new();

impl InProcess {
    fn new() -> Box<Self> {
        Box::new(Self {
            process: process::id(),
            named: Mutex::default(),
            after_fork: OnceLock::new(),
        })
    }

    /// The servers of this process.
    fn present() -> &'static Self {
        let mut found = FIRST.get_or_init(Self::new);
        while found.process != process::id() {
            found = found.after_fork.get_or_init(Self::new);
        }
        found
    }
}

/// One server, and the clients to wake.
#[derive(Default)]
pub(crate) struct Place {
    pub(crate) server: MemoryServer,
    sinks: Mutex<BTreeMap<u64, Weak<dyn Sink>>>,
}

impl Place {
    /// This process's server with that name. The name is not empty.
    pub(crate) fn named(name: &str) -> Arc<Self> {
        let mut places = InProcess::present()
            .named
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = places.get(name).and_then(Weak::upgrade) {
            return place;
        }
        places.retain(|_, place| place.strong_count() > 0);
        let place = Arc::default();
        places.insert(name.into(), Arc::downgrade(&place));
        place
    }

    /// Wakes the clients whose hubs have something to poll, except one.
    pub(crate) fn wake_others(&self, than: u64) {
        let woken = self.server.take_woken().into_iter();
        let others: Vec<_> = {
            let sinks = self.sinks();
            woken
                .filter(|id| *id != than)
                .filter_map(|id| sinks.get(&id).and_then(Weak::upgrade))
                .collect()
        };
        for other in others {
            other.wake();
        }
    }

    fn sinks(&self) -> MutexGuard<'_, BTreeMap<u64, Weak<dyn Sink>>> {
        self.sinks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The driver of one client.
pub(crate) struct Driver {
    pub(crate) place: Arc<Place>,
    /// The number of its hub on the server.
    pub(crate) id: u64,
}

impl fmt::Debug for Driver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Memory").field("client", &self.id).finish()
    }
}

impl Driver {
    /// Makes a hub and its driver on the server of that name. Without a name, it makes a new server.
    pub(crate) fn connect(name: &str, seed: u64, session_timeout: Duration) -> (Hub, Self) {
        let place = if name.is_empty() {
            Arc::default()
        } else {
            Place::named(name)
        };
        let hub = place.server.connect(clock::now(), seed, session_timeout);
        let id = hub.id();
        (hub, Self { place, id })
    }
}

impl Commands for Driver {
    /// A hub on a server in memory issues no commands.
    fn start(&self, _command: Command<Request>) -> BoxFuture<'static, Completed> {
        future::ready(Completed::Nothing).boxed()
    }

    /// A call of one client may cause outputs of other clients.
    fn flush(&self) {
        self.place.wake_others(self.id);
    }
}

impl ConnectionTask for Driver {
    /// There is no connection. If another client has already woken this one, the first turn of its task handles that.
    fn run(self: Arc<Self>, sink: Arc<dyn Sink>) -> BoxFuture<'static, ()> {
        self.place.sinks().insert(self.id, Arc::downgrade(&sink));
        future::pending().boxed()
    }

    fn finish(self: Arc<Self>, _limit: Instant) -> BoxFuture<'static, ()> {
        future::ready(()).boxed()
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        self.place.sinks().remove(&self.id);
    }
}
