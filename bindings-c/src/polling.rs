//! Taking out what a hub says, one by one, into a structure of the caller's.

use fencepost_core::Key;

use crate::{
    boundary::{exclusive, guard},
    hub::fencepost_hub,
    output::fencepost_output,
    result::fencepost_result,
    sized,
};

/// In `fencepost_hub_poll_output`: the outputs of all machines.
pub const FENCEPOST_ALL: u64 = 0;

/// Takes the next command or event, of the machine `only` (and of what machines share) or of `FENCEPOST_ALL`; with none left, says how long to
/// wait, and the same again until something is put in. Poll until `FENCEPOST_OUTPUT_KIND_WAIT` after every input. Errors: `BAD_ARGUMENT` for an
/// output without its size, and nothing is taken.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_hub_poll_output(
    hub: *mut fencepost_hub,
    only: u64,
    output: *mut fencepost_output,
) -> fencepost_result {
    guard(|| {
        // SAFETY: the header asks for an output with its size, or NULL.
        let size = unsafe { sized::check(output) }?;
        // SAFETY: the header asks for a valid hub or NULL.
        let hub = unsafe { exclusive(hub) }?;
        let (key, said) = hub.poll_output((only != FENCEPOST_ALL).then_some(Key(only)));
        let seen = hub.said.keep(key, said);
        // SAFETY: checked above.
        unsafe { sized::fill(output, size, &seen) };
        Ok(())
    })
}
