//! Small enumerations, and their names.

use std::ffi::{CStr, c_char};

use fencepost_core::{Failure, Timer, lowered::Operation, zookeeper::SessionState, zookeeper::WatchEvent};

/// Numbers that C has given, and words for people.
macro_rules! words {
    ($name:ident: $($variant:ident $word:literal),* $(,)?) => {
        impl $name {
            pub(crate) const fn from_number(number: u32) -> Option<Self> {
                $(if number == Self::$variant as u32 {
                    return Some(Self::$variant);
                })*
                None
            }

            const fn word(self) -> &'static CStr {
                match self { $(Self::$variant => $word,)* }
            }
        }
    };
}
pub(crate) use words;

/// Which command set a hub speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum fencepost_family {
    /// ZooKeeper, and `memory:`.
    Zookeeper = 1,
    /// Redis.
    Redis = 2,
}

words!(fencepost_family: Zookeeper c"zookeeper", Redis c"redis");

/// The name of a `fencepost_family`; NULL for a number that is none.
#[unsafe(no_mangle)]
pub extern "C" fn fencepost_family_name(number: u32) -> *const c_char {
    fencepost_family::from_number(number).map_or(std::ptr::null(), |value| value.word().as_ptr())
}

/// What a driver has to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum fencepost_operation {
    /// ZooKeeper: create `path` with `data`; `flags` say how. Answer: `fencepost_hub_created`.
    Create = 1,
    /// ZooKeeper: list the children of `path`, with a watch if `flags` has `FENCEPOST_FLAG_WATCH`. Answer: `fencepost_hub_children`.
    Children = 2,
    /// ZooKeeper: read `path`, with a watch if `flags` has `FENCEPOST_FLAG_WATCH`. Answer: `fencepost_hub_data`.
    Get = 3,
    /// ZooKeeper: delete `path`, any version. Answer: `fencepost_hub_done`.
    Delete = 4,
    /// ZooKeeper: sync `path`. Answer: `fencepost_hub_done`.
    Sync = 5,
    /// Redis: send `arguments` as one command. Answer: `fencepost_hub_reply`, with the server's reply as it is.
    Call = 6,
    /// Redis: subscribe to the channel `arguments[0]`. Answer: any `fencepost_hub_reply`, once the server has confirmed it.
    Subscribe = 7,
    /// Redis: unsubscribe from the channel `arguments[0]`. Answer: any `fencepost_hub_reply`, or none.
    Unsubscribe = 8,
    /// ZooKeeper: give `path` the data `data`, any version. Answer: `fencepost_hub_done`.
    Set = 9,
    /// ZooKeeper: do all `parts`, or none. Answer: `fencepost_hub_children` with the names of the nodes created (the last parts of their paths) in
    /// the order of the parts; or `fencepost_hub_error` with the error of the first part that cannot be.
    Multi = 10,
    /// ZooKeeper: check that `path` exists, any version. It is only ever a part of a multi.
    Check = 11,
    /// ZooKeeper: end the connection, because its server has fallen silent, and connect to another server in the same session. Answer: any, or
    /// none. On a connection that the program made: do nothing.
    Reconnect = 12,
}

words!(fencepost_operation: Create c"create", Children c"children", Get c"get", Delete c"delete", Sync c"sync", Call c"call", Subscribe c"subscribe", Unsubscribe c"unsubscribe",
    Set c"set", Multi c"multi", Check c"check", Reconnect c"reconnect");

/// The name of a `fencepost_operation`; NULL for a number that is none.
#[unsafe(no_mangle)]
pub extern "C" fn fencepost_operation_name(number: u32) -> *const c_char {
    fencepost_operation::from_number(number).map_or(std::ptr::null(), |value| value.word().as_ptr())
}

/// Which connection has to carry a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum fencepost_target {
    /// Any connection of the client.
    Any = 0,
    /// The server of a quorum with the number in `server`, from 0.
    Server = 1,
    /// One connection kept for this machine until its end.
    Own = 2,
}

words!(fencepost_target: Any c"any", Server c"server", Own c"own");

/// The name of a `fencepost_target`; NULL for a number that is none.
#[unsafe(no_mangle)]
pub extern "C" fn fencepost_target_name(number: u32) -> *const c_char {
    fencepost_target::from_number(number).map_or(std::ptr::null(), |value| value.word().as_ptr())
}

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum fencepost_failure {
    /// It never left the client's queue, and never will: certainly not executed.
    NotSent = 1,
    /// Perhaps executed, or still to be executed. When in doubt, this one.
    Unknown = 2,
    /// Not sent, and nothing ever will be: the connection has been closed for good.
    Closed = 3,
}

words!(fencepost_failure: NotSent c"not-sent", Unknown c"unknown", Closed c"closed");

/// The name of a `fencepost_failure`; NULL for a number that is none.
#[unsafe(no_mangle)]
pub extern "C" fn fencepost_failure_name(number: u32) -> *const c_char {
    fencepost_failure::from_number(number).map_or(std::ptr::null(), |value| value.word().as_ptr())
}

/// What a machine tells its application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum fencepost_event_kind {
    /// The contender waits; `ahead` others come first, where somebody knows (`has_ahead`).
    Queued = 1,
    /// The lock is held, or the operation claimed: `fence`, `valid_until`, `owner`, `attempt` and `takeovers` say how.
    Acquired = 2,
    /// The grant is valid for longer: `valid_until`.
    Extended = 3,
    /// The connection is gone, the lock perhaps not: start nothing new.
    Suspended = 4,
    /// The lock is held as before: `valid_until`.
    Resumed = 5,
    /// The grant has ended without a release: `reason`, `cause_command`, `detail`. A claim may still be completed, released or left: the server decides.
    Lost = 6,
    /// The release has been carried out.
    Released = 7,
    /// An acquire has come to nothing, or a release has been refused, or a downgrade or the end of a claim while the grant stays as it was: `reason`,
    /// `cause_command`, `detail`, `retry_after`, `record`.
    Refused = 8,
    /// Somebody would like to have the lock: it may be released, or kept. Told once a grant.
    RevokeRequested = 9,
    /// A contender of a layout that does not look for ours stands in the same line: the name of its node is `detail`. Told once an acquire.
    MixedLayouts = 10,
    /// What an inspection has found: `found`.
    Found = 11,
    /// The grant is a reader's from now on, with the fence it had.
    Downgraded = 12,
    /// The result of a claim's operation is stored; or a single step is done: `record` is what is stored.
    Completed = 13,
    /// The operation has had a result before, or the update has been applied before: `record`. There is nothing to run.
    Replayed = 14,
    /// The record of an operation, or a value: `record`, or NULL if there is none.
    Looked = 15,
    /// A sweep is done: `deleted` says how many records it has deleted.
    Swept = 16,
}

words!(fencepost_event_kind: Queued c"queued", Acquired c"acquired", Extended c"extended", Suspended c"suspended", Resumed c"resumed", Lost c"lost", Released c"released", Refused c"refused",
    RevokeRequested c"revoke-requested", MixedLayouts c"mixed-layouts", Found c"found", Downgraded c"downgraded", Completed c"completed",
    Replayed c"replayed", Looked c"looked", Swept c"swept");

/// The name of a `fencepost_event_kind`; NULL for a number that is none.
#[unsafe(no_mangle)]
pub extern "C" fn fencepost_event_name(number: u32) -> *const c_char {
    fencepost_event_kind::from_number(number).map_or(std::ptr::null(), |value| value.word().as_ptr())
}

/// What a hub waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum fencepost_timer {
    /// For no time: only an input can change anything.
    None = 0,
    /// When the acquire timeout ends.
    AcquireTimeout = 1,
    /// When to try again what a server or connection has failed.
    Retry = 2,
    /// When to ask whether the lock has become free.
    Poll = 3,
    /// When to renew a lease or confirm a session.
    Renew = 4,
    /// When the present grant stops being valid.
    Validity = 5,
    /// When the cap on the whole hold is reached.
    MaxHold = 6,
    /// When a shared resource that nobody uses any more is given back.
    Linger = 7,
}

words!(fencepost_timer: None c"none", AcquireTimeout c"acquire-timeout", Retry c"retry", Poll c"poll", Renew c"renew", Validity c"validity", MaxHold c"max-hold", Linger c"linger");

/// The name of a `fencepost_timer`; NULL for a number that is none.
#[unsafe(no_mangle)]
pub extern "C" fn fencepost_timer_name(number: u32) -> *const c_char {
    fencepost_timer::from_number(number).map_or(std::ptr::null(), |value| value.word().as_ptr())
}

/// What a ZooKeeper client library says of its session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum fencepost_session_state {
    /// Connected: a new session, or the same one again.
    Connected = 1,
    /// The connection is gone; the session perhaps not.
    Suspended = 2,
    /// The server has ended the session, and all its ephemeral nodes.
    Expired = 3,
    /// The server has refused the credentials. Nothing will come after this.
    AuthFailed = 4,
    /// The client was closed. Nothing will come after this.
    Closed = 5,
    /// A new session is about to be asked for: no attempt to connect was made before this.
    Connecting = 6,
}

words!(fencepost_session_state: Connecting c"connecting", Connected c"connected", Suspended c"suspended", Expired c"expired", AuthFailed c"auth-failed", Closed c"closed");

/// The name of a `fencepost_session_state`; NULL for a number that is none.
#[unsafe(no_mangle)]
pub extern "C" fn fencepost_session_state_name(number: u32) -> *const c_char {
    fencepost_session_state::from_number(number).map_or(std::ptr::null(), |value| value.word().as_ptr())
}

/// What a ZooKeeper watch has seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum fencepost_watch_event {
    /// The node was deleted.
    Deleted = 1,
    /// The node's data were changed or, if its children were listed, its children. The watch is spent.
    Changed = 2,
    /// The watch was lost on the way: it will not fire.
    Gone = 3,
}

words!(fencepost_watch_event: Deleted c"deleted", Changed c"changed", Gone c"gone");

/// The name of a `fencepost_watch_event`; NULL for a number that is none.
#[unsafe(no_mangle)]
pub extern "C" fn fencepost_watch_event_name(number: u32) -> *const c_char {
    fencepost_watch_event::from_number(number).map_or(std::ptr::null(), |value| value.word().as_ptr())
}

impl fencepost_family {
    /// The number of the core's name; 0 for a family that this header does not know yet.
    pub(crate) fn of(name: &str) -> u32 {
        [Self::Zookeeper, Self::Redis]
            .into_iter()
            .find(|family| family.word().to_bytes() == name.as_bytes())
            .map_or(0, |family| family as u32)
    }

    pub(crate) fn as_str(self) -> &'static str {
        self.word().to_str().unwrap_or_default()
    }
}

impl From<fencepost_failure> for Failure {
    fn from(failure: fencepost_failure) -> Self {
        match failure {
            fencepost_failure::NotSent => Self::NotSent,
            fencepost_failure::Unknown => Self::Unknown,
            fencepost_failure::Closed => Self::Closed,
        }
    }
}

impl From<fencepost_session_state> for SessionState {
    fn from(state: fencepost_session_state) -> Self {
        match state {
            fencepost_session_state::Connecting => Self::Connecting,
            fencepost_session_state::Connected => Self::Connected,
            fencepost_session_state::Suspended => Self::Suspended,
            fencepost_session_state::Expired => Self::Expired,
            fencepost_session_state::AuthFailed => Self::AuthFailed,
            fencepost_session_state::Closed => Self::Closed,
        }
    }
}

impl From<fencepost_watch_event> for WatchEvent {
    fn from(event: fencepost_watch_event) -> Self {
        match event {
            fencepost_watch_event::Deleted => Self::Deleted,
            fencepost_watch_event::Changed => Self::Changed,
            fencepost_watch_event::Gone => Self::Gone,
        }
    }
}

impl From<Operation> for fencepost_operation {
    fn from(operation: Operation) -> Self {
        // The numbers are the core's own; an operation of a later core is none that this header promises to drivers.
        Self::from_number(operation as u32).unwrap_or(Self::Sync)
    }
}

impl From<Option<Timer>> for fencepost_timer {
    fn from(timer: Option<Timer>) -> Self {
        match timer {
            Some(Timer::AcquireTimeout) => Self::AcquireTimeout,
            Some(Timer::Retry) => Self::Retry,
            Some(Timer::Poll) => Self::Poll,
            Some(Timer::Renew) => Self::Renew,
            Some(Timer::Validity) => Self::Validity,
            Some(Timer::MaxHold) => Self::MaxHold,
            Some(Timer::Linger) => Self::Linger,
            _ => Self::None,
        }
    }
}
