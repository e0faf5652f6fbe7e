//! Structures of the caller's that begin with their size: a later version of this library may know more members than its caller.

use std::mem::size_of;

use crate::boundary::{Fault, require};

/// A structure that the caller has and this library fills in.
///
/// # Safety
/// Its first member is its size in bytes, a `usize`.
pub(crate) unsafe trait Filled: Copy {
    /// What C calls it.
    const NAME: &'static str;
    /// How large it was in its first version.
    const FIRST: usize;
}

/// Says whether the caller's structure is one that can be filled in: its size is there.
///
/// # Safety
/// `place` is NULL, or its size can be read.
pub(crate) unsafe fn check<T: Filled>(place: *const T) -> Result<usize, Fault> {
    require(place)?;
    // SAFETY: by the trait's promise the size comes first, and the caller's that it can be read.
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

/// Fills in as much of a structure as its caller knows, but for its size.
///
/// # Safety
/// `place` has passed [`check`] with this size, and so many bytes can be written.
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
