//! What a hub says: taken out one by one, into a structure of the caller's.

use fencepost_core::{Event, Instant, Key, Output, Wait, lowered::Request};

use crate::{
    boundary::{exclusive, guard, require},
    commands::{fencepost_command, fencepost_part, show_command, show_part},
    events::{fencepost_event, fencepost_found, show_event, show_found},
    hub::fencepost_hub,
    names::fencepost_timer,
    result::fencepost_result,
    view::fencepost_view,
};

/// A time that never comes: no deadline, no lease, nothing to wait for.
pub const FENCEPOST_NEVER: u64 = u64::MAX;
/// In `fencepost_hub_poll_output`: the outputs of all machines.
pub const FENCEPOST_ALL: u64 = 0;
/// What an output is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum fencepost_output_kind {
    /// Nothing is left to do: read `wait`.
    Wait = 0,
    /// Carry `command` out, and tell the hub what came of it.
    Command = 1,
    /// Tell `event` to the application.
    Event = 2,
}

/// How long to wait.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct fencepost_wait {
    /// When to call `fencepost_hub_handle_timeout` at the latest, or `FENCEPOST_NEVER`.
    pub until: u64,
    /// What the time is for.
    pub reason: fencepost_timer,
}

/// One output: `kind`, `key`, and the part that goes with the kind; the others are not written. Views in it are valid until the next call
/// on the hub that takes it without `const`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct fencepost_output {
    /// Which of the following to read.
    pub kind: fencepost_output_kind,
    /// Whose it is; 0: the hub's own.
    pub key: u64,
    /// For `FENCEPOST_OUTPUT_KIND_COMMAND`.
    pub command: fencepost_command,
    /// For `FENCEPOST_OUTPUT_KIND_EVENT`.
    pub event: fencepost_event,
    /// For `FENCEPOST_OUTPUT_KIND_WAIT`.
    pub wait: fencepost_wait,
}

/// The last output, which C's views point into.
#[derive(Debug, Default)]
pub(crate) struct Said {
    output: Option<Output<Request, Event>>,
    arguments: Vec<fencepost_view>,
    parts: Vec<fencepost_part>,
    found: Vec<fencepost_found>,
}

impl Said {
    /// # Safety
    /// `seen` is valid for writing.
    unsafe fn keep(&mut self, key: Key, output: Output<Request, Event>, seen: *mut fencepost_output) {
        self.arguments.clear();
        self.parts.clear();
        self.found.clear();
        // SAFETY: by the caller's promise. Parts are written one by one: most of the structure concerns another kind of output.
        unsafe {
            (&raw mut (*seen).key).write(key.0);
            let kind = match self.output.insert(output) {
                Output::Command(command) => {
                    let Request { arguments, parts, .. } = &command.request;
                    self.arguments
                        .extend(arguments.iter().map(|argument| fencepost_view::of(argument)));
                    self.parts.extend(parts.iter().map(show_part));
                    (&raw mut (*seen).command).write(show_command(command, &self.arguments, &self.parts));
                    fencepost_output_kind::Command
                }
                Output::Event(event) => {
                    if let Event::Found { contenders } = &*event {
                        self.found.extend(contenders.iter().map(show_found));
                    }
                    (&raw mut (*seen).event).write(show_event(event, &self.found));
                    fencepost_output_kind::Event
                }
                Output::Wait(wait) => {
                    (&raw mut (*seen).wait).write(show_wait(*wait));
                    fencepost_output_kind::Wait
                }
                // An output of a later core: nothing that this header has a place for.
                _ => {
                    (&raw mut (*seen).wait).write(show_wait(Wait::default()));
                    fencepost_output_kind::Wait
                }
            };
            (&raw mut (*seen).kind).write(kind);
        }
    }
}

/// Takes the next command or event, of the machine `only` (and of what machines share) or of `FENCEPOST_ALL`; with none left, says how long to
/// wait, and the same again until something is put in. Poll until `FENCEPOST_OUTPUT_KIND_WAIT` after every input.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_hub_poll_output(
    hub: *mut fencepost_hub,
    only: u64,
    output: *mut fencepost_output,
) -> fencepost_result {
    guard(|| {
        require(output)?;
        // SAFETY: the header asks for a valid hub or NULL.
        let hub = unsafe { exclusive(hub) }?;
        let (key, said) = hub.poll((only != FENCEPOST_ALL).then_some(Key(only)));
        // SAFETY: checked above.
        unsafe { hub.said.keep(key, said, output) };
        Ok(())
    })
}

fn show_wait(wait: Wait) -> fencepost_wait {
    fencepost_wait {
        until: time(wait.until),
        reason: wait.reason.into(),
    }
}

pub(crate) fn time(instant: Option<Instant>) -> u64 {
    instant.map_or(FENCEPOST_NEVER, Instant::as_micros)
}
