//! The hub: all machines that share one client connection.

use core::ops::{Deref, DerefMut};

use fencepost_core::{CommandId, ContenderId, Instant, Key, lowered};
use fencepost_models::hub::Hub;

use crate::{
    boundary::{Fault, exclusive, give, guard, quietly, require, shared, take_back},
    names::fencepost_family,
    output::Said,
    result::fencepost_result,
    settings::fencepost_settings,
};

/// All machines that share one client connection. It does no I/O: a driver carries out what `fencepost_hub_poll_output` says. Used by one
/// thread at a time; different hubs are independent.
#[derive(Debug)]
pub struct fencepost_hub {
    inner: Hub,
    pub(crate) said: Said,
}

impl From<Hub> for fencepost_hub {
    fn from(inner: Hub) -> Self {
        let said = Said::default();
        Self { inner, said }
    }
}

impl Deref for fencepost_hub {
    type Target = Hub;

    fn deref(&self) -> &Hub {
        &self.inner
    }
}

impl DerefMut for fencepost_hub {
    fn deref_mut(&mut self) -> &mut Hub {
        &mut self.inner
    }
}

impl fencepost_hub {
    /// The hub at a time, in microseconds.
    pub(crate) fn at(&mut self, now: u64) -> &mut Hub {
        self.inner.at(Instant::from_micros(now))
    }

    pub(crate) fn outcome(&mut self, now: u64, id: u64, outcome: lowered::Outcome) -> Result<(), Fault> {
        Ok(self.driven()?.at(now).handle_outcome(CommandId(id), outcome)?)
    }

    pub(crate) fn notice(&mut self, now: u64, notice: lowered::Notice) -> Result<(), Fault> {
        Ok(self.driven()?.at(now).handle_notice(notice)?)
    }

    fn driven(&mut self) -> Result<&mut Self, Fault> {
        if self.id() == 0 {
            return Ok(self);
        }
        Err(Fault::bad_argument(
            "a hub on memory: has no driver: it answers itself",
        ))
    }
}

impl Drop for fencepost_hub {
    fn drop(&mut self) {
        self.inner.disconnect();
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
        let made = Hub::driven(family.as_str(), seed)?;
        // SAFETY: checked above.
        unsafe { give(hub, made.into()) };
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
    // SAFETY: the header asks for a valid hub or NULL.
    quietly(|| unsafe { shared(hub) }.map_or(0, |hub| hub.id()))
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
            let settings: &fencepost_settings = shared(settings)?;
            let opened = exclusive(hub)?.at(now).open(&settings.checked, owner, seed)?;
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
        unsafe { exclusive(hub) }?.at(now).handle_timeout();
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
        unsafe { exclusive(hub) }?.at(now).close(Key(key));
        Ok(())
    })
}

/// Closes all machines, and opens no more. Go on driving until `fencepost_hub_pending` is 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_hub_shutdown(hub: *mut fencepost_hub, now: u64) -> fencepost_result {
    guard(|| {
        // SAFETY: the header asks for a valid hub or NULL.
        unsafe { exclusive(hub) }?.at(now).shutdown();
        Ok(())
    })
}

/// How many machines there are, those included that have been closed and still wait for the server. 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_hub_pending(hub: *const fencepost_hub) -> usize {
    // SAFETY: the header asks for a valid hub or NULL.
    quietly(|| unsafe { shared(hub) }.map_or(0, |hub| hub.pending()))
}

/// How many grants have come to an end since `fencepost_hub_shutdown` without being given back: the server has refused the release, or the
/// connection was closed for good before it. Such a lock stays on the server until its lease or session ends. 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_hub_unreleased(hub: *const fencepost_hub) -> usize {
    // SAFETY: the header asks for a valid hub or NULL.
    quietly(|| unsafe { shared(hub) }.map_or(0, |hub| hub.unreleased()))
}
