//! What a hub says: taken out one by one, into a structure of the caller's.

use fencepost_core::{Cause, Command, Event, Grant, Instant, Key, Output, Target, Wait, lowered::Request};

use crate::{
    boundary::{exclusive, guard, require},
    hub::fencepost_hub,
    names::{fencepost_event_kind, fencepost_operation, fencepost_target, fencepost_timer},
    result::fencepost_result,
    view::fencepost_view,
};

/// A time that never comes: no deadline, no lease, nothing to wait for.
pub const FENCEPOST_NEVER: u64 = u64::MAX;
/// In `fencepost_hub_poll_output`: the outputs of all machines.
pub const FENCEPOST_ALL: u64 = 0;
/// Create: the node goes with its session, and its name is numbered.
pub const FENCEPOST_FLAG_EPHEMERAL_SEQUENTIAL: u32 = 1;
/// Create: the node goes some time after its last child.
pub const FENCEPOST_FLAG_CONTAINER: u32 = 2;
/// Get: tell once of the node's deletion or change. Children: tell once when there are others.
pub const FENCEPOST_FLAG_WATCH: u32 = 4;
/// Create: the node goes with its session.
pub const FENCEPOST_FLAG_EPHEMERAL: u32 = 8;

const _: () = {
    use fencepost_core::lowered::flags;
    assert!(FENCEPOST_FLAG_EPHEMERAL_SEQUENTIAL == flags::EPHEMERAL_SEQUENTIAL);
    assert!(FENCEPOST_FLAG_CONTAINER == flags::CONTAINER && FENCEPOST_FLAG_WATCH == flags::WATCH);
    assert!(FENCEPOST_FLAG_EPHEMERAL == flags::EPHEMERAL);
};

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

/// Something for the driver to do. What an operation does not use is empty.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct fencepost_command {
    /// Names the command in its outcome and in notices.
    pub id: u64,
    /// When the machine stops caring, or `FENCEPOST_NEVER`: advice.
    pub deadline: u64,
    /// What to do.
    pub operation: fencepost_operation,
    /// Which connection has to carry it.
    pub target: fencepost_target,
    /// The number of the server, for `FENCEPOST_TARGET_SERVER`.
    pub server: u32,
    /// ZooKeeper: `FENCEPOST_FLAG_…`.
    pub flags: u32,
    /// ZooKeeper: the path.
    pub path: fencepost_view,
    /// ZooKeeper: a node's new data.
    pub data: fencepost_view,
    /// Redis: the command with its arguments, or the channel.
    pub arguments: *const fencepost_view,
    /// How many arguments there are.
    pub argument_count: usize,
    /// ZooKeeper: what a multi does.
    pub parts: *const fencepost_part,
    /// How many parts there are.
    pub part_count: usize,
}

/// One write of a multi.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct fencepost_part {
    /// To create `path` with `data` as `flags` say, or to delete `path`, any version.
    pub operation: fencepost_operation,
    /// `FENCEPOST_FLAG_…`.
    pub flags: u32,
    /// The path.
    pub path: fencepost_view,
    /// A new node's data.
    pub data: fencepost_view,
}

/// Something for the application. What an event does not use is zero, or `FENCEPOST_NEVER`, or empty.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct fencepost_event {
    /// What has happened.
    pub kind: fencepost_event_kind,
    /// Why, of a lost or refused one.
    pub reason: fencepost_result,
    /// Until when the grant is valid, or `FENCEPOST_NEVER`: there is no lease, or none is spoken of.
    pub valid_until: u64,
    /// The grant's fence, if `has_fence`.
    pub fence: u64,
    /// The command that brought a loss or refusal to light; 0 if none did.
    pub cause_command: u64,
    /// What the server said, or which value is in the way; for people; may be empty. Of mixed layouts, the name of a node.
    pub detail: fencepost_view,
    /// The grant's owner.
    pub owner: [u8; 16],
    /// Which of the owner's attempts was granted.
    pub attempt: u32,
    /// How many come first, if `has_ahead`.
    pub ahead: u32,
    /// Whether there is a fence: some backends cannot give one.
    pub has_fence: bool,
    /// Whether somebody knows how many come first.
    pub has_ahead: bool,
    /// Whether there is a detail: it may be empty.
    pub has_detail: bool,
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
}

impl Said {
    /// # Safety
    /// `seen` is valid for writing.
    unsafe fn keep(&mut self, key: Key, output: Output<Request, Event>, seen: *mut fencepost_output) {
        self.arguments.clear();
        self.parts.clear();
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
                    (&raw mut (*seen).event).write(show_event(event));
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

fn show_part(part: &Request) -> fencepost_part {
    fencepost_part {
        operation: part.operation.into(),
        flags: part.flags,
        path: fencepost_view::of(part.path.as_bytes()),
        data: fencepost_view::of(&part.data),
    }
}

fn show_command(
    command: &Command<Request>,
    arguments: &[fencepost_view],
    parts: &[fencepost_part],
) -> fencepost_command {
    let request = &command.request;
    let (target, server) = match command.target {
        Target::Server(number) => (fencepost_target::Server, number),
        Target::Own => (fencepost_target::Own, 0),
        _ => (fencepost_target::Any, 0),
    };
    fencepost_command {
        id: command.id.0,
        deadline: time(command.deadline),
        operation: request.operation.into(),
        target,
        server,
        flags: request.flags,
        path: fencepost_view::of(request.path.as_bytes()),
        data: fencepost_view::of(&request.data),
        arguments: arguments.as_ptr(),
        argument_count: arguments.len(),
        parts: parts.as_ptr(),
        part_count: parts.len(),
    }
}

fn show_event(event: &Event) -> fencepost_event {
    match event {
        Event::Queued { ahead } => fencepost_event {
            kind: fencepost_event_kind::Queued,
            ahead: ahead.unwrap_or(0),
            has_ahead: ahead.is_some(),
            ..BLANK
        },
        Event::Acquired { grant } => show_grant(grant),
        Event::Extended { valid_until } => fencepost_event {
            kind: fencepost_event_kind::Extended,
            valid_until: time(*valid_until),
            ..BLANK
        },
        Event::Suspended => fencepost_event {
            kind: fencepost_event_kind::Suspended,
            ..BLANK
        },
        Event::Resumed { valid_until } => fencepost_event {
            kind: fencepost_event_kind::Resumed,
            valid_until: time(*valid_until),
            ..BLANK
        },
        Event::Lost { reason, cause } => show_end(fencepost_event_kind::Lost, reason.code(), cause),
        Event::Released => fencepost_event {
            kind: fencepost_event_kind::Released,
            ..BLANK
        },
        Event::RevokeRequested => fencepost_event {
            kind: fencepost_event_kind::RevokeRequested,
            ..BLANK
        },
        Event::MixedLayouts { node } => fencepost_event {
            kind: fencepost_event_kind::MixedLayouts,
            detail: fencepost_view::of(node.as_bytes()),
            has_detail: true,
            ..BLANK
        },
        Event::Refused { reason, cause } => show_end(fencepost_event_kind::Refused, reason.code(), cause),
        // An event of a later core: the next header will have a number for it.
        _ => BLANK,
    }
}

fn show_grant(grant: &Grant) -> fencepost_event {
    fencepost_event {
        kind: fencepost_event_kind::Acquired,
        valid_until: time(grant.valid_until),
        fence: grant.fence.map_or(0, |fence| fence.0),
        has_fence: grant.fence.is_some(),
        owner: grant.attempt.owner.0,
        attempt: grant.attempt.number,
        ..BLANK
    }
}

fn show_end(kind: fencepost_event_kind, code: u16, cause: &Cause) -> fencepost_event {
    fencepost_event {
        kind,
        reason: fencepost_result::from_code(code.into()).unwrap_or(fencepost_result::ServerError),
        cause_command: cause.command.map_or(0, |id| id.0),
        detail: cause.detail.as_ref().map_or(fencepost_view::EMPTY, |detail| {
            fencepost_view::of(detail.as_bytes())
        }),
        has_detail: cause.detail.is_some(),
        ..BLANK
    }
}

fn show_wait(wait: Wait) -> fencepost_wait {
    fencepost_wait {
        until: time(wait.until),
        reason: wait.reason.into(),
    }
}

fn time(instant: Option<Instant>) -> u64 {
    instant.map_or(FENCEPOST_NEVER, Instant::as_micros)
}

/// An event without anything.
const BLANK: fencepost_event = fencepost_event {
    kind: fencepost_event_kind::Queued,
    reason: fencepost_result::Ok,
    valid_until: FENCEPOST_NEVER,
    fence: 0,
    cause_command: 0,
    detail: fencepost_view::EMPTY,
    owner: [0; 16],
    attempt: 0,
    ahead: 0,
    has_fence: false,
    has_ahead: false,
    has_detail: false,
};
