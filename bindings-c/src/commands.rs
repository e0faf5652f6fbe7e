//! Commands, as C sees them.

use fencepost_core::{Command, Target, lowered::Request};

use crate::{
    moments::time,
    names::{fencepost_operation, fencepost_target},
    view::fencepost_view,
};

/// Create: the node goes with its session, and its name is numbered.
pub const FENCEPOST_FLAG_EPHEMERAL_SEQUENTIAL: u32 = 1;
/// Create: the node goes some time after its last child.
pub const FENCEPOST_FLAG_CONTAINER: u32 = 2;
/// Get: tell once of the node's deletion or change. Children: tell once when there are others.
pub const FENCEPOST_FLAG_WATCH: u32 = 4;
/// Create: the node goes with its session.
pub const FENCEPOST_FLAG_EPHEMERAL: u32 = 8;

/// Parts of a multi: the node may have any version.
pub const FENCEPOST_ANY_VERSION: i32 = -1;

const _: () = {
    use fencepost_core::lowered::{ANY_VERSION, flags};
    assert!(FENCEPOST_FLAG_EPHEMERAL_SEQUENTIAL == flags::EPHEMERAL_SEQUENTIAL);
    assert!(FENCEPOST_FLAG_CONTAINER == flags::CONTAINER && FENCEPOST_FLAG_WATCH == flags::WATCH);
    assert!(FENCEPOST_FLAG_EPHEMERAL == flags::EPHEMERAL && FENCEPOST_ANY_VERSION == ANY_VERSION);
};

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
    /// ZooKeeper: what a multi does, part by part: where each of them is.
    pub parts: *const *const fencepost_part,
    /// How many parts there are.
    pub part_count: usize,
}

/// One write of a multi.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct fencepost_part {
    /// To create `path` with `data` as `flags` say, to set its data, to delete `path`, or to check that `path` exists.
    pub operation: fencepost_operation,
    /// `FENCEPOST_FLAG_…`.
    pub flags: u32,
    /// The path.
    pub path: fencepost_view,
    /// A node's new data.
    pub data: fencepost_view,
    /// To set, delete, check: the version that the node must have; `FENCEPOST_ANY_VERSION` for any.
    pub version: i32,
}

pub(crate) fn show_part(part: &Request) -> fencepost_part {
    fencepost_part {
        operation: part.operation.into(),
        flags: part.flags,
        path: fencepost_view::of(part.path.as_bytes()),
        data: fencepost_view::of(&part.data),
        version: part.version,
    }
}

pub(crate) fn show_command(
    command: &Command<Request>,
    arguments: &[fencepost_view],
    parts: &[*const fencepost_part],
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
