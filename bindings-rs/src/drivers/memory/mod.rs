//! `memory:`, a server in this process. The hub carries out its own commands, and the driver wakes the other hubs.

use alloc::{
    collections::BTreeMap,
    sync::{Arc, Weak},
};
use std::sync::{Mutex, MutexGuard, PoisonError};

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

/// The servers with a name. A server exists as long as a client is connected to it.
static NAMED: Mutex<BTreeMap<String, Weak<Place>>> = Mutex::new(BTreeMap::new());

/// One server, and the clients to wake.
#[derive(Default)]
struct Place {
    server: MemoryServer,
    sinks: Mutex<BTreeMap<u64, Weak<dyn Sink>>>,
}

impl Place {
    fn sinks(&self) -> MutexGuard<'_, BTreeMap<u64, Weak<dyn Sink>>> {
        self.sinks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The driver of one client.
pub(crate) struct Driver {
    place: Arc<Place>,
    /// The number of its hub on the server.
    id: u64,
}

impl Driver {
    /// Makes a hub and its driver on the server of that name. Without a name, it makes a new server.
    pub(crate) fn connect(name: &str, seed: u64) -> (Hub, Self) {
        let place = if name.is_empty() {
            Arc::default()
        } else {
            named(name)
        };
        let hub = place
            .server
            .connect(clock::now(), seed, fencepost_models::memory::SESSION_TIMEOUT);
        let id = hub.id();
        (hub, Self { place, id })
    }
}

fn named(name: &str) -> Arc<Place> {
    let mut places = NAMED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(place) = places.get(name).and_then(Weak::upgrade) {
        return place;
    }
    places.retain(|_, place| place.strong_count() > 0);
    let place = Arc::default();
    places.insert(name.into(), Arc::downgrade(&place));
    place
}

impl Commands for Driver {
    /// A hub on a server in memory issues no commands.
    fn start(&self, _command: Command<Request>) -> BoxFuture<'static, Completed> {
        future::ready(Completed::Nothing).boxed()
    }

    /// A call of one client may cause outputs of others.
    fn flush(&self) {
        let woken = self.place.server.take_woken();
        let others = woken.into_iter().filter(|id| *id != self.id);
        let others: Vec<_> = {
            let sinks = self.place.sinks();
            others
                .filter_map(|id| sinks.get(&id).and_then(Weak::upgrade))
                .collect()
        };
        for other in others {
            other.wake();
        }
    }
}

impl ConnectionTask for Driver {
    /// There is no connection to keep. If another client has woken this one already, the first turn of its task sees
    /// that.
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
