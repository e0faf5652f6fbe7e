/**
 * @file fencepost-options.h
 * The kinds of locks, and the options of a lock. This is a part of fencepost-client.h, with the same conventions.
 */
#ifndef FENCEPOST_OPTIONS_H
#define FENCEPOST_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * The kind of a lock. All kinds except the mutex need ZooKeeper or `memory:`; on Redis they return `UNKNOWN_OPTION`.
 */
typedef enum fencepost_kind {
    /** One contender holds it at a time. On ZooKeeper, waiters get it in the order of their arrival. */
    FENCEPOST_KIND_MUTEX = 0,
    /** The reader of a read/write lock. Many readers may hold the lock at once. */
    FENCEPOST_KIND_READER = 1,
    /** The writer of a read/write lock. It excludes readers and other writers. */
    FENCEPOST_KIND_WRITER = 2,
    /** An election. A grant is a term: its holder leads until it releases or loses the grant. */
    FENCEPOST_KIND_ELECTION = 3,
    /** One of the `permits` of a semaphore. */
    FENCEPOST_KIND_SEMAPHORE = 4,
    /** All locks in `names`, or none. */
    FENCEPOST_KIND_MULTI_LOCK = 5
} fencepost_kind;

/**
 * The options of a lock, written with `FENCEPOST_OPTIONS`. A member that is zero has its default. The call that makes
 * the lock refuses an option that the kind or the server does not have; docs/reference/options.md has the options of
 * each. Error texts use the names in that table: `fair` for `unfair`, `renew` for `without_renewal`. The library copies
 * everything in the structure.
 *
 * @code
 * fencepost_lock_open(client, "presses", FENCEPOST_OPTIONS(.kind = FENCEPOST_KIND_SEMAPHORE, .permits = 3), &lock);
 * @endcode
 */
typedef struct fencepost_options {
    /** The size of the caller's structure, `sizeof(fencepost_options)`. Later versions add members. */
    size_t size;
    fencepost_kind kind;
    /** Zero, like all reserved members. A later version may use them, so another value is refused. */
    uint32_t reserved_kind;
    /* bindgen: options */
    /** ZooKeeper and `memory:`: how many contenders may hold a semaphore at once. Range: 1 to 4294967295. Default:
     * required. All clients of a semaphore must use the same number. */
    int64_t permits;
    /** ZooKeeper and `memory:`: the locks of a multi-lock. Range: 1 to 64, each lock once. Default: required. A
     * multi-lock has no other name. */
    const char *const *names;
    size_t name_count;
    /** ZooKeeper and `memory:`: the names of the nodes; fencepost and another library exclude each other if both use
     * this layout. Range: `curator`, `kazoo`, `plain`; `plain` for mutex, election and multi-lock only. Default:
     * `curator`. */
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
    /** Redis (`memory:` checks and ignores it): turns off `renew`: whether the client renews the lease after each third
     * of it, until the release. See `fencepost_lock_set_renew`. */
    bool without_renewal;
    /** Zero. */
    uint8_t reserved_switches[6];
    /** Redis (`memory:` checks and ignores it): the lease: how long the server keeps the lock without a renewal. Range:
     * at least 5 ms and three times `margin`, at most 365 days. Default: 10 s. In milliseconds. See
     * `fencepost_lock_set_ttl`. */
    int64_t ttl;
    /** The longest time that a grant lasts; then it is lost with `max-hold`. Range: more than 0, to 365 days. Default:
     * none. In milliseconds. See `fencepost_lock_set_max_hold`. */
    int64_t max_hold;
    /** Makes the lock re-entrant: each acquire of an owner on one client gets its own grant; the owner's grants have
     * one fence and are lost together. Range: 1 to 1024 bytes. Default: none. While an owner holds a lock, it gets a
     * further grant with the same fence for each acquire of the same name and kind on this client, at once and without
     * a request. The release of the last grant releases the lock. Settings and lease are those of the first acquire.
     * The owner of a writer may acquire the reader. If the owner of a reader acquires the writer, the acquire returns
     * `UPGRADE`. While an acquire of an owner waits, another one returns `BUSY`. */
    const char *owner;
    /** ZooKeeper and `memory:`: turns off `fair`: whether waiters get the lock in order; `no` makes one node and no
     * queue. All waiters wake at a release, and the first one gets the lock. Its name is the node's name. */
    bool unfair;
    /** Zero. */
    uint8_t reserved_end[7];
    /** Redis (`memory:` checks and ignores it): the client ends a grant this much, plus 1 % of the lease, before the
     * lease ends. Range: more than 0, to a third of the lease. Default: 2 ms. In milliseconds. */
    int64_t margin;
    /** Redis (`memory:` checks and ignores it): the longest mean time between two requests of a waiter; each time is
     * random, from half to one and a half of the mean. Range: more than 0, to 365 days. Default: 100 ms. In
     * milliseconds. */
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

#endif
