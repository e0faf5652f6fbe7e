//! Outputs of a hub, as C sees them.

use std::mem::offset_of;

use fencepost_core::{Event, Key, Output, Wait, lowered::Request};

use crate::{
    commands::{fencepost_command, fencepost_part, show_command, show_part},
    events::{fencepost_event, fencepost_found, show_event, show_found},
    moments::time,
    names::fencepost_timer,
    records::{fencepost_record, record_of, show_record},
    sized::Filled,
    view::fencepost_view,
};

/// The kind of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum fencepost_output_kind {
    /// No output is left. `wait` has the time of the next timer.
    Wait = 0,
    /// Carry out `command`, and report its outcome to the hub.
    Command = 1,
    /// Pass `event` to the application.
    Event = 2,
}

/// How long to wait for the next input.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct fencepost_wait {
    /// When to call `fencepost_hub_handle_timeout` at the latest, in microseconds; or `FENCEPOST_NEVER`.
    pub until: u64,
    /// The purpose of the timer, for logs.
    pub reason: fencepost_timer,
}

/// One output. The caller provides the structure. Its pointers point to memory of the hub, which is valid
/// until the next call with a hub that is not `const`. Later versions may add members at the end, here and in
/// the structures that it points to.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct fencepost_output {
    /// The size of the caller's structure. The caller sets it to `sizeof(fencepost_output)` before the call.
    /// The library writes no more bytes than that.
    pub size: usize,
    /// Which of the following members is set.
    pub kind: fencepost_output_kind,
    /// Zero.
    pub reserved: u32,
    /// The machine whose output it is; 0 for an output of the hub itself.
    pub key: u64,
    /// For `FENCEPOST_OUTPUT_KIND_COMMAND`; otherwise NULL.
    pub command: *const fencepost_command,
    /// For `FENCEPOST_OUTPUT_KIND_EVENT`; otherwise NULL.
    pub event: *const fencepost_event,
    /// For `FENCEPOST_OUTPUT_KIND_WAIT`; otherwise NULL.
    pub wait: *const fencepost_wait,
}

// SAFETY: its size comes first.
unsafe impl Filled for fencepost_output {
    const NAME: &'static str = "fencepost_output";
    const FIRST: usize = offset_of!(Self, wait) + size_of::<*const fencepost_wait>();
}

/// The last output. The pointers that C gets point into it.
#[derive(Debug, Default)]
pub(crate) struct LastOutput {
    output: Option<Output<Request, Event>>,
    arguments: Vec<fencepost_view>,
    parts: Listed<fencepost_part>,
    found: Listed<fencepost_found>,
    /// The attempt of the record, as text.
    attempt: String,
    record: Option<fencepost_record>,
    command: Option<fencepost_command>,
    event: Option<fencepost_event>,
    wait: Option<fencepost_wait>,
}

/// Some structures, and a pointer to each. C reads the structures through these pointers, so that later
/// versions may add members.
#[derive(Debug)]
pub(crate) struct Listed<T> {
    values: Vec<T>,
    places: Vec<*const T>,
}

impl<T> Default for Listed<T> {
    fn default() -> Self {
        Self {
            values: Vec::new(),
            places: Vec::new(),
        }
    }
}

impl<T> Listed<T> {
    fn set(&mut self, values: impl Iterator<Item = T>) {
        self.places.clear();
        self.values.clear();
        self.values.extend(values);
        self.places.extend(self.values.iter().map(std::ptr::from_ref));
    }
}

impl LastOutput {
    pub(crate) fn keep(&mut self, key: Key, output: Output<Request, Event>) -> fencepost_output {
        let mut seen = fencepost_output {
            size: 0,
            kind: fencepost_output_kind::Wait,
            reserved: 0,
            key: key.0,
            command: std::ptr::null(),
            event: std::ptr::null(),
            wait: std::ptr::null(),
        };
        match self.output.insert(output) {
            Output::Command(command) => {
                let Request { arguments, parts, .. } = &command.request;
                self.arguments.clear();
                self.arguments
                    .extend(arguments.iter().map(|argument| fencepost_view::of(argument)));
                self.parts.set(parts.iter().map(show_part));
                seen.kind = fencepost_output_kind::Command;
                seen.command =
                    self.command
                        .insert(show_command(command, &self.arguments, &self.parts.places));
            }
            Output::Event(event) => {
                if let Event::Found { contenders } = &*event {
                    self.found.set(contenders.iter().map(show_found));
                }
                self.record = record_of(event).map(|record| {
                    self.attempt = record.attempt.text();
                    show_record(record, &self.attempt)
                });
                let record = self.record.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
                seen.kind = fencepost_output_kind::Event;
                seen.event = self.event.insert(show_event(event, &self.found.places, record));
            }
            Output::Wait(wait) => seen.wait = self.wait.insert(show_wait(*wait)),
            // This header has no place for an output of a later core.
            _ => seen.wait = self.wait.insert(show_wait(Wait::default())),
        }
        seen
    }
}

fn show_wait(wait: Wait) -> fencepost_wait {
    fencepost_wait {
        until: time(wait.until),
        reason: wait.reason.into(),
    }
}
