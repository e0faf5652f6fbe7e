/**
 * @file fencepost.h
 * libfencepost: distributed locks as a state machine. It does no I/O: the program carries out what the hub says, over the ZooKeeper or
 * Redis connection that it has. For ready-made clients see fencepost-client.h.
 *
 * Conventions
 * - Objects are opaque, made by `_new`, `_parse` or `_open`, freed by `_free`, which ignores NULL.
 * - The first argument is the object; `const` means that the call does not change it. Inputs come first, then outputs, which are written
 *   on success only. A NULL where an object or output is needed gives `FENCEPOST_RESULT_NULL_POINTER`.
 * - Text and bytes are given as pointer and size, and come out as `fencepost_view`: not NUL-terminated; text is UTF-8. Names of codes are
 *   NUL-terminated and live for ever.
 * - Times are whole microseconds of a clock of the caller's choice that does not go back and **goes on while the computer sleeps**:
 *   CLOCK_BOOTTIME where there is one. Read it before the input that it stands for.
 * - A hub, and settings that are being changed, are used by one thread at a time. Different objects are independent.
 * - Every fallible function answers a `fencepost_result`, 0 for success; `fencepost_detail` says what was wrong, with the values.
 * - Where there is no memory, the process ends by `abort()`: Rust's allocations have no other way.
 * - Output structures may grow at their end in any later version. One that the caller has begins with its `size`, which the caller sets
 *   before the call: `fencepost_output output = {.size = sizeof output};`. All others are the library's, and read by their pointers: make no
 *   arrays of them. Views never grow. `fencepost_version` says which library runs, `FENCEPOST_VERSION` is the header's.
 * - A defect inside (a Rust panic) is caught and answered by `FENCEPOST_RESULT_PANIC`: the object may then only be freed.
 *
 * The loop of a driver
 * 1. After every input, `fencepost_hub_poll_output` until it gives `FENCEPOST_OUTPUT_KIND_WAIT`. Hand each command to the client library in
 *    that order, without waiting for the one before. Tell each event to the application.
 * 2. Sleep until an answer or notice arrives, or until `wait->until`; put it in (`fencepost_hub_created`, …, `fencepost_hub_handle_timeout`).
 *
 * Every command gets at most one outcome; on a disconnect every command under way gets one. See docs/reference/drivers.md.
 */

#ifndef FENCEPOST_H
#define FENCEPOST_H

/* Generated from bindings-c/src by cbindgen: `make -C bindings-c header`. Do not edit. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * Create: the node goes with its session, and its name is numbered.
 */
#define FENCEPOST_FLAG_EPHEMERAL_SEQUENTIAL 1

/**
 * Create: the node goes some time after its last child.
 */
#define FENCEPOST_FLAG_CONTAINER 2

/**
 * Get: tell once of the node's deletion or change. Children: tell once when there are others.
 */
#define FENCEPOST_FLAG_WATCH 4

/**
 * Create: the node goes with its session.
 */
#define FENCEPOST_FLAG_EPHEMERAL 8

/**
 * Parts of a multi: the node may have any version.
 */
#define FENCEPOST_ANY_VERSION -1

/**
 * The acquire timeout of an acquire that waits until it is granted or refused.
 */
#define FENCEPOST_FOREVER INT64_MAX

/**
 * A time that never comes: no deadline, no lease, nothing to wait for.
 */
#define FENCEPOST_NEVER UINT64_MAX

/**
 * In `fencepost_hub_poll_output`: the outputs of all machines.
 */
#define FENCEPOST_ALL 0

/**
 * Success, in short.
 */
#define FENCEPOST_OK 0

/**
 * The operation has had a result before, in short.
 */
#define FENCEPOST_REPLAYED 529

/**
 * How many bytes `fencepost_scope_derive` writes: 32 hexadecimal digits, and a NUL byte.
 */
#define FENCEPOST_DERIVED_SIZE 33

/**
 * The version of this header: 10000 times the first number, 100 times the second, and the third.
 */
#define FENCEPOST_VERSION 100

/**
 * What a function answers, and why an acquire was refused or a grant was lost. 0 is success. Numbers are the same in every language
 * and are never used again: 1xx a value in the settings, 2xx a call that makes no sense now, 3xx refused, 4xx lost, 5xx the client's own.
 */
typedef enum fencepost_result {
    /**
     * Success.
     */
    FENCEPOST_RESULT_OK = 0,
    /**
     * A lock needs a name.
     */
    FENCEPOST_RESULT_EMPTY_NAME = 101,
    /**
     * The server would refuse this name.
     */
    FENCEPOST_RESULT_INVALID_NAME = 102,
    /**
     * A duration that has to be positive is zero or negative.
     */
    FENCEPOST_RESULT_NOT_POSITIVE = 103,
    /**
     * A lease so short that hardly anything is left of it after drift and margin.
     */
    FENCEPOST_RESULT_LEASE_TOO_SHORT = 104,
    /**
     * A duration beyond what servers take.
     */
    FENCEPOST_RESULT_TOO_LONG = 105,
    /**
     * An address that cannot be read.
     */
    FENCEPOST_RESULT_INVALID_URL = 106,
    /**
     * A kind of server that fencepost does not know.
     */
    FENCEPOST_RESULT_UNKNOWN_SCHEME = 107,
    /**
     * An option that does not exist.
     */
    FENCEPOST_RESULT_UNKNOWN_OPTION = 108,
    /**
     * Settings in a form that cannot be read.
     */
    FENCEPOST_RESULT_UNREADABLE_SETTINGS = 109,
    /**
     * An option with a value that makes no sense.
     */
    FENCEPOST_RESULT_INVALID_OPTION = 110,
    /**
     * No machine has this key, or it has been closed.
     */
    FENCEPOST_RESULT_UNKNOWN_KEY = 201,
    /**
     * No command has had this id yet.
     */
    FENCEPOST_RESULT_UNKNOWN_COMMAND = 202,
    /**
     * The reply has not the shape that the command asks for. The command counts as of unknown outcome.
     */
    FENCEPOST_RESULT_WRONG_REPLY = 203,
    /**
     * An acquire is under way, or the grant is still held, or the last attempt is still being cleaned up.
     */
    FENCEPOST_RESULT_BUSY = 204,
    /**
     * There is no grant to extend or release: never acquired, released before, or lost.
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
     * Settings, an outcome or a notice of another family than the hub's.
     */
    FENCEPOST_RESULT_WRONG_FAMILY = 208,
    /**
     * A reader's owner has asked for the writer: nothing was sent, and the share stays held.
     */
    FENCEPOST_RESULT_UPGRADE = 209,
    /**
     * Only a writer's grant can be turned into a reader's, and only once.
     */
    FENCEPOST_RESULT_NOT_A_WRITER = 210,
    /**
     * Only a claim can be completed or left: a lock is released.
     */
    FENCEPOST_RESULT_NOT_A_CLAIM = 211,
    /**
     * Another contender held the lock until the acquire timeout ended.
     */
    FENCEPOST_RESULT_TIMEOUT = 301,
    /**
     * A try found the lock held.
     */
    FENCEPOST_RESULT_NOT_AVAILABLE = 302,
    /**
     * The application has cancelled the acquire.
     */
    FENCEPOST_RESULT_CANCELLED = 303,
    /**
     * No server has answered in time.
     */
    FENCEPOST_RESULT_UNREACHABLE = 304,
    /**
     * The server does not let this client do what the lock needs.
     */
    FENCEPOST_RESULT_NO_PERMISSION = 305,
    /**
     * The server has refused the client's credentials.
     */
    FENCEPOST_RESULT_AUTH_FAILED = 306,
    /**
     * The directory above the lock does not exist and cannot be made (a missing chroot, for example).
     */
    FENCEPOST_RESULT_NO_PARENT = 307,
    /**
     * Not given any more: contenders of other layouts are waited for, and told of by `FENCEPOST_EVENT_KIND_MIXED_LAYOUTS`.
     */
    FENCEPOST_RESULT_MIXED_LAYOUTS = 308,
    /**
     * The directory's 32-bit sequence is at its end.
     */
    FENCEPOST_RESULT_SEQUENCE_EXHAUSTED = 309,
    /**
     * The key holds something that is not a lock of this layout.
     */
    FENCEPOST_RESULT_WRONG_TYPE = 310,
    /**
     * The server lacks what the lock needs.
     */
    FENCEPOST_RESULT_UNSUPPORTED = 311,
    /**
     * The server answered with another error, and would again.
     */
    FENCEPOST_RESULT_SERVER_ERROR = 312,
    /**
     * The connection has been closed for good.
     */
    FENCEPOST_RESULT_CONNECTION_CLOSED = 313,
    /**
     * The attempt had been given up before this acquire reached the server.
     */
    FENCEPOST_RESULT_GIVEN_UP = 314,
    /**
     * The semaphore has another number of permits.
     */
    FENCEPOST_RESULT_INCONSISTENT_PERMITS = 315,
    /**
     * The contender that was meant is not there.
     */
    FENCEPOST_RESULT_NO_CONTENDER = 316,
    /**
     * Another attempt runs the operation. Or its lease has ended, and the policy is to block.
     */
    FENCEPOST_RESULT_IN_PROGRESS = 317,
    /**
     * The key belongs to an operation with another fingerprint or binding, or to something that is no operation.
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
     * Lost: the lease ended before it could be renewed or confirmed.
     */
    FENCEPOST_RESULT_LEASE_ENDED = 401,
    /**
     * Lost: the server has ended the session that held it.
     */
    FENCEPOST_RESULT_SESSION_EXPIRED = 402,
    /**
     * Lost: somebody has deleted what the lock wrote.
     */
    FENCEPOST_RESULT_DELETED = 403,
    /**
     * Lost: somebody else holds it.
     */
    FENCEPOST_RESULT_TAKEN = 404,
    /**
     * Lost: the cap on the whole hold was reached.
     */
    FENCEPOST_RESULT_MAX_HOLD = 405,
    /**
     * Lost: the connection has been closed for good.
     */
    FENCEPOST_RESULT_LOST_CONNECTION_CLOSED = 406,
    /**
     * Lost: the server no longer lets this client renew or read its lock.
     */
    FENCEPOST_RESULT_RENEWAL_REFUSED = 407,
    /**
     * Lost: another attempt has taken the operation over.
     */
    FENCEPOST_RESULT_SUPERSEDED = 408,
    /**
     * Lost: the claim has ended before, and this attempt has stored a result.
     */
    FENCEPOST_RESULT_ALREADY_COMPLETED = 409,
    /**
     * The server has not confirmed a release in time. It goes on in the background.
     */
    FENCEPOST_RESULT_RELEASE_UNCONFIRMED = 501,
    /**
     * A client or grant was used in another process than the one that made it.
     */
    FENCEPOST_RESULT_WRONG_PROCESS = 502,
    /**
     * A client was closed before the server had confirmed everything.
     */
    FENCEPOST_RESULT_CLEANUP_INCOMPLETE = 503,
    /**
     * A pointer is NULL that must not be.
     */
    FENCEPOST_RESULT_NULL_POINTER = 521,
    /**
     * A defect in fencepost: it has panicked. The object may only be freed.
     */
    FENCEPOST_RESULT_PANIC = 522,
    /**
     * An argument out of its range, or text that is not UTF-8.
     */
    FENCEPOST_RESULT_BAD_ARGUMENT = 523,
    /**
     * Out of memory.
     */
    FENCEPOST_RESULT_OUT_OF_MEMORY = 524,
    /**
     * The operating system has refused a thread, a file descriptor or random bytes.
     */
    FENCEPOST_RESULT_SYSTEM_ERROR = 525,
    /**
     * The library that speaks to this kind of server is not installed.
     */
    FENCEPOST_RESULT_DRIVER_MISSING = 526,
    /**
     * Not decided yet.
     */
    FENCEPOST_RESULT_PENDING = 527,
    /**
     * A blocking call on a connection that only its owner's event loop drives.
     */
    FENCEPOST_RESULT_WOULD_BLOCK = 528,
    /**
     * No error: the operation has had a result before, which is handed over. There is nothing to run.
     */
    FENCEPOST_RESULT_REPLAYED = 529,
} fencepost_result;

/**
 * Kinds of addresses.
 */
typedef enum fencepost_scheme {
    /**
     * `memory:NAME`: `name` may be empty.
     */
    FENCEPOST_SCHEME_MEMORY = 1,
    /**
     * `zk://…`: `hosts`, `prefix`, `session_timeout`.
     */
    FENCEPOST_SCHEME_ZOOKEEPER = 2,
    /**
     * `redis://…`: `hosts` is one host, `port`, `user`, `password`, `database`.
     */
    FENCEPOST_SCHEME_REDIS = 3,
    /**
     * `rediss://…`: the same with TLS.
     */
    FENCEPOST_SCHEME_REDIS_TLS = 4,
} fencepost_scheme;

/**
 * What an output is.
 */
typedef enum fencepost_output_kind {
    /**
     * Nothing is left to do: read `wait`.
     */
    FENCEPOST_OUTPUT_KIND_WAIT = 0,
    /**
     * Carry `command` out, and tell the hub what came of it.
     */
    FENCEPOST_OUTPUT_KIND_COMMAND = 1,
    /**
     * Tell `event` to the application.
     */
    FENCEPOST_OUTPUT_KIND_EVENT = 2,
} fencepost_output_kind;

/**
 * What a driver has to do.
 */
typedef enum fencepost_operation {
    /**
     * ZooKeeper: create `path` with `data`; `flags` say how. Answer: `fencepost_hub_created`.
     */
    FENCEPOST_OPERATION_CREATE = 1,
    /**
     * ZooKeeper: list the children of `path`, with a watch if `flags` has `FENCEPOST_FLAG_WATCH`. Answer: `fencepost_hub_children`.
     */
    FENCEPOST_OPERATION_CHILDREN = 2,
    /**
     * ZooKeeper: read `path`, with a watch if `flags` has `FENCEPOST_FLAG_WATCH`. Answer: `fencepost_hub_data`.
     */
    FENCEPOST_OPERATION_GET = 3,
    /**
     * ZooKeeper: delete `path`, any version. Answer: `fencepost_hub_done`.
     */
    FENCEPOST_OPERATION_DELETE = 4,
    /**
     * ZooKeeper: sync `path`. Answer: `fencepost_hub_done`.
     */
    FENCEPOST_OPERATION_SYNC = 5,
    /**
     * Redis: send `arguments` as one command. Answer: `fencepost_hub_reply`, with the server's reply as it is.
     */
    FENCEPOST_OPERATION_CALL = 6,
    /**
     * Redis: subscribe to the channel `arguments[0]`. Answer: any `fencepost_hub_reply`, once the server has confirmed it.
     */
    FENCEPOST_OPERATION_SUBSCRIBE = 7,
    /**
     * Redis: unsubscribe from the channel `arguments[0]`. Answer: any `fencepost_hub_reply`, or none.
     */
    FENCEPOST_OPERATION_UNSUBSCRIBE = 8,
    /**
     * ZooKeeper: give `path` the data `data`, any version. Answer: `fencepost_hub_done`.
     */
    FENCEPOST_OPERATION_SET = 9,
    /**
     * ZooKeeper: do all `parts`, or none. Answer: `fencepost_hub_children` with the names of the nodes created (the last parts of their paths) in
     * the order of the parts; or `fencepost_hub_error` with the error of the first part that cannot be.
     */
    FENCEPOST_OPERATION_MULTI = 10,
    /**
     * ZooKeeper: check that `path` exists, any version. It is only ever a part of a multi.
     */
    FENCEPOST_OPERATION_CHECK = 11,
    /**
     * ZooKeeper: end the connection, because its server has fallen silent, and connect to another server in the same session. Answer: any, or
     * none. On a connection that the program made: do nothing.
     */
    FENCEPOST_OPERATION_RECONNECT = 12,
} fencepost_operation;

/**
 * Which connection has to carry a command.
 */
typedef enum fencepost_target {
    /**
     * Any connection of the client.
     */
    FENCEPOST_TARGET_ANY = 0,
    /**
     * The server of a quorum with the number in `server`, from 0.
     */
    FENCEPOST_TARGET_SERVER = 1,
    /**
     * One connection kept for this machine until its end.
     */
    FENCEPOST_TARGET_OWN = 2,
} fencepost_target;

/**
 * What a machine tells its application.
 */
typedef enum fencepost_event_kind {
    /**
     * The contender waits; `ahead` others come first, where somebody knows (`has_ahead`).
     */
    FENCEPOST_EVENT_KIND_QUEUED = 1,
    /**
     * The lock is held, or the operation claimed: `fence`, `valid_until`, `owner`, `attempt` and `takeovers` say how.
     */
    FENCEPOST_EVENT_KIND_ACQUIRED = 2,
    /**
     * The grant is valid for longer: `valid_until`.
     */
    FENCEPOST_EVENT_KIND_EXTENDED = 3,
    /**
     * The connection is gone, the lock perhaps not: start nothing new.
     */
    FENCEPOST_EVENT_KIND_SUSPENDED = 4,
    /**
     * The lock is held as before: `valid_until`.
     */
    FENCEPOST_EVENT_KIND_RESUMED = 5,
    /**
     * The grant has ended without a release: `reason`, `cause_command`, `detail`. A claim may still be completed, released or left: the server decides.
     */
    FENCEPOST_EVENT_KIND_LOST = 6,
    /**
     * The release has been carried out.
     */
    FENCEPOST_EVENT_KIND_RELEASED = 7,
    /**
     * An acquire has come to nothing, or a release has been refused, or a downgrade or the end of a claim while the grant stays as it was: `reason`,
     * `cause_command`, `detail`, `retry_after`, `record`.
     */
    FENCEPOST_EVENT_KIND_REFUSED = 8,
    /**
     * Somebody would like to have the lock: it may be released, or kept. Told once a grant.
     */
    FENCEPOST_EVENT_KIND_REVOKE_REQUESTED = 9,
    /**
     * A contender of a layout that does not look for ours stands in the same line: the name of its node is `detail`. Told once an acquire.
     */
    FENCEPOST_EVENT_KIND_MIXED_LAYOUTS = 10,
    /**
     * What an inspection has found: `found`.
     */
    FENCEPOST_EVENT_KIND_FOUND = 11,
    /**
     * The grant is a reader's from now on, with the fence it had.
     */
    FENCEPOST_EVENT_KIND_DOWNGRADED = 12,
    /**
     * The result of a claim's operation is stored; or a single step is done: `record` is what is stored.
     */
    FENCEPOST_EVENT_KIND_COMPLETED = 13,
    /**
     * The operation has had a result before, or the update has been applied before: `record`. There is nothing to run.
     */
    FENCEPOST_EVENT_KIND_REPLAYED = 14,
    /**
     * The record of an operation, or a value: `record`, or NULL if there is none.
     */
    FENCEPOST_EVENT_KIND_LOOKED = 15,
    /**
     * A sweep is done: `deleted` says how many records it has deleted.
     */
    FENCEPOST_EVENT_KIND_SWEPT = 16,
} fencepost_event_kind;

/**
 * How far an operation has come. An operation without a record has not begun.
 */
typedef enum fencepost_record_state {
    /**
     * A token has been issued and not been claimed.
     */
    FENCEPOST_RECORD_STATE_ISSUED = 1,
    /**
     * An attempt has claimed the operation and not settled it. Its lease may be over.
     */
    FENCEPOST_RECORD_STATE_RUNNING = 2,
    /**
     * The operation has a result.
     */
    FENCEPOST_RECORD_STATE_DONE = 3,
    /**
     * No operation: a value with a version, for updates.
     */
    FENCEPOST_RECORD_STATE_VALUE = 4,
} fencepost_record_state;

/**
 * What a claim gets that finds the lease of another attempt over. The first claim of an operation decides it.
 */
typedef enum fencepost_policy {
    /**
     * The claim takes the operation over. It may run once more for each takeover.
     */
    FENCEPOST_POLICY_RETAKE = 1,
    /**
     * The claim returns in-progress. The operation runs at most once.
     */
    FENCEPOST_POLICY_BLOCK = 2,
    /**
     * The claim returns indeterminate: the operation may have run. It runs at most once.
     */
    FENCEPOST_POLICY_INDETERMINATE = 3,
} fencepost_policy;

/**
 * What a hub waits for.
 */
typedef enum fencepost_timer {
    /**
     * For no time: only an input can change anything.
     */
    FENCEPOST_TIMER_NONE = 0,
    /**
     * When the acquire timeout ends.
     */
    FENCEPOST_TIMER_ACQUIRE_TIMEOUT = 1,
    /**
     * When to try again what a server or connection has failed.
     */
    FENCEPOST_TIMER_RETRY = 2,
    /**
     * When to ask whether the lock has become free.
     */
    FENCEPOST_TIMER_POLL = 3,
    /**
     * When to renew a lease or confirm a session.
     */
    FENCEPOST_TIMER_RENEW = 4,
    /**
     * When the present grant stops being valid.
     */
    FENCEPOST_TIMER_VALIDITY = 5,
    /**
     * When the cap on the whole hold is reached.
     */
    FENCEPOST_TIMER_MAX_HOLD = 6,
    /**
     * When a shared resource that nobody uses any more is given back.
     */
    FENCEPOST_TIMER_LINGER = 7,
} fencepost_timer;

/**
 * Which command set a hub speaks.
 */
typedef enum fencepost_family {
    /**
     * ZooKeeper, and `memory:`.
     */
    FENCEPOST_FAMILY_ZOOKEEPER = 1,
    /**
     * Redis.
     */
    FENCEPOST_FAMILY_REDIS = 2,
} fencepost_family;

/**
 * Why there is no answer.
 */
typedef enum fencepost_failure {
    /**
     * It never left the client's queue, and never will: certainly not executed.
     */
    FENCEPOST_FAILURE_NOT_SENT = 1,
    /**
     * Perhaps executed, or still to be executed. When in doubt, this one.
     */
    FENCEPOST_FAILURE_UNKNOWN = 2,
    /**
     * Not sent, and nothing ever will be: the connection has been closed for good.
     */
    FENCEPOST_FAILURE_CLOSED = 3,
} fencepost_failure;

/**
 * What a ZooKeeper client library says of its session.
 */
typedef enum fencepost_session_state {
    /**
     * Connected: a new session, or the same one again.
     */
    FENCEPOST_SESSION_STATE_CONNECTED = 1,
    /**
     * The connection is gone; the session perhaps not.
     */
    FENCEPOST_SESSION_STATE_SUSPENDED = 2,
    /**
     * The server has ended the session, and all its ephemeral nodes.
     */
    FENCEPOST_SESSION_STATE_EXPIRED = 3,
    /**
     * The server has refused the credentials. Nothing will come after this.
     */
    FENCEPOST_SESSION_STATE_AUTH_FAILED = 4,
    /**
     * The client was closed. Nothing will come after this.
     */
    FENCEPOST_SESSION_STATE_CLOSED = 5,
    /**
     * A new session is about to be asked for: no attempt to connect was made before this.
     */
    FENCEPOST_SESSION_STATE_CONNECTING = 6,
} fencepost_session_state;

/**
 * What a ZooKeeper watch has seen.
 */
typedef enum fencepost_watch_event {
    /**
     * The node was deleted.
     */
    FENCEPOST_WATCH_EVENT_DELETED = 1,
    /**
     * The node's data were changed or, if its children were listed, its children. The watch is spent.
     */
    FENCEPOST_WATCH_EVENT_CHANGED = 2,
    /**
     * The watch was lost on the way: it will not fire.
     */
    FENCEPOST_WATCH_EVENT_GONE = 3,
} fencepost_watch_event;

/**
 * What a Redis reply is.
 */
typedef enum fencepost_reply_kind {
    /**
     * Nothing.
     */
    FENCEPOST_REPLY_KIND_NIL = 0,
    /**
     * `integer`.
     */
    FENCEPOST_REPLY_KIND_INTEGER = 1,
    /**
     * `bytes`: a string, or a status.
     */
    FENCEPOST_REPLY_KIND_BYTES = 2,
    /**
     * `item_count` replies at `items`.
     */
    FENCEPOST_REPLY_KIND_ARRAY = 3,
    /**
     * An error in `bytes`, with its code: `NOSCRIPT No matching script.`
     */
    FENCEPOST_REPLY_KIND_ERROR = 4,
} fencepost_reply_kind;

/**
 * What a setting's value is.
 */
typedef enum fencepost_value_kind {
    /**
     * `text`.
     */
    FENCEPOST_VALUE_KIND_TEXT = 1,
    /**
     * `number`; durations are in microseconds.
     */
    FENCEPOST_VALUE_KIND_NUMBER = 2,
    /**
     * `number`: on, unless it is 0.
     */
    FENCEPOST_VALUE_KIND_SWITCH = 3,
    /**
     * `text_count` texts at `texts`.
     */
    FENCEPOST_VALUE_KIND_TEXTS = 4,
} fencepost_value_kind;

/**
 * An address that has been read.
 */
typedef struct fencepost_address fencepost_address;

/**
 * All machines that share one client connection. It does no I/O: a driver carries out what `fencepost_hub_poll_output` says. Used by one
 * thread at a time; different hubs are independent.
 */
typedef struct fencepost_hub fencepost_hub;

/**
 * A server inside the process: for demonstrations and tests. It may be used from any thread.
 */
typedef struct fencepost_memory fencepost_memory;

/**
 * A scope of idempotent operations: whose keys these are, and the rules for all of them. It never changes, and may be shared by threads.
 */
typedef struct fencepost_scope fencepost_scope;

/**
 * The settings of one lock or operation, checked. They may be shared by any number of hubs and threads as long as no thread changes them.
 */
typedef struct fencepost_settings fencepost_settings;

/**
 * Some bytes: where they begin, and how many. Not NUL-terminated. Text is UTF-8.
 */
typedef struct fencepost_view {
    /**
     * The first byte; may be NULL if there are none.
     */
    const uint8_t *data;
    /**
     * How many bytes.
     */
    size_t size;
} fencepost_view;

/**
 * The parts of an address. What its scheme does not have is empty or 0. Views are valid until the address is freed. Later versions may have
 * more members behind these.
 */
typedef struct fencepost_address_parts {
    /**
     * Set by the caller, before the call: `sizeof(fencepost_address_parts)`. Not more than that is written.
     */
    size_t size;
    /**
     * Which kind.
     */
    enum fencepost_scheme scheme;
    /**
     * `memory:` the name.
     */
    struct fencepost_view name;
    /**
     * `zk:` `HOST:PORT,HOST:PORT`. `redis:` the host alone, an IPv6 address without brackets.
     */
    struct fencepost_view hosts;
    /**
     * `zk:` where the locks lie; empty for the root.
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
     * `zk:` the session timeout to ask for, in microseconds.
     */
    uint64_t session_timeout;
    /**
     * `redis:` the database's number.
     */
    uint32_t database;
    /**
     * `redis:` the port.
     */
    uint16_t port;
    /**
     * `rediss:` the path of the file of certificates to check the server's against, decoded; empty for the system's.
     */
    struct fencepost_view ca;
} fencepost_address_parts;

/**
 * A Redis reply. Everything in it belongs to the caller; the hub copies what it needs.
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
     * How many items there are.
     */
    size_t item_count;
} fencepost_reply;

/**
 * One write of a multi.
 */
typedef struct fencepost_part {
    /**
     * To create `path` with `data` as `flags` say, to set its data, to delete `path`, or to check that `path` exists.
     */
    enum fencepost_operation operation;
    /**
     * `FENCEPOST_FLAG_…`.
     */
    uint32_t flags;
    /**
     * The path.
     */
    struct fencepost_view path;
    /**
     * A node's new data.
     */
    struct fencepost_view data;
    /**
     * To set, delete, check: the version that the node must have; `FENCEPOST_ANY_VERSION` for any.
     */
    int32_t version;
} fencepost_part;

/**
 * Something for the driver to do. What an operation does not use is empty.
 */
typedef struct fencepost_command {
    /**
     * Names the command in its outcome and in notices.
     */
    uint64_t id;
    /**
     * When the machine stops caring, or `FENCEPOST_NEVER`: advice.
     */
    uint64_t deadline;
    /**
     * What to do.
     */
    enum fencepost_operation operation;
    /**
     * Which connection has to carry it.
     */
    enum fencepost_target target;
    /**
     * The number of the server, for `FENCEPOST_TARGET_SERVER`.
     */
    uint32_t server;
    /**
     * ZooKeeper: `FENCEPOST_FLAG_…`.
     */
    uint32_t flags;
    /**
     * ZooKeeper: the path.
     */
    struct fencepost_view path;
    /**
     * ZooKeeper: a node's new data.
     */
    struct fencepost_view data;
    /**
     * Redis: the command with its arguments, or the channel.
     */
    const struct fencepost_view *arguments;
    /**
     * How many arguments there are.
     */
    size_t argument_count;
    /**
     * ZooKeeper: what a multi does, part by part: where each of them is.
     */
    const struct fencepost_part *const *parts;
    /**
     * How many parts there are.
     */
    size_t part_count;
} fencepost_command;

/**
 * A contender, as an inspection has found it.
 */
typedef struct fencepost_found {
    /**
     * Its node's path.
     */
    struct fencepost_view node;
    /**
     * What its node says: a host's name, for example.
     */
    struct fencepost_view identifier;
    /**
     * The session that its node goes with.
     */
    int64_t session;
    /**
     * Since when it contends, by the server's clock: milliseconds since 1970.
     */
    int64_t since;
    /**
     * The fence that it has, or would have.
     */
    uint64_t fence;
    /**
     * Whether it held when the list was made.
     */
    bool holds;
    /**
     * Whether it shares the lock with others of its kind: a reader.
     */
    bool shared;
} fencepost_found;

/**
 * What the server has stored for one operation, or a value. Times are milliseconds by the server's clock.
 */
typedef struct fencepost_record {
    /**
     * How far the operation has come.
     */
    enum fencepost_record_state state;
    /**
     * What happens at the end of a lease.
     */
    enum fencepost_policy policy;
    /**
     * The attempt that brought it there: the issuer, the runner, or who stored the result or the value.
     */
    struct fencepost_view attempt;
    /**
     * The fence of the last claim; 0 before the first one.
     */
    uint64_t fence;
    /**
     * How often a claim has taken the operation over.
     */
    uint64_t takeovers;
    /**
     * The lease lasts until just before this moment; 0 if there is none.
     */
    uint64_t lease_end;
    /**
     * The last millisecond in which the record counts; 0 if it has no end, or if the server has not said.
     */
    uint64_t kept_until;
    /**
     * The version of a value, or the version that an update made; otherwise 0.
     */
    uint64_t version;
    /**
     * What an operator passes to `fencepost_scope_settle` and `fencepost_scope_forget`, to hit this record and no later one.
     */
    uint64_t guard;
    /**
     * What the result is: a short text of the client's.
     */
    struct fencepost_view tag;
    /**
     * The result, or the value.
     */
    struct fencepost_view result;
} fencepost_record;

/**
 * Something for the application. What an event does not use is zero, or `FENCEPOST_NEVER`, or empty.
 */
typedef struct fencepost_event {
    /**
     * What has happened.
     */
    enum fencepost_event_kind kind;
    /**
     * Why, of a lost or refused one.
     */
    enum fencepost_result reason;
    /**
     * Until when the grant is valid, or `FENCEPOST_NEVER`: there is no lease, or none is spoken of.
     */
    uint64_t valid_until;
    /**
     * The grant's fence, if `has_fence`.
     */
    uint64_t fence;
    /**
     * The command that brought a loss or refusal to light; 0 if none did.
     */
    uint64_t cause_command;
    /**
     * What the server said, or which value is in the way; for people; may be empty. Of mixed layouts, the name of a node.
     */
    struct fencepost_view detail;
    /**
     * The grant's owner.
     */
    uint8_t owner[16];
    /**
     * Which of the owner's attempts was granted.
     */
    uint32_t attempt;
    /**
     * How many come first, if `has_ahead`.
     */
    uint32_t ahead;
    /**
     * Whether there is a fence: some backends cannot give one.
     */
    bool has_fence;
    /**
     * Whether somebody knows how many come first.
     */
    bool has_ahead;
    /**
     * Whether there is a detail: it may be empty.
     */
    bool has_detail;
    /**
     * The contenders that an inspection has found: where each of them is.
     */
    const struct fencepost_found *const *found;
    /**
     * How many there are.
     */
    size_t found_count;
    /**
     * A claim: how often the operation had been taken over before this grant. It may have run that often.
     */
    uint64_t takeovers;
    /**
     * How long the lease of the contender that holds the lock or the claim still runs, in microseconds; `FENCEPOST_NEVER` if the server has not reported it.
     */
    uint64_t retry_after;
    /**
     * What is stored, of a completed, replayed or looked one; of a refused one, the present value, if an update expected another version. Or NULL.
     */
    const struct fencepost_record *record;
    /**
     * How many records a sweep has deleted.
     */
    uint64_t deleted;
} fencepost_event;

/**
 * How long to wait.
 */
typedef struct fencepost_wait {
    /**
     * When to call `fencepost_hub_handle_timeout` at the latest, or `FENCEPOST_NEVER`.
     */
    uint64_t until;
    /**
     * What the time is for.
     */
    enum fencepost_timer reason;
} fencepost_wait;

/**
 * One output, into a structure of the caller's. What its pointers lead to belongs to the hub, and is valid until the next call on the hub
 * that takes it without `const`. Later versions may have more members behind these, here and there.
 */
typedef struct fencepost_output {
    /**
     * Set by the caller, before the call: `sizeof(fencepost_output)`. Not more than that is written.
     */
    size_t size;
    /**
     * Which of the following to read.
     */
    enum fencepost_output_kind kind;
    /**
     * Zero.
     */
    uint32_t reserved;
    /**
     * Whose it is; 0: the hub's own.
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
 * One key of settings with its value, as in their JSON form. Everything in it belongs to the caller.
 */
typedef struct fencepost_setting {
    /**
     * The key: `kind`, `name`, `permits`, …
     */
    struct fencepost_view key;
    /**
     * A `fencepost_value_kind`.
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
     * How many texts there are.
     */
    size_t text_count;
} fencepost_setting;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * Reads an address: `memory:`, `memory:NAME`, `zk://HOST:PORT,…/PREFIX?session_timeout=MS`, `redis://USER:PASSWORD@HOST:PORT/DATABASE`, `rediss://…?ca=PATH`.
 * Errors: 1xx; `fencepost_detail` repeats neither user nor password. Schemes ignore case.
 */
enum fencepost_result fencepost_address_parse(const uint8_t *url,
                                              size_t url_size,
                                              struct fencepost_address **address);

/**
 * Reads the parts of an address. Errors: `BAD_ARGUMENT` for parts without their size.
 */
enum fencepost_result fencepost_address_read(const struct fencepost_address *address,
                                             struct fencepost_address_parts *parts);

/**
 * Frees an address. NULL is ignored.
 */
void fencepost_address_free(struct fencepost_address *address);

/**
 * What the last failed call of **this thread** said went wrong: a whole sentence with the values that were wrong. It belongs to the
 * thread, as with `dlerror`, so threads that share a client do not overwrite each other's. NUL-terminated, never NULL; valid until the
 * next call of fencepost by this thread fails.
 */
const char *fencepost_detail(void);

/**
 * Puts the text of `fencepost_detail` for this thread: for libraries that are built on this one. Text that is not UTF-8 is shown with
 * replacement characters.
 */
void fencepost_set_detail(const uint8_t *text,
                          size_t size);

/**
 * How long a ZooKeeper server may take to answer the handshake of a connection, in microseconds: of a session's timeout in microseconds, after
 * so many failures in a row. A server that starts accepts connections that it never answers.
 */
uint64_t fencepost_handshake_timeout(uint64_t session_timeout,
                                     uint32_t failures);

/**
 * Makes a hub without machines for a family. The seed spreads retries and decides nothing.
 */
enum fencepost_result fencepost_hub_new(uint32_t family, uint64_t seed, struct fencepost_hub **hub);

/**
 * Frees a hub. What its machines hold is **not** released: shut it down first, and drive it until `fencepost_hub_pending` is 0. (A hub on
 * memory: ends its session.) NULL is ignored.
 */
void fencepost_hub_free(struct fencepost_hub *hub);

/**
 * The hub's number on its `fencepost_memory`; 0 for a hub with a driver.
 */
uint64_t fencepost_hub_id(const struct fencepost_hub *hub);

/**
 * Opens a machine: one contender for one lock. `owner` is sixteen bytes from the operating system's random source, new for every machine:
 * their uniqueness is a safety property. `seed` is any number. Errors: `WRONG_FAMILY`, `CLIENT_CLOSED`.
 */
enum fencepost_result fencepost_hub_open(struct fencepost_hub *hub,
                                         uint64_t now,
                                         const struct fencepost_settings *settings,
                                         const uint8_t *owner,
                                         uint64_t seed,
                                         uint64_t *key);

/**
 * Says that time has passed. Early and repeated calls change nothing.
 */
enum fencepost_result fencepost_hub_handle_timeout(struct fencepost_hub *hub, uint64_t now);

/**
 * Closes a machine, in any state: what it holds is released, what it waits for is given up. It lives on until the server has answered,
 * says nothing more, and goes. Unknown keys are ignored: they have gone already.
 */
enum fencepost_result fencepost_hub_close(struct fencepost_hub *hub,
                                          uint64_t now,
                                          uint64_t key);

/**
 * Closes all machines, and opens no more. Go on driving until `fencepost_hub_pending` is 0.
 */
enum fencepost_result fencepost_hub_shutdown(struct fencepost_hub *hub, uint64_t now);

/**
 * How many machines there are, those included that have been closed and still wait for the server. 0 for NULL.
 */
size_t fencepost_hub_pending(const struct fencepost_hub *hub);

/**
 * How many grants have come to an end since `fencepost_hub_shutdown` without being given back: the server has refused the release, or the
 * connection was closed for good before it. Such a lock stays on the server until its lease or session ends. 0 for NULL.
 */
size_t fencepost_hub_unreleased(const struct fencepost_hub *hub);

/**
 * Settings of an inspection of the lock that `lock` is for: `action` is `list`; or `break` or `revoke`, with the node's path and the fence of the contender
 * that is meant, as an inspection has found them. An acquire, or a try, of a machine with these settings begins it; it ends in the event found
 * or refused. Errors: 1xx, `UNKNOWN_OPTION` for a lock that cannot be looked at.
 */
enum fencepost_result fencepost_settings_inspection(const struct fencepost_settings *lock,
                                                    const uint8_t *action,
                                                    size_t action_size,
                                                    const uint8_t *node,
                                                    size_t node_size,
                                                    uint64_t fence,
                                                    struct fencepost_settings **settings);

/**
 * Acquires, with an acquire timeout in microseconds, or `FENCEPOST_FOREVER`. Ends in the event acquired or refused. Errors: `NOT_POSITIVE` for zero and
 * less, `UNKNOWN_KEY`, `BUSY`.
 */
enum fencepost_result fencepost_hub_acquire(struct fencepost_hub *hub,
                                            uint64_t now,
                                            uint64_t key,
                                            int64_t acquire_timeout);

/**
 * Acquires at once or not at all. Ends in the event acquired or refused. Errors: `UNKNOWN_KEY`, `BUSY`.
 */
enum fencepost_result fencepost_hub_try_acquire(struct fencepost_hub *hub, uint64_t now, uint64_t key);

/**
 * Makes the grant last from now on. Ends in the event extended or lost. Errors: `UNKNOWN_KEY`, `NOT_HELD`.
 */
enum fencepost_result fencepost_hub_extend(struct fencepost_hub *hub, uint64_t now, uint64_t key);

/**
 * Gives the grant back; of a claim: nothing has happened, and the operation may be claimed anew. Ends in the event released, or in lost or refused. Errors: `UNKNOWN_KEY`, `NOT_HELD`.
 */
enum fencepost_result fencepost_hub_release(struct fencepost_hub *hub,
                                            uint64_t now,
                                            uint64_t key);

/**
 * Ends a claim: its operation has this result. Ends in the event completed; in replayed if another attempt has stored a result; in refused, and
 * the claim goes on; or in lost. After a loss it may still be tried: the server stores the result unless another attempt has claimed the
 * operation. Errors: `UNKNOWN_KEY`, `NOT_HELD`, `NOT_A_CLAIM`, `INVALID_OPTION` for more than 1000000 bytes, or more than 255 of the tag.
 */
enum fencepost_result fencepost_hub_complete(struct fencepost_hub *hub,
                                             uint64_t now,
                                             uint64_t key,
                                             const uint8_t *tag,
                                             size_t tag_size,
                                             const uint8_t *result,
                                             size_t result_size);

/**
 * Ends a claim whose outcome is unknown: its policy decides what follows. Ends as a release does. Errors: `UNKNOWN_KEY`, `NOT_HELD`,
 * `NOT_A_CLAIM`.
 */
enum fencepost_result fencepost_hub_leave(struct fencepost_hub *hub,
                                          uint64_t now,
                                          uint64_t key);

/**
 * Turns a writer's grant into a reader's, without anybody in between. Ends in the event downgraded, or in refused while the grant stays as it was, or
 * in lost. Errors: `UNKNOWN_KEY`, `NOT_HELD`, `NOT_A_WRITER`, `BUSY` while it is on its way already.
 */
enum fencepost_result fencepost_hub_downgrade(struct fencepost_hub *hub,
                                              uint64_t now,
                                              uint64_t key);

/**
 * Stops an acquire. Ends in the event refused, on ZooKeeper when what was made has been deleted; called again, at once. Errors:
 * `UNKNOWN_KEY`, `NOT_WAITING`.
 */
enum fencepost_result fencepost_hub_cancel(struct fencepost_hub *hub,
                                           uint64_t now,
                                           uint64_t key);

/**
 * Makes an empty server.
 */
enum fencepost_result fencepost_memory_new(struct fencepost_memory **memory);

/**
 * Frees the server once its last hub has been freed too. NULL is ignored.
 */
void fencepost_memory_free(struct fencepost_memory *memory);

/**
 * Makes a hub on the server, of the family `zookeeper`. It has no driver: `fencepost_hub_poll_output` carries its commands out itself and
 * gives events and waits only. After each call on a hub, ask `fencepost_memory_take_woken` which others have something to poll.
 */
enum fencepost_result fencepost_memory_hub(struct fencepost_memory *memory,
                                           uint64_t now,
                                           uint64_t seed,
                                           struct fencepost_hub **hub);

/**
 * Writes the numbers (`fencepost_hub_id`) of the hubs that have something to poll, at most `capacity` of them; says how many it has written.
 * Asking again gives them again until they have been polled: call `fencepost_hub_handle_timeout` with the present time, then poll.
 */
size_t fencepost_memory_take_woken(struct fencepost_memory *memory,
                                   uint64_t *ids,
                                   size_t capacity);

/**
 * The name of a `fencepost_family`; NULL for a number that is none.
 */
const char *fencepost_family_name(uint32_t number);

/**
 * The name of a `fencepost_operation`; NULL for a number that is none.
 */
const char *fencepost_operation_name(uint32_t number);

/**
 * The name of a `fencepost_target`; NULL for a number that is none.
 */
const char *fencepost_target_name(uint32_t number);

/**
 * The name of a `fencepost_failure`; NULL for a number that is none.
 */
const char *fencepost_failure_name(uint32_t number);

/**
 * The name of a `fencepost_event_kind`; NULL for a number that is none.
 */
const char *fencepost_event_name(uint32_t number);

/**
 * The name of a `fencepost_timer`; NULL for a number that is none.
 */
const char *fencepost_timer_name(uint32_t number);

/**
 * The name of a `fencepost_session_state`; NULL for a number that is none.
 */
const char *fencepost_session_state_name(uint32_t number);

/**
 * The name of a `fencepost_watch_event`; NULL for a number that is none.
 */
const char *fencepost_watch_event_name(uint32_t number);

/**
 * ZooKeeper: the session's state, a `fencepost_session_state`; its number; the timeout in microseconds that the server has agreed to. Given
 * before the first command, and at every change.
 */
enum fencepost_result fencepost_hub_session(struct fencepost_hub *hub,
                                            uint64_t now,
                                            uint32_t state,
                                            int64_t session,
                                            uint64_t timeout);

/**
 * ZooKeeper: the watch that the command `id` set in `session` has seen something, a `fencepost_watch_event`.
 */
enum fencepost_result fencepost_hub_watch(struct fencepost_hub *hub,
                                          uint64_t now,
                                          uint64_t id,
                                          int64_t session,
                                          uint32_t event);

/**
 * Redis: a message has arrived on the subscription that the command `id` made.
 */
enum fencepost_result fencepost_hub_message(struct fencepost_hub *hub, uint64_t now, uint64_t id);

/**
 * Redis: the subscription that the command `id` made is gone, with its connection for example.
 */
enum fencepost_result fencepost_hub_gone(struct fencepost_hub *hub, uint64_t now, uint64_t id);

/**
 * ZooKeeper has created a node: its whole path, and its czxid. `session` is the one in which the request was sent. Errors of all outcomes:
 * `UNKNOWN_COMMAND`, `WRONG_REPLY`, `WRONG_FAMILY`. A late or doubled outcome changes nothing.
 */
enum fencepost_result fencepost_hub_created(struct fencepost_hub *hub,
                                            uint64_t now,
                                            uint64_t id,
                                            int64_t session,
                                            const uint8_t *path,
                                            size_t path_size,
                                            int64_t czxid);

/**
 * ZooKeeper has listed a node's children, in any order; or done a multi: the names of the nodes that it has created, in the order of its parts.
 */
enum fencepost_result fencepost_hub_children(struct fencepost_hub *hub,
                                             uint64_t now,
                                             uint64_t id,
                                             int64_t session,
                                             const struct fencepost_view *names,
                                             size_t name_count);

/**
 * ZooKeeper has read a node: its data and what is known of it. `created` is its ctime and `modified` its mtime: milliseconds since 1970 by the
 * server's clock.
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
 * ZooKeeper has done what it was asked.
 */
enum fencepost_result fencepost_hub_done(struct fencepost_hub *hub,
                                         uint64_t now,
                                         uint64_t id,
                                         int64_t session);

/**
 * ZooKeeper has answered with an error: the protocol's number, such as -101 for NoNode.
 */
enum fencepost_result fencepost_hub_error(struct fencepost_hub *hub,
                                          uint64_t now,
                                          uint64_t id,
                                          int64_t session,
                                          int32_t code);

/**
 * Redis has answered, an error too.
 */
enum fencepost_result fencepost_hub_reply(struct fencepost_hub *hub,
                                          uint64_t now,
                                          uint64_t id,
                                          const struct fencepost_reply *reply);

/**
 * Nobody has answered: a `fencepost_failure`.
 */
enum fencepost_result fencepost_hub_failed(struct fencepost_hub *hub,
                                           uint64_t now,
                                           uint64_t id,
                                           uint32_t failure);

/**
 * Takes the next command or event, of the machine `only` (and of what machines share) or of `FENCEPOST_ALL`; with none left, says how long to
 * wait, and the same again until something is put in. Poll until `FENCEPOST_OUTPUT_KIND_WAIT` after every input. Errors: `BAD_ARGUMENT` for an
 * output without its size, and nothing is taken.
 */
enum fencepost_result fencepost_hub_poll_output(struct fencepost_hub *hub,
                                                uint64_t only,
                                                struct fencepost_output *output);

/**
 * The name of a `fencepost_record_state`; NULL for a number that is none.
 */
const char *fencepost_record_state_name(uint32_t number);

/**
 * The name of a `fencepost_policy`; NULL for a number that is none.
 */
const char *fencepost_policy_name(uint32_t number);

/**
 * Whether an error of a Redis server, from its code on, says that the server is a replica. On such an answer a driver drops this
 * connection and resolves the server's address again, if the driver made the connection; on the caller's own connection it does
 * nothing. The hub gets the answer in any case.
 */
bool fencepost_is_from_replica(const uint8_t *error,
                               size_t error_size);

/**
 * The kebab-case name of a result, the same in every language; `unknown-result` for a number that is none. Never NULL.
 */
const char *fencepost_result_name(int32_t result);

/**
 * What a result means, in one English sentence, also for a number that is none. Never NULL.
 */
const char *fencepost_result_text(int32_t result);

/**
 * A scope of so many keys with their values: `server` (`redis`), `scope` (required), `lease`, `retention`, `on_lease_end`, `renew`, `poll`,
 * `margin`, `answer_within`; durations are in microseconds. Of a key that is given twice the last value counts. Errors: 1xx.
 */
enum fencepost_result fencepost_scope_of(const struct fencepost_setting *given,
                                         size_t given_count,
                                         struct fencepost_scope **scope);

/**
 * Settings of a claim on the operation `key`. `fingerprint` is a digest of what the operation is asked to do. An acquire, or a try, of a
 * machine with these settings claims: it ends in the event acquired, replayed or refused. Errors: 1xx.
 */
enum fencepost_result fencepost_scope_claim(const struct fencepost_scope *scope,
                                            const uint8_t *key,
                                            size_t key_size,
                                            const uint8_t *fingerprint,
                                            size_t fingerprint_size,
                                            struct fencepost_settings **settings);

/**
 * The same with a token that was issued: its binding is compared.
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
 * Settings of a single step: makes a token, which a claim may consume within `life` microseconds; 0: ten minutes. A try of a machine with these
 * settings does the step: it ends in the event completed or refused. Errors: 1xx.
 */
enum fencepost_result fencepost_scope_issue(const struct fencepost_scope *scope,
                                            const uint8_t *token,
                                            size_t token_size,
                                            const uint8_t *binding,
                                            size_t binding_size,
                                            int64_t life,
                                            struct fencepost_settings **settings);

/**
 * Settings of a single step: claims and completes at once; with a `binding` that is not NULL, a token that was issued. It ends in the event
 * completed, replayed or refused. Errors: 1xx.
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
 * Settings of a single step: replaces the value at `key` if it has this `version` (0: if there is none). `operation` identifies the update: its
 * repetition is not applied again. It ends in the event completed, replayed or refused. Errors: 1xx.
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
 * Settings of a single step: reads the record of an operation, or a value. It ends in the event looked or refused. Errors: 1xx.
 */
enum fencepost_result fencepost_scope_look(const struct fencepost_scope *scope,
                                           const uint8_t *key,
                                           size_t key_size,
                                           struct fencepost_settings **settings);

/**
 * Settings of a single step: an operator gives the operation a result. `guard` is that of the record that the operator has seen. It ends in the
 * event completed, replayed or refused. Errors: 1xx.
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
 * Settings of a single step: an operator deletes the record. `guard` is that of the record that the operator has seen. It ends in the event
 * looked, without a record, or refused. Errors: 1xx.
 */
enum fencepost_result fencepost_scope_forget(const struct fencepost_scope *scope,
                                             const uint8_t *key,
                                             size_t key_size,
                                             uint64_t guard,
                                             struct fencepost_settings **settings);

/**
 * Settings of a single step: deletes what no request of the scope would miss. It ends in the event swept or refused. On Redis it deletes nothing,
 * because the server expires records by itself. Errors: `NULL_POINTER`.
 */
enum fencepost_result fencepost_scope_sweep(const struct fencepost_scope *scope,
                                            struct fencepost_settings **settings);

/**
 * A key for one step of an operation at another service, such as a payment provider: the same for all attempts and in all languages. Writes
 * `FENCEPOST_DERIVED_SIZE` bytes. Errors: 1xx.
 */
enum fencepost_result fencepost_scope_derive(const struct fencepost_scope *scope,
                                             const uint8_t *key,
                                             size_t key_size,
                                             const uint8_t *step,
                                             size_t step_size,
                                             char *derived);

/**
 * Frees a scope; settings stay. NULL is ignored.
 */
void fencepost_scope_free(struct fencepost_scope *scope);

/**
 * Reads settings from a JSON text, such as `{"server": "redis", "kind": "lock", "name": "stock/42", "ttl": 10000000}`. `server` is `zookeeper`, `redis` or
 * `memory`. `kind` is `lock`, `reader`, `writer`, `semaphore`, `election` or `multi-lock`. All need a `name`, a multi-lock `names` instead. `prefix` is
 * where a lock lies on ZooKeeper. The options are those of docs/reference/options.md; durations are in microseconds. `null` stands for an option that
 * is not given. A kind of machine stands for server and kind: `redis-string`, `zookeeper-mutex`, `zookeeper-single`, `zookeeper-reader` and so on.
 * Errors: 1xx.
 */
enum fencepost_result fencepost_settings_parse(const uint8_t *json,
                                               size_t json_size,
                                               struct fencepost_settings **settings);

/**
 * Settings of a kind of machine with a name, and no options: the same as parsing `{"kind": …, "name": …}`, with no JSON to write. Errors: 1xx.
 */
enum fencepost_result fencepost_settings_new(const uint8_t *kind,
                                             size_t kind_size,
                                             const uint8_t *name,
                                             size_t name_size,
                                             struct fencepost_settings **settings);

/**
 * Sets a duration in microseconds, by its key in the JSON form (`ttl`, `max_hold`, …). On an error, 1xx, nothing has changed.
 */
enum fencepost_result fencepost_settings_set_micros(struct fencepost_settings *settings,
                                                    const uint8_t *key,
                                                    size_t key_size,
                                                    int64_t micros);

/**
 * Sets a switch, by its key in the JSON form (`renew`). On an error, 1xx, nothing has changed.
 */
enum fencepost_result fencepost_settings_set_switch(struct fencepost_settings *settings,
                                                    const uint8_t *key,
                                                    size_t key_size,
                                                    bool on);

/**
 * Sets a text, by its key in the JSON form (`prefix`, `owner`). On an error, 1xx, nothing has changed.
 */
enum fencepost_result fencepost_settings_set_text(struct fencepost_settings *settings,
                                                  const uint8_t *key,
                                                  size_t key_size,
                                                  const uint8_t *text,
                                                  size_t text_size);

/**
 * Which hubs take these settings; 0 for NULL.
 */
uint32_t fencepost_settings_family(const struct fencepost_settings *settings);

/**
 * Frees settings. NULL is ignored.
 */
void fencepost_settings_free(struct fencepost_settings *settings);

/**
 * Settings of so many keys with their values: the same as parsing the JSON object that has them, with no JSON to write. Of a key that is given
 * twice the last value counts. Errors: 1xx.
 */
enum fencepost_result fencepost_settings_of(const struct fencepost_setting *given,
                                            size_t given_count,
                                            struct fencepost_settings **settings);

/**
 * The version of the library that runs, as a number like `FENCEPOST_VERSION`, which is that of the header.
 */
uint32_t fencepost_version(void);

/**
 * The same in words, such as `0.1.0`.
 */
const char *fencepost_version_name(void);

/**
 * Whether bytes are text: for what a program takes in its user's words and gives to no hub. Errors: `BAD_ARGUMENT` if they are not UTF-8;
 * `fencepost_detail` says where.
 */
enum fencepost_result fencepost_text_check(const uint8_t *bytes,
                                           size_t bytes_size);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* FENCEPOST_H */
