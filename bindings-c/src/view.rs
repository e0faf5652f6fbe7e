//! Bytes that the caller owns.

use crate::{
    boundary::{Fault, guard, require},
    result::fencepost_result,
};

/// A pointer to bytes, and their number. The bytes have no NUL at the end. A text is UTF-8.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct fencepost_view {
    /// The first byte; may be NULL if `size` is 0.
    pub data: *const u8,
    /// The number of bytes.
    pub size: usize,
}

impl fencepost_view {
    pub(crate) const EMPTY: Self = Self {
        data: std::ptr::null(),
        size: 0,
    };

    pub(crate) const fn of(bytes: &[u8]) -> Self {
        Self {
            data: bytes.as_ptr(),
            size: bytes.len(),
        }
    }
}

/// # Safety `data` is NULL, or the beginning of `size` readable bytes that no code changes for `'a`.
pub(crate) unsafe fn bytes<'a>(data: *const u8, size: usize) -> Result<&'a [u8], Fault> {
    if size == 0 {
        return Ok(&[]);
    }
    require(data)?;
    // SAFETY: not NULL, and valid by the caller's promise.
    Ok(unsafe { std::slice::from_raw_parts(data, size) })
}

/// # Safety
/// As for [`bytes`].
pub(crate) unsafe fn text<'a>(data: *const u8, size: usize) -> Result<&'a str, Fault> {
    // SAFETY: passed on.
    let bytes = unsafe { bytes(data, size) }?;
    std::str::from_utf8(bytes).map_err(|error| Fault::bad_argument(format!("the text is not UTF-8: {error}")))
}

/// Checks that bytes are UTF-8, for a library that keeps a text and does not pass it to a hub. Errors:
/// `BAD_ARGUMENT` if they are not; `fencepost_detail` says at which byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_text_check(bytes: *const u8, bytes_size: usize) -> fencepost_result {
    // SAFETY: the header requires a readable view.
    guard(|| unsafe { text(bytes, bytes_size) }.map(drop))
}
