//! The text of this thread's last error.

use std::{
    cell::RefCell,
    ffi::{CStr, CString, c_char},
};

thread_local! {
    static DETAIL: RefCell<CString> = RefCell::default();
}

pub(crate) fn set(text: &str) {
    let text = CString::new(text.replace('\0', "\u{fffd}")).unwrap_or_default();
    // An ending thread no longer reads the text.
    let _ended = DETAIL.try_with(|detail| detail.replace(text));
}

/// NUL-terminated; valid until the next [`set`] of this thread.
pub(crate) fn text() -> *const c_char {
    DETAIL
        .try_with(|detail| detail.borrow().as_ptr())
        .unwrap_or(const { CStr::as_ptr(c"") })
}
