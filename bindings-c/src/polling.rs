//! Takes the outputs of a hub one by one.

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

/// Takes the next command or event: of the machine with the key `only`, or of all machines with
/// `FENCEPOST_ALL`. It takes outputs of the hub itself in both cases. When no command and no event is left,
/// the output is a wait with the time of the next timer, and stays the same until the next input. After every
/// input, poll until `FENCEPOST_OUTPUT_KIND_WAIT`. Errors: `BAD_ARGUMENT` if `output->size` is not set; the
/// output then stays in the hub.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_hub_poll_output(
    hub: *mut fencepost_hub,
    only: u64,
    output: *mut fencepost_output,
) -> fencepost_result {
    guard(|| {
        // SAFETY: the header requires an output with its size, or NULL.
        let size = unsafe { sized::check(output) }?;
        // SAFETY: the header requires a valid hub or NULL.
        let hub = unsafe { exclusive(hub) }?;
        let (key, next) = hub.poll_output((only != FENCEPOST_ALL).then_some(Key(only)));
        let seen = hub.last_output.keep(key, next);
        // SAFETY: checked above.
        unsafe { sized::fill(output, size, &seen) };
        Ok(())
    })
}
