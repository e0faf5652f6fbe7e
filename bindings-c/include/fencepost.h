/**
 * @file fencepost.h
 * libfencepost: distributed locks and idempotent operations as state machines. The library does no I/O: the program
 * carries out the hub's commands over its own ZooKeeper or Redis connection. fencepost-client.h has ready-made clients.
 *
 * Conventions
 * - Objects are opaque. A function ending in `_new`, `_parse`, `_of` or `_open` makes an object, and `_free` frees it.
 *   `_free` ignores NULL.
 * - The first argument is the object; `const` means that the call does not change it. Inputs come before outputs. A
 *   function writes its outputs on success only.
 * - Every fallible function returns a `fencepost_result`; 0 is success. `fencepost_detail` returns the text of the last
 *   error: what was wrong, and with which value. Comments write `BUSY` for `FENCEPOST_RESULT_BUSY`. Every function may
 *   return `NULL_POINTER` (a required pointer is NULL), `BAD_ARGUMENT` (a text is not UTF-8) and `PANIC`; comments do
 *   not repeat these.
 * - The caller passes a text or bytes as a pointer and a size. The library returns them as `fencepost_view`, without a
 *   NUL at the end. A text is UTF-8. Names and texts of codes are NUL-terminated, and valid for ever.
 * - `now` and all other times are whole microseconds of a clock that the caller chooses. The clock must not go back, and
 *   **must go on while the computer is suspended**: use CLOCK_BOOTTIME where there is one. Read the clock immediately
 *   before the call.
 * - Only one thread at a time may use a hub, or change settings. Different objects are independent.
 * - If there is no memory, the process ends by `abort()`, because Rust's allocations cannot fail in another way.
 * - Later versions may add members at the end of an output structure. If the caller provides the structure, its first
 *   member is `size`, and the caller sets it before the call: `fencepost_output output = {.size = sizeof output};`. The
 *   library owns all other structures: read them through their pointers, and make no arrays of them. Views never grow.
 *   `fencepost_version` is the version of the library, `FENCEPOST_VERSION` that of the header.
 * - After a defect in the library (a Rust panic), a function returns `FENCEPOST_RESULT_PANIC`. The object may then only
 *   be freed.
 *
 * The loop of a driver
 * 1. After every input, call `fencepost_hub_poll_output` until it returns `FENCEPOST_OUTPUT_KIND_WAIT`. Hand each
 *    command to the client library in that order; do not wait for the answer to an earlier one. Pass each event to the
 *    application.
 * 2. Sleep until an answer or a notice arrives, or until `wait->until`. Report the answer or the notice to the hub
 *    (`fencepost_hub_created`, …), or call `fencepost_hub_handle_timeout`.
 *
 * Report at most one outcome for each command. On a disconnect, report one for every command in flight.
 * docs/reference/drivers.md is the complete contract.
 */

#ifndef FENCEPOST_H
#define FENCEPOST_H

/* Generated from bindings-c/src by cbindgen: `make -C bindings-c header`. Do not edit. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * Create an ephemeral sequential node: ZooKeeper deletes it when its session ends, and appends a number to
 * its name.
 */
#define FENCEPOST_FLAG_EPHEMERAL_SEQUENTIAL 1

/**
 * Create a container node: ZooKeeper deletes it some time after it deleted the node's last child.
 */
#define FENCEPOST_FLAG_CONTAINER 2

/**
 * Set a watch. After a get, the watch fires once, when the node is deleted or its data changes. After a
 * children command, it fires once, when the list of children changes or the node is deleted.
 */
#define FENCEPOST_FLAG_WATCH 4

/**
 * Create an ephemeral node: ZooKeeper deletes it when its session ends.
 */
#define FENCEPOST_FLAG_EPHEMERAL 8

/**
 * The version of a part of a multi, if the node may have any version.
 */
#define FENCEPOST_ANY_VERSION -1

/**
 * An infinite acquire timeout: the acquire waits until it is granted or refused.
 */
#define FENCEPOST_FOREVER INT64_MAX

/**
 * A time that never comes: there is no deadline, no lease, or no timer.
 */
#define FENCEPOST_NEVER UINT64_MAX

/**
 * In `fencepost_hub_poll_output`: the outputs of all machines.
 */
#define FENCEPOST_ALL 0

/**
 * Success: `FENCEPOST_RESULT_OK`.
 */
#define FENCEPOST_OK 0

/**
 * The operation already has a result: `FENCEPOST_RESULT_REPLAYED`.
 */
#define FENCEPOST_REPLAYED 529

/**
 * The number of bytes that `fencepost_scope_derive` writes: 32 hexadecimal digits, and a NUL.
 */
#define FENCEPOST_DERIVED_SIZE 33

/**
 * The version of this header as a number: 10000 times the major, 100 times the minor, and the patch version.
 */
#define FENCEPOST_VERSION 100

/**
 * The result of a function, and the reason of an event refused or lost. 0 is success. The numbers are the
 * same in every language, and a retired number is never reused: 1xx a setting is wrong, 2xx the present
 * state does not allow the call, 3xx a refusal, 4xx a loss, 5xx the client or the program.
 * docs/reference/errors.md lists a remedy for each.
 */
typedef enum fencepost_result {
    /**
     * Success.
     */
    FENCEPOST_RESULT_OK = 0,
    /**
     * The name of the lock is empty.
     */
    FENCEPOST_RESULT_EMPTY_NAME = 101,
    /**
     * The server would refuse this name.
     */
    FENCEPOST_RESULT_INVALID_NAME = 102,
    /**
     * A duration is zero or negative.
     */
    FENCEPOST_RESULT_NOT_POSITIVE = 103,
    /**
     * The lease is shorter than three times its margin, or than 5 ms.
     */
    FENCEPOST_RESULT_LEASE_TOO_SHORT = 104,
    /**
     * A duration is longer than 365 days.
     */
    FENCEPOST_RESULT_TOO_LONG = 105,
    /**
     * The address cannot be parsed, or its file of certificates cannot be used.
     */
    FENCEPOST_RESULT_INVALID_URL = 106,
    /**
     * The address does not begin with a known scheme.
     */
    FENCEPOST_RESULT_UNKNOWN_SCHEME = 107,
    /**
     * This kind of lock or this server does not have the option, or this server does not have the kind of
     * lock.
     */
    FENCEPOST_RESULT_UNKNOWN_OPTION = 108,
    /**
     * The settings cannot be parsed.
     */
    FENCEPOST_RESULT_UNREADABLE_SETTINGS = 109,
    /**
     * The value of an option is not valid.
     */
    FENCEPOST_RESULT_INVALID_OPTION = 110,
    /**
     * No machine has this key, or the caller has closed it.
     */
    FENCEPOST_RESULT_UNKNOWN_KEY = 201,
    /**
     * The hub has issued no command with this id.
     */
    FENCEPOST_RESULT_UNKNOWN_COMMAND = 202,
    /**
     * The reply does not have the shape that its command requires. The hub treats the outcome of the command
     * as unknown.
     */
    FENCEPOST_RESULT_WRONG_REPLY = 203,
    /**
     * An acquire is in progress, the grant is still held, or the cleanup of the last attempt is in progress.
     */
    FENCEPOST_RESULT_BUSY = 204,
    /**
     * There is no grant: it was never acquired, has been released, or was lost.
     */
    FENCEPOST_RESULT_NOT_HELD = 205,
    /**
     * There is no acquire to cancel.
     */
    FENCEPOST_RESULT_NOT_WAITING = 206,
    /**
     * The client has been closed.
     */
    FENCEPOST_RESULT_CLIENT_CLOSED = 207,
    /**
     * The settings, the outcome or the notice are of another family than the hub.
     */
    FENCEPOST_RESULT_WRONG_FAMILY = 208,
    /**
     * An owner that holds the reader has acquired the writer, and would wait for itself. The client has sent
     * nothing, and the reader stays held.
     */
    FENCEPOST_RESULT_UPGRADE = 209,
    /**
     * Only a writer's grant can be downgraded, and only once.
     */
    FENCEPOST_RESULT_NOT_A_WRITER = 210,
    /**
     * Only a claim can be completed or left.
     */
    FENCEPOST_RESULT_NOT_A_CLAIM = 211,
    /**
     * Another contender held the lock until the acquire timeout ended.
     */
    FENCEPOST_RESULT_TIMEOUT = 301,
    /**
     * Another contender held the lock at the try.
     */
    FENCEPOST_RESULT_NOT_AVAILABLE = 302,
    /**
     * The application has cancelled the acquire.
     */
    FENCEPOST_RESULT_CANCELLED = 303,
    /**
     * No server answered in time.
     */
    FENCEPOST_RESULT_UNREACHABLE = 304,
    /**
     * The server denies this client a right that the lock needs.
     */
    FENCEPOST_RESULT_NO_PERMISSION = 305,
    /**
     * The server has refused the client's credentials.
     */
    FENCEPOST_RESULT_AUTH_FAILED = 306,
    /**
     * The directory above the lock does not exist and cannot be created (a missing chroot, for example).
     */
    FENCEPOST_RESULT_NO_PARENT = 307,
    /**
     * No longer returned. A contender waits for contenders of other layouts, and
     * `FENCEPOST_EVENT_KIND_MIXED_LAYOUTS` reports them.
     */
    FENCEPOST_RESULT_MIXED_LAYOUTS = 308,
    /**
     * The sequence numbers of the lock's directory are used up.
     */
    FENCEPOST_RESULT_SEQUENCE_EXHAUSTED = 309,
    /**
     * A key with this name, or its fence key, holds a value of another type.
     */
    FENCEPOST_RESULT_WRONG_TYPE = 310,
    /**
     * The server lacks a feature that the lock needs.
     */
    FENCEPOST_RESULT_UNSUPPORTED = 311,
    /**
     * The server answered with an error that a retry would not change.
     */
    FENCEPOST_RESULT_SERVER_ERROR = 312,
    /**
     * The connection has been closed for good.
     */
    FENCEPOST_RESULT_CONNECTION_CLOSED = 313,
    /**
     * The client had abandoned the attempt before this request reached the server.
     */
    FENCEPOST_RESULT_GIVEN_UP = 314,
    /**
     * The semaphore uses another number of permits.
     */
    FENCEPOST_RESULT_INCONSISTENT_PERMITS = 315,
    /**
     * The contender to revoke or break does not exist.
     */
    FENCEPOST_RESULT_NO_CONTENDER = 316,
    /**
     * Another attempt runs the operation. Or its lease has ended, and the policy is to block.
     */
    FENCEPOST_RESULT_IN_PROGRESS = 317,
    /**
     * The key belongs to an operation with another fingerprint or binding, or to a record that is not an
     * operation.
     */
    FENCEPOST_RESULT_MISMATCH = 318,
    /**
     * The lease of an earlier attempt has ended without a result, and the policy is not to run the operation again.
     */
    FENCEPOST_RESULT_INDETERMINATE = 319,
    /**
     * The token was never issued, or has expired.
     */
    FENCEPOST_RESULT_UNKNOWN_TOKEN = 320,
    /**
     * The record cannot be read, so the operation does not run, and the record stays as it is.
     */
    FENCEPOST_RESULT_CORRUPT_RECORD = 321,
    /**
     * The value has another version than the update expects.
     */
    FENCEPOST_RESULT_CONFLICT = 322,
    /**
     * The record has changed since the operator read it.
     */
    FENCEPOST_RESULT_RECORD_CHANGED = 323,
    /**
     * The lease ended by this client's clock before the client could renew it or confirm the session.
     */
    FENCEPOST_RESULT_LEASE_ENDED = 401,
    /**
     * The server has ended the session that held the lock.
     */
    FENCEPOST_RESULT_SESSION_EXPIRED = 402,
    /**
     * Another client deleted the lock's node or key.
     */
    FENCEPOST_RESULT_DELETED = 403,
    /**
     * Another contender holds the lock.
     */
    FENCEPOST_RESULT_TAKEN = 404,
    /**
     * The grant reached `max_hold`, the longest hold allowed.
     */
    FENCEPOST_RESULT_MAX_HOLD = 405,
    /**
     * The connection has been closed for good while the client held the lock.
     */
    FENCEPOST_RESULT_LOST_CONNECTION_CLOSED = 406,
    /**
     * The server no longer lets this client renew or read its lock.
     */
    FENCEPOST_RESULT_RENEWAL_REFUSED = 407,
    /**
     * Another attempt has taken the operation over.
     */
    FENCEPOST_RESULT_SUPERSEDED = 408,
    /**
     * The claim has already ended: this attempt has stored a result.
     */
    FENCEPOST_RESULT_ALREADY_COMPLETED = 409,
    /**
     * The server has not confirmed a release in time. The client retries the release in the background.
     */
    FENCEPOST_RESULT_RELEASE_UNCONFIRMED = 501,
    /**
     * The object was made in another process, before a fork.
     */
    FENCEPOST_RESULT_WRONG_PROCESS = 502,
    /**
     * The client is closed, and the server has not confirmed the release of some locks, or has refused it.
     * These locks end with their lease or session.
     */
    FENCEPOST_RESULT_CLEANUP_INCOMPLETE = 503,
    /**
     * A required pointer is NULL.
     */
    FENCEPOST_RESULT_NULL_POINTER = 521,
    /**
     * There is a defect in fencepost (a panic). The object may only be freed.
     */
    FENCEPOST_RESULT_PANIC = 522,
    /**
     * An argument is out of its range, or a text is not UTF-8.
     */
    FENCEPOST_RESULT_BAD_ARGUMENT = 523,
    /**
     * No memory is left.
     */
    FENCEPOST_RESULT_OUT_OF_MEMORY = 524,
    /**
     * The operating system refused a thread, a file descriptor or random bytes.
     */
    FENCEPOST_RESULT_SYSTEM_ERROR = 525,
    /**
     * The library for this kind of server is not installed.
     */
    FENCEPOST_RESULT_DRIVER_MISSING = 526,
    /**
     * No error: there is no result yet.
     */
    FENCEPOST_RESULT_PENDING = 527,
    /**
     * The call would block the program's own event loop, or a callback of the connection.
     */
    FENCEPOST_RESULT_WOULD_BLOCK = 528,
    /**
     * No error: the operation already has a result, which the call returns. Do not run the operation.
     */
    FENCEPOST_RESULT_REPLAYED = 529,
} fencepost_result;

/**
 * The scheme of an address. It says which parts the address has.
 */
typedef enum fencepost_scheme {
    /**
     * `memory:NAME`. Its parts are `name`, which may be empty, and `session_timeout`.
     */
    FENCEPOST_SCHEME_MEMORY = 1,
    /**
     * `zk://…`. Its parts are `hosts`, `prefix` and `session_timeout`.
     */
    FENCEPOST_SCHEME_ZOOKEEPER = 2,
    /**
     * `redis://…`. Its parts are `hosts` (one host), `port`, `user`, `password` and `database`.
     */
    FENCEPOST_SCHEME_REDIS = 3,
    /**
     * `rediss://…`: Redis over TLS. It also has the part `ca`.
     */
    FENCEPOST_SCHEME_REDIS_TLS = 4,
} fencepost_scheme;

/**
 * The state of a hub's session on a server in memory.
 */
typedef enum fencepost_memory_state {
    /**
     * The hub has a connection to the server.
     */
    FENCEPOST_MEMORY_STATE_CONNECTED = 1,
    /**
     * The hub has no connection. The server keeps the session.
     */
    FENCEPOST_MEMORY_STATE_SUSPENDED = 2,
    /**
     * The server has ended the session. The hub is suspended or paused, and has not been notified yet.
     */
    FENCEPOST_MEMORY_STATE_EXPIRED = 3,
} fencepost_memory_state;

/**
 * The kind of a message between a hub and a server in memory.
 */
typedef enum fencepost_message_kind {
    /**
     * From a hub to the server.
     */
    FENCEPOST_MESSAGE_KIND_REQUEST = 1,
    /**
     * From the server to a hub, for a request.
     */
    FENCEPOST_MESSAGE_KIND_REPLY = 2,
    /**
     * A notice to a hub, without a request: a watch has fired, or the state of the session has changed.
     */
    FENCEPOST_MESSAGE_KIND_EVENT = 3,
} fencepost_message_kind;

/**
 * The kind of an output.
 */
typedef enum fencepost_output_kind {
    /**
     * No output is left. `wait` has the time of the next timer.
     */
    FENCEPOST_OUTPUT_KIND_WAIT = 0,
    /**
     * Carry out `command`, and report its outcome to the hub.
     */
    FENCEPOST_OUTPUT_KIND_COMMAND = 1,
    /**
     * Pass `event` to the application.
     */
    FENCEPOST_OUTPUT_KIND_EVENT = 2,
} fencepost_output_kind;

/**
 * The operation of a command: what the driver does, and how it reports the answer.
 */
typedef enum fencepost_operation {
    /**
     * ZooKeeper: create `path` with `data`, according to `flags`. Answer: `fencepost_hub_created`.
     */
    FENCEPOST_OPERATION_CREATE = 1,
    /**
     * ZooKeeper: list the children of `path`; with `FENCEPOST_FLAG_WATCH`, set a watch. Answer:
     * `fencepost_hub_children`.
     */
    FENCEPOST_OPERATION_CHILDREN = 2,
    /**
     * ZooKeeper: read `path`; with `FENCEPOST_FLAG_WATCH`, set a watch. Answer: `fencepost_hub_data`.
     */
    FENCEPOST_OPERATION_GET = 3,
    /**
     * ZooKeeper: delete `path`, at any version. Answer: `fencepost_hub_done`.
     */
    FENCEPOST_OPERATION_DELETE = 4,
    /**
     * ZooKeeper: sync `path`. Answer: `fencepost_hub_done`.
     */
    FENCEPOST_OPERATION_SYNC = 5,
    /**
     * Redis: send `arguments` as one command. Answer: `fencepost_hub_reply` with the server's unchanged
     * reply.
     */
    FENCEPOST_OPERATION_CALL = 6,
    /**
     * Redis: subscribe to the channel `arguments[0]`. Answer: `fencepost_hub_reply` with any reply, once the
     * server has confirmed the subscription.
     */
    FENCEPOST_OPERATION_SUBSCRIBE = 7,
    /**
     * Redis: unsubscribe from the channel `arguments[0]`. Answer: `fencepost_hub_reply` with any reply, or
     * none.
     */
    FENCEPOST_OPERATION_UNSUBSCRIBE = 8,
    /**
     * ZooKeeper: write `data` to `path`, at any version. Answer: `fencepost_hub_done`.
     */
    FENCEPOST_OPERATION_SET = 9,
    /**
     * ZooKeeper: carry out all `parts` in one transaction, or none. Answer: `fencepost_hub_children` with
     * the names of the created nodes (the last parts of their paths) in the order of the parts; or
     * `fencepost_hub_error` with the error of the first part that fails.
     */
    FENCEPOST_OPERATION_MULTI = 10,
    /**
     * ZooKeeper: check that `path` exists. It is always a part of a multi.
     */
    FENCEPOST_OPERATION_CHECK = 11,
    /**
     * ZooKeeper: the server has stopped answering. End the connection, and connect to another server in the
     * same session. Do nothing on a connection that the program made. Answer: any, or none.
     */
    FENCEPOST_OPERATION_RECONNECT = 12,
} fencepost_operation;

/**
 * Which connection sends a command.
 */
typedef enum fencepost_target {
    /**
     * Any connection of the client.
     */
    FENCEPOST_TARGET_ANY = 0,
    /**
     * The connection to one server of a quorum; `server` is its number, from 0.
     */
    FENCEPOST_TARGET_SERVER = 1,
    /**
     * One connection that is reserved for this machine as long as the machine exists.
     */
    FENCEPOST_TARGET_OWN = 2,
} fencepost_target;

/**
 * What a machine reports to the application.
 */
typedef enum fencepost_event_kind {
    /**
     * The contender waits for the lock. `ahead` contenders come first, if `has_ahead`.
     */
    FENCEPOST_EVENT_KIND_QUEUED = 1,
    /**
     * The contender holds the lock, or has claimed the operation. `fence`, `valid_until`, `contender`,
     * `attempt` and `takeovers` describe the grant.
     */
    FENCEPOST_EVENT_KIND_ACQUIRED = 2,
    /**
     * The grant has been extended, to `valid_until`.
     */
    FENCEPOST_EVENT_KIND_EXTENDED = 3,
    /**
     * The connection is lost; the lock may still be held. The holder should start no new work. Resumed or
     * lost follows.
     */
    FENCEPOST_EVENT_KIND_SUSPENDED = 4,
    /**
     * The client is connected again, and the contender still holds the lock, until `valid_until`.
     */
    FENCEPOST_EVENT_KIND_RESUMED = 5,
    /**
     * The grant has ended without a release, for `reason`; `cause_command` and `detail` have the cause. The
     * application may still complete, release or leave a claim; the server then decides.
     */
    FENCEPOST_EVENT_KIND_LOST = 6,
    /**
     * The lock is released: the server has confirmed it, or the session that held the lock has ended.
     */
    FENCEPOST_EVENT_KIND_RELEASED = 7,
    /**
     * An acquire has failed, or the server has refused a release, a downgrade or the end of a claim. After a
     * refused downgrade or end of a claim, the grant is unchanged. `reason`, `cause_command`, `detail`,
     * `retry_after` and `record` describe the refusal.
     */
    FENCEPOST_EVENT_KIND_REFUSED = 8,
    /**
     * Another client has sent a revocation request. The holder may release the lock or keep it. The machine
     * reports this once per grant.
     */
    FENCEPOST_EVENT_KIND_REVOKE_REQUESTED = 9,
    /**
     * A contender of another layout is in the lock's directory, and its layout ignores this contender's
     * node. Both may hold the lock at the same time. `detail` is the name of the foreign contender's node.
     * The machine reports this once per acquire.
     */
    FENCEPOST_EVENT_KIND_MIXED_LAYOUTS = 10,
    /**
     * The result of an inspection is in `found`.
     */
    FENCEPOST_EVENT_KIND_FOUND = 11,
    /**
     * The grant is now a reader's grant, with the same fence. Other readers may share the lock.
     */
    FENCEPOST_EVENT_KIND_DOWNGRADED = 12,
    /**
     * The server has stored the result of a claim's operation, or has done a single step. `record` is the
     * stored record.
     */
    FENCEPOST_EVENT_KIND_COMPLETED = 13,
    /**
     * The operation already has a result, or the update was applied before: the application does not run it
     * again. `record` is the stored record.
     */
    FENCEPOST_EVENT_KIND_REPLAYED = 14,
    /**
     * `record` is the record of an operation, or a value; NULL if there is none.
     */
    FENCEPOST_EVENT_KIND_LOOKED = 15,
    /**
     * A sweep is done. It has deleted `deleted` records.
     */
    FENCEPOST_EVENT_KIND_SWEPT = 16,
} fencepost_event_kind;

/**
 * The state of an operation. An operation without a record has not begun.
 */
typedef enum fencepost_record_state {
    /**
     * A token has been issued, and no attempt has claimed it.
     */
    FENCEPOST_RECORD_STATE_ISSUED = 1,
    /**
     * An attempt has claimed the operation, and has neither completed nor released it. Its lease may have
     * ended.
     */
    FENCEPOST_RECORD_STATE_RUNNING = 2,
    /**
     * The operation has a result.
     */
    FENCEPOST_RECORD_STATE_DONE = 3,
    /**
     * The record is not an operation, but a value with a version, for updates.
     */
    FENCEPOST_RECORD_STATE_VALUE = 4,
} fencepost_record_state;

/**
 * The rule for a claim that finds that the lease of another attempt has ended. The first claim of an
 * operation sets the policy.
 */
typedef enum fencepost_policy {
    /**
     * The claim takes the operation over. The operation may run once more for each takeover.
     */
    FENCEPOST_POLICY_RETAKE = 1,
    /**
     * The claim is refused as in-progress. The operation runs at most once.
     */
    FENCEPOST_POLICY_BLOCK = 2,
    /**
     * The claim is refused as indeterminate, because the operation may have run. The operation runs at most
     * once.
     */
    FENCEPOST_POLICY_INDETERMINATE = 3,
} fencepost_policy;

/**
 * The purpose of a wait, for logs.
 */
typedef enum fencepost_timer {
    /**
     * There is no timer: the hub waits for an input.
     */
    FENCEPOST_TIMER_NONE = 0,
    /**
     * When the acquire timeout ends.
     */
    FENCEPOST_TIMER_ACQUIRE_TIMEOUT = 1,
    /**
     * When to retry a command that failed.
     */
    FENCEPOST_TIMER_RETRY = 2,
    /**
     * When to check whether the lock is free, or still held.
     */
    FENCEPOST_TIMER_POLL = 3,
    /**
     * When to renew a lease or confirm a session.
     */
    FENCEPOST_TIMER_RENEW = 4,
    /**
     * When the validity of the present grant ends.
     */
    FENCEPOST_TIMER_VALIDITY = 5,
    /**
     * When the grant reaches `max_hold`, the longest hold allowed.
     */
    FENCEPOST_TIMER_MAX_HOLD = 6,
    /**
     * When to release a shared resource that no machine uses any more.
     */
    FENCEPOST_TIMER_LINGER = 7,
} fencepost_timer;

/**
 * The command set of a hub.
 */
typedef enum fencepost_family {
    /**
     * ZooKeeper. `memory:` uses it, too.
     */
    FENCEPOST_FAMILY_ZOOKEEPER = 1,
    /**
     * Redis.
     */
    FENCEPOST_FAMILY_REDIS = 2,
} fencepost_family;

/**
 * Why a command has no answer.
 */
typedef enum fencepost_failure {
    /**
     * The client library has not sent the command, and never will: the server has certainly not executed it.
     */
    FENCEPOST_FAILURE_NOT_SENT = 1,
    /**
     * The server may have executed the command, or may still execute it. Use this failure when in doubt.
     */
    FENCEPOST_FAILURE_UNKNOWN = 2,
    /**
     * The connection has been closed for good: this command was not sent, and no later one will be.
     */
    FENCEPOST_FAILURE_CLOSED = 3,
} fencepost_failure;

/**
 * The state of a ZooKeeper session, as the client library reports it.
 */
typedef enum fencepost_session_state {
    /**
     * The client is connected: to a new session, or again to the same one.
     */
    FENCEPOST_SESSION_STATE_CONNECTED = 1,
    /**
     * The connection is lost. The session may still exist.
     */
    FENCEPOST_SESSION_STATE_SUSPENDED = 2,
    /**
     * The server has ended the session, and has deleted all its ephemeral nodes.
     */
    FENCEPOST_SESSION_STATE_EXPIRED = 3,
    /**
     * The server has refused the credentials. No notice and no answer will follow.
     */
    FENCEPOST_SESSION_STATE_AUTH_FAILED = 4,
    /**
     * The client is closed. No notice and no answer will follow.
     */
    FENCEPOST_SESSION_STATE_CLOSED = 5,
    /**
     * The client is about to connect for a new session. Only a driver that makes its own sessions reports
     * this, before each attempt to connect.
     */
    FENCEPOST_SESSION_STATE_CONNECTING = 6,
} fencepost_session_state;

/**
 * What a ZooKeeper watch reports. A watch fires once.
 */
typedef enum fencepost_watch_event {
    /**
     * The node was deleted.
     */
    FENCEPOST_WATCH_EVENT_DELETED = 1,
    /**
     * The data of the node changed; or its list of children did, if the watch was set by a children command.
     */
    FENCEPOST_WATCH_EVENT_CHANGED = 2,
    /**
     * The watch is lost, and will not fire.
     */
    FENCEPOST_WATCH_EVENT_GONE = 3,
} fencepost_watch_event;

/**
 * The type of a Redis reply.
 */
typedef enum fencepost_reply_kind {
    /**
     * The nil reply.
     */
    FENCEPOST_REPLY_KIND_NIL = 0,
    /**
     * An integer, in `integer`.
     */
    FENCEPOST_REPLY_KIND_INTEGER = 1,
    /**
     * A string or a status, in `bytes`.
     */
    FENCEPOST_REPLY_KIND_BYTES = 2,
    /**
     * An array of `item_count` replies, at `items`.
     */
    FENCEPOST_REPLY_KIND_ARRAY = 3,
    /**
     * An error, in `bytes`, beginning with its code: `NOSCRIPT No matching script.`
     */
    FENCEPOST_REPLY_KIND_ERROR = 4,
} fencepost_reply_kind;

/**
 * The type of a setting's value.
 */
typedef enum fencepost_value_kind {
    /**
     * A text, in `text`.
     */
    FENCEPOST_VALUE_KIND_TEXT = 1,
    /**
     * A number, in `number`. Durations are in microseconds.
     */
    FENCEPOST_VALUE_KIND_NUMBER = 2,
    /**
     * On or off: `number` is 0 for off.
     */
    FENCEPOST_VALUE_KIND_SWITCH = 3,
    /**
     * A list of `text_count` texts, at `texts`.
     */
    FENCEPOST_VALUE_KIND_TEXTS = 4,
} fencepost_value_kind;

/**
 * A parsed address. It never changes, and threads may share it.
 */
typedef struct fencepost_address fencepost_address;

/**
 * All machines on one client connection. The hub does no I/O: a driver carries out the commands of
 * `fencepost_hub_poll_output`. Only one thread at a time may use a hub. Different hubs are independent.
 */
typedef struct fencepost_hub fencepost_hub;

/**
 * A server in the memory of this process, for demonstrations and tests. Any thread may use it at any time.
 */
typedef struct fencepost_memory fencepost_memory;

/**
 * The report of a server in memory: its sessions, its nodes, and its messages.
 */
typedef struct fencepost_memory_report fencepost_memory_report;

/**
 * A scope of idempotent operations: a namespace for their keys, with the options of all of them. A scope
 * never changes, so threads may share it.
 */
typedef struct fencepost_scope fencepost_scope;

/**
 * The checked settings of one lock or operation. Any number of hubs and threads may share them, as long as
 * no thread changes them.
 */
typedef struct fencepost_settings fencepost_settings;

/**
 * A pointer to bytes, and their number. The bytes have no NUL at the end. A text is UTF-8.
 */
typedef struct fencepost_view {
    /**
     * The first byte; may be NULL if `size` is 0.
     */
    const uint8_t *data;
    /**
     * The number of bytes.
     */
    size_t size;
} fencepost_view;

/**
 * The parts of an address. A part that the scheme does not have is empty or 0. The views are valid until the
 * address is freed. Later versions may add members at the end.
 */
typedef struct fencepost_address_parts {
    /**
     * The size of the caller's structure. The caller sets it to `sizeof(fencepost_address_parts)` before the
     * call. The library writes no more bytes than that.
     */
    size_t size;
    /**
     * The scheme.
     */
    enum fencepost_scheme scheme;
    /**
     * `memory:` the name of the server.
     */
    struct fencepost_view name;
    /**
     * `zk:` all servers, as `HOST:PORT,HOST:PORT`. `redis:` the host; an IPv6 address has no brackets.
     */
    struct fencepost_view hosts;
    /**
     * `zk:` the path below which the locks are; empty for the root.
     */
    struct fencepost_view prefix;
    /**
     * `redis:` the user, decoded; may be empty.
     */
    struct fencepost_view user;
    /**
     * `redis:` the password, decoded; may be empty.
     */
    struct fencepost_view password;
    /**
     * `zk:` the session timeout to request, in microseconds. `memory:` the session timeout that the client
     * assumes.
     */
    uint64_t session_timeout;
    /**
     * `redis:` the number of the database.
     */
    uint32_t database;
    /**
     * `redis:` the port.
     */
    uint16_t port;
    /**
     * `rediss:` the path of the file with the certificates that the client trusts, decoded. Empty: the
     * client trusts the system's certificates.
     */
    struct fencepost_view ca;
} fencepost_address_parts;

/**
 * A hub on a server in memory, and its session.
 */
typedef struct fencepost_memory_session {
    /**
     * The hub's id: it stays the same when the hub gets a new session.
     */
    uint64_t hub;
    /**
     * The session; in the state expired, the session that has ended.
     */
    int64_t session;
    /**
     * The state of the session.
     */
    enum fencepost_memory_state state;
    /**
     * Whether the hub is paused.
     */
    bool paused;
} fencepost_memory_session;

/**
 * A node on a server in memory.
 */
typedef struct fencepost_memory_node {
    /**
     * The path.
     */
    struct fencepost_view path;
    /**
     * The data.
     */
    struct fencepost_view data;
    /**
     * The hub whose session owns the node; 0 if the node is not ephemeral.
     */
    uint64_t hub;
} fencepost_memory_node;

/**
 * A message between a hub and a server in memory.
 */
typedef struct fencepost_message {
    /**
     * Its number in the list, from 1.
     */
    uint64_t number;
    /**
     * When it was sent, in microseconds of the hub's clock. An event has the time at which the hub got it.
     */
    uint64_t time;
    /**
     * The hub that sent or got it.
     */
    uint64_t hub;
    /**
     * The session in which it was sent.
     */
    int64_t session;
    /**
     * The kind of the message.
     */
    enum fencepost_message_kind kind;
    /**
     * The error code of the reply `error`, such as -101; otherwise 0.
     */
    int32_t error;
    /**
     * The id of the hub's command: the command of the request; of the request that a reply answers; or of
     * the request that set a watch. 0 for a change of the session.
     */
    uint64_t command;
    /**
     * A request: `create`, `children`, `get`, `set`, `delete`, `sync` or `multi`. A reply: `created`,
     * `children`, `data`, `done` or `error`. An event: what has happened to the watched node (`created`,
     * `deleted`, `changed`, or `children` if its children have changed), or the session's new state
     * (`connecting`, `connected`, `suspended`, `expired` or `closed`).
     */
    struct fencepost_view name;
    /**
     * The node; of a `multi`, that of each part; of the reply `children`, the names in it.
     */
    const struct fencepost_view *paths;
    /**
     * The number of paths.
     */
    size_t path_count;
    /**
     * The same as a text for people. Later versions may change its wording.
     */
    struct fencepost_view text;
} fencepost_message;

/**
 * A Redis reply. The caller owns everything in it; the hub copies what it needs.
 */
typedef struct fencepost_reply {
    /**
     * A `fencepost_reply_kind`.
     */
    uint32_t kind;
    /**
     * For `FENCEPOST_REPLY_KIND_INTEGER`.
     */
    int64_t integer;
    /**
     * For `FENCEPOST_REPLY_KIND_BYTES` and `FENCEPOST_REPLY_KIND_ERROR`.
     */
    struct fencepost_view bytes;
    /**
     * For `FENCEPOST_REPLY_KIND_ARRAY`.
     */
    const struct fencepost_reply *items;
    /**
     * The number of items.
     */
    size_t item_count;
} fencepost_reply;

/**
 * One part of a multi.
 */
typedef struct fencepost_part {
    /**
     * A create of `path` with `data` and `flags`; a set of its data; a delete of `path`; or a check that
     * `path` exists.
     */
    enum fencepost_operation operation;
    /**
     * For a create: `FENCEPOST_FLAG_…`, combined by bitwise or.
     */
    uint32_t flags;
    /**
     * The path of the node.
     */
    struct fencepost_view path;
    /**
     * For a create or a set: the data to write.
     */
    struct fencepost_view data;
    /**
     * For a set, a delete or a check: the version that the node must have; `FENCEPOST_ANY_VERSION` for any
     * version.
     */
    int32_t version;
} fencepost_part;

/**
 * A command that the driver carries out. A member that the operation does not use is empty.
 */
typedef struct fencepost_command {
    /**
     * Identifies the command in its outcome and in notices.
     */
    uint64_t id;
    /**
     * When the machine stops waiting for the outcome, in microseconds; or `FENCEPOST_NEVER`. After that
     * time, the driver need not send the command. The machine still uses an outcome that comes later.
     */
    uint64_t deadline;
    /**
     * What the driver does.
     */
    enum fencepost_operation operation;
    /**
     * Which connection sends the command.
     */
    enum fencepost_target target;
    /**
     * For `FENCEPOST_TARGET_SERVER`: the number of the server, from 0.
     */
    uint32_t server;
    /**
     * ZooKeeper: `FENCEPOST_FLAG_…`, combined by bitwise or.
     */
    uint32_t flags;
    /**
     * ZooKeeper: the path of the node.
     */
    struct fencepost_view path;
    /**
     * ZooKeeper: the data to write.
     */
    struct fencepost_view data;
    /**
     * Redis: the command with its arguments, or the channel.
     */
    const struct fencepost_view *arguments;
    /**
     * The number of arguments.
     */
    size_t argument_count;
    /**
     * ZooKeeper: pointers to the parts of a multi, in their order.
     */
    const struct fencepost_part *const *parts;
    /**
     * The number of parts.
     */
    size_t part_count;
} fencepost_command;

/**
 * A contender that an inspection found.
 */
typedef struct fencepost_found {
    /**
     * Identifies the contender on the server. ZooKeeper: the path of its node. Redis: the value of the
     * lock's key.
     */
    struct fencepost_view node;
    /**
     * ZooKeeper: the text in the node, a host name, for example.
     */
    struct fencepost_view identifier;
    /**
     * ZooKeeper: the session that owns the node; otherwise 0.
     */
    int64_t session;
    /**
     * ZooKeeper: when the contender's node was created, in milliseconds since 1970, by the server's clock;
     * otherwise -1.
     */
    int64_t since;
    /**
     * Redis: the remaining lease, in microseconds, if the holder does not renew it. `FENCEPOST_NEVER` if the
     * lease has no end, and on ZooKeeper.
     */
    uint64_t expires_in;
    /**
     * The fence of its grant, or the fence that it would get. Redis: 0 for a holder of another library.
     */
    uint64_t fence;
    /**
     * Whether the contender held the lock when the server listed the directory.
     */
    bool holds;
    /**
     * Whether the contender is a reader, which shares the lock with other readers.
     */
    bool shared;
} fencepost_found;

/**
 * The record that the server stores for one operation, or a value. Times are in milliseconds by the server's
 * clock.
 */
typedef struct fencepost_record {
    /**
     * The state of the operation.
     */
    enum fencepost_record_state state;
    /**
     * The policy of the operation.
     */
    enum fencepost_policy policy;
    /**
     * The attempt that wrote the record: it issued the token, claimed the operation, or stored the result or
     * the value.
     */
    struct fencepost_view attempt;
    /**
     * The fence of the last claim; 0 before the first claim.
     */
    uint64_t fence;
    /**
     * The number of takeovers of the operation.
     */
    uint64_t takeovers;
    /**
     * The lease ends at this time; 0 if there is none, or if it has ended on ZooKeeper. `UINT64_MAX` on
     * ZooKeeper before its end, which is the end of its client's session.
     */
    uint64_t lease_end;
    /**
     * The last millisecond of the record's retention; 0 if the retention has no end, or if the server has
     * not reported it.
     */
    uint64_t kept_until;
    /**
     * The version of a value, or the version that an update made; otherwise 0.
     */
    uint64_t version;
    /**
     * Identifies this state of the record. An operator passes it to `fencepost_scope_settle` or
     * `fencepost_scope_forget`, which then affect this record and no later one.
     */
    uint64_t guard;
    /**
     * The tag of the result: a short text of the application that says what the result is.
     */
    struct fencepost_view tag;
    /**
     * The result, or the value.
     */
    struct fencepost_view result;
} fencepost_record;

/**
 * An event for the application. A member that the event does not use is zero, `FENCEPOST_NEVER` or empty.
 */
typedef struct fencepost_event {
    /**
     * Which event it is.
     */
    enum fencepost_event_kind kind;
    /**
     * Lost and refused: the reason, a 3xx or 4xx.
     */
    enum fencepost_result reason;
    /**
     * Until when the grant is valid, in microseconds of the caller's clock. `FENCEPOST_NEVER` if there is no
     * lease, or if the event has no such time.
     */
    uint64_t valid_until;
    /**
     * The fence of the grant, if `has_fence`.
     */
    uint64_t fence;
    /**
     * Lost and refused: the command whose outcome or watch was the cause; 0 if no command was.
     */
    uint64_t cause_command;
    /**
     * Lost and refused: the server's message, or the value that is wrong, for people to read; may be empty.
     * Mixed layouts: the name of the foreign contender's node.
     */
    struct fencepost_view detail;
    /**
     * Acquired: the contender id of the machine that got the grant, as the caller passed it to
     * `fencepost_hub_open`.
     */
    uint8_t contender[16];
    /**
     * Acquired: the number of the attempt that got the grant. Each attempt of a contender has a different
     * number.
     */
    uint32_t attempt;
    /**
     * Queued: the number of contenders that come first, if `has_ahead`.
     */
    uint32_t ahead;
    /**
     * Whether the grant has a fence. Some servers provide none.
     */
    bool has_fence;
    /**
     * Whether the number of contenders that come first is known: the server keeps a queue.
     */
    bool has_ahead;
    /**
     * Whether there is a detail. A detail may be empty.
     */
    bool has_detail;
    /**
     * Found: pointers to the contenders, in no particular order.
     */
    const struct fencepost_found *const *found;
    /**
     * The number of contenders found.
     */
    size_t found_count;
    /**
     * Acquired, for a claim: the number of takeovers of the operation before this grant. The operation may
     * already have run that many times.
     */
    uint64_t takeovers;
    /**
     * Refused: the remaining lease of the contender that holds the lock or the claim, in microseconds.
     * `FENCEPOST_NEVER` if the server has not reported it.
     */
    uint64_t retry_after;
    /**
     * Completed, replayed and looked: the stored record. Refused as a conflict: the present value. NULL in
     * other events, and if the server stores nothing.
     */
    const struct fencepost_record *record;
    /**
     * Swept: the number of records that the sweep deleted.
     */
    uint64_t deleted;
} fencepost_event;

/**
 * How long to wait for the next input.
 */
typedef struct fencepost_wait {
    /**
     * When to call `fencepost_hub_handle_timeout` at the latest, in microseconds; or `FENCEPOST_NEVER`.
     */
    uint64_t until;
    /**
     * The purpose of the timer, for logs.
     */
    enum fencepost_timer reason;
} fencepost_wait;

/**
 * One output. The caller provides the structure. Its pointers point to memory of the hub, which is valid
 * until the next call with a hub that is not `const`. Later versions may add members at the end, here and in
 * the structures that it points to.
 */
typedef struct fencepost_output {
    /**
     * The size of the caller's structure. The caller sets it to `sizeof(fencepost_output)` before the call.
     * The library writes no more bytes than that.
     */
    size_t size;
    /**
     * Which of the following members is set.
     */
    enum fencepost_output_kind kind;
    /**
     * Zero.
     */
    uint32_t reserved;
    /**
     * The machine whose output it is; 0 for an output of the hub itself.
     */
    uint64_t key;
    /**
     * For `FENCEPOST_OUTPUT_KIND_COMMAND`; otherwise NULL.
     */
    const struct fencepost_command *command;
    /**
     * For `FENCEPOST_OUTPUT_KIND_EVENT`; otherwise NULL.
     */
    const struct fencepost_event *event;
    /**
     * For `FENCEPOST_OUTPUT_KIND_WAIT`; otherwise NULL.
     */
    const struct fencepost_wait *wait;
} fencepost_output;

/**
 * One key of settings with its value, as in their JSON form. The caller owns everything in it; the library
 * copies what it needs.
 */
typedef struct fencepost_setting {
    /**
     * The key: `kind`, `name`, `permits`, …
     */
    struct fencepost_view key;
    /**
     * The type of the value, a `fencepost_value_kind`.
     */
    uint32_t value;
    /**
     * For `FENCEPOST_VALUE_KIND_NUMBER` and `FENCEPOST_VALUE_KIND_SWITCH`.
     */
    int64_t number;
    /**
     * For `FENCEPOST_VALUE_KIND_TEXT`.
     */
    struct fencepost_view text;
    /**
     * For `FENCEPOST_VALUE_KIND_TEXTS`.
     */
    const struct fencepost_view *texts;
    /**
     * The number of texts.
     */
    size_t text_count;
} fencepost_setting;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * Parses an address: `memory:`, `memory:NAME?session_timeout=MS`,
 * `zk://HOST:PORT,…/PREFIX?session_timeout=MS`,
 * `redis://USER:PASSWORD@HOST:PORT/DATABASE` or `rediss://…?ca=PATH`. The scheme may have capital letters.
 * The caller frees the address with `fencepost_address_free`. Errors: `INVALID_URL`, `UNKNOWN_SCHEME` and
 * other 1xx; the text of `fencepost_detail` contains neither the user nor the password.
 */
enum fencepost_result fencepost_address_parse(const uint8_t *url,
                                              size_t url_size,
                                              struct fencepost_address **address);

/**
 * Writes the parts of an address. Errors: `BAD_ARGUMENT` if `parts->size` is not set.
 */
enum fencepost_result fencepost_address_read(const struct fencepost_address *address,
                                             struct fencepost_address_parts *parts);

/**
 * Frees an address. NULL is ignored.
 */
void fencepost_address_free(struct fencepost_address *address);

/**
 * Returns the text of the last failed call of **this thread**: what was wrong, and with which value. Each
 * thread has its own text, as with `dlerror`. So threads that share a client do not overwrite each other's
 * texts. The text is NUL-terminated and never NULL. It is valid until the next call by this thread fails. So
 * do not call it in the same argument list as the call that may fail: C does not define which of the two
 * calls runs first.
 */
const char *fencepost_detail(void);

/**
 * Sets the text of `fencepost_detail` for this thread. It is for libraries that use this one. Bytes that are
 * not UTF-8 become replacement characters.
 */
void fencepost_set_detail(const uint8_t *text, size_t size);

/**
 * Returns how long the driver waits for a ZooKeeper server to answer the handshake of a connection, in
 * microseconds. `session_timeout` is the session's timeout in microseconds. `failures` is the number of
 * connections that have failed since the last one that worked. The limit is necessary because a server that
 * is starting accepts connections and never answers them.
 */
uint64_t fencepost_handshake_timeout(uint64_t session_timeout, uint32_t failures);

/**
 * Makes a hub without machines. `family` is a `fencepost_family`. `seed` is any number; the hub uses it to
 * spread retries over time, and for nothing else. Errors: `BAD_ARGUMENT` if there is no such family.
 */
enum fencepost_result fencepost_hub_new(uint32_t family, uint64_t seed, struct fencepost_hub **hub);

/**
 * Frees a hub, and ignores NULL. This does **not** release the grants of its machines. First call
 * `fencepost_hub_shutdown`, and drive the hub until `fencepost_hub_pending` returns 0. Freeing a hub on
 * memory ends its session, and with it all its grants.
 */
void fencepost_hub_free(struct fencepost_hub *hub);

/**
 * Returns the number of a hub on a `fencepost_memory`; 0 for a hub with a driver, and for NULL.
 */
uint64_t fencepost_hub_id(const struct fencepost_hub *hub);

/**
 * Opens a machine: one contender for one lock. It contends once the caller acquires. `contender` is the
 * contender's id: sixteen bytes from the operating system's random source, new for every machine. Two
 * contenders with the same id could both hold the lock. `seed` is any number. The function writes the
 * machine's `key`, which other calls and the outputs use. Errors: `WRONG_FAMILY` for settings of another
 * family; `CLIENT_CLOSED` after `fencepost_hub_shutdown`.
 */
enum fencepost_result fencepost_hub_open(struct fencepost_hub *hub,
                                         uint64_t now,
                                         const struct fencepost_settings *settings,
                                         const uint8_t *contender,
                                         uint64_t seed,
                                         uint64_t *key);

/**
 * Reports that time has passed. Early and repeated calls change nothing.
 */
enum fencepost_result fencepost_hub_handle_timeout(struct fencepost_hub *hub, uint64_t now);

/**
 * Closes a key in any state: its machine releases its grant, leaves its claim, or cancels its acquire. The
 * machine reports no more events. It exists until the server has answered, and `fencepost_hub_pending` counts
 * it until then. An unknown key is no error, because the machine may have ended already.
 *
 * Writes to `unused` the key of the machine that served `key`, if no open key uses this machine any more;
 * otherwise 0. The driver can then delete what it keeps for that machine, such as watches. The acquires of
 * one owner share a machine, and the machine sends all its commands with the key of the first acquire. So
 * the function writes 0 while other acquires of the grant are open. `unused` may be NULL.
 */
enum fencepost_result fencepost_hub_close(struct fencepost_hub *hub,
                                          uint64_t now,
                                          uint64_t key,
                                          uint64_t *unused);

/**
 * Returns whether an open key uses the machine of this key; false for NULL. A driver calls this before it
 * keeps a watch, because the answer to a read may arrive after the key was closed.
 */
bool fencepost_hub_serves(const struct fencepost_hub *hub, uint64_t key);

/**
 * Closes all machines. From then on, `fencepost_hub_open` returns `CLIENT_CLOSED`. Drive the hub until
 * `fencepost_hub_pending` returns 0.
 */
enum fencepost_result fencepost_hub_shutdown(struct fencepost_hub *hub, uint64_t now);

/**
 * Returns the number of machines, including the closed machines that still wait for the server; 0 for NULL.
 */
size_t fencepost_hub_pending(const struct fencepost_hub *hub);

/**
 * Returns the number of grants that have ended without a release since `fencepost_hub_shutdown`: the server
 * refused the release, or the connection was closed for good before the release. Such a lock stays on the
 * server until its lease or session ends. Returns 0 for NULL.
 */
size_t fencepost_hub_unreleased(const struct fencepost_hub *hub);

/**
 * Makes the settings of an inspection of a lock. `lock` has the lock's settings. `action` is `list`, `break`
 * or `revoke`. For `break` and `revoke`, `node` and `fence` are those of the contender to break or revoke,
 * as an earlier inspection found them; `list` ignores them. To inspect the lock, open a machine with these
 * settings, and acquire or try. The inspection ends in the event found or refused. Errors: 1xx;
 * `UNKNOWN_OPTION` for a multi-lock, which cannot be inspected, and for `revoke` on Redis; `BAD_ARGUMENT`
 * for settings that a scope made.
 */
enum fencepost_result fencepost_settings_inspection(const struct fencepost_settings *lock,
                                                    const uint8_t *action,
                                                    size_t action_size,
                                                    const uint8_t *node,
                                                    size_t node_size,
                                                    uint64_t fence,
                                                    struct fencepost_settings **settings);

/**
 * Acquires the lock, or claims the operation. `acquire_timeout` is in microseconds, or `FENCEPOST_FOREVER`;
 * connecting and retries count. The acquire ends in the event acquired or refused; a claim may also end in
 * replayed. Errors: `NOT_POSITIVE` for a timeout of zero or less (to try without waiting, use
 * `fencepost_hub_try_acquire`); `UNKNOWN_KEY`; `BUSY`.
 */
enum fencepost_result fencepost_hub_acquire(struct fencepost_hub *hub,
                                            uint64_t now,
                                            uint64_t key,
                                            int64_t acquire_timeout);

/**
 * Acquires the lock, or claims the operation, without waiting for other contenders. It ends as
 * `fencepost_hub_acquire` does. Errors: `UNKNOWN_KEY`, `BUSY`.
 */
enum fencepost_result fencepost_hub_try_acquire(struct fencepost_hub *hub, uint64_t now, uint64_t key);

/**
 * Extends the grant by a full lease from now. It ends in the event extended or lost. Errors: `UNKNOWN_KEY`,
 * `NOT_HELD`.
 */
enum fencepost_result fencepost_hub_extend(struct fencepost_hub *hub, uint64_t now, uint64_t key);

/**
 * Releases the grant. The release of a claim states that the operation had no effect, so another attempt may
 * claim it. The release ends in the event released; in refused if the server refuses it; or in lost if the
 * grant had already ended. Errors: `UNKNOWN_KEY`, `NOT_HELD`.
 */
enum fencepost_result fencepost_hub_release(struct fencepost_hub *hub, uint64_t now, uint64_t key);

/**
 * Completes a claim: the server stores `result` as the result of the operation. `tag` is a text that says
 * what the result is; it may be empty. The call ends in the event completed; in replayed if another attempt
 * has stored a result; in refused if the server refuses, and the claim stays held; or in lost. After a loss,
 * the application may still complete the claim: the server stores the result unless another attempt has
 * claimed the operation. Errors: `UNKNOWN_KEY`; `NOT_HELD`; `NOT_A_CLAIM`; `INVALID_OPTION` for a result of
 * more than 1000000 bytes, or a tag of more than 255.
 */
enum fencepost_result fencepost_hub_complete(struct fencepost_hub *hub,
                                             uint64_t now,
                                             uint64_t key,
                                             const uint8_t *tag,
                                             size_t tag_size,
                                             const uint8_t *result,
                                             size_t result_size);

/**
 * Leaves a claim: it is unknown whether the operation took effect, so the claim's policy decides what
 * follows. The call ends in the same events as a release. Errors: `UNKNOWN_KEY`, `NOT_HELD`, `NOT_A_CLAIM`.
 */
enum fencepost_result fencepost_hub_leave(struct fencepost_hub *hub, uint64_t now, uint64_t key);

/**
 * Downgrades a writer's grant to a reader's grant. No other contender gets the lock in between. From this
 * call on, the holder may only do what readers may. The downgrade ends in the event downgraded; in refused,
 * with the grant unchanged; or in lost. Errors: `UNKNOWN_KEY`; `NOT_HELD`; `NOT_A_WRITER`; `BUSY` while a
 * downgrade is in progress.
 */
enum fencepost_result fencepost_hub_downgrade(struct fencepost_hub *hub, uint64_t now, uint64_t key);

/**
 * Cancels an acquire. The acquire then ends in the event refused. On ZooKeeper, the machine reports that
 * event once the contender's node has been deleted; or at once if the application cancels again, or if the
 * acquire has already failed. Errors: `UNKNOWN_KEY`, `NOT_WAITING`.
 */
enum fencepost_result fencepost_hub_cancel(struct fencepost_hub *hub, uint64_t now, uint64_t key);

/**
 * Makes an empty server. The caller frees it with `fencepost_memory_free`.
 */
enum fencepost_result fencepost_memory_new(struct fencepost_memory **memory);

/**
 * Frees a server, and ignores NULL. The server exists until its last hub has been freed.
 */
void fencepost_memory_free(struct fencepost_memory *memory);

/**
 * Makes a hub of the family ZooKeeper on this server. The hub has no driver: `fencepost_hub_poll_output`
 * carries out the commands itself, and returns only events and waits. A call on one hub may cause outputs of
 * other hubs. So call `fencepost_memory_take_woken` after each call on a hub, and poll the hubs that it
 * names. `seed` is any number. The hub calculates with `session_timeout`, in microseconds; 0 means 60 s. The
 * server does not enforce it.
 */
enum fencepost_result fencepost_memory_hub(struct fencepost_memory *memory,
                                           uint64_t now,
                                           uint64_t seed,
                                           uint64_t session_timeout,
                                           struct fencepost_hub **hub);

/**
 * Writes the numbers (`fencepost_hub_id`) of the hubs that have outputs, at most `capacity` of them, and
 * returns how many it has written. For each of them, call `fencepost_hub_handle_timeout` with the present
 * time, and then poll. Until a hub has been polled, each call of this function returns its number again.
 */
size_t fencepost_memory_take_woken(struct fencepost_memory *memory, uint64_t *ids, size_t capacity);

/**
 * Ends the session of the hub with this id (`fencepost_hub_id`), as a server does when it receives nothing
 * from a client for the session timeout. The server deletes its ephemeral nodes. A connected hub is notified
 * at once, a suspended hub when it reconnects, and a paused hub when it resumes. The hub then gets a new
 * session.
 *
 * The server has no clock: a session ends when its hub disconnects, or by this function, and never by
 * itself. This function and the following ones change nothing if the hub is already in the requested state.
 * After the call, poll the hubs that `fencepost_memory_take_woken` names. Errors: `INVALID_OPTION` if the
 * server has no such hub.
 */
enum fencepost_result fencepost_memory_expire(struct fencepost_memory *memory, uint64_t hub);

/**
 * Cuts the hub's connection. The server keeps the session until it is expired. Errors: as for
 * `fencepost_memory_expire`.
 */
enum fencepost_result fencepost_memory_suspend(struct fencepost_memory *memory, uint64_t hub);

/**
 * Lets the hub connect again: in its session, or in a new one if the server has ended the session. Errors:
 * as for `fencepost_memory_expire`.
 */
enum fencepost_result fencepost_memory_reconnect(struct fencepost_memory *memory, uint64_t hub);

/**
 * Pauses the hub, as if its process were stopped. It gets no notices and sends no requests, and no time
 * passes for it: `fencepost_hub_poll_output` returns a wait. It still accepts calls, but returns their
 * outputs only after it has resumed. A shutdown resumes it. Errors: as for `fencepost_memory_expire`.
 */
enum fencepost_result fencepost_memory_pause(struct fencepost_memory *memory, uint64_t hub);

/**
 * Resumes the hub. It then receives the notices and replies that it has missed. Errors: as for
 * `fencepost_memory_expire`.
 */
enum fencepost_result fencepost_memory_resume(struct fencepost_memory *memory, uint64_t hub);

/**
 * Starts or stops recording all messages between hubs and the server. A start empties the list of messages;
 * a stop keeps it. A new server does not record. The list grows until the next start.
 */
enum fencepost_result fencepost_memory_record(struct fencepost_memory *memory, bool on);

/**
 * Returns the name of a `fencepost_memory_state`; NULL if there is none with this number.
 */
const char *fencepost_memory_state_name(uint32_t number);

/**
 * Returns the name of a `fencepost_message_kind`; NULL if there is none with this number.
 */
const char *fencepost_message_kind_name(uint32_t number);

/**
 * Makes a report of a server: its hubs that have not disconnected, in the order in which they connected; all
 * nodes, in the order of their paths and without the root; and the recorded messages
 * (`fencepost_memory_record`) with a number above `after`, in their order. The caller frees it with
 * `fencepost_memory_report_free`.
 */
enum fencepost_result fencepost_memory_report_open(struct fencepost_memory *memory,
                                                   uint64_t after,
                                                   struct fencepost_memory_report **report);

/**
 * Returns a session of a report, by its index from 0; NULL at the end. It is valid until the report is
 * freed.
 */
const struct fencepost_memory_session *fencepost_memory_report_session(const struct fencepost_memory_report *report,
                                                                       size_t index);

/**
 * Returns a node of a report, by its index from 0; NULL at the end. It is valid until the report is freed.
 */
const struct fencepost_memory_node *fencepost_memory_report_node(const struct fencepost_memory_report *report,
                                                                 size_t index);

/**
 * Returns a message of a report, by its index from 0; NULL at the end. It is valid until the report is
 * freed.
 */
const struct fencepost_message *fencepost_memory_report_message(const struct fencepost_memory_report *report,
                                                                size_t index);

/**
 * Frees a report, and ignores NULL.
 */
void fencepost_memory_report_free(struct fencepost_memory_report *report);

/**
 * Returns the name of a `fencepost_family`; NULL if there is none with this number.
 */
const char *fencepost_family_name(uint32_t number);

/**
 * Returns the name of a `fencepost_operation`; NULL if there is none with this number.
 */
const char *fencepost_operation_name(uint32_t number);

/**
 * Returns the name of a `fencepost_target`; NULL if there is none with this number.
 */
const char *fencepost_target_name(uint32_t number);

/**
 * Returns the name of a `fencepost_failure`; NULL if there is none with this number.
 */
const char *fencepost_failure_name(uint32_t number);

/**
 * Returns the name of a `fencepost_event_kind`; NULL if there is none with this number.
 */
const char *fencepost_event_name(uint32_t number);

/**
 * Returns the name of a `fencepost_timer`; NULL if there is none with this number.
 */
const char *fencepost_timer_name(uint32_t number);

/**
 * Returns the name of a `fencepost_session_state`; NULL if there is none with this number.
 */
const char *fencepost_session_state_name(uint32_t number);

/**
 * Returns the name of a `fencepost_watch_event`; NULL if there is none with this number.
 */
const char *fencepost_watch_event_name(uint32_t number);

/**
 * ZooKeeper: reports the state of the session. `state` is a `fencepost_session_state`, `session` is the
 * session's id, and `timeout` is the timeout that the server agreed to, in microseconds. Call it before the
 * hub's first command, and at every change. Errors: `BAD_ARGUMENT` if there is no such state;
 * `WRONG_FAMILY`.
 */
enum fencepost_result fencepost_hub_session(struct fencepost_hub *hub,
                                            uint64_t now,
                                            uint32_t state,
                                            int64_t session,
                                            uint64_t timeout);

/**
 * ZooKeeper: reports that the watch which the command `id` set in `session` has fired or is lost. `event` is
 * a `fencepost_watch_event`. A notice may come before the answer to its command, twice, or never. Errors:
 * `BAD_ARGUMENT` if there is no such event; `UNKNOWN_COMMAND`; `WRONG_FAMILY`.
 */
enum fencepost_result fencepost_hub_watch(struct fencepost_hub *hub,
                                          uint64_t now,
                                          uint64_t id,
                                          int64_t session,
                                          uint32_t event);

/**
 * Redis: reports a message on the subscription of the command `id`. Errors: `UNKNOWN_COMMAND`,
 * `WRONG_FAMILY`.
 */
enum fencepost_result fencepost_hub_message(struct fencepost_hub *hub, uint64_t now, uint64_t id);

/**
 * Redis: reports that the subscription of the command `id` is lost, for example because its connection
 * ended. The hub subscribes again if a machine needs it. Errors: `UNKNOWN_COMMAND`, `WRONG_FAMILY`.
 */
enum fencepost_result fencepost_hub_gone(struct fencepost_hub *hub, uint64_t now, uint64_t id);

/**
 * ZooKeeper: reports that the create `id` succeeded. `path` is the complete path of the node, with the
 * number that ZooKeeper appended. `czxid` is the node's czxid, which is the zxid of the answer. For every
 * ZooKeeper outcome, `session` is the session in which the request was sent.
 *
 * Errors of all outcomes: `UNKNOWN_COMMAND`; `WRONG_REPLY` if the command requires another answer: the hub
 * then treats the outcome of the command as unknown; `WRONG_FAMILY`; `BAD_ARGUMENT` for a hub on memory,
 * which has no driver. A late or repeated outcome changes nothing.
 */
enum fencepost_result fencepost_hub_created(struct fencepost_hub *hub,
                                            uint64_t now,
                                            uint64_t id,
                                            int64_t session,
                                            const uint8_t *path,
                                            size_t path_size,
                                            int64_t czxid);

/**
 * ZooKeeper: reports the children of a node, in any order. Or reports that a multi succeeded: `names` are
 * then the names of the nodes that it created, in the order of its parts.
 */
enum fencepost_result fencepost_hub_children(struct fencepost_hub *hub,
                                             uint64_t now,
                                             uint64_t id,
                                             int64_t session,
                                             const struct fencepost_view *names,
                                             size_t name_count);

/**
 * ZooKeeper: reports the data of a node, and its stat. `created` is the ctime and `modified` the mtime:
 * milliseconds since 1970, by the server's clock. `ephemeral_owner` is the session that owns an ephemeral
 * node, otherwise 0.
 */
enum fencepost_result fencepost_hub_data(struct fencepost_hub *hub,
                                         uint64_t now,
                                         uint64_t id,
                                         int64_t session,
                                         const uint8_t *data,
                                         size_t data_size,
                                         int64_t czxid,
                                         int64_t mzxid,
                                         int64_t ephemeral_owner,
                                         int32_t version,
                                         int64_t created,
                                         int64_t modified);

/**
 * ZooKeeper: reports that a set, a delete or a sync succeeded.
 */
enum fencepost_result fencepost_hub_done(struct fencepost_hub *hub,
                                         uint64_t now,
                                         uint64_t id,
                                         int64_t session);

/**
 * ZooKeeper: reports an error of the server. `code` is the protocol's number, such as -101 for NoNode. If
 * the code does not show whether the server executed the request (-4, -7, -112), call `fencepost_hub_failed`
 * instead.
 */
enum fencepost_result fencepost_hub_error(struct fencepost_hub *hub,
                                          uint64_t now,
                                          uint64_t id,
                                          int64_t session,
                                          int32_t code);

/**
 * Redis: reports the server's reply, also if it is an error. Errors: also `BAD_ARGUMENT` for a reply that is
 * nested too deeply, or of an unknown kind.
 */
enum fencepost_result fencepost_hub_reply(struct fencepost_hub *hub,
                                          uint64_t now,
                                          uint64_t id,
                                          const struct fencepost_reply *reply);

/**
 * Reports that a command has no answer. `failure` is a `fencepost_failure`: whether the server may have
 * executed the command. Errors: also `BAD_ARGUMENT` if there is no such failure.
 */
enum fencepost_result fencepost_hub_failed(struct fencepost_hub *hub,
                                           uint64_t now,
                                           uint64_t id,
                                           uint32_t failure);

/**
 * Takes the next command or event: of the machine with the key `only`, or of all machines with
 * `FENCEPOST_ALL`. It takes outputs of the hub itself in both cases. When no command and no event is left,
 * the output is a wait with the time of the next timer, and stays the same until the next input. After every
 * input, poll until `FENCEPOST_OUTPUT_KIND_WAIT`. Errors: `BAD_ARGUMENT` if `output->size` is not set; the
 * output then stays in the hub.
 */
enum fencepost_result fencepost_hub_poll_output(struct fencepost_hub *hub,
                                                uint64_t only,
                                                struct fencepost_output *output);

/**
 * Returns the name of a `fencepost_record_state`; NULL if there is none with this number.
 */
const char *fencepost_record_state_name(uint32_t number);

/**
 * Returns the name of a `fencepost_policy`; NULL if there is none with this number.
 */
const char *fencepost_policy_name(uint32_t number);

/**
 * Returns whether an error of a Redis server shows that the server is a replica. `error` begins with the
 * error's code. If so, and if the driver made the connection, the driver ends this connection and resolves
 * the server's address again. On a connection that the program made, the driver does nothing. In both cases,
 * the driver reports the answer to the hub.
 */
bool fencepost_is_from_replica(const uint8_t *error, size_t error_size);

/**
 * Returns the kebab-case name of a result, the same in every language; `unknown-result` if there is no such
 * result. It is never NULL.
 */
const char *fencepost_result_name(int32_t result);

/**
 * Returns the meaning of a result in English, also if there is no such result. It is never NULL.
 * `fencepost_detail` has the text of a failed call, with the values.
 */
const char *fencepost_result_text(int32_t result);

/**
 * Makes a scope from `given_count` settings. Their keys are `server` (`redis`, `zookeeper` or `memory`),
 * `scope` (required), `lease`, `retention`, `on_lease_end`, `renew`, `poll`, `margin` and `answer_within`.
 * Durations are in microseconds. If a key is given twice, the last value counts. The caller frees the scope
 * with `fencepost_scope_free`. Errors: 1xx.
 */
enum fencepost_result fencepost_scope_of(const struct fencepost_setting *given,
                                         size_t given_count,
                                         struct fencepost_scope **scope);

/**
 * Makes the settings of a claim on the operation `key`. `fingerprint` is a digest of the operation's input.
 * To claim, open a machine with these settings, and acquire or try. The claim ends in the event acquired,
 * replayed or refused. Errors: 1xx.
 */
enum fencepost_result fencepost_scope_claim(const struct fencepost_scope *scope,
                                            const uint8_t *key,
                                            size_t key_size,
                                            const uint8_t *fingerprint,
                                            size_t fingerprint_size,
                                            struct fencepost_settings **settings);

/**
 * Makes the settings of a claim on a token that was issued. The server compares `binding` with the binding
 * of the token. The rest is as for `fencepost_scope_claim`.
 */
enum fencepost_result fencepost_scope_consume(const struct fencepost_scope *scope,
                                              const uint8_t *token,
                                              size_t token_size,
                                              const uint8_t *binding,
                                              size_t binding_size,
                                              const uint8_t *fingerprint,
                                              size_t fingerprint_size,
                                              struct fencepost_settings **settings);

/**
 * Makes the settings of a single step that issues a token. A claim may consume the token within `life`
 * microseconds; with 0, within ten minutes. `binding` identifies the user and the purpose of the token. To
 * do a single step, open a machine with its settings, and try. This step ends in the event completed or
 * refused. Errors: 1xx.
 */
enum fencepost_result fencepost_scope_issue(const struct fencepost_scope *scope,
                                            const uint8_t *token,
                                            size_t token_size,
                                            const uint8_t *binding,
                                            size_t binding_size,
                                            int64_t life,
                                            struct fencepost_settings **settings);

/**
 * Makes the settings of a single step that claims and completes an operation at once. If `binding` is not
 * NULL, `key` is a token that was issued, and the step consumes it. The step ends in the event completed,
 * replayed or refused. Errors: 1xx.
 */
enum fencepost_result fencepost_scope_register(const struct fencepost_scope *scope,
                                               const uint8_t *key,
                                               size_t key_size,
                                               const uint8_t *binding,
                                               size_t binding_size,
                                               const uint8_t *fingerprint,
                                               size_t fingerprint_size,
                                               const uint8_t *tag,
                                               size_t tag_size,
                                               const uint8_t *result,
                                               size_t result_size,
                                               struct fencepost_settings **settings);

/**
 * Makes the settings of a single step that replaces the value at `key`, if the value has this `version`.
 * With `version` 0, the step writes the value if there is none. `operation` identifies the update: a
 * repeated update is not applied again. The step ends in the event completed, replayed or refused. Errors:
 * 1xx.
 */
enum fencepost_result fencepost_scope_update(const struct fencepost_scope *scope,
                                             const uint8_t *key,
                                             size_t key_size,
                                             const uint8_t *operation,
                                             size_t operation_size,
                                             uint64_t version,
                                             const uint8_t *fingerprint,
                                             size_t fingerprint_size,
                                             const uint8_t *tag,
                                             size_t tag_size,
                                             const uint8_t *result,
                                             size_t result_size,
                                             struct fencepost_settings **settings);

/**
 * Makes the settings of a single step that reads the record of an operation, or a value. The step ends in
 * the event looked or refused. Errors: 1xx.
 */
enum fencepost_result fencepost_scope_look(const struct fencepost_scope *scope,
                                           const uint8_t *key,
                                           size_t key_size,
                                           struct fencepost_settings **settings);

/**
 * Makes the settings of a single step with which an operator sets the result of an operation. `guard` is
 * that of the record that the operator has read. The step ends in the event completed, replayed or refused.
 * Errors: 1xx.
 */
enum fencepost_result fencepost_scope_settle(const struct fencepost_scope *scope,
                                             const uint8_t *key,
                                             size_t key_size,
                                             uint64_t guard,
                                             const uint8_t *tag,
                                             size_t tag_size,
                                             const uint8_t *result,
                                             size_t result_size,
                                             struct fencepost_settings **settings);

/**
 * Makes the settings of a single step with which an operator deletes a record. `guard` is that of the record
 * that the operator has read. The step ends in the event looked, without a record, or in refused. Errors:
 * 1xx.
 */
enum fencepost_result fencepost_scope_forget(const struct fencepost_scope *scope,
                                             const uint8_t *key,
                                             size_t key_size,
                                             uint64_t guard,
                                             struct fencepost_settings **settings);

/**
 * Makes the settings of a single step that sweeps: it deletes the records of the scope that are free or past
 * their retention. The step ends in the event swept or refused. On Redis, it deletes nothing, because the
 * server expires records itself.
 */
enum fencepost_result fencepost_scope_sweep(const struct fencepost_scope *scope,
                                            struct fencepost_settings **settings);

/**
 * Writes a key for one step of an operation at another service, such as a payment provider. The key is the
 * same for all attempts and in all languages. The function writes `FENCEPOST_DERIVED_SIZE` bytes. Errors:
 * 1xx.
 */
enum fencepost_result fencepost_scope_derive(const struct fencepost_scope *scope,
                                             const uint8_t *key,
                                             size_t key_size,
                                             const uint8_t *step,
                                             size_t step_size,
                                             char *derived);

/**
 * Frees a scope, and ignores NULL. Settings that the scope made stay valid.
 */
void fencepost_scope_free(struct fencepost_scope *scope);

/**
 * Parses settings from a JSON text, such as
 * `{"server": "redis", "kind": "lock", "name": "stock/42", "ttl": 10000000}`. The caller frees them with
 * `fencepost_settings_free`. Errors: 1xx.
 *
 * - `server` is `zookeeper`, `redis` or `memory`.
 * - `kind` is `lock`, `reader`, `writer`, `semaphore`, `election` or `multi-lock`. Instead of server and
 *   kind, `kind` may be a kind of machine: `redis-string`, `zookeeper-mutex`, `zookeeper-single`,
 *   `zookeeper-reader` and so on.
 * - `name` is the name of the lock. A multi-lock has `names` instead.
 * - `prefix` is the path below which the lock is on ZooKeeper.
 * - The options are those of docs/reference/options.md. Durations are in microseconds. An option with the
 *   value `null` counts as absent.
 */
enum fencepost_result fencepost_settings_parse(const uint8_t *json,
                                               size_t json_size,
                                               struct fencepost_settings **settings);

/**
 * Makes settings of a kind of machine and a name, without options. It is the same as parsing
 * `{"kind": …, "name": …}`. Errors: 1xx.
 */
enum fencepost_result fencepost_settings_new(const uint8_t *kind,
                                             size_t kind_size,
                                             const uint8_t *name,
                                             size_t name_size,
                                             struct fencepost_settings **settings);

/**
 * Sets a duration in microseconds. `key` is its key in the JSON form (`ttl`, `max_hold`, …). On an error,
 * nothing changes. Errors: 1xx; `BAD_ARGUMENT` for settings that a scope made.
 */
enum fencepost_result fencepost_settings_set_micros(struct fencepost_settings *settings,
                                                    const uint8_t *key,
                                                    size_t key_size,
                                                    int64_t micros);

/**
 * Sets an option that is on or off. `key` is its key in the JSON form (`renew`, …). On an error, nothing
 * changes. Errors: 1xx; `BAD_ARGUMENT` for settings that a scope made.
 */
enum fencepost_result fencepost_settings_set_switch(struct fencepost_settings *settings,
                                                    const uint8_t *key,
                                                    size_t key_size,
                                                    bool on);

/**
 * Sets a text. `key` is its key in the JSON form (`prefix`, `owner`, …). On an error, nothing changes.
 * Errors: 1xx; `BAD_ARGUMENT` for settings that a scope made.
 */
enum fencepost_result fencepost_settings_set_text(struct fencepost_settings *settings,
                                                  const uint8_t *key,
                                                  size_t key_size,
                                                  const uint8_t *text,
                                                  size_t text_size);

/**
 * Returns the `fencepost_family` of the hubs that accept these settings; 0 for NULL.
 */
uint32_t fencepost_settings_family(const struct fencepost_settings *settings);

/**
 * Frees settings. NULL is ignored.
 */
void fencepost_settings_free(struct fencepost_settings *settings);

/**
 * Makes settings from `given_count` keys with their values. It is the same as parsing a JSON object with
 * these keys (`fencepost_settings_parse`). If a key is given twice, the last value counts. Errors: 1xx.
 */
enum fencepost_result fencepost_settings_of(const struct fencepost_setting *given,
                                            size_t given_count,
                                            struct fencepost_settings **settings);

/**
 * Returns the version of the library that runs, as a number like `FENCEPOST_VERSION`.
 */
uint32_t fencepost_version(void);

/**
 * Returns the version of the library that runs, as a text such as `0.1.0`. It is NUL-terminated and never
 * NULL.
 */
const char *fencepost_version_name(void);

/**
 * Checks that bytes are UTF-8, for a library that keeps a text and does not pass it to a hub. Errors:
 * `BAD_ARGUMENT` if they are not; `fencepost_detail` says at which byte.
 */
enum fencepost_result fencepost_text_check(const uint8_t *bytes, size_t bytes_size);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* FENCEPOST_H */
