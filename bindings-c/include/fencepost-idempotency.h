/**
 * @file fencepost-idempotency.h
 * Idempotent operations: an operation is run once, and its result is replayed. A part of fencepost-client.h, whose
 * conventions hold here.
 *
 * @code
 * fencepost_idempotency *payments;
 * fencepost_grant *claim;
 * if (fencepost_idempotency_open(client, "payments", NULL, &payments) != FENCEPOST_OK) { puts(fencepost_detail()); ...
 * } r = fencepost_claim(payments, "order-17", print, print_size, 0, &claim); if (r == FENCEPOST_OK) { charge(); r =
 * fencepost_complete(claim, bytes, size);   // or fencepost_release: nothing has happened; or fencepost_leave
 * }
 * if (r == FENCEPOST_REPLAYED)
 *     fencepost_claim_result(claim, &result, &result_size);
 * @endcode
 *
 * - **A claim is a grant** with two more ends. It is a `fencepost_grant`, and what fencepost-client.h says of grants
 * holds: fence, validity, loss, extend, and that `fencepost_grant_free` frees it. On Redis the client renews its lease
 * until it ends. On ZooKeeper it lasts as long as the session.
 * - **Three ends.** `fencepost_complete`: the operation has this result. `fencepost_release`: nothing has happened, so
 * the operation may be claimed anew. `fencepost_leave`: the outcome is unknown, and `on_lease_end` decides what
 * follows. A claim that is freed, or whose client is closed, before one of them is left.
 * - **After a loss** a claim may still be ended. The server stores its result unless another attempt has claimed the
 * operation meanwhile. A claim whose end has succeeded is not lost any more.
 * - **The server may lose records**, for example when a replica takes over: then an operation may run again.
 */
#ifndef FENCEPOST_IDEMPOTENCY_H
#define FENCEPOST_IDEMPOTENCY_H

#include "fencepost-client.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Idempotent operations of one scope. It sends nothing, and may be shared. */
typedef struct fencepost_idempotency fencepost_idempotency;
/** A single step that has not ended yet. */
typedef struct fencepost_step fencepost_step;

/* ---- scopes
 * --------------------------------------------------------------------------------------------------------------------
 */

/** The options of a scope's operations. What is zero has its default. Times are in milliseconds. Written with
 * `FENCEPOST_IDEMPOTENCY_OPTIONS`. */
typedef struct fencepost_idempotency_options {
    /** `sizeof(fencepost_idempotency_options)`: later versions have more of them. */
    size_t size;
    /** Redis (so are `margin`, `poll` and `without_renewal`; `memory:` checks and ignores them): how long a claim lasts
     * without a renewal. Range: 5 ms and three times `margin`, to 365 days. Default: 30 s. */
    int64_t lease;
    /** How long the server keeps a record after it was last written: within this time a repeated operation gets its
     * first result. Range: more than 0, to 365 days. Default: 24 h. */
    int64_t retention;
    /** How much earlier than the lease a claim ends, besides 1 % for clock drift. Range: more than 0, to a third of
     * `lease`. Default: 2 ms. */
    int64_t margin;
    /** The longest time between two requests of a claim that waits. Range: more than 0, to 365 days. Default: 100 ms.
     */
    int64_t poll;
    /** How long a request waits for an answer of the server before the client repeats it, and how long a single step
     * and a claim that does not wait may take. Range: more than 0, to 365 days. Default: 5 s. */
    int64_t answer_within;
    /** What a claim gets that finds the lease of an earlier attempt over: the operation, which may then run twice;
     * `IN_PROGRESS`; or `INDETERMINATE`. The first claim of an operation decides. Default: `FENCEPOST_POLICY_RETAKE`.
     */
    fencepost_policy on_lease_end;
    /** Turns off `renew`: whether the client renews the lease after each third of it, until the claim ends. */
    bool without_renewal;
    /** Zero, as all that is reserved: what is not is refused, as an option of a later version. */
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
 * The operations of a scope: whose keys these are, such as the kind of operation and the tenant. `options` may be NULL.
 * Errors: `INVALID_OPTION`, `NOT_POSITIVE`, `TOO_LONG`, `LEASE_TOO_SHORT`; `UNKNOWN_OPTION` for one that the
 * server does not have; `BAD_ARGUMENT` for options without their size; `CLIENT_CLOSED`; `WRONG_PROCESS`.
 */
fencepost_result fencepost_idempotency_open(
    fencepost_client *client, const char *scope, const fencepost_idempotency_options *options,
    fencepost_idempotency **idempotency);

/** Frees it; claims stay. NULL is ignored. */
void fencepost_idempotency_free(fencepost_idempotency *idempotency);

/* ---- claims
 * --------------------------------------------------------------------------------------------------------------------
 */

/**
 * Claims the operation `key`. `fingerprint` is a digest of what the operation is asked to do, at most 1024 bytes: the
 * same key with another one is `MISMATCH`. While another attempt runs the operation, it waits at most `timeout`
 * milliseconds, or `FENCEPOST_FOREVER`; with 0 it does not wait.
 *
 * Answers success: run the operation, and end the claim. `REPLAYED`: the operation has a result, which `claim` has
 * (`fencepost_claim_result`), so there is nothing to run. In both cases the caller frees `claim`.
 *
 * Errors: `IN_PROGRESS`, and `fencepost_retry_after` says when to try again; `MISMATCH`; `INDETERMINATE`;
 * `CORRUPT_RECORD`; `NOT_POSITIVE` for a negative timeout; `INVALID_OPTION` for a key that is empty, longer than 1024
 * bytes or has control characters; otherwise as for `fencepost_lock_acquire`.
 */
fencepost_result fencepost_claim(
    fencepost_idempotency *idempotency, const char *key, const void *fingerprint, size_t fingerprint_size,
    int64_t timeout, fencepost_grant **claim);

/** Begins to. `fencepost_attempt_finish` and `fencepost_attempt_wait` answer as above, and hand the claim over for
 * `REPLAYED`, too. A claim that the program has not taken is released. */
fencepost_result fencepost_claim_start(
    fencepost_idempotency *idempotency, const char *key, const void *fingerprint, size_t fingerprint_size,
    int64_t timeout, fencepost_attempt **attempt);

/** Claims with a token that was issued: see `fencepost_issue`. `binding` is that of the issue. Errors: also
 * `UNKNOWN_TOKEN` if it was never issued, or has expired. */
fencepost_result fencepost_consume(
    fencepost_idempotency *idempotency, const char *token, const void *binding, size_t binding_size,
    const void *fingerprint, size_t fingerprint_size, int64_t timeout, fencepost_grant **claim);

/** Begins to, as `fencepost_claim_start`. */
fencepost_result fencepost_consume_start(
    fencepost_idempotency *idempotency, const char *token, const void *binding, size_t binding_size,
    const void *fingerprint, size_t fingerprint_size, int64_t timeout, fencepost_attempt **attempt);

/** After a claim or an acquire of this thread was refused because somebody else has it: for how many milliseconds that
 * lease still lasts; -1 if the server has not said. Ask straight after the refusal. */
int64_t fencepost_retry_after(void);

/** The number of the claim, which only grows: see `fencepost_grant_fence`. 0 for NULL, and if it was replayed. */
uint64_t fencepost_claim_fence(const fencepost_grant *claim);

/** How often the operation had been taken over before this claim: it may have run that often. 0 for NULL. */
uint64_t fencepost_claim_takeovers(const fencepost_grant *claim);

/** Whether the result is that of another attempt: the claim, or its completion, was `REPLAYED`. */
bool fencepost_claim_is_replayed(const fencepost_grant *claim);

/** The result of a claim that was replayed or completed. A NUL byte follows it. Valid as long as the claim. Errors:
 * `NOT_HELD` if there is none; `WRONG_PROCESS`. */
fencepost_result fencepost_claim_result(const fencepost_grant *claim, const void **bytes, size_t *size);

/** The result's tag; NULL if there is no result. Valid as long as the claim. */
const char *fencepost_claim_tag(const fencepost_grant *claim);

/** Writes a key for one step of the operation at another service, such as a payment provider: 32 hexadecimal digits and
 * a NUL byte, the same for all attempts and in all languages. So a step that an earlier attempt has taken is not taken
 * again, if that service is idempotent, too. Errors: `NOT_A_CLAIM`. */
fencepost_result
fencepost_claim_derive(const fencepost_grant *claim, const char *step, char derived[FENCEPOST_DERIVED_SIZE]);

/* ---- the ends of a claim
 * -------------------------------------------------------------------------------------------------------
 */

/**
 * The operation has this result, any bytes, at most 1000000; waits until the server has answered, one lease at most.
 * Answers success; `REPLAYED` if another attempt has stored a result, which the claim has from then on. Errors: 3xx if
 * the server refused, and the claim goes on; 4xx if the claim is lost: `SUPERSEDED` if another attempt has claimed the
 * operation, `LEASE_ENDED` if the server has not answered, and a repeated call asks it again; `NOT_HELD` if the claim
 * has ended before; `INVALID_OPTION` for a longer result; `NOT_A_CLAIM`; `WOULD_BLOCK`.
 */
fencepost_result fencepost_complete(fencepost_grant *claim, const void *bytes, size_t size);

/** The same with a tag, a text of at most 255 bytes that says what the result is; NULL: none. */
fencepost_result fencepost_complete_with(fencepost_grant *claim, const char *tag, const void *bytes, size_t size);

/** Begins to. */
fencepost_result fencepost_complete_start(fencepost_grant *claim, const char *tag, const void *bytes, size_t size);

/** What has become of it: `PENDING`, success, `REPLAYED`, or an error as above. */
fencepost_result fencepost_complete_finish(fencepost_grant *claim);

/** The outcome is unknown: the claim's lease ends now, and `on_lease_end` decides what follows. Waits, and errors, as
 * for `fencepost_release`. A refused end of a claim, also a release, leaves the claim as it was. */
fencepost_result fencepost_leave(fencepost_grant *claim);

/** Begins to. */
fencepost_result fencepost_leave_start(fencepost_grant *claim);

/** What has become of it: `PENDING`, success, or an error as above. */
fencepost_result fencepost_leave_finish(fencepost_grant *claim);

/* ---- single steps
 * --------------------------------------------------------------------------------------------------------------
 */

/* Each of them is one request, which may be repeated without harm. Errors of all: 3xx, `INVALID_OPTION`,
 * `CLIENT_CLOSED`, `WRONG_PROCESS`, `WOULD_BLOCK`. A `record` that is handed over is the caller's to free; its texts
 * and bytes have a NUL byte behind them. Who needs none passes NULL. */

/** Frees a record. NULL is ignored. */
void fencepost_record_free(fencepost_record *record);

/** Makes a token, which a claim may consume once, within `life` milliseconds; 0: ten minutes. Take at least 128 random
 * bits for it. `binding` says to whom and for what it is issued, at most 1024 bytes. Errors: `MISMATCH` if it exists.
 */
fencepost_result fencepost_issue(
    fencepost_idempotency *idempotency, const char *token, const void *binding, size_t binding_size, int64_t life);

/** Claims and completes at once: a business number, whose result is known before. With a `binding` that is not NULL,
 * burns a token that was issued. Answers success, or `REPLAYED` with the stored record. Errors: those of a claim. */
fencepost_result fencepost_register(
    fencepost_idempotency *idempotency, const char *key, const void *binding, size_t binding_size,
    const void *fingerprint, size_t fingerprint_size, const char *tag, const void *bytes, size_t size,
    fencepost_record **record);

/** Replaces the value at `key` if it has this `version`; 0: if there is none. `operation` identifies the update: its
 * repetition is not applied again. Answers success with the new version in the record, or `REPLAYED` with the record of
 * the first time. Errors: `CONFLICT` with the present value, or with NULL if there is none; `MISMATCH`. */
fencepost_result fencepost_update(
    fencepost_idempotency *idempotency, const char *key, const char *operation, uint64_t version,
    const void *fingerprint, size_t fingerprint_size, const char *tag, const void *bytes, size_t size,
    fencepost_record **record);

/** Reads the record of an operation, or a value: NULL if there is none. */
fencepost_result fencepost_look(fencepost_idempotency *idempotency, const char *key, fencepost_record **record);

/** For operators: gives an operation a result. `guard` is that of the record that the operator has seen. Errors:
 * `RECORD_CHANGED` if it is another one now. */
fencepost_result fencepost_settle(
    fencepost_idempotency *idempotency, const char *key, uint64_t guard, const char *tag, const void *bytes,
    size_t size);

/** For operators: deletes a record, so that the operation may run again. `guard` and errors as above. */
fencepost_result fencepost_forget(fencepost_idempotency *idempotency, const char *key, uint64_t guard);

/** Deletes what no request of this scope would miss: records that were released or forgotten or are past their
 * retention, and tokens past their life. `deleted`, which may be NULL, says how many. On ZooKeeper nothing else deletes
 * them: run it once a day, in one process or in many. On Redis the server expires them by itself, and this says 0. */
fencepost_result fencepost_sweep(fencepost_idempotency *idempotency, uint64_t *deleted);

/** Begins to issue. */
fencepost_result fencepost_issue_start(
    fencepost_idempotency *idempotency, const char *token, const void *binding, size_t binding_size, int64_t life,
    fencepost_step **step);

/** Begins to register. */
fencepost_result fencepost_register_start(
    fencepost_idempotency *idempotency, const char *key, const void *binding, size_t binding_size,
    const void *fingerprint, size_t fingerprint_size, const char *tag, const void *bytes, size_t size,
    fencepost_step **step);

/** Begins to update. */
fencepost_result fencepost_update_start(
    fencepost_idempotency *idempotency, const char *key, const char *operation, uint64_t version,
    const void *fingerprint, size_t fingerprint_size, const char *tag, const void *bytes, size_t size,
    fencepost_step **step);

/** Begins to look. */
fencepost_result fencepost_look_start(fencepost_idempotency *idempotency, const char *key, fencepost_step **step);

/** Begins to settle. */
fencepost_result fencepost_settle_start(
    fencepost_idempotency *idempotency, const char *key, uint64_t guard, const char *tag, const void *bytes,
    size_t size, fencepost_step **step);

/** Begins to forget. */
fencepost_result
fencepost_forget_start(fencepost_idempotency *idempotency, const char *key, uint64_t guard, fencepost_step **step);

/** Begins to sweep. */
fencepost_result fencepost_sweep_start(fencepost_idempotency *idempotency, fencepost_step **step);

/** What has become of a sweep: `PENDING`; or its answer. */
fencepost_result fencepost_sweep_finish(fencepost_step *step, uint64_t *deleted);

/** What has become of a step: `PENDING`; or its answer, and its record, once. */
fencepost_result fencepost_step_finish(fencepost_step *step, fencepost_record **record);

/** Frees it, and gives it up if it has not ended: what was asked for may be done or not then. NULL is ignored. */
void fencepost_step_free(fencepost_step *step);

#ifdef __cplusplus
}
#endif

#endif
