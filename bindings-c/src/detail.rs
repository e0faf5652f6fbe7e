//! The text of the last error.

use std::ffi::c_char;

use crate::{boundary, last_error, view};

/// Returns the text of the last failed call of **this thread**: what was wrong, and with which value. Each
/// thread has its own text, as with `dlerror`. So threads that share a client do not overwrite each other's
/// texts. The text is NUL-terminated and never NULL. It is valid until the next call by this thread fails. So
/// do not call it in the same argument list as the call that may fail: C does not define which of the two
/// calls runs first.
#[unsafe(no_mangle)]
pub extern "C" fn fencepost_detail() -> *const c_char {
    last_error::text()
}

/// Sets the text of `fencepost_detail` for this thread. It is for libraries that use this one. Bytes that are
/// not UTF-8 become replacement characters.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_set_detail(text: *const u8, size: usize) {
    boundary::quietly(|| {
        // SAFETY: the header requires a readable view.
        if let Ok(bytes) = unsafe { view::bytes(text, size) } {
            last_error::set(&String::from_utf8_lossy(bytes));
        }
    });
}
