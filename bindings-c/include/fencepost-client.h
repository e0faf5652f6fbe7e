/**
 * @file fencepost-client.h
 * Distributed locks: connect, acquire, release. Link with libfencepost-client.
 *
 * @code
 * fencepost_client *client;
 * fencepost_grant *grant;
 * if (fencepost_connect("zk://localhost:2181", &client) != FENCEPOST_OK) { puts(fencepost_detail()); ... }
 * if (fencepost_acquire(client, "stock/42", 200, &grant) == FENCEPOST_OK) {
 *     sell(42, fencepost_grant_fence(grant));   // the resource refuses lower fences
 *     fencepost_release(grant);
 *     fencepost_grant_free(grant);
 * } else {
 *     puts(fencepost_detail());                     // TIMEOUT: another contender holds it
 * }
 * fencepost_close(client);
 * fencepost_client_free(client);
 * @endcode
 *
 * - Times are whole milliseconds. Texts are UTF-8 and NUL-terminated.
 * - Every fallible function returns a `fencepost_result`. `fencepost_detail` returns the text of the calling thread's
 *   last error. A function writes its outputs on success only. Comments write `BUSY` for `FENCEPOST_RESULT_BUSY`. If a
 *   required pointer is NULL, the function returns `NULL_POINTER`.
 * - Any thread may use clients, locks, attempts and grants at any time, with two exceptions. Do not free an object
 *   while another thread uses it, and do not set the options of a lock that threads share.
 * - There are no callbacks. fencepost calls the program's code only if the program has registered it with a client
 *   library (see fencepost-redis.h), and then it holds no lock of its own.
 * - If there is no memory, these libraries return `OUT_OF_MEMORY`. libfencepost below them is written in Rust, and ends
 *   the process by `abort()` if one of its small allocations fails. libzookeeper and hiredis do not check all their
 *   allocations, so the process may crash in them. On Linux, the system usually ends a process before an allocation
 *   fails.
 * - If a program may run with an older library than its header, it compares `fencepost_version()` with
 *   `FENCEPOST_VERSION`.
 * - If a thread is cancelled (`pthread_cancel`) in a call, it first finishes the call. To end a wait, use
 *   `fencepost_attempt_cancel`.
 * - No function may be called from a signal handler: it could wait for a mutex that the interrupted code holds. Set a
 *   flag or write to a pipe there, and cancel the attempt outside of the handler.
 * - After a fork, the child connects anew. Every call on an object of the parent returns `WRONG_PROCESS`, and freeing
 *   such an object does nothing. Other threads may use fencepost during the fork. A child that is forked while glibc
 *   resolves a host name may hang when it resolves one itself. So a fork waits until fencepost's own resolutions have
 *   ended, for at most a second. It does not wait for those of libzookeeper_mt's threads, or of a connection that the
 *   program made.
 *
 * There are two ways to wait:
 *
 * - **Blocking calls**: the calls without `_start`. While no call is in progress, a thread of the client renews the
 *   grants. The thread blocks all signals, starts when it is first needed, and ends with `fencepost_close`.
 * - **An event loop**: call `fencepost_client_fd` once, before the first acquire. The client then starts no thread.
 *   Poll the descriptor for reading, for at most `fencepost_client_timeout`. Then call `fencepost_client_process`, and
 *   ask the `_finish` functions for results.
 */
#ifndef FENCEPOST_CLIENT_H
#define FENCEPOST_CLIENT_H

#include "fencepost-options.h"
#include "fencepost.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A client of a lock server: a connection, and all locks and grants on it. */
typedef struct fencepost_client fencepost_client;
/** A lock: a name with settings. It sends no requests, needs little memory, and threads may share it. */
typedef struct fencepost_lock fencepost_lock;
/** An acquire that has begun. It ends with a grant or an error. */
typedef struct fencepost_attempt fencepost_attempt;
/** The right to hold a lock, from the acquire to the release or the loss. */
typedef struct fencepost_grant fencepost_grant;

/* ---- clients ---- */

/**
 * Makes a client of the server at `url`: `memory:`, `memory:NAME`, `zk://HOST:PORT,.../PREFIX?session_timeout=MS`,
 * `redis://USER:PASSWORD@HOST:PORT/DATABASE` or `rediss://...?ca=PATH`. It does not wait for the server: an acquire
 * timeout includes the time to connect. For an address of ZooKeeper or Redis, it loads libfencepost-zookeeper or
 * libfencepost-redis, unless the program is linked with it. To use a connection of the program, see
 * fencepost-zookeeper.h and fencepost-redis.h. The caller closes the client with `fencepost_close`, and frees it with
 * `fencepost_client_free`.
 *
 * Errors: 1xx for the address; `DRIVER_MISSING`; `UNREACHABLE` for a host name that cannot be resolved;
 * `OUT_OF_MEMORY`; `SYSTEM_ERROR`.
 */
fencepost_result fencepost_connect(const char *url, fencepost_client **client);

/**
 * Closes a client. It releases all grants, cancels all attempts, waits for the server's answers, and closes the
 * connection, unless the connection is the program's. All of this takes at most five seconds. Of these, 0.2 s are for
 * the end of threads, and with libzookeeper_mt 1.5 s for the end of the session. So the client waits at most 4.8 s or
 * 3.3 s for a silent server.
 *
 * A grant that is still held is lost as `LOST_CONNECTION_CLOSED`. This ends a `fencepost_grant_wait_lost` in another
 * thread, and every later call on the grant returns it. Every other later call on the client and its objects returns
 * `CLIENT_CLOSED`. On a connection that the program's event loop drives, this function does not wait: use
 * `fencepost_close_start`.
 *
 * Errors: `CLEANUP_INCOMPLETE` if the server has not confirmed the release of some locks, or has refused it. The text
 * has their number. These locks end with their lease or session. Only the first close reports this: another close waits
 * until the first one has ended, and returns success. `WOULD_BLOCK` in a callback of the connection; `WRONG_PROCESS`.
 */
fencepost_result fencepost_close(fencepost_client *client);

/**
 * Begins to close a client, in an event loop. Grants are lost and attempts end at once. The rest needs further calls of
 * `fencepost_client_process`. Returns success also if a close has begun before. Errors: `WOULD_BLOCK` in a callback of
 * the connection; `WRONG_PROCESS`.
 */
fencepost_result fencepost_close_start(fencepost_client *client);

/**
 * Returns the result of a close without waiting: `PENDING` for at most five seconds, then the result of
 * `fencepost_close`. Until then, `fencepost_client_process` and `fencepost_client_timeout` work. If another thread
 * closes the client, the result is `PENDING` until that close has ended, and then success. The end of that close makes
 * the descriptor readable. Errors: `CLIENT_CLOSED` if no close has begun.
 */
fencepost_result fencepost_close_finish(fencepost_client *client);

/**
 * Sets how long an acquire waits for the client's first connection, in milliseconds; the default is 5000. After that
 * time the acquire fails as `UNREACHABLE`, even if its own timeout is longer, because the address may be wrong. The
 * setting applies to acquires that begin later. After the first connection, an acquire waits for a server until its own
 * timeout ends. Errors: `NOT_POSITIVE`; `TOO_LONG`: above 365 days; `CLIENT_CLOSED`.
 */
fencepost_result fencepost_client_set_connect_timeout(fencepost_client *client, int64_t timeout);

/**
 * Frees a client, and ignores NULL. If the client is not closed, this closes it, or waits for the thread that closes
 * it. The client's locks, attempts and grants may be freed later.
 */
void fencepost_client_free(fencepost_client *client);

/* ---- locks ---- */

/**
 * Makes a lock with a name and default settings: a mutex. The caller frees it with `fencepost_lock_free`. Errors: 1xx
 * for a name that the server would refuse; `CLIENT_CLOSED`; `WRONG_PROCESS`.
 */
fencepost_result fencepost_lock_new(fencepost_client *client, const char *name, fencepost_lock **lock);

/**
 * Makes a lock with options; NULL for none. `name` is NULL for a multi-lock, and only for that. All functions that
 * acquire work on all kinds. Errors: as `fencepost_lock_new`; `INVALID_OPTION` for a value that is not valid;
 * `UNKNOWN_OPTION` for an option or a kind that the client's server does not have; `BAD_ARGUMENT` if `options->size` is
 * not set.
 */
fencepost_result fencepost_lock_open(
    fencepost_client *client, const char *name, const fencepost_options *options, fencepost_lock **lock);

/**
 * Redis: sets how long the server keeps the lock without a renewal, in milliseconds; the default is 10 s. It applies to
 * acquires that begin later. A mutex on `memory:` checks the value and ignores it, because its grants last as long as
 * the client. Errors: 1xx; `UNKNOWN_OPTION` for a lock that has no lease.
 */
fencepost_result fencepost_lock_set_ttl(fencepost_lock *lock, int64_t ttl);

/**
 * Redis: sets whether the client renews the lease until the release; the default is yes. It applies to acquires that
 * begin later. A mutex on `memory:` ignores it. Errors: `UNKNOWN_OPTION` for a lock that has no lease.
 */
fencepost_result fencepost_lock_set_renew(fencepost_lock *lock, bool renew);

/**
 * Sets the longest time that a grant lasts, in milliseconds; then it is lost as `MAX_HOLD`. The default is no limit. It
 * applies to acquires that begin later. Errors: 1xx.
 */
fencepost_result fencepost_lock_set_max_hold(fencepost_lock *lock, int64_t max_hold);

/** Frees a lock, and ignores NULL. Its grants stay. */
void fencepost_lock_free(fencepost_lock *lock);

/* ---- acquire, blocking ---- */

/**
 * Acquires a lock, and waits for at most `timeout` milliseconds, or `FENCEPOST_FOREVER`. The time includes connecting
 * and retries. The caller releases the grant, and frees it with `fencepost_grant_free`.
 *
 * Errors: `TIMEOUT` if another contender held the lock until the timeout. Other 3xx if the server refused, or could not
 * be reached. 4xx if the server granted the lock, but the grant ended before this client learned of it (a pause, a slow
 * network). `NOT_POSITIVE` for a timeout of zero or less: use a try. `CLIENT_CLOSED`. `WRONG_PROCESS`. `WOULD_BLOCK` on
 * a connection that the program's event loop drives.
 */
fencepost_result fencepost_lock_acquire(fencepost_lock *lock, int64_t timeout, fencepost_grant **grant);

/**
 * Tries to acquire a lock, without waiting for other contenders. It waits for the server for at most `answer_within`;
 * the default is five seconds. Errors: `NOT_AVAILABLE` if another contender holds the lock; otherwise as
 * `fencepost_lock_acquire`.
 */
fencepost_result fencepost_lock_try_acquire(fencepost_lock *lock, fencepost_grant **grant);

/** Acquires the mutex with this name and default settings: see `fencepost_lock_acquire`. */
fencepost_result
fencepost_acquire(fencepost_client *client, const char *name, int64_t timeout, fencepost_grant **grant);

/** Tries to acquire the mutex with this name and default settings: see `fencepost_lock_try_acquire`. */
fencepost_result fencepost_try_acquire(fencepost_client *client, const char *name, fencepost_grant **grant);

/** Acquires the lock with this name and these options: see `fencepost_lock_open` and `fencepost_lock_acquire`. */
fencepost_result fencepost_acquire_with(
    fencepost_client *client, const char *name, const fencepost_options *options, int64_t timeout,
    fencepost_grant **grant);

/**
 * Tries to acquire the lock with this name and these options: see `fencepost_lock_open` and
 * `fencepost_lock_try_acquire`.
 */
fencepost_result fencepost_try_acquire_with(
    fencepost_client *client, const char *name, const fencepost_options *options, fencepost_grant **grant);

/* ---- acquire, step by step ---- */

/**
 * Begins an acquire: see `fencepost_lock_acquire`. The caller frees the attempt with `fencepost_attempt_free`. The
 * program takes the grant with `fencepost_attempt_finish` or `fencepost_attempt_wait`. If it has not done so within
 * half a lease (at most 10 s), the client releases the grant, and the attempt ends as `LEASE_ENDED`. So a program that
 * has stopped asking does not keep the lock. Errors: those of the arguments; the attempt reports those of the server.
 */
fencepost_result fencepost_lock_acquire_start(fencepost_lock *lock, int64_t timeout, fencepost_attempt **attempt);

/** Begins a try: see `fencepost_lock_try_acquire`. */
fencepost_result fencepost_lock_try_acquire_start(fencepost_lock *lock, fencepost_attempt **attempt);

/**
 * Returns the result of an attempt without waiting: `PENDING`; success with the grant, once; or an error as
 * `fencepost_lock_acquire`.
 */
fencepost_result fencepost_attempt_finish(fencepost_attempt *attempt, fencepost_grant **grant);

/**
 * Waits for the result of an attempt: success with the grant, or an error as `fencepost_lock_acquire`. If several
 * threads wait for one attempt, one of them gets the grant, and the others get `NOT_WAITING`.
 */
fencepost_result fencepost_attempt_wait(fencepost_attempt *attempt, fencepost_grant **grant);

/**
 * Returns how many contenders come before this one, as the server last reported; -1 if it has not, or keeps no queue.
 */
int64_t fencepost_attempt_ahead(const fencepost_attempt *attempt);

/**
 * Cancels an attempt, from any thread: it ends as `CANCELLED`. On ZooKeeper it ends when its node has been deleted,
 * after at most half a second; or as `NO_PERMISSION` if the server denies the deletion. Then its owner may acquire
 * again. If the caller cancels again, or the attempt has already failed and is cleaned up, it ends at once. Errors:
 * `NOT_WAITING` if the attempt has ended.
 */
fencepost_result fencepost_attempt_cancel(fencepost_attempt *attempt);

/**
 * Frees an attempt, and ignores NULL. If the attempt has no result, this cancels it. If no thread has taken its grant,
 * this releases the grant.
 */
void fencepost_attempt_free(fencepost_attempt *attempt);

/* ---- grants ---- */

/**
 * Returns the fence of the grant, a number that grows with every exclusive grant of the name. Pass it to the resource,
 * which refuses lower numbers. 0 for NULL, or if the server provides none.
 */
uint64_t fencepost_grant_fence(const fencepost_grant *grant);

/**
 * Returns whether the grant is held and valid. Only this computer's clock decides, so the result is also right
 * immediately after a suspend.
 */
bool fencepost_grant_is_valid(const fencepost_grant *grant);

/**
 * Returns how many milliseconds the grant stays valid without a renewal; 0 if it is not valid, -1 if there is no lease.
 */
int64_t fencepost_grant_remaining(const fencepost_grant *grant);

/**
 * Returns whether the grant is lost. It reads what the server has sent, and does not wait. A grant whose client is
 * closed is lost.
 */
bool fencepost_grant_is_lost(fencepost_grant *grant);

/** Returns why the grant is lost: 4xx, or success if it is not lost. `fencepost_detail` has the cause. */
fencepost_result fencepost_grant_loss(fencepost_grant *grant);

/**
 * Waits until the grant is lost, at most `timeout` milliseconds or `FENCEPOST_FOREVER`. Returns 4xx if it is lost;
 * `PENDING` if the timeout has ended; `NOT_HELD` if it was released. A grant that is held when its client is closed is
 * lost as `LOST_CONNECTION_CLOSED`.
 */
fencepost_result fencepost_grant_wait_lost(fencepost_grant *grant, int64_t timeout);

/**
 * ZooKeeper: returns whether another client has requested the lock (Curator's revocation). The holder may release the
 * lock or keep it. The function reads what the server has sent, and does not wait. Once true, the result stays true.
 */
bool fencepost_grant_revoke_requested(fencepost_grant *grant);

/**
 * Waits until another client requests the lock, at most `timeout` milliseconds or `FENCEPOST_FOREVER`. Returns success
 * after a request; `PENDING` if the timeout has ended; 4xx if the grant is lost; `NOT_HELD` if it was released;
 * `WOULD_BLOCK`.
 */
fencepost_result fencepost_grant_wait_revoke_requested(fencepost_grant *grant, int64_t timeout);

/**
 * ZooKeeper: returns the name of the node of a contender that uses another layout in the lock's directory; NULL if the
 * client has seen none. Such a contender ignores this client's node, so both may hold the lock at the same time. The
 * text is valid as long as the grant.
 */
const char *fencepost_grant_mixed_layouts(const fencepost_grant *grant);

/**
 * Extends the grant by a full lease from now, and waits for the server. Errors: `NOT_HELD`; 4xx if the grant is lost;
 * `WOULD_BLOCK`.
 */
fencepost_result fencepost_extend(fencepost_grant *grant);

/** Begins to extend the grant. */
fencepost_result fencepost_extend_start(fencepost_grant *grant);

/** Returns the result of an extend without waiting: `PENDING`, success, 4xx, or `NOT_HELD` if no extend has begun. */
fencepost_result fencepost_extend_finish(fencepost_grant *grant);

/**
 * ZooKeeper: downgrades a writer's grant to a reader's grant, and waits for the server. No other contender gets the
 * lock in between. The fence stays the same, and other readers may share the lock. If an owner has several grants, each
 * becomes a reader's by itself, and the lock becomes a reader's with the last of them.
 *
 * Errors: `NOT_A_WRITER` for any other grant, and for a second downgrade; `BUSY` while a downgrade is in progress; 3xx
 * if the server refused, and the grant is unchanged; 4xx if the grant is lost; `NOT_HELD`; `WOULD_BLOCK`.
 */
fencepost_result fencepost_downgrade(fencepost_grant *grant);

/** Begins to downgrade the grant. */
fencepost_result fencepost_downgrade_start(fencepost_grant *grant);

/** Returns the result of a downgrade without waiting: `PENDING`, success, or an error as `fencepost_downgrade`. */
fencepost_result fencepost_downgrade_finish(fencepost_grant *grant);

/**
 * Releases the grant, and waits for the server's confirmation for at most five seconds. Errors: `RELEASE_UNCONFIRMED`
 * if it has not come; the client continues in the background, and a repeated call waits again. 4xx if the grant is
 * lost. `NOT_HELD` if it was released before. 3xx if the server refused; the lock then ends with its lease or session.
 * `WOULD_BLOCK`.
 */
fencepost_result fencepost_release(fencepost_grant *grant);

/** Begins to release the grant. */
fencepost_result fencepost_release_start(fencepost_grant *grant);

/** Returns the result of a release without waiting: `PENDING`, success, or an error as `fencepost_release`. */
fencepost_result fencepost_release_finish(fencepost_grant *grant);

/** Frees a grant, and ignores NULL. If the grant is held, the client releases it in the background. */
void fencepost_grant_free(fencepost_grant *grant);

/* ---- event loops ---- */

/**
 * Returns the descriptor to poll for reading. It stays the same for the client's life, and the client closes it. The
 * program must not read from it. A loop may wait for edges (`EPOLLET`) if it calls `fencepost_client_process` after
 * each one. From this call on, the program drives the client, and no thread of the client renews grants. Returns -1 on
 * an error.
 */
int fencepost_client_fd(fencepost_client *client);

/**
 * Returns how many milliseconds to poll at most before the next `fencepost_client_process`; -1 for no limit. Ask again
 * after every call on the client.
 */
int fencepost_client_timeout(fencepost_client *client);

/**
 * Reads what the server has sent, does what is due, and sends what is to be sent. It does not wait. Early and repeated
 * calls do no harm.
 */
fencepost_result fencepost_client_process(fencepost_client *client);

#ifdef __cplusplus
}
#endif

#include "fencepost-idempotency.h"
#include "fencepost-inspection.h"

#endif
