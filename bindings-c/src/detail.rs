//! What went wrong last, in words.

use std::{
    cell::RefCell,
    ffi::{CStr, CString, c_char},
};

use crate::{boundary, view};

thread_local! {
    static DETAIL: RefCell<CString> = RefCell::default();
}

pub(crate) fn set(text: &str) {
    let text = CString::new(text.replace('\0', "\u{fffd}")).unwrap_or_default();
    // A thread that is ending has nobody left to read it.
    let _ended = DETAIL.try_with(|detail| detail.replace(text));
}

/// What the last failed call of **this thread** said went wrong: a whole sentence with the values that were wrong. It belongs to the
/// thread, as with `dlerror`, so threads that share a client do not overwrite each other's. NUL-terminated, never NULL; valid until the
/// next call of fencepost by this thread fails.
#[unsafe(no_mangle)]
pub extern "C" fn fencepost_detail() -> *const c_char {
    DETAIL
        .try_with(|detail| detail.borrow().as_ptr())
        .unwrap_or(const { CStr::as_ptr(c"") })
}

/// Puts the text of `fencepost_detail` for this thread: for libraries that are built on this one. Text that is not UTF-8 is shown with
/// replacement characters.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_set_detail(text: *const u8, size: usize) {
    boundary::quietly(|| {
        // SAFETY: the header asks for a readable view.
        if let Ok(bytes) = unsafe { view::bytes(text, size) } {
            set(&String::from_utf8_lossy(bytes));
        }
    });
}
