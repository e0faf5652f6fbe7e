//! The hub: all machines that share one client connection.

use core::ops::{Deref, DerefMut};

use fencepost_core::{CommandId, ContenderId, Instant, Key, lowered};
use fencepost_models::hub::Hub;

use crate::{
    boundary::{Fault, exclusive, give, guard, quietly, require, shared, take_back},
    names::fencepost_family,
    output::LastOutput,
    result::fencepost_result,
    settings::fencepost_settings,
};

/// All machines on one client connection. The hub does no I/O: a driver carries out the commands of
/// `fencepost_hub_poll_output`. Only one thread at a time may use a hub. Different hubs are independent.
#[derive(Debug)]
pub struct fencepost_hub {
    inner: Hub,
    pub(crate) last_output: LastOutput,
}

impl From<Hub> for fencepost_hub {
    fn from(inner: Hub) -> Self {
        let last_output = LastOutput::default();
        Self { inner, last_output }
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
    /// The hub at a time in microseconds.
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
            "a hub on memory: has no driver: report no outcome and no notice to it",
        ))
    }
}

impl Drop for fencepost_hub {
    fn drop(&mut self) {
        self.inner.disconnect();
    }
}

/// Makes a hub without machines. `family` is a `fencepost_family`. `seed` is any number; the hub uses it to
/// spread retries over time, and for nothing else. Errors: `BAD_ARGUMENT` if there is no such family.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_hub_new(
    family: u32,
    seed: u64,
    hub: *mut *mut fencepost_hub,
) -> fencepost_result {
    guard(|| {
        require(hub)?;
        let family = fencepost_family::from_number(family).ok_or_else(|| {
            Fault::bad_argument(format!("there is no family {family}: pass a fencepost_family"))
        })?;
        let made = Hub::driven(family.as_str(), seed)?;
        // SAFETY: checked above.
        unsafe { give(hub, made.into()) };
        Ok(())
    })
}

/// Frees a hub, and ignores NULL. This does **not** release the grants of its machines. First call
/// `fencepost_hub_shutdown`, and drive the hub until `fencepost_hub_pending` returns 0. Freeing a hub on
/// memory ends its session, and with it all its grants.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_hub_free(hub: *mut fencepost_hub) {
    // SAFETY: the header requires a hub that is not used again.
    unsafe { take_back(hub) }
}

/// Returns the number of a hub on a `fencepost_memory`; 0 for a hub with a driver, and for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_hub_id(hub: *const fencepost_hub) -> u64 {
    // SAFETY: the header requires a valid hub or NULL.
    quietly(|| unsafe { shared(hub) }.map_or(0, |hub| hub.id()))
}

/// Opens a machine: one contender for one lock. It contends once the caller acquires. `contender` is the
/// contender's id: sixteen bytes from the operating system's random source, new for every machine. Two
/// contenders with the same id could both hold the lock. `seed` is any number. The function writes the
/// machine's `key`, which other calls and the outputs use. Errors: `WRONG_FAMILY` for settings of another
/// family; `CLIENT_CLOSED` after `fencepost_hub_shutdown`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_hub_open(
    hub: *mut fencepost_hub,
    now: u64,
    settings: *const fencepost_settings,
    contender: *const u8,
    seed: u64,
    key: *mut u64,
) -> fencepost_result {
    guard(|| {
        require(contender)?;
        require(key)?;
        // SAFETY: the header requires valid objects or NULL, sixteen readable bytes, and room for the key.
        unsafe {
            let contender = ContenderId(contender.cast::<[u8; 16]>().read_unaligned());
            let settings: &fencepost_settings = shared(settings)?;
            let opened = exclusive(hub)?.at(now).open(&settings.checked, contender, seed)?;
            key.write(opened.0);
        }
        Ok(())
    })
}

/// Reports that time has passed. Early and repeated calls change nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_hub_handle_timeout(hub: *mut fencepost_hub, now: u64) -> fencepost_result {
    guard(|| {
        // SAFETY: the header requires a valid hub or NULL.
        unsafe { exclusive(hub) }?.at(now).handle_timeout();
        Ok(())
    })
}

/// Closes a key in any state: its machine releases its grant, leaves its claim, or cancels its acquire. The
/// machine reports no more events. It exists until the server has answered, and `fencepost_hub_pending` counts
/// it until then. An unknown key is no error, because the machine may have ended already.
///
/// Writes to `unused` the key of the machine that served `key`, if no open key uses this machine any more;
/// otherwise 0. The driver can then delete what it keeps for that machine, such as watches. The acquires of
/// one owner share a machine, and the machine sends all its commands with the key of the first acquire. So
/// the function writes 0 while other acquires of the grant are open. `unused` may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_hub_close(
    hub: *mut fencepost_hub,
    now: u64,
    key: u64,
    unused: *mut u64,
) -> fencepost_result {
    guard(|| {
        // SAFETY: the header requires a valid hub or NULL.
        let closed = unsafe { exclusive(hub) }?.at(now).close(Key(key));
        // SAFETY: the header requires a place for a number or NULL.
        if let Some(unused) = unsafe { unused.as_mut() } {
            *unused = closed.map_or(0, |key| key.0);
        }
        Ok(())
    })
}

/// Returns whether an open key uses the machine of this key; false for NULL. A driver calls this before it
/// keeps a watch, because the answer to a read may arrive after the key was closed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_hub_serves(hub: *const fencepost_hub, key: u64) -> bool {
    // SAFETY: the header requires a valid hub or NULL.
    quietly(|| unsafe { shared(hub) }.is_ok_and(|hub| hub.serves(Key(key))))
}

/// Closes all machines. From then on, `fencepost_hub_open` returns `CLIENT_CLOSED`. Drive the hub until
/// `fencepost_hub_pending` returns 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_hub_shutdown(hub: *mut fencepost_hub, now: u64) -> fencepost_result {
    guard(|| {
        // SAFETY: the header requires a valid hub or NULL.
        unsafe { exclusive(hub) }?.at(now).shutdown();
        Ok(())
    })
}

/// Returns the number of machines, including the closed machines that still wait for the server; 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_hub_pending(hub: *const fencepost_hub) -> usize {
    // SAFETY: the header requires a valid hub or NULL.
    quietly(|| unsafe { shared(hub) }.map_or(0, |hub| hub.pending()))
}

/// Returns the number of grants that have ended without a release since `fencepost_hub_shutdown`: the server
/// refused the release, or the connection was closed for good before the release. Such a lock stays on the
/// server until its lease or session ends. Returns 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_hub_unreleased(hub: *const fencepost_hub) -> usize {
    // SAFETY: the header requires a valid hub or NULL.
    quietly(|| unsafe { shared(hub) }.map_or(0, |hub| hub.unreleased()))
}
