//! Settings of an inspection, from those of the lock.

use fencepost_core::Fence;

use crate::{
    boundary::{give, guard, require, shared},
    result::fencepost_result,
    settings::fencepost_settings,
    view,
};

/// Settings of an inspection of the lock that `lock` is for: `action` is `list`; or `break` or `revoke`, with the node's path and the fence of the contender
/// that is meant, as an inspection has found them. An acquire, or a try, of a machine with these settings begins it; it ends in the event found
/// or refused. Errors: 1xx, `UNKNOWN_OPTION` for a lock that cannot be looked at.
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
        // SAFETY: the header asks for valid settings or NULL, and for readable views.
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
