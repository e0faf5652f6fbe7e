/**
 * @file fencepost-inspection.h
 * Inspections: list the contenders of a lock, take the lock from one of them, or ask it to release. This is a part of
 * fencepost-client.h, with the same conventions.
 */
#ifndef FENCEPOST_INSPECTION_H
#define FENCEPOST_INSPECTION_H

#include "fencepost-client.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * A contender of a lock, as the client found it on the server. It may have ended since, so do not decide from this
 * whether a contender holds the lock: it is for people and tools. Later versions may add members at the end: use the
 * pointer that `fencepost_contenders_at` returns, and make no arrays of this structure.
 */
typedef struct fencepost_contender {
    /** What names it on the server. ZooKeeper: the path of its node. Redis: the value of the lock's key. */
    const char *node;
    /** ZooKeeper: the text in the node, a host name, for example. */
    const char *identifier;
    /** ZooKeeper: the session that owns the node; otherwise 0. */
    int64_t session;
    /** ZooKeeper: since when it has been in the directory: ms since 1970, by the server's clock; otherwise -1. */
    int64_t since;
    /** Redis: how long its lease still runs if it does not renew it, in ms; -1 if it has no end, and on ZooKeeper. */
    int64_t expires_in;
    /** The fence of its grant, or the fence that it would get. Redis: 0 for a holder of another library. */
    uint64_t fence;
    /** Whether it held the lock when the server listed the directory. */
    bool holds;
    /** Whether it is a reader, which shares the lock with other readers. */
    bool shared;
} fencepost_contender;

/** A list of the contenders of a lock at one moment. */
typedef struct fencepost_contenders fencepost_contenders;
/** An inspection that has begun. */
typedef struct fencepost_inspection fencepost_inspection;

/**
 * Lists the holders and the waiters of a lock, in no particular order. Redis stores no waiters, so there the list is
 * the holder. The call waits for the server for at most `answer_within`; the default is five seconds. Any lock of the
 * same name, kind and layout may be used. The caller frees the list with `fencepost_contenders_free`. Errors:
 * `UNKNOWN_OPTION` for a multi-lock, which cannot be inspected; 3xx; `CLIENT_CLOSED`; `WRONG_PROCESS`; `WOULD_BLOCK`.
 */
fencepost_result fencepost_lock_contenders(fencepost_lock *lock, fencepost_contenders **contenders);

/** Returns the number of contenders in the list; 0 for NULL. */
size_t fencepost_contenders_count(const fencepost_contenders *contenders);

/** Returns a contender of the list; the first index is 0. NULL beyond the last. It is valid as long as the list. */
const fencepost_contender *fencepost_contenders_at(const fencepost_contenders *contenders, size_t index);

/** Frees a list, and ignores NULL. */
void fencepost_contenders_free(fencepost_contenders *contenders);

/**
 * Takes its place from a contender. If it held the lock, its grant is lost. The node and the fence identify the
 * contender, so no later one is affected. Errors: `NO_CONTENDER` if it does not exist any more; otherwise as
 * `fencepost_lock_contenders`.
 */
fencepost_result fencepost_lock_break(fencepost_lock *lock, const fencepost_contender *contender);

/**
 * ZooKeeper: sends a revocation request to a contender: see `fencepost_grant_revoke_requested`. Errors: as
 * `fencepost_lock_break`; `UNKNOWN_OPTION` on Redis, where a holder does not receive requests.
 */
fencepost_result fencepost_lock_revoke(fencepost_lock *lock, const fencepost_contender *contender);

/**
 * Begins `fencepost_lock_contenders`. `fencepost_inspection_finish` returns its result, and `fencepost_inspection_free`
 * frees the inspection.
 */
fencepost_result fencepost_lock_contenders_start(fencepost_lock *lock, fencepost_inspection **inspection);

/** Begins `fencepost_lock_break`. `fencepost_inspection_finish` returns its result. */
fencepost_result fencepost_lock_break_start(
    fencepost_lock *lock, const fencepost_contender *contender, fencepost_inspection **inspection);

/** Begins `fencepost_lock_revoke`. `fencepost_inspection_finish` returns its result. */
fencepost_result fencepost_lock_revoke_start(
    fencepost_lock *lock, const fencepost_contender *contender, fencepost_inspection **inspection);

/**
 * Returns the result of an inspection without waiting: `PENDING`, success, or an error as above. `contenders` may be
 * NULL. The first successful call writes the list, or the one contender that was named; later calls write NULL.
 */
fencepost_result fencepost_inspection_finish(fencepost_inspection *inspection, fencepost_contenders **contenders);

/**
 * Frees an inspection, and ignores NULL. If it has no result, this cancels it; the server may have done what was asked,
 * or not.
 */
void fencepost_inspection_free(fencepost_inspection *inspection);

#ifdef __cplusplus
}
#endif

#endif
