//! Reports of a server in memory.

use std::ffi::{CStr, c_char};

use fencepost_models::memory::{Connected, Kind, Message, Node, State};

use crate::{
    boundary::{give, guard, require, shared, take_back},
    memory::fencepost_memory,
    names::words,
    result::fencepost_result,
    view::fencepost_view,
};

/// The state of a hub's session on a server in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum fencepost_memory_state {
    /// The hub has a connection to the server.
    Connected = 1,
    /// The hub has no connection. The server keeps the session.
    Suspended = 2,
    /// The server has ended the session. The hub is suspended or paused, and has not been notified yet.
    Expired = 3,
}

words!(fencepost_memory_state: Connected c"connected", Suspended c"suspended", Expired c"expired");

/// Returns the name of a `fencepost_memory_state`; NULL if there is none with this number.
#[unsafe(no_mangle)]
pub extern "C" fn fencepost_memory_state_name(number: u32) -> *const c_char {
    fencepost_memory_state::from_number(number).map_or(std::ptr::null(), |value| value.word().as_ptr())
}

/// The kind of a message between a hub and a server in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum fencepost_message_kind {
    /// From a hub to the server.
    Request = 1,
    /// From the server to a hub, for a request.
    Reply = 2,
    /// A notice to a hub, without a request: a watch has fired, or the state of the session has changed.
    Event = 3,
}

words!(fencepost_message_kind: Request c"request", Reply c"reply", Event c"event");

/// Returns the name of a `fencepost_message_kind`; NULL if there is none with this number.
#[unsafe(no_mangle)]
pub extern "C" fn fencepost_message_kind_name(number: u32) -> *const c_char {
    fencepost_message_kind::from_number(number).map_or(std::ptr::null(), |value| value.word().as_ptr())
}

/// A hub on a server in memory, and its session.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct fencepost_memory_session {
    /// The hub's id: it stays the same when the hub gets a new session.
    pub hub: u64,
    /// The session; in the state expired, the session that has ended.
    pub session: i64,
    /// The state of the session.
    pub state: fencepost_memory_state,
    /// Whether the hub is paused.
    pub paused: bool,
}

/// A node on a server in memory.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct fencepost_memory_node {
    /// The path.
    pub path: fencepost_view,
    /// The data.
    pub data: fencepost_view,
    /// The hub whose session owns the node; 0 if the node is not ephemeral.
    pub hub: u64,
}

/// A message between a hub and a server in memory.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct fencepost_message {
    /// Its number in the list, from 1.
    pub number: u64,
    /// When it was sent, in microseconds of the hub's clock. An event has the time at which the hub got it.
    pub time: u64,
    /// The hub that sent or got it.
    pub hub: u64,
    /// The session in which it was sent.
    pub session: i64,
    /// The kind of the message.
    pub kind: fencepost_message_kind,
    /// The error code of the reply `error`, such as -101; otherwise 0.
    pub error: i32,
    /// The id of the hub's command: the command of the request; of the request that a reply answers; or of
    /// the request that set a watch. 0 for a change of the session.
    pub command: u64,
    /// A request: `create`, `children`, `get`, `set`, `delete`, `sync` or `multi`. A reply: `created`,
    /// `children`, `data`, `done` or `error`. An event: what has happened to the watched node (`created`,
    /// `deleted`, `changed`, or `children` if its children have changed), or the session's new state
    /// (`connecting`, `connected`, `suspended`, `expired` or `closed`).
    pub name: fencepost_view,
    /// The node; of a `multi`, that of each part; of the reply `children`, the names in it.
    pub paths: *const fencepost_view,
    /// The number of paths.
    pub path_count: usize,
    /// The same as a text for people. Later versions may change its wording.
    pub text: fencepost_view,
}

/// The report of a server in memory: its sessions, its nodes, and its messages.
#[derive(Debug)]
pub struct fencepost_memory_report {
    sessions: Vec<fencepost_memory_session>,
    nodes: Vec<fencepost_memory_node>,
    messages: Vec<fencepost_message>,
    /// The bytes to which the views point.
    _bytes: Vec<Box<[u8]>>,
    _paths: Vec<Box<[fencepost_view]>>,
}

/// The memory to which the views of a report point.
#[derive(Default)]
struct Store {
    bytes: Vec<Box<[u8]>>,
    paths: Vec<Box<[fencepost_view]>>,
}

impl Store {
    fn keep(&mut self, bytes: &[u8]) -> fencepost_view {
        let kept: Box<[u8]> = bytes.into();
        let view = fencepost_view::of(&kept);
        self.bytes.push(kept);
        view
    }

    fn node(&mut self, node: &Node<'_>) -> fencepost_memory_node {
        fencepost_memory_node {
            path: self.keep(node.path.as_bytes()),
            data: self.keep(node.data),
            hub: node.hub,
        }
    }

    fn message(&mut self, message: &Message) -> fencepost_message {
        let paths: Box<[fencepost_view]> = message
            .paths
            .iter()
            .map(|path| self.keep(path.as_bytes()))
            .collect();
        let shown = fencepost_message {
            number: message.number,
            time: message.time.as_micros(),
            hub: message.hub,
            session: message.session.0,
            kind: match message.kind {
                Kind::Request => fencepost_message_kind::Request,
                Kind::Reply => fencepost_message_kind::Reply,
                Kind::Event => fencepost_message_kind::Event,
            },
            error: message.error,
            command: message.command.0,
            name: fencepost_view::of(message.name.as_bytes()),
            paths: paths.as_ptr(),
            path_count: paths.len(),
            text: self.keep(message.text.as_bytes()),
        };
        self.paths.push(paths);
        shown
    }
}

impl From<Connected> for fencepost_memory_session {
    fn from(known: Connected) -> Self {
        Self {
            hub: known.hub,
            session: known.session.0,
            state: match known.state {
                State::Connected => fencepost_memory_state::Connected,
                State::Suspended => fencepost_memory_state::Suspended,
                State::Expired => fencepost_memory_state::Expired,
            },
            paused: known.paused,
        }
    }
}

/// Makes a report of a server: its hubs that have not disconnected, in the order in which they connected; all
/// nodes, in the order of their paths and without the root; and the recorded messages
/// (`fencepost_memory_record`) with a number above `after`, in their order. The caller frees it with
/// `fencepost_memory_report_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_memory_report_open(
    memory: *mut fencepost_memory,
    after: u64,
    report: *mut *mut fencepost_memory_report,
) -> fencepost_result {
    guard(|| {
        require(report)?;
        // SAFETY: the header requires a valid server or NULL.
        let memory = unsafe { shared(memory) }?;
        let made = memory.0.with(|server| {
            let mut store = Store::default();
            let messages = server.messages(after).iter();
            fencepost_memory_report {
                sessions: server.sessions().map(Into::into).collect(),
                messages: messages.map(|message| store.message(message)).collect(),
                nodes: server.nodes().map(|node| store.node(&node)).collect(),
                _bytes: store.bytes,
                _paths: store.paths,
            }
        });
        // SAFETY: checked above.
        unsafe { give(report, made) };
        Ok(())
    })
}

/// Returns a session of a report, by its index from 0; NULL at the end. It is valid until the report is
/// freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_memory_report_session(
    report: *const fencepost_memory_report,
    index: usize,
) -> *const fencepost_memory_session {
    // SAFETY: the header requires a valid report or NULL.
    unsafe { at(report, index, |report| &report.sessions) }
}

/// Returns a node of a report, by its index from 0; NULL at the end. It is valid until the report is freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_memory_report_node(
    report: *const fencepost_memory_report,
    index: usize,
) -> *const fencepost_memory_node {
    // SAFETY: the header requires a valid report or NULL.
    unsafe { at(report, index, |report| &report.nodes) }
}

/// Returns a message of a report, by its index from 0; NULL at the end. It is valid until the report is
/// freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_memory_report_message(
    report: *const fencepost_memory_report,
    index: usize,
) -> *const fencepost_message {
    // SAFETY: the header requires a valid report or NULL.
    unsafe { at(report, index, |report| &report.messages) }
}

/// Frees a report, and ignores NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_memory_report_free(report: *mut fencepost_memory_report) {
    // SAFETY: the header requires a report that is not used again.
    unsafe { take_back(report) }
}

/// # Safety
/// The report is valid or NULL.
unsafe fn at<T>(
    report: *const fencepost_memory_report,
    index: usize,
    list: fn(&fencepost_memory_report) -> &Vec<T>,
) -> *const T {
    // SAFETY: by the caller's promise.
    let Ok(report) = (unsafe { shared(report) }) else {
        return std::ptr::null();
    };
    list(report)
        .get(index)
        .map_or(std::ptr::null(), std::ptr::from_ref)
}
