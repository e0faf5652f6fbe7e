//! What an application wants of a machine.

use fencepost_core::{AcquireTimeout, Intent, Key, claim::Content, positive};

use crate::{
    boundary::{Fault, exclusive, guard},
    hub::fencepost_hub,
    result::fencepost_result,
    view,
};

/// The acquire timeout of an acquire that waits until it is granted or refused.
pub const FENCEPOST_FOREVER: i64 = i64::MAX;

/// Acquires, with an acquire timeout in microseconds, or `FENCEPOST_FOREVER`. Ends in the event acquired or refused. Errors: `NOT_POSITIVE` for zero and
/// less, `UNKNOWN_KEY`, `BUSY`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_hub_acquire(
    hub: *mut fencepost_hub,
    now: u64,
    key: u64,
    acquire_timeout: i64,
) -> fencepost_result {
    guard(|| {
        let acquire_timeout = match acquire_timeout {
            FENCEPOST_FOREVER => AcquireTimeout::Forever,
            limit => AcquireTimeout::For(positive("timeout", limit, "; to ask without waiting, use a try")?),
        };
        // SAFETY: the header asks for a valid hub or NULL.
        unsafe { exclusive(hub) }?
            .at(now)
            .intent(Key(key), Intent::Acquire(acquire_timeout))?;
        Ok(())
    })
}

/// Acquires at once or not at all. Ends in the event acquired or refused. Errors: `UNKNOWN_KEY`, `BUSY`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_hub_try_acquire(
    hub: *mut fencepost_hub,
    now: u64,
    key: u64,
) -> fencepost_result {
    // SAFETY: passed on.
    unsafe { intent(hub, now, key, Intent::Acquire(AcquireTimeout::Try)) }
}

/// Makes the grant last from now on. Ends in the event extended or lost. Errors: `UNKNOWN_KEY`, `NOT_HELD`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_hub_extend(
    hub: *mut fencepost_hub,
    now: u64,
    key: u64,
) -> fencepost_result {
    // SAFETY: passed on.
    unsafe { intent(hub, now, key, Intent::Extend) }
}

/// Gives the grant back; of a claim: nothing has happened, and the operation may be claimed anew. Ends in the event released, or in lost or refused. Errors: `UNKNOWN_KEY`, `NOT_HELD`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_hub_release(
    hub: *mut fencepost_hub,
    now: u64,
    key: u64,
) -> fencepost_result {
    // SAFETY: passed on.
    unsafe { intent(hub, now, key, Intent::Release) }
}

/// Ends a claim: its operation has this result. Ends in the event completed; in replayed if another attempt has stored a result; in refused, and
/// the claim goes on; or in lost. After a loss it may still be tried: the server stores the result unless another attempt has claimed the
/// operation. Errors: `UNKNOWN_KEY`, `NOT_HELD`, `NOT_A_CLAIM`, `INVALID_OPTION` for more than 1000000 bytes, or more than 255 of the tag.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_hub_complete(
    hub: *mut fencepost_hub,
    now: u64,
    key: u64,
    tag: *const u8,
    tag_size: usize,
    result: *const u8,
    result_size: usize,
) -> fencepost_result {
    guard(|| {
        // SAFETY: the header asks for readable views, and a valid hub or NULL.
        unsafe {
            let content = content(tag, tag_size, result, result_size)?;
            exclusive(hub)?
                .at(now)
                .intent(Key(key), Intent::Complete(content))?;
        }
        Ok(())
    })
}

/// Ends a claim whose outcome is unknown: its policy decides what follows. Ends as a release does. Errors: `UNKNOWN_KEY`, `NOT_HELD`,
/// `NOT_A_CLAIM`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_hub_leave(
    hub: *mut fencepost_hub,
    now: u64,
    key: u64,
) -> fencepost_result {
    // SAFETY: passed on.
    unsafe { intent(hub, now, key, Intent::Leave) }
}

/// A result with its tag.
///
/// # Safety
/// Both views are readable.
pub(crate) unsafe fn content(
    tag: *const u8,
    tag_size: usize,
    result: *const u8,
    result_size: usize,
) -> Result<Content, Fault> {
    // SAFETY: by the caller's promise.
    let (tag, result) = unsafe { (view::text(tag, tag_size)?, view::bytes(result, result_size)?) };
    Ok(Content::new(tag, result.to_owned())?)
}

/// Turns a writer's grant into a reader's, without anybody in between. Ends in the event downgraded, or in refused while the grant stays as it was, or
/// in lost. Errors: `UNKNOWN_KEY`, `NOT_HELD`, `NOT_A_WRITER`, `BUSY` while it is on its way already.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_hub_downgrade(
    hub: *mut fencepost_hub,
    now: u64,
    key: u64,
) -> fencepost_result {
    // SAFETY: passed on.
    unsafe { intent(hub, now, key, Intent::Downgrade) }
}

/// Stops an acquire. Ends in the event refused, on ZooKeeper when what was made has been deleted; called again, at once. Errors:
/// `UNKNOWN_KEY`, `NOT_WAITING`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_hub_cancel(
    hub: *mut fencepost_hub,
    now: u64,
    key: u64,
) -> fencepost_result {
    // SAFETY: passed on.
    unsafe { intent(hub, now, key, Intent::Cancel) }
}

/// # Safety
/// As the functions above ask.
unsafe fn intent(hub: *mut fencepost_hub, now: u64, key: u64, intent: Intent) -> fencepost_result {
    guard(|| {
        // SAFETY: the header asks for a valid hub or NULL.
        unsafe { exclusive(hub) }?.at(now).intent(Key(key), intent)?;
        Ok(())
    })
}
