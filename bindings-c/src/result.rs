//! Result codes: the core's numbers, and those of this boundary.

/// The result of a function, and the reason of an event refused or lost. 0 is success. The numbers are the
/// same in every language, and a retired number is never reused: 1xx a setting is wrong, 2xx the present
/// state does not allow the call, 3xx a refusal, 4xx a loss, 5xx the client or the program.
/// docs/reference/errors.md lists a remedy for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum fencepost_result {
    /// Success.
    Ok = 0,
    /// The name of the lock is empty.
    EmptyName = 101,
    /// The server would refuse this name.
    InvalidName = 102,
    /// A duration is zero or negative.
    NotPositive = 103,
    /// The lease is shorter than three times its margin, or than 5 ms.
    LeaseTooShort = 104,
    /// A duration is longer than 365 days.
    TooLong = 105,
    /// The address cannot be parsed, or its file of certificates cannot be used.
    InvalidUrl = 106,
    /// The address does not begin with a known scheme.
    UnknownScheme = 107,
    /// This kind of lock or this server does not have the option, or this server does not have the kind of
    /// lock.
    UnknownOption = 108,
    /// The settings cannot be parsed.
    UnreadableSettings = 109,
    /// The value of an option is not valid.
    InvalidOption = 110,

    /// No machine has this key, or the caller has closed it.
    UnknownKey = 201,
    /// The hub has issued no command with this id.
    UnknownCommand = 202,
    /// The reply does not have the shape that its command requires. The hub treats the outcome of the command
    /// as unknown.
    WrongReply = 203,
    /// An acquire is in progress, the grant is still held, or the cleanup of the last attempt is in progress.
    Busy = 204,
    /// There is no grant: it was never acquired, has been released, or was lost.
    NotHeld = 205,
    /// There is no acquire to cancel.
    NotWaiting = 206,
    /// The client has been closed.
    ClientClosed = 207,
    /// The settings, the outcome or the notice are of another family than the hub.
    WrongFamily = 208,
    /// An owner that holds the reader has acquired the writer, and would wait for itself. The client has sent
    /// nothing, and the reader stays held.
    Upgrade = 209,
    /// Only a writer's grant can be downgraded, and only once.
    NotAWriter = 210,
    /// Only a claim can be completed or left.
    NotAClaim = 211,

    /// Another contender held the lock until the acquire timeout ended.
    Timeout = 301,
    /// Another contender held the lock at the try.
    NotAvailable = 302,
    /// The application has cancelled the acquire.
    Cancelled = 303,
    /// No server answered in time.
    Unreachable = 304,
    /// The server denies this client a right that the lock needs.
    NoPermission = 305,
    /// The server has refused the client's credentials.
    AuthFailed = 306,
    /// The directory above the lock does not exist and cannot be created (a missing chroot, for example).
    NoParent = 307,
    /// No longer returned. A contender waits for contenders of other layouts, and
    /// `FENCEPOST_EVENT_KIND_MIXED_LAYOUTS` reports them.
    MixedLayouts = 308,
    /// The sequence numbers of the lock's directory are used up.
    SequenceExhausted = 309,
    /// A key with this name, or its fence key, holds a value of another type.
    WrongType = 310,
    /// The server lacks a feature that the lock needs.
    Unsupported = 311,
    /// The server answered with an error that a retry would not change.
    ServerError = 312,
    /// The connection has been closed for good.
    ConnectionClosed = 313,
    /// The client had abandoned the attempt before this request reached the server.
    GivenUp = 314,
    /// The semaphore uses another number of permits.
    InconsistentPermits = 315,
    /// The contender to revoke or break does not exist.
    NoContender = 316,
    /// Another attempt runs the operation. Or its lease has ended, and the policy is to block.
    InProgress = 317,
    /// The key belongs to an operation with another fingerprint or binding, or to a record that is not an
    /// operation.
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

    /// The lease ended by this client's clock before the client could renew it or confirm the session.
    LeaseEnded = 401,
    /// The server has ended the session that held the lock.
    SessionExpired = 402,
    /// Another client deleted the lock's node or key.
    Deleted = 403,
    /// Another contender holds the lock.
    Taken = 404,
    /// The grant reached `max_hold`, the longest hold allowed.
    MaxHold = 405,
    /// The connection has been closed for good while the client held the lock.
    LostConnectionClosed = 406,
    /// The server no longer lets this client renew or read its lock.
    RenewalRefused = 407,
    /// Another attempt has taken the operation over.
    Superseded = 408,
    /// The claim has already ended: this attempt has stored a result.
    AlreadyCompleted = 409,

    /// The server has not confirmed a release in time. The client retries the release in the background.
    ReleaseUnconfirmed = 501,
    /// The object was made in another process, before a fork.
    WrongProcess = 502,
    /// The client is closed, and the server has not confirmed the release of some locks, or has refused it.
    /// These locks end with their lease or session.
    CleanupIncomplete = 503,
    /// A required pointer is NULL.
    NullPointer = 521,
    /// There is a defect in fencepost (a panic). The object may only be freed.
    Panic = 522,
    /// An argument is out of its range, or a text is not UTF-8.
    BadArgument = 523,
    /// No memory is left.
    OutOfMemory = 524,
    /// The operating system refused a thread, a file descriptor or random bytes.
    SystemError = 525,
    /// The library for this kind of server is not installed.
    DriverMissing = 526,
    /// No error: there is no result yet.
    Pending = 527,
    /// The call would block the program's own event loop, or a callback of the connection.
    WouldBlock = 528,
    /// No error: the operation already has a result, which the call returns. Do not run the operation.
    Replayed = 529,
}

/// Success: `FENCEPOST_RESULT_OK`.
pub const FENCEPOST_OK: i32 = 0;

/// The operation already has a result: `FENCEPOST_RESULT_REPLAYED`.
pub const FENCEPOST_REPLAYED: i32 = 529;

const _: () = assert!(FENCEPOST_REPLAYED == fencepost_result::Replayed as i32);
