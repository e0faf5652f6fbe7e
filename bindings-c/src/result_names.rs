//! Names and texts of results.

use std::ffi::{CStr, c_char};

use fencepost_core::{ConfigError, Loss, Misuse, Refusal};

use crate::result::fencepost_result;

macro_rules! results {
    ($($variant:ident, $name:literal, $text:literal;)*) => {
        impl fencepost_result {
            pub(crate) const fn from_code(code: i32) -> Option<Self> {
                $(if code == Self::$variant as i32 {
                    return Some(Self::$variant);
                })*
                None
            }

            const fn name(self) -> &'static CStr {
                match self { $(Self::$variant => $name,)* }
            }

            const fn text(self) -> &'static CStr {
                match self { $(Self::$variant => $text,)* }
            }
        }
    };
}

results! {
    Ok, c"ok", c"success";
    EmptyName, c"empty-name", c"the name of a lock is empty: give it a name, such as \"stock/42\"";
    InvalidName, c"invalid-name", c"the server would refuse this name: follow the rule that fencepost_detail() gives";
    NotPositive, c"not-positive", c"a duration is zero or negative: give a positive duration";
    LeaseTooShort, c"lease-too-short", c"the lease is too short for its margin: give a longer lease";
    TooLong, c"too-long", c"a duration is longer than 365 days: give a shorter one";
    InvalidUrl, c"invalid-url", c"this is not the address of a lock server: correct the part that fencepost_detail() names";
    UnknownScheme, c"unknown-scheme", c"unknown scheme: use memory:, zk://, redis:// or rediss://";
    UnknownOption, c"unknown-option", c"unknown option: use one that this kind of lock has on this server";
    UnreadableSettings, c"unreadable-settings", c"settings cannot be read: correct the value that fencepost_detail() names";
    InvalidOption, c"invalid-option", c"the value of an option is not valid: give one that fencepost_detail() lists";
    UnknownKey, c"unknown-key", c"no machine has this key: it was never opened, or has been closed";
    UnknownCommand, c"unknown-command", c"no command with this id has been issued: report each outcome with the id of its command";
    WrongReply, c"wrong-reply", c"the reply has the wrong shape, and its command counts as unknown: correct the driver";
    Busy, c"busy", c"an acquire is in progress, or the grant is still held: wait for its end, or use another owner or contender";
    NotHeld, c"not-held", c"there is no grant: it was never acquired, has been released, or was lost";
    NotWaiting, c"not-waiting", c"there is no acquire to cancel";
    ClientClosed, c"client-closed", c"the client has been closed: make a new one";
    WrongFamily, c"wrong-family", c"this hub is of another family: open one hub for each kind of server";
    Upgrade, c"upgrade", c"an owner that holds the reader cannot acquire the writer: release the reader first";
    NotAWriter, c"not-a-writer", c"only a writer's grant can be downgraded, and only once";
    NotAClaim, c"not-a-claim", c"only a claim can be completed or left: release a lock";
    Timeout, c"timeout", c"another contender held the lock until this acquire timed out";
    NotAvailable, c"not-available", c"another contender holds the lock";
    Cancelled, c"cancelled", c"the acquire was cancelled";
    Unreachable, c"unreachable", c"no server answered in time";
    NoPermission, c"no-permission", c"the server denies this client a right that the lock needs";
    AuthFailed, c"auth-failed", c"the server has refused the client's credentials";
    NoParent, c"no-parent", c"the directory above the lock is missing and cannot be created";
    MixedLayouts, c"mixed-layouts", c"a contender of another layout is in the lock's directory";
    SequenceExhausted, c"sequence-exhausted", c"the sequence numbers of the lock's directory are used up: delete the directory while no client uses it, or choose another name";
    WrongType, c"wrong-type", c"a key with this name, or its fence key, holds a value of another type: choose another name";
    Unsupported, c"unsupported", c"the server lacks a feature that the lock needs";
    ServerError, c"server-error", c"the server answered with an error";
    ConnectionClosed, c"connection-closed", c"the connection has been closed";
    GivenUp, c"given-up", c"the attempt was abandoned before this request reached the server";
    InconsistentPermits, c"inconsistent-permits", c"permit count mismatch: all clients of a semaphore must use the same number of permits";
    NoContender, c"no-contender", c"this contender no longer exists";
    InProgress, c"in-progress", c"another attempt runs this operation: try again later, or wait longer";
    Mismatch, c"mismatch", c"this key belongs to another operation, or to the same one with other arguments: use a new key for each operation";
    Indeterminate, c"indeterminate", c"an earlier attempt ended without a result, so the operation may have run: find out, then settle or forget its record";
    UnknownToken, c"unknown-token", c"this token was never issued here, or has expired: issue a new one";
    CorruptRecord, c"corrupt-record", c"the record of this operation cannot be read: it is damaged, of a later version, or of another program";
    Conflict, c"conflict", c"the value has another version than this update expects: read it, and update it again";
    RecordChanged, c"record-changed", c"the record has changed since it was read: look at it again";
    LeaseEnded, c"lease-ended", c"the lease ended before it could be renewed";
    SessionExpired, c"session-expired", c"the server has ended the session";
    Deleted, c"deleted", c"the lock was deleted on the server";
    Taken, c"taken", c"another contender holds the lock";
    MaxHold, c"max-hold", c"the longest hold allowed was reached";
    LostConnectionClosed, c"lost-connection-closed", c"the connection has been closed";
    RenewalRefused, c"renewal-refused", c"the server has refused to renew the lock";
    Superseded, c"superseded", c"another attempt has taken the operation over";
    AlreadyCompleted, c"already-completed", c"this attempt has stored a result already";
    ReleaseUnconfirmed, c"release-unconfirmed", c"the server has not confirmed the release yet: the client continues in the background";
    WrongProcess, c"wrong-process", c"made in another process, before a fork: connect again in each process";
    CleanupIncomplete, c"cleanup-incomplete", c"closed before the server confirmed the release of some locks: these end with their lease or session";
    NullPointer, c"null-pointer", c"a required pointer is NULL: pass the object, or a place for the output";
    Panic, c"panic", c"a defect in fencepost (a panic): free the object, and report the defect";
    BadArgument, c"bad-argument", c"an argument is out of its range, or a text is not UTF-8: correct the call";
    OutOfMemory, c"out-of-memory", c"out of memory: free memory, then call again";
    SystemError, c"system-error", c"the operating system refused a thread, a file descriptor or random bytes: raise the limit that is reached";
    DriverMissing, c"driver-missing", c"the library for this kind of server is not installed: install it";
    Pending, c"pending", c"there is no result yet: call again when the descriptor of the client is readable";
    WouldBlock, c"would-block", c"the call would block the program's own event loop or a callback: use the _start and _finish functions";
    Replayed, c"replayed", c"the operation already has a result: do not run it";
}

/// Checks that the numbers are those of the core. A difference stops the build.
macro_rules! same_as_core {
    ($kind:ident: $($variant:ident => $ours:ident),* $(,)?) => {
        const _: () = { $(assert!($kind::$variant.code() as i32 == fencepost_result::$ours as i32);)* };
    };
}

same_as_core!(Refusal: Timeout => Timeout, NotAvailable => NotAvailable, Cancelled => Cancelled, Unreachable => Unreachable,
    NoPermission => NoPermission, AuthFailed => AuthFailed, NoParent => NoParent, MixedLayouts => MixedLayouts,
    SequenceExhausted => SequenceExhausted, WrongType => WrongType, Unsupported => Unsupported, ServerError => ServerError,
    ConnectionClosed => ConnectionClosed, GivenUp => GivenUp, InconsistentPermits => InconsistentPermits, NoContender => NoContender,
    InProgress => InProgress, Mismatch => Mismatch, Indeterminate => Indeterminate, UnknownToken => UnknownToken,
    CorruptRecord => CorruptRecord, Conflict => Conflict, RecordChanged => RecordChanged);
same_as_core!(Loss: LeaseEnded => LeaseEnded, SessionExpired => SessionExpired, Deleted => Deleted, Taken => Taken,
    MaxHold => MaxHold, ConnectionClosed => LostConnectionClosed, Refused => RenewalRefused,
    Superseded => Superseded, Completed => AlreadyCompleted);
same_as_core!(Misuse: Busy => Busy, NotHeld => NotHeld, NotWaiting => NotWaiting, Closed => ClientClosed,
    Upgrade => Upgrade, NotAWriter => NotAWriter, NotAClaim => NotAClaim);
const _: () = {
    assert!(ConfigError::EmptyName.code() as i32 == fencepost_result::EmptyName as i32);
    assert!(Refusal::ALL.len() == 23 && Loss::ALL.len() == 9);
};

/// Checks that the texts of refusals and losses are those of the core. A difference stops the build.
macro_rules! same_texts {
    ($kind:ident) => {
        const _: () = {
            let mut index = 0;
            while index < $kind::ALL.len() {
                let reason = $kind::ALL[index];
                let Some(ours) = fencepost_result::from_code(reason.code() as i32) else {
                    panic!("this reason of the core has no result");
                };
                assert!(same(reason.name(), ours.name()) && same(reason.message(), ours.text()));
                index += 1;
            }
        };
    };
}

const fn same(core: &str, ours: &CStr) -> bool {
    let (core, ours) = (core.as_bytes(), ours.to_bytes());
    let mut index = 0;
    while index < core.len() && index < ours.len() && core[index] == ours[index] {
        index += 1;
    }
    index == core.len() && index == ours.len()
}

same_texts!(Refusal);
same_texts!(Loss);

/// Returns the kebab-case name of a result, the same in every language; `unknown-result` if there is no such
/// result. It is never NULL.
#[unsafe(no_mangle)]
pub extern "C" fn fencepost_result_name(result: i32) -> *const c_char {
    fencepost_result::from_code(result)
        .map_or(c"unknown-result", fencepost_result::name)
        .as_ptr()
}

/// Returns the meaning of a result in English, also if there is no such result. It is never NULL.
/// `fencepost_detail` has the text of a failed call, with the values.
#[unsafe(no_mangle)]
pub extern "C" fn fencepost_result_text(result: i32) -> *const c_char {
    fencepost_result::from_code(result)
        .map_or(
            c"no result of this libfencepost has this number",
            fencepost_result::text,
        )
        .as_ptr()
}
