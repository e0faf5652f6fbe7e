//! The boundary to C: each function checks pointers, catches panics, and converts errors.

use std::panic::{AssertUnwindSafe, catch_unwind};

use fencepost_core::{ConfigError, Misuse};

use crate::{last_error, result::fencepost_result};

/// A call that failed: the result code, and the text for `fencepost_detail`.
#[derive(Debug)]
pub(crate) struct Fault {
    code: fencepost_result,
    detail: String,
}

impl Fault {
    pub(crate) fn null() -> Self {
        Self::new(
            fencepost_result::NullPointer,
            "a required pointer is NULL: pass the object, or a place for the output",
        )
    }

    pub(crate) fn bad_argument(detail: impl Into<String>) -> Self {
        Self::new(fencepost_result::BadArgument, detail)
    }

    fn new(code: fencepost_result, detail: impl Into<String>) -> Self {
        Self {
            code,
            detail: detail.into(),
        }
    }

    fn of_core(code: u16, detail: String) -> Self {
        Self::new(
            fencepost_result::from_code(code.into()).unwrap_or(fencepost_result::Panic),
            detail,
        )
    }
}

impl From<ConfigError> for Fault {
    fn from(error: ConfigError) -> Self {
        Self::of_core(error.code(), error.to_string())
    }
}

impl From<Misuse> for Fault {
    fn from(misuse: Misuse) -> Self {
        Self::of_core(misuse.code(), misuse.to_string())
    }
}

/// Runs the body of a function. On a failure, it stores the text and returns the code. A panic does not cross
/// the boundary.
///
/// Unwind safety: after a panic, the object may be in an inconsistent state. Only these functions use the
/// object again, and the header allows the program only to free it.
pub(crate) fn guard(body: impl FnOnce() -> Result<(), Fault>) -> fencepost_result {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => fencepost_result::Ok,
        Ok(Err(fault)) => {
            last_error::set(&fault.detail);
            fault.code
        }
        Err(_) => {
            last_error::set("a defect in fencepost (a panic): free the object, and report the defect");
            fencepost_result::Panic
        }
    }
}

/// Runs a body that cannot fail. After a panic, the result is the default of its type.
pub(crate) fn quietly<T: Default>(body: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_default()
}

pub(crate) fn require<T>(pointer: *const T) -> Result<(), Fault> {
    if pointer.is_null() {
        Err(Fault::null())
    } else {
        Ok(())
    }
}

/// # Safety
/// The pointer is NULL, or valid for reading for `'a`.
pub(crate) unsafe fn shared<'a, T>(pointer: *const T) -> Result<&'a T, Fault> {
    // SAFETY: valid by the caller's promise; NULL gives `None`.
    unsafe { pointer.as_ref() }.ok_or_else(Fault::null)
}

/// # Safety The pointer is NULL, or valid for reading and writing for `'a`. No other code uses the object
/// during `'a`.
pub(crate) unsafe fn exclusive<'a, T>(pointer: *mut T) -> Result<&'a mut T, Fault> {
    // SAFETY: valid by the caller's promise; NULL gives `None`.
    unsafe { pointer.as_mut() }.ok_or_else(Fault::null)
}

/// Passes a new object to C. C frees it with the matching `_free`.
///
/// # Safety
/// `out` is valid for writing.
pub(crate) unsafe fn give<T>(out: *mut *mut T, value: T) {
    // SAFETY: by the caller's promise.
    unsafe { out.write(Box::into_raw(Box::new(value))) }
}

/// Takes an object back and drops it. NULL is ignored.
///
/// # Safety
/// The pointer is NULL or came from [`give`], and is not used again.
pub(crate) unsafe fn take_back<T>(pointer: *mut T) {
    if !pointer.is_null() {
        // SAFETY: by the caller's promise.
        let object = unsafe { Box::from_raw(pointer) };
        quietly(|| drop(object));
    }
}
