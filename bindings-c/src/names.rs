//! Small enumerations, and their names.

use std::ffi::{CStr, c_char};

use fencepost_core::{Failure, Timer, lowered::Operation, zookeeper::SessionState, zookeeper::WatchEvent};

/// Converts the numbers that C passes to values, and values to their names.
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

/// The command set of a hub.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum fencepost_family {
    /// ZooKeeper. `memory:` uses it, too.
    Zookeeper = 1,
    /// Redis.
    Redis = 2,
}

words!(fencepost_family: Zookeeper c"zookeeper", Redis c"redis");

/// Returns the name of a `fencepost_family`; NULL if there is none with this number.
#[unsafe(no_mangle)]
pub extern "C" fn fencepost_family_name(number: u32) -> *const c_char {
    fencepost_family::from_number(number).map_or(std::ptr::null(), |value| value.word().as_ptr())
}

/// The operation of a command: what the driver does, and how it reports the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum fencepost_operation {
    /// ZooKeeper: create `path` with `data`, according to `flags`. Answer: `fencepost_hub_created`.
    Create = 1,
    /// ZooKeeper: list the children of `path`; with `FENCEPOST_FLAG_WATCH`, set a watch. Answer:
    /// `fencepost_hub_children`.
    Children = 2,
    /// ZooKeeper: read `path`; with `FENCEPOST_FLAG_WATCH`, set a watch. Answer: `fencepost_hub_data`.
    Get = 3,
    /// ZooKeeper: delete `path`, at any version. Answer: `fencepost_hub_done`.
    Delete = 4,
    /// ZooKeeper: sync `path`. Answer: `fencepost_hub_done`.
    Sync = 5,
    /// Redis: send `arguments` as one command. Answer: `fencepost_hub_reply` with the server's unchanged
    /// reply.
    Call = 6,
    /// Redis: subscribe to the channel `arguments[0]`. Answer: `fencepost_hub_reply` with any reply, once the
    /// server has confirmed the subscription.
    Subscribe = 7,
    /// Redis: unsubscribe from the channel `arguments[0]`. Answer: `fencepost_hub_reply` with any reply, or
    /// none.
    Unsubscribe = 8,
    /// ZooKeeper: write `data` to `path`, at any version. Answer: `fencepost_hub_done`.
    Set = 9,
    /// ZooKeeper: carry out all `parts` in one transaction, or none. Answer: `fencepost_hub_children` with
    /// the names of the created nodes (the last parts of their paths) in the order of the parts; or
    /// `fencepost_hub_error` with the error of the first part that fails.
    Multi = 10,
    /// ZooKeeper: check that `path` exists. It is always a part of a multi.
    Check = 11,
    /// ZooKeeper: the server has stopped answering. End the connection, and connect to another server in the
    /// same session. Do nothing on a connection that the program made. Answer: any, or none.
    Reconnect = 12,
}

words!(fencepost_operation: Create c"create", Children c"children", Get c"get", Delete c"delete", Sync c"sync", Call c"call", Subscribe c"subscribe", Unsubscribe c"unsubscribe",
    Set c"set", Multi c"multi", Check c"check", Reconnect c"reconnect");

/// Returns the name of a `fencepost_operation`; NULL if there is none with this number.
#[unsafe(no_mangle)]
pub extern "C" fn fencepost_operation_name(number: u32) -> *const c_char {
    fencepost_operation::from_number(number).map_or(std::ptr::null(), |value| value.word().as_ptr())
}

/// Which connection sends a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum fencepost_target {
    /// Any connection of the client.
    Any = 0,
    /// The connection to one server of a quorum; `server` is its number, from 0.
    Server = 1,
    /// One connection that is reserved for this machine as long as the machine exists.
    Own = 2,
}

words!(fencepost_target: Any c"any", Server c"server", Own c"own");

/// Returns the name of a `fencepost_target`; NULL if there is none with this number.
#[unsafe(no_mangle)]
pub extern "C" fn fencepost_target_name(number: u32) -> *const c_char {
    fencepost_target::from_number(number).map_or(std::ptr::null(), |value| value.word().as_ptr())
}

/// Why a command has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum fencepost_failure {
    /// The client library has not sent the command, and never will: the server has certainly not executed it.
    NotSent = 1,
    /// The server may have executed the command, or may still execute it. Use this failure when in doubt.
    Unknown = 2,
    /// The connection has been closed for good: this command was not sent, and no later one will be.
    Closed = 3,
}

words!(fencepost_failure: NotSent c"not-sent", Unknown c"unknown", Closed c"closed");

/// Returns the name of a `fencepost_failure`; NULL if there is none with this number.
#[unsafe(no_mangle)]
pub extern "C" fn fencepost_failure_name(number: u32) -> *const c_char {
    fencepost_failure::from_number(number).map_or(std::ptr::null(), |value| value.word().as_ptr())
}

/// What a machine reports to the application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum fencepost_event_kind {
    /// The contender waits for the lock. `ahead` contenders come first, if `has_ahead`.
    Queued = 1,
    /// The contender holds the lock, or has claimed the operation. `fence`, `valid_until`, `contender`,
    /// `attempt` and `takeovers` describe the grant.
    Acquired = 2,
    /// The grant has been extended, to `valid_until`.
    Extended = 3,
    /// The connection is lost; the lock may still be held. The holder should start no new work. Resumed or
    /// lost follows.
    Suspended = 4,
    /// The client is connected again, and the contender still holds the lock, until `valid_until`.
    Resumed = 5,
    /// The grant has ended without a release, for `reason`; `cause_command` and `detail` have the cause. The
    /// application may still complete, release or leave a claim; the server then decides.
    Lost = 6,
    /// The lock is released: the server has confirmed it, or the session that held the lock has ended.
    Released = 7,
    /// An acquire has failed, or the server has refused a release, a downgrade or the end of a claim. After a
    /// refused downgrade or end of a claim, the grant is unchanged. `reason`, `cause_command`, `detail`,
    /// `retry_after` and `record` describe the refusal.
    Refused = 8,
    /// Another client has sent a revocation request. The holder may release the lock or keep it. The machine
    /// reports this once per grant.
    RevokeRequested = 9,
    /// A contender of another layout is in the lock's directory, and its layout ignores this contender's
    /// node. Both may hold the lock at the same time. `detail` is the name of the foreign contender's node.
    /// The machine reports this once per acquire.
    MixedLayouts = 10,
    /// The result of an inspection is in `found`.
    Found = 11,
    /// The grant is now a reader's grant, with the same fence. Other readers may share the lock.
    Downgraded = 12,
    /// The server has stored the result of a claim's operation, or has done a single step. `record` is the
    /// stored record.
    Completed = 13,
    /// The operation already has a result, or the update was applied before: the application does not run it
    /// again. `record` is the stored record.
    Replayed = 14,
    /// `record` is the record of an operation, or a value; NULL if there is none.
    Looked = 15,
    /// A sweep is done. It has deleted `deleted` records.
    Swept = 16,
}

words!(fencepost_event_kind: Queued c"queued", Acquired c"acquired", Extended c"extended", Suspended c"suspended", Resumed c"resumed", Lost c"lost", Released c"released", Refused c"refused",
    RevokeRequested c"revoke-requested", MixedLayouts c"mixed-layouts", Found c"found", Downgraded c"downgraded", Completed c"completed",
    Replayed c"replayed", Looked c"looked", Swept c"swept");

/// Returns the name of a `fencepost_event_kind`; NULL if there is none with this number.
#[unsafe(no_mangle)]
pub extern "C" fn fencepost_event_name(number: u32) -> *const c_char {
    fencepost_event_kind::from_number(number).map_or(std::ptr::null(), |value| value.word().as_ptr())
}

/// The purpose of a wait, for logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum fencepost_timer {
    /// There is no timer: the hub waits for an input.
    None = 0,
    /// When the acquire timeout ends.
    AcquireTimeout = 1,
    /// When to retry a command that failed.
    Retry = 2,
    /// When to check whether the lock is free, or still held.
    Poll = 3,
    /// When to renew a lease or confirm a session.
    Renew = 4,
    /// When the validity of the present grant ends.
    Validity = 5,
    /// When the grant reaches `max_hold`, the longest hold allowed.
    MaxHold = 6,
    /// When to release a shared resource that no machine uses any more.
    Linger = 7,
}

words!(fencepost_timer: None c"none", AcquireTimeout c"acquire-timeout", Retry c"retry", Poll c"poll", Renew c"renew", Validity c"validity", MaxHold c"max-hold", Linger c"linger");

/// Returns the name of a `fencepost_timer`; NULL if there is none with this number.
#[unsafe(no_mangle)]
pub extern "C" fn fencepost_timer_name(number: u32) -> *const c_char {
    fencepost_timer::from_number(number).map_or(std::ptr::null(), |value| value.word().as_ptr())
}

/// The state of a ZooKeeper session, as the client library reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum fencepost_session_state {
    /// The client is connected: to a new session, or again to the same one.
    Connected = 1,
    /// The connection is lost. The session may still exist.
    Suspended = 2,
    /// The server has ended the session, and has deleted all its ephemeral nodes.
    Expired = 3,
    /// The server has refused the credentials. No notice and no answer will follow.
    AuthFailed = 4,
    /// The client is closed. No notice and no answer will follow.
    Closed = 5,
    /// The client is about to connect for a new session. Only a driver that makes its own sessions reports
    /// this, before each attempt to connect.
    Connecting = 6,
}

words!(fencepost_session_state: Connecting c"connecting", Connected c"connected", Suspended c"suspended", Expired c"expired", AuthFailed c"auth-failed", Closed c"closed");

/// Returns the name of a `fencepost_session_state`; NULL if there is none with this number.
#[unsafe(no_mangle)]
pub extern "C" fn fencepost_session_state_name(number: u32) -> *const c_char {
    fencepost_session_state::from_number(number).map_or(std::ptr::null(), |value| value.word().as_ptr())
}

/// What a ZooKeeper watch reports. A watch fires once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum fencepost_watch_event {
    /// The node was deleted.
    Deleted = 1,
    /// The data of the node changed; or its list of children did, if the watch was set by a children command.
    Changed = 2,
    /// The watch is lost, and will not fire.
    Gone = 3,
}

words!(fencepost_watch_event: Deleted c"deleted", Changed c"changed", Gone c"gone");

/// Returns the name of a `fencepost_watch_event`; NULL if there is none with this number.
#[unsafe(no_mangle)]
pub extern "C" fn fencepost_watch_event_name(number: u32) -> *const c_char {
    fencepost_watch_event::from_number(number).map_or(std::ptr::null(), |value| value.word().as_ptr())
}

impl fencepost_family {
    /// The number of the family with this name in the core; 0 if this header does not have that family.
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
        // The numbers are those of the core. This header has no number for an operation of a later core.
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
