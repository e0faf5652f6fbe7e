//! Settings of an inspection, made from those of a lock.

use fencepost_core::Fence;

use crate::{
    boundary::{give, guard, require, shared},
    result::fencepost_result,
    settings::fencepost_settings,
    view,
};

/// Makes the settings of an inspection of a lock. `lock` has the lock's settings. `action` is `list`, `break`
/// or `revoke`. For `break` and `revoke`, `node` and `fence` are those of the contender to break or revoke,
/// as an earlier inspection found them; `list` ignores them. To inspect the lock, open a machine with these
/// settings, and acquire or try. The inspection ends in the event found or refused. Errors: 1xx;
/// `UNKNOWN_OPTION` for a multi-lock, which cannot be inspected, and for `revoke` on Redis; `BAD_ARGUMENT`
/// for settings that a scope made.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_settings_inspection(
    lock: *const fencepost_settings,
    action: *const u8,
    action_size: usize,
    node: *const u8,
    node_size: usize,
    fence: u64,
    settings: *mut *mut fencepost_settings,
) -> fencepost_result {
    guard(|| {
        require(settings)?;
        // SAFETY: the header requires valid settings or NULL, and for readable views.
        let (lock, action, node) = unsafe {
            (
                shared(lock)?,
                view::text(action, action_size)?,
                view::text(node, node_size)?,
            )
        };
        let contender = (action != "list").then_some((node, Fence(fence)));
        let raw = lock.raw()?.inspecting(action, contender);
        // SAFETY: checked above.
        unsafe { give(settings, fencepost_settings::read(raw)?) };
        Ok(())
    })
}
