//! Commands, as C sees them.

use fencepost_core::{Command, Target, lowered::Request};

use crate::{
    moments::time,
    names::{fencepost_operation, fencepost_target},
    view::fencepost_view,
};

/// Create an ephemeral sequential node: ZooKeeper deletes it when its session ends, and appends a number to
/// its name.
pub const FENCEPOST_FLAG_EPHEMERAL_SEQUENTIAL: u32 = 1;
/// Create a container node: ZooKeeper deletes it some time after it deleted the node's last child.
pub const FENCEPOST_FLAG_CONTAINER: u32 = 2;
/// Set a watch. After a get, the watch fires once, when the node is deleted or its data changes. After a
/// children command, it fires once, when the list of children changes or the node is deleted.
pub const FENCEPOST_FLAG_WATCH: u32 = 4;
/// Create an ephemeral node: ZooKeeper deletes it when its session ends.
pub const FENCEPOST_FLAG_EPHEMERAL: u32 = 8;

/// The version of a part of a multi, if the node may have any version.
pub const FENCEPOST_ANY_VERSION: i32 = -1;

const _: () = {
    use fencepost_core::lowered::{ANY_VERSION, flags};
    assert!(FENCEPOST_FLAG_EPHEMERAL_SEQUENTIAL == flags::EPHEMERAL_SEQUENTIAL);
    assert!(FENCEPOST_FLAG_CONTAINER == flags::CONTAINER && FENCEPOST_FLAG_WATCH == flags::WATCH);
    assert!(FENCEPOST_FLAG_EPHEMERAL == flags::EPHEMERAL && FENCEPOST_ANY_VERSION == ANY_VERSION);
};

/// A command that the driver carries out. A member that the operation does not use is empty.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct fencepost_command {
    /// Identifies the command in its outcome and in notices.
    pub id: u64,
    /// When the machine stops waiting for the outcome, in microseconds; or `FENCEPOST_NEVER`. After that
    /// time, the driver need not send the command. The machine still uses an outcome that comes later.
    pub deadline: u64,
    /// What the driver does.
    pub operation: fencepost_operation,
    /// Which connection sends the command.
    pub target: fencepost_target,
    /// For `FENCEPOST_TARGET_SERVER`: the number of the server, from 0.
    pub server: u32,
    /// ZooKeeper: `FENCEPOST_FLAG_…`, combined by bitwise or.
    pub flags: u32,
    /// ZooKeeper: the path of the node.
    pub path: fencepost_view,
    /// ZooKeeper: the data to write.
    pub data: fencepost_view,
    /// Redis: the command with its arguments, or the channel.
    pub arguments: *const fencepost_view,
    /// The number of arguments.
    pub argument_count: usize,
    /// ZooKeeper: pointers to the parts of a multi, in their order.
    pub parts: *const *const fencepost_part,
    /// The number of parts.
    pub part_count: usize,
}

/// One part of a multi.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct fencepost_part {
    /// A create of `path` with `data` and `flags`; a set of its data; a delete of `path`; or a check that
    /// `path` exists.
    pub operation: fencepost_operation,
    /// For a create: `FENCEPOST_FLAG_…`, combined by bitwise or.
    pub flags: u32,
    /// The path of the node.
    pub path: fencepost_view,
    /// For a create or a set: the data to write.
    pub data: fencepost_view,
    /// For a set, a delete or a check: the version that the node must have; `FENCEPOST_ANY_VERSION` for any
    /// version.
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
