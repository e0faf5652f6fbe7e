//! The hub: all machines that share one client connection.

use fencepost_core::{CommandId, ContenderId, Instant, Intent, Key, Misuse, lowered};
use fencepost_models::memory;

use crate::{
    boundary::{Fault, exclusive, give, guard, quietly, require, shared, take_back},
    memory_server::MemoryServer,
    names::fencepost_family,
    output::Said,
    result::fencepost_result,
    settings::fencepost_settings,
};

/// All machines that share one client connection. It does no I/O: a driver carries out what `fencepost_hub_poll_output` says. Used by one
/// thread at a time; different hubs are independent.
#[derive(Debug)]
pub struct fencepost_hub {
    inner: Inner,
    now: Instant,
    pub(crate) said: Said,
}

#[derive(Debug)]
enum Inner {
    Driven(lowered::Hub),
    Memory(memory::Hub, MemoryServer),
}

impl fencepost_hub {
    pub(crate) fn on_memory(hub: memory::Hub, server: MemoryServer) -> Self {
        Self::with(Inner::Memory(hub, server))
    }

    fn with(inner: Inner) -> Self {
        Self {
            inner,
            now: Instant::ZERO,
            said: Said::default(),
        }
    }

    fn tick(&mut self, now: u64) -> Instant {
        self.now = self.now.max(Instant::from_micros(now));
        self.now
    }

    pub(crate) fn open(
        &mut self,
        now: u64,
        settings: &fencepost_settings,
        owner: ContenderId,
        seed: u64,
    ) -> Result<Key, Misuse> {
        let now = self.tick(now);
        match &mut self.inner {
            Inner::Driven(hub) => hub.open(now, &settings.checked, owner, seed),
            Inner::Memory(hub, server) => hub.open(&mut server.lock(), now, &settings.checked, owner, seed),
        }
    }

    pub(crate) fn intent(&mut self, now: u64, key: u64, intent: Intent) -> Result<(), Misuse> {
        let now = self.tick(now);
        match &mut self.inner {
            Inner::Driven(hub) => hub.intent(now, Key(key), intent),
            Inner::Memory(hub, server) => hub.intent(&mut server.lock(), now, Key(key), intent),
        }
    }

    pub(crate) fn outcome(&mut self, now: u64, id: u64, outcome: lowered::Outcome) -> Result<(), Fault> {
        let now = self.tick(now);
        Ok(self.driven()?.handle_outcome(now, CommandId(id), outcome)?)
    }

    pub(crate) fn notice(&mut self, now: u64, notice: lowered::Notice) -> Result<(), Fault> {
        let now = self.tick(now);
        Ok(self.driven()?.handle_notice(now, notice)?)
    }

    fn driven(&mut self) -> Result<&mut lowered::Hub, Fault> {
        match &mut self.inner {
            Inner::Driven(hub) => Ok(hub),
            Inner::Memory(..) => Err(Fault::bad_argument(
                "a hub on memory: has no driver: it answers itself",
            )),
        }
    }

    fn timeout(&mut self, now: u64) {
        let now = self.tick(now);
        match &mut self.inner {
            Inner::Driven(hub) => hub.handle_timeout(now),
            Inner::Memory(hub, server) => hub.handle_timeout(&mut server.lock(), now),
        }
    }

    pub(crate) fn poll(&mut self, only: Option<Key>) -> lowered::HubOutput {
        match &mut self.inner {
            Inner::Driven(hub) => hub.poll_output(only),
            Inner::Memory(hub, server) => hub.poll_output(&mut server.lock(), self.now, only),
        }
    }

    fn close(&mut self, now: u64, key: u64) {
        let now = self.tick(now);
        match &mut self.inner {
            Inner::Driven(hub) => hub.close(now, Key(key)),
            Inner::Memory(hub, server) => hub.close(&mut server.lock(), now, Key(key)),
        }
    }

    fn shutdown(&mut self, now: u64) {
        let now = self.tick(now);
        match &mut self.inner {
            Inner::Driven(hub) => hub.shutdown(now),
            Inner::Memory(hub, server) => hub.shutdown(&mut server.lock(), now),
        }
    }

    fn pending(&self) -> usize {
        match &self.inner {
            Inner::Driven(hub) => hub.pending(),
            Inner::Memory(hub, _) => hub.pending(),
        }
    }

    fn unreleased(&self) -> usize {
        match &self.inner {
            Inner::Driven(hub) => hub.unreleased(),
            Inner::Memory(hub, _) => hub.unreleased(),
        }
    }
}

impl Drop for fencepost_hub {
    fn drop(&mut self) {
        if let Inner::Memory(hub, server) = &mut self.inner {
            hub.disconnect(&mut server.lock(), self.now);
        }
    }
}

/// Makes a hub without machines for a family. The seed spreads retries and decides nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_hub_new(
    family: u32,
    seed: u64,
    hub: *mut *mut fencepost_hub,
) -> fencepost_result {
    guard(|| {
        require(hub)?;
        let family = fencepost_family::from_number(family)
            .ok_or_else(|| Fault::bad_argument(format!("there is no family {family}")))?;
        let made = lowered::Hub::new(family.as_str(), seed)?;
        // SAFETY: checked above.
        unsafe { give(hub, fencepost_hub::with(Inner::Driven(made))) };
        Ok(())
    })
}

/// Frees a hub. What its machines hold is **not** released: shut it down first, and drive it until `fencepost_hub_pending` is 0. (A hub on
/// memory: ends its session.) NULL is ignored.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_hub_free(hub: *mut fencepost_hub) {
    // SAFETY: the header asks for a hub that is not used again.
    unsafe { take_back(hub) }
}

/// The hub's number on its `fencepost_memory`; 0 for a hub with a driver.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_hub_id(hub: *const fencepost_hub) -> u64 {
    quietly(|| {
        // SAFETY: the header asks for a valid hub or NULL.
        match unsafe { shared(hub) }.map(|hub| &hub.inner) {
            Ok(Inner::Memory(hub, _)) => hub.id(),
            Ok(Inner::Driven(_)) | Err(_) => 0,
        }
    })
}

/// Opens a machine: one contender for one lock. `owner` is sixteen bytes from the operating system's random source, new for every machine:
/// their uniqueness is a safety property. `seed` is any number. Errors: `WRONG_FAMILY`, `CLIENT_CLOSED`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_hub_open(
    hub: *mut fencepost_hub,
    now: u64,
    settings: *const fencepost_settings,
    owner: *const u8,
    seed: u64,
    key: *mut u64,
) -> fencepost_result {
    guard(|| {
        require(owner)?;
        require(key)?;
        // SAFETY: the header asks for valid objects or NULL, sixteen readable bytes, and room for the key.
        unsafe {
            let owner = ContenderId(owner.cast::<[u8; 16]>().read_unaligned());
            let opened = exclusive(hub)?.open(now, shared(settings)?, owner, seed)?;
            key.write(opened.0);
        }
        Ok(())
    })
}

/// Says that time has passed. Early and repeated calls change nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_hub_handle_timeout(hub: *mut fencepost_hub, now: u64) -> fencepost_result {
    guard(|| {
        // SAFETY: the header asks for a valid hub or NULL.
        unsafe { exclusive(hub) }?.timeout(now);
        Ok(())
    })
}

/// Closes a machine, in any state: what it holds is released, what it waits for is given up. It lives on until the server has answered,
/// says nothing more, and goes. Unknown keys are ignored: they have gone already.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_hub_close(
    hub: *mut fencepost_hub,
    now: u64,
    key: u64,
) -> fencepost_result {
    guard(|| {
        // SAFETY: the header asks for a valid hub or NULL.
        unsafe { exclusive(hub) }?.close(now, key);
        Ok(())
    })
}

/// Closes all machines, and opens no more. Go on driving until `fencepost_hub_pending` is 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_hub_shutdown(hub: *mut fencepost_hub, now: u64) -> fencepost_result {
    guard(|| {
        // SAFETY: the header asks for a valid hub or NULL.
        unsafe { exclusive(hub) }?.shutdown(now);
        Ok(())
    })
}

/// How many machines there are, those included that have been closed and still wait for the server. 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_hub_pending(hub: *const fencepost_hub) -> usize {
    // SAFETY: the header asks for a valid hub or NULL.
    quietly(|| unsafe { shared(hub) }.map_or(0, fencepost_hub::pending))
}

/// How many grants have come to an end since `fencepost_hub_shutdown` without being given back: the server has refused the release, or the
/// connection was closed for good before it. Such a lock stays on the server until its lease or session ends. 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_hub_unreleased(hub: *const fencepost_hub) -> usize {
    // SAFETY: the header asks for a valid hub or NULL.
    quietly(|| unsafe { shared(hub) }.map_or(0, fencepost_hub::unreleased))
}
