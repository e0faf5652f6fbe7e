/**
 * @file fencepost-idempotency.h
 * Idempotent operations: an operation runs once, and the server stores its result for later claims. This is a part of
 * fencepost-client.h, with the same conventions.
 *
 * @code
 * fencepost_idempotency *payments;
 * fencepost_grant *claim;
 * if (fencepost_idempotency_open(client, "payments", NULL, &payments) != FENCEPOST_OK)
 *     return fencepost_detail();
 * r = fencepost_claim(payments, "order-17", print, print_size, 0, &claim);
 * if (r == FENCEPOST_OK)
 *     r = fencepost_complete(claim, bytes, size); // after the work; or fencepost_release, fencepost_leave
 * if (r == FENCEPOST_OK || r == FENCEPOST_REPLAYED)
 *     fencepost_claim_result(claim, &result, &result_size);
 * @endcode
 *
 * - **A claim is a grant** with two more ends. It is a `fencepost_grant`, and the functions for grants work on it:
 *   fence, validity, loss, extend, and `fencepost_grant_free`. On Redis, the client renews its lease until the claim
 *   ends. On ZooKeeper, the claim lasts as long as the session.
 * - **Three ends.** `fencepost_complete`: the operation has this result. `fencepost_release`: nothing has happened, so
 *   another attempt may claim the operation. `fencepost_leave`: it is unknown whether the operation took effect, and
 *   `on_lease_end` decides what follows. If a claim is freed before it ends, or its client is closed, it is left.
 * - **After a loss**, the program may still end the claim. The server stores its result unless another attempt has
 *   claimed the operation. A claim that has ended with success cannot be lost any more.
 * - **The server may lose records**, for example when a replica takes over. Then an operation may run again.
 */
#ifndef FENCEPOST_IDEMPOTENCY_H
#define FENCEPOST_IDEMPOTENCY_H

#include "fencepost-client.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The idempotent operations of one scope. It sends no requests, and threads may share it. */
typedef struct fencepost_idempotency fencepost_idempotency;
/** A single step that has begun. */
typedef struct fencepost_step fencepost_step;

/* ---- scopes ---- */

/**
 * The options of a scope's operations, written with `FENCEPOST_IDEMPOTENCY_OPTIONS`. A member that is zero has its
 * default. Durations are in milliseconds.
 */
typedef struct fencepost_idempotency_options {
    /** The size of the caller's structure, `sizeof(fencepost_idempotency_options)`. Later versions add members. */
    size_t size;
    /**
     * Redis: how long a claim lasts without a renewal. Range: at least 5 ms and three times `margin`, at most 365 days.
     * Default: 30 s. `margin`, `poll` and `without_renewal` are for Redis, too. `memory:` checks all four and ignores
     * them.
     */
    int64_t lease;
    /** How long the server keeps a record after it was last written: within this time a repeated operation gets its
     * first result. Range: more than 0, to 365 days. Default: 24 h. */
    int64_t retention;
    /**
     * How much earlier than the lease a claim ends, in addition to 1 % for clock drift. Range: more than 0, to a third
     * of `lease`. Default: 2 ms.
     */
    int64_t margin;
    /**
     * The longest mean time between two requests of a waiting claim; each time is random, from half to one and a half
     * of the mean. Range: more than 0, to 365 days. Default: 100 ms.
     */
    int64_t poll;
    /**
     * How long a request waits for the server's answer before the client repeats it. It is also how long a single step,
     * and a claim that does not wait, may take. Range: more than 0, to 365 days. Default: 5 s.
     */
    int64_t answer_within;
    /**
     * The policy: what a claim gets if the lease of an earlier attempt has ended. It is the operation, which may then
     * run twice; `IN_PROGRESS`; or `INDETERMINATE`. The first claim of an operation sets it. Default:
     * `FENCEPOST_POLICY_RETAKE`.
     */
    fencepost_policy on_lease_end;
    /** Turns off `renew`: the client renews the lease after each third of it, until the claim ends. */
    bool without_renewal;
    /** Zero, like all reserved members. A later version may use them, so another value is refused. */
    uint8_t reserved[3];
} fencepost_idempotency_options;

/** Options by their names: `FENCEPOST_IDEMPOTENCY_OPTIONS(.lease = 60000)`. For C++ see `FENCEPOST_OPTIONS`. */
#ifdef __cplusplus
#define FENCEPOST_IDEMPOTENCY_OPTIONS(...)                                                                             \
    (&static_cast<const fencepost_idempotency_options &>(                                                              \
        fencepost_idempotency_options{.size = sizeof(fencepost_idempotency_options), __VA_ARGS__}))
#else
#define FENCEPOST_IDEMPOTENCY_OPTIONS(...)                                                                             \
    (&(fencepost_idempotency_options){.size = sizeof(fencepost_idempotency_options), __VA_ARGS__})
#endif

/**
 * Opens a scope: `scope` says whose keys these are, for example the kind of operation and the tenant. `options` may be
 * NULL. The caller frees it with `fencepost_idempotency_free`. Errors: `INVALID_OPTION`, `NOT_POSITIVE`, `TOO_LONG`,
 * `LEASE_TOO_SHORT`; `UNKNOWN_OPTION` for an option that the server does not have; `BAD_ARGUMENT` if `options->size` is
 * not set; `CLIENT_CLOSED`; `WRONG_PROCESS`.
 */
fencepost_result fencepost_idempotency_open(
    fencepost_client *client, const char *scope, const fencepost_idempotency_options *options,
    fencepost_idempotency **idempotency);

/** Frees a scope, and ignores NULL. Its claims stay. */
void fencepost_idempotency_free(fencepost_idempotency *idempotency);

/* ---- claims ---- */

/**
 * Claims the operation `key`. `fingerprint` is a digest of what the operation is asked to do, at most 1024 bytes. A
 * claim of the same key with another fingerprint returns `MISMATCH`. While another attempt runs the operation, the
 * claim waits for at most `timeout` milliseconds, or `FENCEPOST_FOREVER`; with 0, it does not wait.
 *
 * Returns success: run the operation, and then end the claim. Or `REPLAYED`: the operation has a result, so do not run
 * it; `fencepost_claim_result` returns the result. In both cases the caller frees `claim` with `fencepost_grant_free`.
 *
 * Errors: `IN_PROGRESS`, and `fencepost_retry_after` returns when to try again; `MISMATCH`; `INDETERMINATE`;
 * `CORRUPT_RECORD`; `NOT_POSITIVE` for a negative timeout; `INVALID_OPTION` for a key that is empty, longer than 1024
 * bytes or has control characters; otherwise as `fencepost_lock_acquire`.
 */
fencepost_result fencepost_claim(
    fencepost_idempotency *idempotency, const char *key, const void *fingerprint, size_t fingerprint_size,
    int64_t timeout, fencepost_grant **claim);

/**
 * Begins a claim. `fencepost_attempt_finish` and `fencepost_attempt_wait` return its results. They write the claim also
 * for `REPLAYED`. If the program does not take the claim, the client releases it.
 */
fencepost_result fencepost_claim_start(
    fencepost_idempotency *idempotency, const char *key, const void *fingerprint, size_t fingerprint_size,
    int64_t timeout, fencepost_attempt **attempt);

/**
 * Claims a token that `fencepost_issue` made. `binding` is the binding of the token. Errors: as `fencepost_claim`;
 * `UNKNOWN_TOKEN` if the token was never issued, or has expired.
 */
fencepost_result fencepost_consume(
    fencepost_idempotency *idempotency, const char *token, const void *binding, size_t binding_size,
    const void *fingerprint, size_t fingerprint_size, int64_t timeout, fencepost_grant **claim);

/** Begins to claim a token: see `fencepost_claim_start`. */
fencepost_result fencepost_consume_start(
    fencepost_idempotency *idempotency, const char *token, const void *binding, size_t binding_size,
    const void *fingerprint, size_t fingerprint_size, int64_t timeout, fencepost_attempt **attempt);

/**
 * Returns how many milliseconds the lease of the present holder still lasts, after this thread's last claim or acquire
 * was refused because of it; -1 if the server has not reported it. Call it immediately after the refusal.
 */
int64_t fencepost_retry_after(void);

/** Returns the fence of the claim: see `fencepost_grant_fence`. 0 for NULL, and if the claim was replayed. */
uint64_t fencepost_claim_fence(const fencepost_grant *claim);

/** Returns how many takeovers the operation had before this claim. It may have run that many times. 0 for NULL. */
uint64_t fencepost_claim_takeovers(const fencepost_grant *claim);

/** Returns whether the result is that of another attempt: the claim, or its completion, returned `REPLAYED`. */
bool fencepost_claim_is_replayed(const fencepost_grant *claim);

/**
 * Writes the result of a claim that was replayed or completed. A NUL follows the result, and is not counted in `size`.
 * The result is valid as long as the claim. Errors: `NOT_HELD` if there is no result; `WRONG_PROCESS`.
 */
fencepost_result fencepost_claim_result(const fencepost_grant *claim, const void **bytes, size_t *size);

/** Returns the tag of the result; NULL if there is no result. It is valid as long as the claim. */
const char *fencepost_claim_tag(const fencepost_grant *claim);

/**
 * Writes a key for one step of the operation at another service, such as a payment provider: 32 hexadecimal digits and
 * a NUL. The key is the same for all attempts and in all languages. If that service is idempotent, too, it does not
 * repeat a step that an earlier attempt has taken. Errors: `NOT_A_CLAIM`.
 */
fencepost_result
fencepost_claim_derive(const fencepost_grant *claim, const char *step, char derived[FENCEPOST_DERIVED_SIZE]);

/* ---- the ends of a claim ---- */

/**
 * Completes a claim: the server stores the result of the operation, any bytes, at most 1000000. It waits for the server
 * for at most one lease. Returns success; or `REPLAYED` if another attempt has stored a result, which then is the
 * result of this claim.
 *
 * Errors: 3xx if the server refused, and the claim goes on. 4xx if the claim is lost: `SUPERSEDED` if another attempt
 * has claimed the operation; `LEASE_ENDED` if the server has not answered, and a repeated call asks it again.
 * `NOT_HELD` if the claim has ended before, or if a completion with another result has begun. A call with the same tag
 * and result as a completion in progress waits for that one. `INVALID_OPTION` for a longer result. `NOT_A_CLAIM`.
 * `WOULD_BLOCK`.
 */
fencepost_result fencepost_complete(fencepost_grant *claim, const void *bytes, size_t size);

/** Completes a claim with a tag: a text of at most 255 bytes that says what the result is; NULL for none. */
fencepost_result fencepost_complete_with(fencepost_grant *claim, const char *tag, const void *bytes, size_t size);

/** Begins to complete a claim. */
fencepost_result fencepost_complete_start(fencepost_grant *claim, const char *tag, const void *bytes, size_t size);

/**
 * Returns the result of a completion without waiting: `PENDING`, success, `REPLAYED`, or an error as
 * `fencepost_complete`.
 */
fencepost_result fencepost_complete_finish(fencepost_grant *claim);

/**
 * Leaves a claim: it is unknown whether the operation took effect. The claim's lease ends now, and `on_lease_end`
 * decides what follows. It waits and fails as `fencepost_release` does. If the server refuses to leave, complete or
 * release a claim, the claim is unchanged.
 */
fencepost_result fencepost_leave(fencepost_grant *claim);

/** Begins to leave a claim. */
fencepost_result fencepost_leave_start(fencepost_grant *claim);

/** Returns the result of leaving without waiting: `PENDING`, success, or an error as `fencepost_leave`. */
fencepost_result fencepost_leave_finish(fencepost_grant *claim);

/* ---- single steps ---- */

/* Each single step is one request, and the client may repeat it without harm. Errors of all: 3xx, `INVALID_OPTION`,
 * `CLIENT_CLOSED`, `WRONG_PROCESS`, `WOULD_BLOCK`. The caller frees `*record`. A NUL follows its texts and bytes.
 * `record` may be NULL. */

/** Frees a record, and ignores NULL. */
void fencepost_record_free(fencepost_record *record);

/**
 * Issues a token. A claim may consume it once, within `life` milliseconds; with 0, within ten minutes. `token` should
 * contain at least 128 random bits. `binding` says to whom and for what the token is issued, at most 1024 bytes.
 * Errors: `MISMATCH` if the token exists.
 */
fencepost_result fencepost_issue(
    fencepost_idempotency *idempotency, const char *token, const void *binding, size_t binding_size, int64_t life);

/**
 * Claims and completes an operation at once, in one request: for a result that the program knows beforehand, such as
 * one order for each user. If `binding` is not NULL, `key` is a token that was issued, and this consumes it. Returns
 * success; or `REPLAYED` with the stored record. Errors: those of a claim.
 */
fencepost_result fencepost_register(
    fencepost_idempotency *idempotency, const char *key, const void *binding, size_t binding_size,
    const void *fingerprint, size_t fingerprint_size, const char *tag, const void *bytes, size_t size,
    fencepost_record **record);

/**
 * Replaces the value at `key`, if the value has this `version`; with 0, if there is no value. `operation` identifies
 * the update: a repeated update is not applied again. Returns success, with the new version in the record; or
 * `REPLAYED`, with the record of the first time. Errors: `CONFLICT` with the present value as the record, NULL if there
 * is none; `MISMATCH`.
 */
fencepost_result fencepost_update(
    fencepost_idempotency *idempotency, const char *key, const char *operation, uint64_t version,
    const void *fingerprint, size_t fingerprint_size, const char *tag, const void *bytes, size_t size,
    fencepost_record **record);

/** Reads the record of an operation, or a value. `*record` is NULL if there is none. */
fencepost_result fencepost_look(fencepost_idempotency *idempotency, const char *key, fencepost_record **record);

/**
 * Gives an operation its result, for an operator. `guard` is that of the record that the operator has read. Errors:
 * `RECORD_CHANGED` if the record has changed since.
 */
fencepost_result fencepost_settle(
    fencepost_idempotency *idempotency, const char *key, uint64_t guard, const char *tag, const void *bytes,
    size_t size);

/**
 * Deletes a record, for an operator, so that the operation may run again. `guard` and errors as for `fencepost_settle`.
 */
fencepost_result fencepost_forget(fencepost_idempotency *idempotency, const char *key, uint64_t guard);

/**
 * Deletes the records of this scope that are free or past their retention, and tokens past their life. `deleted`, which
 * may be NULL, gets their number. On ZooKeeper, only a sweep deletes them: run it once a day, in one process or in
 * several. On Redis the server expires records by itself, and the number is 0.
 */
fencepost_result fencepost_sweep(fencepost_idempotency *idempotency, uint64_t *deleted);

/** Begins `fencepost_issue`. `fencepost_step_finish` returns its result, and `fencepost_step_free` frees the step. */
fencepost_result fencepost_issue_start(
    fencepost_idempotency *idempotency, const char *token, const void *binding, size_t binding_size, int64_t life,
    fencepost_step **step);

/** Begins `fencepost_register`. `fencepost_step_finish` returns its result. */
fencepost_result fencepost_register_start(
    fencepost_idempotency *idempotency, const char *key, const void *binding, size_t binding_size,
    const void *fingerprint, size_t fingerprint_size, const char *tag, const void *bytes, size_t size,
    fencepost_step **step);

/** Begins `fencepost_update`. `fencepost_step_finish` returns its result. */
fencepost_result fencepost_update_start(
    fencepost_idempotency *idempotency, const char *key, const char *operation, uint64_t version,
    const void *fingerprint, size_t fingerprint_size, const char *tag, const void *bytes, size_t size,
    fencepost_step **step);

/** Begins `fencepost_look`. `fencepost_step_finish` returns its result. */
fencepost_result fencepost_look_start(fencepost_idempotency *idempotency, const char *key, fencepost_step **step);

/** Begins `fencepost_settle`. `fencepost_step_finish` returns its result. */
fencepost_result fencepost_settle_start(
    fencepost_idempotency *idempotency, const char *key, uint64_t guard, const char *tag, const void *bytes,
    size_t size, fencepost_step **step);

/** Begins `fencepost_forget`. `fencepost_step_finish` returns its result. */
fencepost_result
fencepost_forget_start(fencepost_idempotency *idempotency, const char *key, uint64_t guard, fencepost_step **step);

/** Begins `fencepost_sweep`. `fencepost_sweep_finish` returns its result. */
fencepost_result fencepost_sweep_start(fencepost_idempotency *idempotency, fencepost_step **step);

/** Returns the result of a sweep without waiting: `PENDING`, or the result of `fencepost_sweep`. */
fencepost_result fencepost_sweep_finish(fencepost_step *step, uint64_t *deleted);

/**
 * Returns the result of a step without waiting: `PENDING`, or the result of its call. The first call after the end
 * writes the record.
 */
fencepost_result fencepost_step_finish(fencepost_step *step, fencepost_record **record);

/**
 * Frees a step, and ignores NULL. If the step has no result, this cancels it; the server may have done what was asked,
 * or not.
 */
void fencepost_step_free(fencepost_step *step);

#ifdef __cplusplus
}
#endif

#endif
