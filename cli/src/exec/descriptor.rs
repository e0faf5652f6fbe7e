//! The descriptor of `--status-fd`, which the program's caller has opened.

use std::{
    fs::File,
    io::Error,
    os::fd::{BorrowedFd, RawFd},
    sync::Arc,
};

use nix::fcntl::{FcntlArg, OFlag, fcntl};

/// Duplicates the descriptor that the caller has opened. This happens when the program reads its arguments, before it
/// opens files itself: a wrong number must not name one of these files.
pub(super) fn open(number: &str) -> Result<Arc<File>, String> {
    let number: u16 = number
        .parse()
        .map_err(|_| "give the number of a descriptor, such as 3".to_owned())?;
    // SAFETY: the program has opened nothing so far, and closes no descriptor while this one is duplicated. If the
    // number names no descriptor, the duplication fails.
    let given = unsafe { BorrowedFd::borrow_raw(RawFd::from(number)) };
    let own = given.try_clone_to_owned().map_err(|error| error.to_string())?;
    let flags = fcntl(&own, FcntlArg::F_GETFL).map_err(|error| Error::from(error).to_string())?;
    match OFlag::from_bits_retain(flags) & OFlag::O_ACCMODE {
        OFlag::O_RDONLY => Err("it is open for reading only".into()),
        _ => Ok(Arc::new(File::from(own))),
    }
}
