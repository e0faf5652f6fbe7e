//! `memory:`: a hub on a model server inside the process.

use alloc::{
    collections::BTreeMap,
    sync::{Arc, Weak},
};
use std::sync::{Mutex, MutexGuard, PoisonError};

use fencepost_core::{
    CommandId, ContenderId, Instant, Intent, Key, Misuse, Output, Settings,
    lowered::{Notice, Outcome},
};
use fencepost_models::memory::{Hub, Server};
use futures_util::future::BoxFuture;

use crate::{
    clock,
    engine::{
        inputs::Engine,
        machines::{ConnectionTask, Machines, Polled},
        runtime::Runtime,
    },
};

/// The servers that have a name, for as long as somebody is connected to them.
static NAMED: Mutex<BTreeMap<String, Weak<Place>>> = Mutex::new(BTreeMap::new());

/// One server, and whom to wake.
#[derive(Default)]
struct Place(Mutex<Inner>);

#[derive(Default)]
struct Inner {
    server: Server,
    engines: BTreeMap<u64, Weak<Engine>>,
}

impl Place {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A client of the server of that name; of a server of its own if the name is empty.
pub(crate) fn open(runtime: Runtime, name: &str) -> (Arc<Engine>, Arc<dyn ConnectionTask>) {
    let place = if name.is_empty() {
        Arc::default()
    } else {
        named(name)
    };
    let seed = crate::drivers::seed();
    let engine = Engine::new(runtime, "memory:".into(), seed, |engine| {
        let hub = {
            let mut inner = place.lock();
            let hub = Hub::connect(&mut inner.server, clock::now(), seed);
            inner.engines.insert(hub.id(), Weak::clone(engine));
            hub
        };
        Box::new(OnPlace { place, hub })
    });
    engine.connected();
    (engine, Arc::new(NoConnection))
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

/// A hub on a server: commands are carried out as they are polled.
struct OnPlace {
    place: Arc<Place>,
    hub: Hub,
}

impl Machines for OnPlace {
    fn open(
        &mut self,
        now: Instant,
        settings: &Settings,
        contender: ContenderId,
        seed: u64,
    ) -> Result<Key, Misuse> {
        self.hub
            .open(&mut self.place.lock().server, now, settings, contender, seed)
    }

    fn intent(&mut self, now: Instant, key: Key, intent: Intent) -> Result<(), Misuse> {
        self.hub.intent(&mut self.place.lock().server, now, key, intent)
    }

    fn handle_outcome(&mut self, _now: Instant, id: CommandId, _outcome: Outcome) -> Result<(), Misuse> {
        Err(Misuse::UnknownCommand { id: id.0 })
    }

    fn handle_notice(&mut self, _now: Instant, _notice: Notice) -> Result<(), Misuse> {
        Ok(())
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.hub.handle_timeout(&mut self.place.lock().server, now);
    }

    fn poll(&mut self, now: Instant) -> Polled {
        loop {
            match self.hub.poll_output(&mut self.place.lock().server, now, None) {
                (key, Output::Event(event)) => return Polled::Event(key, event),
                (_, Output::Wait(wait)) => return Polled::Wait(wait.until),
                // The hub carries out commands itself.
                _ => {}
            }
        }
    }

    fn close(&mut self, now: Instant, key: Key) {
        self.hub.close(&mut self.place.lock().server, now, key);
    }

    fn shutdown(&mut self, now: Instant) {
        self.hub.shutdown(&mut self.place.lock().server, now);
    }

    fn pending(&self) -> usize {
        self.hub.pending()
    }

    fn unreleased(&self) -> usize {
        self.hub.unreleased()
    }

    fn woken(&mut self) -> Vec<Arc<Engine>> {
        let own = self.hub.id();
        let mut inner = self.place.lock();
        let woken = inner.server.take_woken();
        let others = woken.iter().filter(|id| **id != own);
        others
            .filter_map(|id| inner.engines.get(id).and_then(Weak::upgrade))
            .collect()
    }

    fn end(&mut self, now: Instant) {
        let mut inner = self.place.lock();
        inner.engines.remove(&self.hub.id());
        self.hub.disconnect(&mut inner.server, now);
    }
}

/// There is no connection to keep.
struct NoConnection;

impl ConnectionTask for NoConnection {
    fn run(self: Arc<Self>, _engine: Arc<Engine>) -> BoxFuture<'static, ()> {
        Box::pin(core::future::pending())
    }

    fn finish(self: Arc<Self>, _limit: Instant) -> BoxFuture<'static, ()> {
        Box::pin(core::future::ready(()))
    }
}
