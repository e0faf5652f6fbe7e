//! The version of the header and of the library.

use std::ffi::{CStr, c_char};

/// The version of this header as a number: 10000 times the major, 100 times the minor, and the patch version.
pub const FENCEPOST_VERSION: u32 = 100;

const NAME: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");

const fn number(text: &str) -> u32 {
    let bytes = text.as_bytes();
    let (mut number, mut place) = (0, 0);
    while place < bytes.len() {
        number = number * 10 + (bytes[place] - b'0') as u32;
        place += 1;
    }
    number
}

const _: () = assert!(
    FENCEPOST_VERSION
        == number(env!("CARGO_PKG_VERSION_MAJOR")) * 10_000
            + number(env!("CARGO_PKG_VERSION_MINOR")) * 100
            + number(env!("CARGO_PKG_VERSION_PATCH")),
    "the header's version is not the package's"
);

/// Returns the version of the library that runs, as a number like `FENCEPOST_VERSION`.
#[unsafe(no_mangle)]
pub extern "C" fn fencepost_version() -> u32 {
    FENCEPOST_VERSION
}

/// Returns the version of the library that runs, as a text such as `0.1.0`. It is NUL-terminated and never
/// NULL.
#[unsafe(no_mangle)]
pub extern "C" fn fencepost_version_name() -> *const c_char {
    CStr::from_bytes_with_nul(NAME.as_bytes()).map_or(std::ptr::null(), CStr::as_ptr)
}
