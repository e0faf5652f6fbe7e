//! What went wrong last, in words.

use std::ffi::c_char;

use crate::{boundary, last_error, view};

/// What the last failed call of **this thread** said went wrong: a whole sentence with the values that were wrong. It belongs to the
/// thread, as with `dlerror`, so threads that share a client do not overwrite each other's. NUL-terminated, never NULL; valid until the
/// next call of fencepost by this thread fails.
#[unsafe(no_mangle)]
pub extern "C" fn fencepost_detail() -> *const c_char {
    last_error::text()
}

/// Puts the text of `fencepost_detail` for this thread: for libraries that are built on this one. Text that is not UTF-8 is shown with
/// replacement characters.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_set_detail(text: *const u8, size: usize) {
    boundary::quietly(|| {
        // SAFETY: the header asks for a readable view.
        if let Ok(bytes) = unsafe { view::bytes(text, size) } {
            last_error::set(&String::from_utf8_lossy(bytes));
        }
    });
}
