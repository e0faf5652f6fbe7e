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
 *     puts(fencepost_detail());                     // TIMEOUT: somebody else holds it
 * }
 * fencepost_close(client);
 * fencepost_client_free(client);
 * @endcode
 *
 * - Times are whole milliseconds. Text is UTF-8 and NUL-terminated.
 * - Every fallible function answers a `fencepost_result`; `fencepost_detail` says more, for the calling thread. Outputs
 * are written on success only. NULL where an object is needed gives `FENCEPOST_RESULT_NULL_POINTER`.
 * - Clients, locks, attempts and grants may be used from any thread at the same time; freeing one while another thread
 * uses it, and setting the options of a shared lock, are the exceptions.
 * - There are no callbacks: no code of the program ever runs inside fencepost, but for what the program has registered
 * with a client library itself (see fencepost-redis.h), and then without any lock of fencepost.
 * - Without memory, what these libraries allocate gives `OUT_OF_MEMORY`. The hub below them, libfencepost, is written
 * in Rust, whose small allocations end the process by `abort()` where there is no memory; and libzookeeper and hiredis
 * do not check all of theirs, so that such a process may crash in them. On Linux memory as a rule runs out in another
 * way: the system ends a process.
 * - A program asks `fencepost_version` where it may meet an older library than its header: `FENCEPOST_VERSION`.
 * - A thread that is cancelled (`pthread_cancel`) in a call finishes the call: the cancellation acts behind it. What
 * ends a wait is `fencepost_attempt_cancel`.
 * - After a fork, the child connects anew: every call on an object of its parent gives
 * `FENCEPOST_RESULT_WRONG_PROCESS`, and frees of such objects do nothing. Other threads may use fencepost while one
 * forks. glibc's name look-ups are not made for that: a child that is forked during one may hang in its own. So a fork
 * waits until fencepost's have ended, a second at most. It does not wait for those of libzookeeper_mt's threads, or of
 * a handle or connection of the program's.
 *
 * Two ways to wait. **Blocking**: the calls without `_start`. While no call is under way, a thread of the client renews
 * what is held; it blocks all signals, starts with the first need, and ends with `fencepost_close`. **An event loop**:
 * call `fencepost_client_fd` once before the first acquire, and the client makes no thread of its own; poll that
 * descriptor for reading, at most for `fencepost_client_timeout`, then call `fencepost_client_process`, and ask the
 * `_finish` functions.
 */
#ifndef FENCEPOST_CLIENT_H
#define FENCEPOST_CLIENT_H

#include "fencepost.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A connection to a lock server, with everything held over it. */
typedef struct fencepost_client fencepost_client;
/** A name with settings. It sends nothing, is cheap, and may be shared. */
typedef struct fencepost_lock fencepost_lock;
/** An acquire that has not been decided yet. */
typedef struct fencepost_attempt fencepost_attempt;
/** The right to hold a lock, from its acquire to its release or loss. */
typedef struct fencepost_grant fencepost_grant;

/* ---- clients
 * -------------------------------------------------------------------------------------------------------------------
 */

/**
 * Connects: `memory:`, `memory:NAME`, `zk://HOST:PORT,.../PREFIX?session_timeout=MS`,
 * `redis://USER:PASSWORD@HOST:PORT/DATABASE`. It does not wait for the server: connecting is part of an acquire's
 * acquire timeout. For zk: and redis:, the library libfencepost-zookeeper or libfencepost-redis is loaded if the
 * program is not linked with it. To use a connection that exists already, see fencepost-zookeeper.h and
 * fencepost-redis.h.
 *
 * Errors: 1xx for the address; `DRIVER_MISSING`; `UNREACHABLE` for a host name that cannot be resolved;
 * `OUT_OF_MEMORY`; `SYSTEM_ERROR`.
 */
fencepost_result fencepost_connect(const char *url, fencepost_client **client);

/**
 * Releases all grants, gives up all attempts, waits for the server's answers, and closes the connection, unless it was
 * the caller's: within five seconds together. Of these, 0.2 s are kept for the end of threads, and on libzookeeper_mt
 * 1.5 s for the library's own farewell, so that a silent server's answers are waited for 4.8 s, or 3.3 s. A grant that
 * is held then is lost as `LOST_CONNECTION_CLOSED`, which ends a `fencepost_grant_wait_lost` in another thread, and is
 * what every call on the grant answers from then on. Every other later call on the client and its objects gives
 * `CLIENT_CLOSED`. On a connection that its owner's event loop drives, it does not wait: use `fencepost_close_start`.
 * Errors: `CLEANUP_INCOMPLETE`, with the number of locks whose release the server has not confirmed, or has refused;
 * they go with their lease or session. The first close reports this; another one, at the same time or later, waits
 * until the first has ended, and answers success. `WOULD_BLOCK` in a callback of the connection; `WRONG_PROCESS`.
 */
fencepost_result fencepost_close(fencepost_client *client);

/** Begins to close, in an event loop: grants are lost and attempts are over at once, the rest needs turns of the loop.
 * Success, too, if a close has begun. Errors: `WOULD_BLOCK` in a callback of the connection; `WRONG_PROCESS`. */
fencepost_result fencepost_close_start(fencepost_client *client);

/** What has become of it, without waiting for the server: `PENDING`, five seconds at most; then as `fencepost_close`.
 * `fencepost_client_process` and `fencepost_client_timeout` work until then. If another thread closes the client, it
 * answers `PENDING` until that has ended, which makes the descriptor readable, and then success. `CLIENT_CLOSED` if no
 * close has begun. */
fencepost_result fencepost_close_finish(fencepost_client *client);

/** How long an acquire waits for the client's first connection, in milliseconds; by default 5000. Then it is
 * `UNREACHABLE`, whatever its own timeout: a misspelt address is no lock that somebody holds. It is for acquires that
 * begin from now on. After the first connection, acquires wait for a server to come back. Errors: `NOT_POSITIVE`;
 * `CLIENT_CLOSED`. */
fencepost_result fencepost_client_set_connect_timeout(fencepost_client *client, int64_t timeout);

/** Frees a client, and closes it first if that was not done, or waits for another thread that does. Its locks, attempts
 * and grants may be freed later. NULL is ignored. */
void fencepost_client_free(fencepost_client *client);

/* ---- what to acquire
 * -------------------------------------------------------------------------------------------------------------
 */

/** What a lock is. All but the mutex are for ZooKeeper (and `memory:`): elsewhere they give `UNKNOWN_OPTION`. */
typedef enum fencepost_kind {
    /** One holds it, in the order of arrival. */
    FENCEPOST_KIND_MUTEX = 0,
    /** A share of a read/write lock: many readers hold it together. */
    FENCEPOST_KIND_READER = 1,
    /** All of a read/write lock. */
    FENCEPOST_KIND_WRITER = 2,
    /** An election: a grant is a term, which lasts until it is released or lost. */
    FENCEPOST_KIND_ELECTION = 3,
    /** One of `permits`. */
    FENCEPOST_KIND_SEMAPHORE = 4,
    /** All of `names`, or none. */
    FENCEPOST_KIND_MULTI_LOCK = 5
} fencepost_kind;

/**
 * The options of a lock. What is zero has its default. What a kind or a server does not have is refused when the lock
 * is made: docs/reference/options.md has the options of each kind and server. Errors name them as that table does:
 * `fair` for `unfair`, `renew` for `without_renewal`. Everything in it is copied. Written with `FENCEPOST_OPTIONS`:
 *
 * @code
 * fencepost_lock_open(client, "presses", FENCEPOST_OPTIONS(.kind = FENCEPOST_KIND_SEMAPHORE, .permits = 3), &lock);
 * @endcode
 */
typedef struct fencepost_options {
    /** `sizeof(fencepost_options)`: later versions have more of them. */
    size_t size;
    fencepost_kind kind;
    /** Zero, as all that is reserved: what is not is refused, as an option of a later version. */
    uint32_t reserved_kind;
    /* bindgen: options */
    /** ZooKeeper and `memory:`: how many contenders may hold a semaphore at once. Range: 1 to 4294967295. Default:
     * required. All contenders of a semaphore have to give the same number. */
    int64_t permits;
    /** ZooKeeper and `memory:`: the locks of a multi-lock. Range: 1 to 64, each lock once. Default: required. A
     * multi-lock has no other name. */
    const char *const *names;
    size_t name_count;
    /** ZooKeeper and `memory:`: the names of the nodes; programs with another library and the same layout exclude each
     * other. Range: `curator`, `kazoo`, `plain`; `plain` for mutex, election and multi-lock only. Default: `curator`.
     */
    const char *layout;
    /** ZooKeeper and `memory:`: what the names of the nodes begin with. Range: with `plain` only; not empty, no `/`,
     * characters as in a name. Default: `node_`. */
    const char *node_prefix;
    /** ZooKeeper and `memory:`: text in the node, for people and other programs: a host's name, for example. Range: at
     * most 1024 bytes. Default: none. */
    const char *identifier;
    /** ZooKeeper and `memory:`: whether a holder sees a revocation request at once, or only with the next confirmation
     * of its session. See `fencepost_grant_revoke_requested`. */
    bool revocable;
    /** Redis (`memory:` checks it, and has no use for it): turns off `renew`: whether the client renews the lease after
     * each third of it, until the release. See `fencepost_lock_set_renew`. */
    bool without_renewal;
    /** Zero. */
    uint8_t reserved_switches[6];
    /** Redis (`memory:` checks it, and has no use for it): the lease: how long the server keeps the lock without a
     * renewal. Range: 5 ms and three times `margin`, to 365 days. Default: 10 s. In milliseconds. See
     * `fencepost_lock_set_ttl`. */
    int64_t ttl;
    /** The longest time that a grant lasts; then it is lost with `max-hold`. Range: more than 0, to 365 days. Default:
     * none. In milliseconds. See `fencepost_lock_set_max_hold`. */
    int64_t max_hold;
    /** Makes the lock re-entrant: acquires of one owner on one client share a grant. Range: 1 to 1024 bytes. Default:
     * none. While an owner holds a lock, each further acquire of the same name and kind by it on this client gives at
     * once, without a request, a grant of its own with the same fence. The release of the last one gives the lock back.
     * Settings and lease are those of the first acquire. A writer's owner may read; a reader's owner that asks for the
     * writer gets `UPGRADE`, one that still waits `BUSY`. */
    const char *owner;
    /** ZooKeeper and `memory:`: turns off `fair`: whether waiters get the lock in order; `no` makes one node and no
     * queue. All waiters wake at a release, and the first one gets the lock. Its name is the node's name. */
    bool unfair;
    /** Zero. */
    uint8_t reserved_end[7];
    /** Redis (`memory:` checks it, and has no use for it): how much earlier than the lease a grant ends, besides 1 %
     * for clock drift. Range: more than 0, to a third of the lease. Default: 2 ms. In milliseconds. */
    int64_t margin;
    /** Redis (`memory:` checks it, and has no use for it): the longest time between two requests of a waiter. Range:
     * more than 0, to 365 days. Default: 100 ms. In milliseconds. */
    int64_t poll;
    /** How long a try waits for an answer of the server; on Redis, also the time after which the client repeats a
     * request. Range: more than 0, to 365 days. Default: 5 s. In milliseconds. */
    int64_t answer_within;
    /* bindgen: end */
} fencepost_options;

/** Options by their names: `FENCEPOST_OPTIONS(.kind = FENCEPOST_KIND_READER, .layout = "kazoo")`. C++ has it since
 * 2020, in the order of the structure (GCC's `-Wextra` warns there of the others: `-Wno-missing-field-initializers`),
 * and fills the structure in before. */
#ifdef __cplusplus
#define FENCEPOST_OPTIONS(...)                                                                                         \
    (&static_cast<const fencepost_options &>(fencepost_options{.size = sizeof(fencepost_options), __VA_ARGS__}))
#else
#define FENCEPOST_OPTIONS(...) (&(fencepost_options){.size = sizeof(fencepost_options), __VA_ARGS__})
#endif

/* ---- locks
 * ---------------------------------------------------------------------------------------------------------------------
 */

/** A lock by its name. Errors: 1xx for a name that the server would not take; `CLIENT_CLOSED`; `WRONG_PROCESS`. */
fencepost_result fencepost_lock_new(fencepost_client *client, const char *name, fencepost_lock **lock);

/**
 * The same with options; NULL: without. `name` is NULL for a multi-lock only. Every way to acquire works on every kind.
 * Errors: also `INVALID_OPTION` for a value that makes no sense, `UNKNOWN_OPTION` for an option or a kind that this
 * client's server does not have, `BAD_ARGUMENT` for options without their size.
 */
fencepost_result fencepost_lock_open(
    fencepost_client *client, const char *name, const fencepost_options *options, fencepost_lock **lock);

/** Redis: how long the server keeps the lock without renewal; by default 10 s. A mutex on `memory:` takes it, checks
 * it, and has no use for it, as for `fencepost_lock_set_renew`: a grant there lives as long as its client. Errors: 1xx,
 * `UNKNOWN_OPTION` for a lock that has no lease. */
fencepost_result fencepost_lock_set_ttl(fencepost_lock *lock, int64_t ttl);

/** Redis: whether the lease is renewed until the release; by default yes. Errors: `UNKNOWN_OPTION` for a lock that has
 * no lease. */
fencepost_result fencepost_lock_set_renew(fencepost_lock *lock, bool renew);

/** The longest hold allowed: then the grant is lost. By default there is none. Errors: 1xx. */
fencepost_result fencepost_lock_set_max_hold(fencepost_lock *lock, int64_t max_hold);

/** Frees a lock's name and settings; grants stay. NULL is ignored. */
void fencepost_lock_free(fencepost_lock *lock);

/* ---- acquire, blocking
 * --------------------------------------------------------------------------------------------------------- */

/**
 * Acquires, waiting at most `timeout` milliseconds, or `FENCEPOST_FOREVER`; everything is included, connecting too.
 * Answers `TIMEOUT` when somebody else held the lock all the time. Other errors: `NOT_POSITIVE` for a timeout of zero
 * or less (use the try); 3xx for what server or network did; 4xx if the lock was granted, and over before this client
 * heard so (a pause, a slow network): nothing is held then; `CLIENT_CLOSED`; `WRONG_PROCESS`; `WOULD_BLOCK` on a
 * connection that only its owner's event loop drives.
 */
fencepost_result fencepost_lock_acquire(fencepost_lock *lock, int64_t timeout, fencepost_grant **grant);

/** Acquires at once or not at all; a server that says nothing is waited for, at most five seconds. Answers
 * `NOT_AVAILABLE` when somebody else holds the lock; other errors as for `fencepost_lock_acquire`. */
fencepost_result fencepost_lock_try_acquire(fencepost_lock *lock, fencepost_grant **grant);

/** The same for a name, with default settings. */
fencepost_result
fencepost_acquire(fencepost_client *client, const char *name, int64_t timeout, fencepost_grant **grant);

/** The same for a name, with default settings. */
fencepost_result fencepost_try_acquire(fencepost_client *client, const char *name, fencepost_grant **grant);

/** The same for a name with options, see `fencepost_lock_open`. */
fencepost_result fencepost_acquire_with(
    fencepost_client *client, const char *name, const fencepost_options *options, int64_t timeout,
    fencepost_grant **grant);

/** The same for a name with options, see `fencepost_lock_open`. */
fencepost_result fencepost_try_acquire_with(
    fencepost_client *client, const char *name, const fencepost_options *options, fencepost_grant **grant);

/* ---- acquire, step by step
 * ----------------------------------------------------------------------------------------------------- */

/** Begins an acquire, see `fencepost_lock_acquire`. Errors: those of the arguments; what the server does is told by the
 * attempt. A grant that the program has not taken, by `fencepost_attempt_finish` or `fencepost_attempt_wait`, within
 * half its lease (10 s at most) is given back, and the attempt ends as `LEASE_ENDED`: nobody holds a lock that nobody
 * has asked for any more. */
fencepost_result fencepost_lock_acquire_start(fencepost_lock *lock, int64_t timeout, fencepost_attempt **attempt);

/** Begins a try, see `fencepost_lock_try_acquire`. */
fencepost_result fencepost_lock_try_acquire_start(fencepost_lock *lock, fencepost_attempt **attempt);

/** What has become of it, without waiting: `PENDING`; or success with the grant, once; or why not, as for
 * `fencepost_lock_acquire`. */
fencepost_result fencepost_attempt_finish(fencepost_attempt *attempt, fencepost_grant **grant);

/** Waits until it is decided, then the same. Of several threads that wait for one attempt, one gets the grant, the
 * others get `NOT_WAITING`. */
fencepost_result fencepost_attempt_wait(fencepost_attempt *attempt, fencepost_grant **grant);

/** How many contenders come before it, as far as the server has said; -1 if nobody knows. */
int64_t fencepost_attempt_ahead(const fencepost_attempt *attempt);

/** Gives it up, from any thread: it ends as `CANCELLED`; on ZooKeeper when its node has been deleted, half a second
 * later at most, or as `NO_PERMISSION` if the server does not permit that. Its owner is free again then. Cancelling
 * again, or what has come to nothing and is being cleaned up, ends it at once. Errors: `NOT_WAITING` when it has
 * ended. */
fencepost_result fencepost_attempt_cancel(fencepost_attempt *attempt);

/** Frees it, and gives it up if it is not decided; a grant that nobody has taken is released. NULL is ignored. */
void fencepost_attempt_free(fencepost_attempt *attempt);

/* ---- grants
 * --------------------------------------------------------------------------------------------------------------------
 */

/** The number of the grant, which only grows: give it to the resource, which refuses lower ones. 0 for NULL, or without
 * one. */
uint64_t fencepost_grant_fence(const fencepost_grant *grant);

/** Whether the grant is held and valid, by this computer's clock alone: right also straight after a suspend. */
bool fencepost_grant_is_valid(const fencepost_grant *grant);

/** For how many milliseconds it stays valid unless it is renewed: 0 if it is not, -1 where there is no lease. */
int64_t fencepost_grant_remaining(const fencepost_grant *grant);

/** Whether it has been lost, also by the end of its client. Looks at what the server has said meanwhile; does not wait.
 */
bool fencepost_grant_is_lost(fencepost_grant *grant);

/** Why it was lost: 4xx, or success if it was not. `fencepost_detail` says what brought it to light. */
fencepost_result fencepost_grant_loss(fencepost_grant *grant);

/** Waits until it is lost, at most `timeout` milliseconds or `FENCEPOST_FOREVER`: answers 4xx; `PENDING` if it was not;
 * `NOT_HELD` if it was released. While a client is closed, a grant that it holds is lost: `LOST_CONNECTION_CLOSED`. */
fencepost_result fencepost_grant_wait_lost(fencepost_grant *grant, int64_t timeout);

/**
 * Whether somebody would like to have the lock (ZooKeeper; Curator's revocation): it may be released, or kept. Looks at
 * what the server has said meanwhile; does not wait. Once true, it stays true.
 */
bool fencepost_grant_revoke_requested(fencepost_grant *grant);

/** Waits until somebody would like to have the lock, at most `timeout` milliseconds or `FENCEPOST_FOREVER`: answers
 * success; `PENDING` if nobody does; 4xx if it was lost; `NOT_HELD` if it was released; `WOULD_BLOCK`. */
fencepost_result fencepost_grant_wait_revoke_requested(fencepost_grant *grant, int64_t timeout);

/**
 * The name of a node in the lock's directory whose contender does not look for ours, so that both may hold the lock at
 * once (ZooKeeper: two layouts in one directory); NULL if none was seen. Valid as long as the grant.
 */
const char *fencepost_grant_mixed_layouts(const fencepost_grant *grant);

/** Makes the grant last from now on: waits for the server. Errors: `NOT_HELD`, 4xx if it was lost, `WOULD_BLOCK`. */
fencepost_result fencepost_extend(fencepost_grant *grant);

/** Begins to. */
fencepost_result fencepost_extend_start(fencepost_grant *grant);

/** What has become of it: `PENDING`, success, or 4xx. */
fencepost_result fencepost_extend_finish(fencepost_grant *grant);

/**
 * ZooKeeper: turns a writer's grant into a reader's, without anybody in between, and waits for the server. The fence
 * stays; others may read from then on. Of an owner's grants each becomes a reader's by itself, and the lock with the
 * last of them. Errors: `NOT_A_WRITER` for any other grant, and the second time; `BUSY` while it is on its way; 3xx if
 * the server refused, and the grant is a writer's as before; 4xx if it was lost; `NOT_HELD`; `WOULD_BLOCK`.
 */
fencepost_result fencepost_downgrade(fencepost_grant *grant);

/** Begins to. */
fencepost_result fencepost_downgrade_start(fencepost_grant *grant);

/** What has become of it: `PENDING`, success, or an error as above. */
fencepost_result fencepost_downgrade_finish(fencepost_grant *grant);

/**
 * Gives the grant back, and waits for the server to confirm that, at most five seconds. Errors: `RELEASE_UNCONFIRMED`,
 * and it goes on in the background (call again to wait again); 4xx if it was lost; `NOT_HELD` if it was released
 * before; 3xx if the server refused, and the lock goes with its lease or session; `WOULD_BLOCK`.
 */
fencepost_result fencepost_release(fencepost_grant *grant);

/** Begins to. */
fencepost_result fencepost_release_start(fencepost_grant *grant);

/** What has become of it: `PENDING`, success, or an error as above. */
fencepost_result fencepost_release_finish(fencepost_grant *grant);

/** Frees a grant, and releases it in the background if that was not done. NULL is ignored. */
void fencepost_grant_free(fencepost_grant *grant);

/* ---- looking at a lock from outside
 * -------------------------------------------------------------------------------------------------
 */

/** A contender of a lock, as it was found on the server. It may have gone since: this is for people and tools, and no
 * ground to act as if one held the lock. The library makes it, and later versions may have more members behind these:
 * take it by its pointer, `fencepost_contenders_at`, and make no arrays of it. */
typedef struct fencepost_contender {
    /** The path of its node. */
    const char *node;
    /** What its node says: a host's name, for example. */
    const char *identifier;
    /** The session that its node goes with. */
    int64_t session;
    /** Since when it contends, by the server's clock: milliseconds since 1970. */
    int64_t since;
    /** The fence that it has, or would have. */
    uint64_t fence;
    /** Whether it holds. */
    bool holds;
    /** Whether it shares the lock with others of its kind: a reader. */
    bool shared;
} fencepost_contender;

/** The contenders of a lock at some moment. */
typedef struct fencepost_contenders fencepost_contenders;
/** A look at a lock that has not ended yet. */
typedef struct fencepost_inspection fencepost_inspection;

/**
 * Who holds the lock and who waits for it, in no particular order; waits at most five seconds for the server. Any lock
 * object of the same name, kind and layout will do. Errors: `UNKNOWN_OPTION` where contenders cannot be seen (Redis,
 * multi-locks); 3xx; `CLIENT_CLOSED`; `WRONG_PROCESS`; `WOULD_BLOCK`.
 */
fencepost_result fencepost_lock_contenders(fencepost_lock *lock, fencepost_contenders **contenders);

/** How many there are; 0 for NULL. */
size_t fencepost_contenders_count(const fencepost_contenders *contenders);

/** One of them, from 0; NULL beyond the last. It lives as long as the list. */
const fencepost_contender *fencepost_contenders_at(const fencepost_contenders *contenders, size_t index);

/** NULL is ignored. */
void fencepost_contenders_free(fencepost_contenders *contenders);

/** Takes a contender's place away by force: a holder's grant is lost as `DELETED`. Node and fence say whom: nobody else
 * is hit. Errors: `NO_CONTENDER` if it is not there any more; as above. */
fencepost_result fencepost_lock_break(fencepost_lock *lock, const fencepost_contender *contender);

/** Asks a contender for the lock: see `fencepost_grant_revoke_requested`. Errors: as above. */
fencepost_result fencepost_lock_revoke(fencepost_lock *lock, const fencepost_contender *contender);

/** Begins to list. */
fencepost_result fencepost_lock_contenders_start(fencepost_lock *lock, fencepost_inspection **inspection);

/** Begins to break. */
fencepost_result fencepost_lock_break_start(
    fencepost_lock *lock, const fencepost_contender *contender, fencepost_inspection **inspection);

/** Begins to ask. */
fencepost_result fencepost_lock_revoke_start(
    fencepost_lock *lock, const fencepost_contender *contender, fencepost_inspection **inspection);

/** What has become of it, without waiting: `PENDING`, success, or an error as above. `contenders` may be NULL; it gets
 * the list, or the one contender that was meant, once, and NULL after that. */
fencepost_result fencepost_inspection_finish(fencepost_inspection *inspection, fencepost_contenders **contenders);

/** Frees it, and gives it up if it has not ended: what was asked for may be done or not then. NULL is ignored. */
void fencepost_inspection_free(fencepost_inspection *inspection);

/* ---- event loops
 * --------------------------------------------------------------------------------------------------------------- */

/**
 * The descriptor to poll for reading. It stays the same for the client's life, is closed with it, and is never read by
 * the caller. From this call on the program drives the client: no thread renews behind its back. -1 on an error.
 */
int fencepost_client_fd(fencepost_client *client);

/** For how many milliseconds to poll at most before the next `fencepost_client_process`; -1: without limit. Ask again
 * after every call. */
int fencepost_client_timeout(fencepost_client *client);

/** Takes in what has arrived, does what is due, sends what is to be sent. Does not wait. Early and repeated calls do no
 * harm. */
fencepost_result fencepost_client_process(fencepost_client *client);

#ifdef __cplusplus
}
#endif

#include "fencepost-idempotency.h"

#endif
