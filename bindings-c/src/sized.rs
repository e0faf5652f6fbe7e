//! Structures of the caller that begin with their size. A later version of this library may know more members
//! than its caller does.

use std::mem::size_of;

use crate::boundary::{Fault, require};

/// A structure that the caller provides and this library fills.
///
/// # Safety Its first member is its size in bytes, a `usize`.
pub(crate) unsafe trait Filled: Copy {
    /// Its name in C.
    const NAME: &'static str;
    /// Its size in its first version.
    const FIRST: usize;
}

/// Returns the size of the caller's structure, if the caller has set it.
///
/// # Safety `place` is NULL, or its size can be read.
pub(crate) unsafe fn check<T: Filled>(place: *const T) -> Result<usize, Fault> {
    require(place)?;
    // SAFETY: the trait promises that the size comes first, and the caller that it can be read.
    let size = unsafe { place.cast::<usize>().read() };
    if size < T::FIRST {
        return Err(Fault::bad_argument(format!(
            "the size in {} is {size}: set it to sizeof({}) before the call",
            T::NAME,
            T::NAME
        )));
    }
    Ok(size)
}

/// Fills the members that the caller knows, except the size.
///
/// # Safety `place` has passed [`check`] with this size, and that many bytes can be written.
pub(crate) unsafe fn fill<T: Filled>(place: *mut T, size: usize, value: &T) {
    let known = size.min(size_of::<T>());
    let head = size_of::<usize>();
    // SAFETY: within both, as every structure is larger than its size; the two do not overlap.
    unsafe {
        let from = std::ptr::from_ref(value).cast::<u8>().add(head);
        place
            .cast::<u8>()
            .add(head)
            .copy_from_nonoverlapping(from, known.saturating_sub(head));
    }
}
