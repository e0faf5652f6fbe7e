//! Result codes: the core's numbers, and a few of this boundary's own.

/// What a function answers, and why an acquire was refused or a grant was lost. 0 is success. Numbers are the same in every language
/// and are never used again: 1xx a value in the settings, 2xx a call that makes no sense now, 3xx refused, 4xx lost, 5xx the client's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum fencepost_result {
    /// Success.
    Ok = 0,
    /// A lock needs a name.
    EmptyName = 101,
    /// The server would refuse this name.
    InvalidName = 102,
    /// A duration that has to be positive is zero or negative.
    NotPositive = 103,
    /// A lease so short that hardly anything is left of it after drift and margin.
    LeaseTooShort = 104,
    /// A duration beyond what servers take.
    TooLong = 105,
    /// An address that cannot be read.
    InvalidUrl = 106,
    /// A kind of server that fencepost does not know.
    UnknownScheme = 107,
    /// An option that does not exist.
    UnknownOption = 108,
    /// Settings in a form that cannot be read.
    UnreadableSettings = 109,
    /// An option with a value that makes no sense.
    InvalidOption = 110,

    /// No machine has this key, or it has been closed.
    UnknownKey = 201,
    /// No command has had this id yet.
    UnknownCommand = 202,
    /// The reply has not the shape that the command asks for. The command counts as of unknown outcome.
    WrongReply = 203,
    /// An acquire is under way, or the grant is still held, or the last attempt is still being cleaned up.
    Busy = 204,
    /// There is no grant to extend or release: never acquired, released before, or lost.
    NotHeld = 205,
    /// There is no acquire to cancel.
    NotWaiting = 206,
    /// The client has been closed.
    ClientClosed = 207,
    /// Settings, an outcome or a notice of another family than the hub's.
    WrongFamily = 208,
    /// A reader's owner has asked for the writer: nothing was sent, and the share stays held.
    Upgrade = 209,
    /// Only a writer's grant can be turned into a reader's, and only once.
    NotAWriter = 210,
    /// Only a claim can be completed or left: a lock is released.
    NotAClaim = 211,

    /// Another contender held the lock until the acquire timeout ended.
    Timeout = 301,
    /// A try found the lock held.
    NotAvailable = 302,
    /// The application has cancelled the acquire.
    Cancelled = 303,
    /// No server has answered in time.
    Unreachable = 304,
    /// The server does not let this client do what the lock needs.
    NoPermission = 305,
    /// The server has refused the client's credentials.
    AuthFailed = 306,
    /// The directory above the lock does not exist and cannot be made (a missing chroot, for example).
    NoParent = 307,
    /// Not given any more: contenders of other layouts are waited for, and told of by `FENCEPOST_EVENT_KIND_MIXED_LAYOUTS`.
    MixedLayouts = 308,
    /// The directory's 32-bit sequence is at its end.
    SequenceExhausted = 309,
    /// The key holds something that is not a lock of this layout.
    WrongType = 310,
    /// The server lacks what the lock needs.
    Unsupported = 311,
    /// The server answered with another error, and would again.
    ServerError = 312,
    /// The connection has been closed for good.
    ConnectionClosed = 313,
    /// The attempt had been given up before this acquire reached the server.
    GivenUp = 314,
    /// The semaphore has another number of permits.
    InconsistentPermits = 315,
    /// The contender that was meant is not there.
    NoContender = 316,
    /// Another attempt runs the operation. Or its lease has ended, and the policy is to block.
    InProgress = 317,
    /// The key belongs to an operation with another fingerprint or binding, or to something that is no operation.
    Mismatch = 318,
    /// The lease of an earlier attempt has ended without a result, and the policy is not to run the operation again.
    Indeterminate = 319,
    /// The token was never issued, or has expired.
    UnknownToken = 320,
    /// The record cannot be read, so the operation does not run, and the record stays as it is.
    CorruptRecord = 321,
    /// The value has another version than the update expects.
    Conflict = 322,
    /// The record has changed since the operator read it.
    RecordChanged = 323,

    /// Lost: the lease ended before it could be renewed or confirmed.
    LeaseEnded = 401,
    /// Lost: the server has ended the session that held it.
    SessionExpired = 402,
    /// Lost: somebody has deleted what the lock wrote.
    Deleted = 403,
    /// Lost: somebody else holds it.
    Taken = 404,
    /// Lost: the cap on the whole hold was reached.
    MaxHold = 405,
    /// Lost: the connection has been closed for good.
    LostConnectionClosed = 406,
    /// Lost: the server no longer lets this client renew or read its lock.
    RenewalRefused = 407,
    /// Lost: another attempt has taken the operation over.
    Superseded = 408,
    /// Lost: the claim has ended before, and this attempt has stored a result.
    AlreadyCompleted = 409,

    /// The server has not confirmed a release in time. It goes on in the background.
    ReleaseUnconfirmed = 501,
    /// A client or grant was used in another process than the one that made it.
    WrongProcess = 502,
    /// A client was closed before the server had confirmed everything.
    CleanupIncomplete = 503,
    /// A pointer is NULL that must not be.
    NullPointer = 521,
    /// A defect in fencepost: it has panicked. The object may only be freed.
    Panic = 522,
    /// An argument out of its range, or text that is not UTF-8.
    BadArgument = 523,
    /// Out of memory.
    OutOfMemory = 524,
    /// The operating system has refused a thread, a file descriptor or random bytes.
    SystemError = 525,
    /// The library that speaks to this kind of server is not installed.
    DriverMissing = 526,
    /// Not decided yet.
    Pending = 527,
    /// A blocking call on a connection that only its owner's event loop drives.
    WouldBlock = 528,
    /// No error: the operation has had a result before, which is handed over. There is nothing to run.
    Replayed = 529,
}

/// Success, in short.
pub const FENCEPOST_OK: i32 = 0;

/// The operation has had a result before, in short.
pub const FENCEPOST_REPLAYED: i32 = 529;

const _: () = assert!(FENCEPOST_REPLAYED == fencepost_result::Replayed as i32);
