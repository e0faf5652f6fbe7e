//! The requests of an application to a machine.

use fencepost_core::{AcquireTimeout, Intent, Key, claim::Content, positive};

use crate::{
    boundary::{Fault, exclusive, guard},
    hub::fencepost_hub,
    result::fencepost_result,
    view,
};

/// An infinite acquire timeout: the acquire waits until it is granted or refused.
pub const FENCEPOST_FOREVER: i64 = i64::MAX;

/// Acquires the lock, or claims the operation. `acquire_timeout` is in microseconds, or `FENCEPOST_FOREVER`;
/// connecting and retries count. The acquire ends in the event acquired or refused; a claim may also end in
/// replayed. Errors: `NOT_POSITIVE` for a timeout of zero or less (to try without waiting, use
/// `fencepost_hub_try_acquire`); `UNKNOWN_KEY`; `BUSY`.
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
        // SAFETY: the header requires a valid hub or NULL.
        unsafe { exclusive(hub) }?
            .at(now)
            .intent(Key(key), Intent::Acquire(acquire_timeout))?;
        Ok(())
    })
}

/// Acquires the lock, or claims the operation, without waiting for other contenders. It ends as
/// `fencepost_hub_acquire` does. Errors: `UNKNOWN_KEY`, `BUSY`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_hub_try_acquire(
    hub: *mut fencepost_hub,
    now: u64,
    key: u64,
) -> fencepost_result {
    // SAFETY: passed on.
    unsafe { intent(hub, now, key, Intent::Acquire(AcquireTimeout::Try)) }
}

/// Extends the grant by a full lease from now. It ends in the event extended or lost. Errors: `UNKNOWN_KEY`,
/// `NOT_HELD`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_hub_extend(
    hub: *mut fencepost_hub,
    now: u64,
    key: u64,
) -> fencepost_result {
    // SAFETY: passed on.
    unsafe { intent(hub, now, key, Intent::Extend) }
}

/// Releases the grant. The release of a claim states that the operation had no effect, so another attempt may
/// claim it. The release ends in the event released; in refused if the server refuses it; or in lost if the
/// grant had already ended. Errors: `UNKNOWN_KEY`, `NOT_HELD`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_hub_release(
    hub: *mut fencepost_hub,
    now: u64,
    key: u64,
) -> fencepost_result {
    // SAFETY: passed on.
    unsafe { intent(hub, now, key, Intent::Release) }
}

/// Completes a claim: the server stores `result` as the result of the operation. `tag` is a text that says
/// what the result is; it may be empty. The call ends in the event completed; in replayed if another attempt
/// has stored a result; in refused if the server refuses, and the claim stays held; or in lost. After a loss,
/// the application may still complete the claim: the server stores the result unless another attempt has
/// claimed the operation. Errors: `UNKNOWN_KEY`; `NOT_HELD`; `NOT_A_CLAIM`; `INVALID_OPTION` for a result of
/// more than 1000000 bytes, or a tag of more than 255.
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
        // SAFETY: the header requires readable views, and a valid hub or NULL.
        unsafe {
            let content = content(tag, tag_size, result, result_size)?;
            exclusive(hub)?
                .at(now)
                .intent(Key(key), Intent::Complete(content))?;
        }
        Ok(())
    })
}

/// Leaves a claim: it is unknown whether the operation took effect, so the claim's policy decides what
/// follows. The call ends in the same events as a release. Errors: `UNKNOWN_KEY`, `NOT_HELD`, `NOT_A_CLAIM`.
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
    // Check the size first: the program may pass the result of a failed `read` or `snprintf`, which is a huge
    // size.
    Content::check_size(result_size)?;
    // SAFETY: by the caller's promise.
    let (tag, result) = unsafe { (view::text(tag, tag_size)?, view::bytes(result, result_size)?) };
    Ok(Content::new(tag, result.to_owned())?)
}

/// Downgrades a writer's grant to a reader's grant. No other contender gets the lock in between. From this
/// call on, the holder may only do what readers may. The downgrade ends in the event downgraded; in refused,
/// with the grant unchanged; or in lost. Errors: `UNKNOWN_KEY`; `NOT_HELD`; `NOT_A_WRITER`; `BUSY` while a
/// downgrade is in progress.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_hub_downgrade(
    hub: *mut fencepost_hub,
    now: u64,
    key: u64,
) -> fencepost_result {
    // SAFETY: passed on.
    unsafe { intent(hub, now, key, Intent::Downgrade) }
}

/// Cancels an acquire. The acquire then ends in the event refused. On ZooKeeper, the machine reports that
/// event once the contender's node has been deleted; or at once if the application cancels again, or if the
/// acquire has already failed. Errors: `UNKNOWN_KEY`, `NOT_WAITING`.
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
/// As for the functions above.
unsafe fn intent(hub: *mut fencepost_hub, now: u64, key: u64, intent: Intent) -> fencepost_result {
    guard(|| {
        // SAFETY: the header requires a valid hub or NULL.
        unsafe { exclusive(hub) }?.at(now).intent(Key(key), intent)?;
        Ok(())
    })
}
