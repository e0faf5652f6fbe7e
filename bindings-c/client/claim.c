/* Claims. A claim is a contender that may also get a result instead of a grant, and that can also be completed or left.
 */
#include <stdlib.h>

#include "internal.h"

/* The arguments of a claim. */
struct claim_request {
    fencepost_idempotency *of;
    const char *key;
    int64_t acquire_timeout;
};

/* Opens a contender and begins the claim. The caller holds the mutex. */
static fencepost_result open_claim(fencepost_lock *lock, const void *what, fencepost_grant **claim) {
    const struct claim_request *request = what;
    size_t size = strlen(request->key) + 1;
    struct claimed *claimed = malloc(sizeof *claimed + size);
    fencepost_result result;

    if (claimed == NULL)
        return fault(FENCEPOST_RESULT_OUT_OF_MEMORY, NULL);
    result = check_acquire_timeout(request->acquire_timeout, "a claim with 0 does not wait");
    if (result != FENCEPOST_RESULT_OK ||
        (result = contender_open(lock, request->acquire_timeout, claim)) != FENCEPOST_RESULT_OK) {
        free(claimed);
        return result;
    }
    claimed->of = idempotency_ref(request->of);
    claimed->result = NULL;
    memcpy(claimed->key, request->key, size);
    (*claim)->claimed = claimed;
    return FENCEPOST_RESULT_OK;
}

/* Converts a timeout in milliseconds. With zero, the claim does not wait for another attempt. */
static int64_t claim_timeout(int64_t timeout) {
    return timeout == 0 ? TRY : acquire_timeout_of(timeout);
}

static fencepost_result require(fencepost_idempotency *of, const char *key) {
    return of == NULL || key == NULL ? fault(FENCEPOST_RESULT_NULL_POINTER, NULL) : FENCEPOST_RESULT_OK;
}

/* Claims with these settings, and frees them. */
static fencepost_result
run(fencepost_idempotency *of, const char *key, fencepost_settings *settings, int64_t timeout,
    fencepost_grant **claim) {
    struct claim_request request = {of, key, claim_timeout(timeout)};
    fencepost_lock lock = {.client = of->client, .settings = settings};
    fencepost_result result = client_enter(lock.client);

    if (result == FENCEPOST_RESULT_OK) {
        result = acquire_opened(&lock, open_claim, &request, claim);
        client_leave(lock.client);
    }
    fencepost_settings_free(settings);
    return result;
}

static fencepost_result start(
    fencepost_idempotency *of, const char *key, fencepost_settings *settings, int64_t timeout,
    fencepost_attempt **attempt) {
    struct claim_request request = {of, key, claim_timeout(timeout)};
    fencepost_lock lock = {.client = of->client, .settings = settings};
    struct pending *started;
    fencepost_result result = FENCEPOST_RESULT_NULL_POINTER;

    if (attempt == NULL)
        fault(result, NULL);
    else if ((result = pending_start(&lock, open_claim, &request, &started)) == FENCEPOST_RESULT_OK)
        *attempt = (fencepost_attempt *)started;
    fencepost_settings_free(settings);
    return result;
}

/* ---- with a key ---- */

static fencepost_result claim_settings(
    fencepost_idempotency *of, const char *key, const void *fingerprint, size_t fingerprint_size,
    fencepost_settings **settings) {
    fencepost_view name = view_of(key);
    fencepost_result result = require(of, key);

    if (result != FENCEPOST_RESULT_OK)
        return result;
    return fencepost_scope_claim(of->scope, name.data, name.size, fingerprint, fingerprint_size, settings);
}

fencepost_result fencepost_claim(
    fencepost_idempotency *idempotency, const char *key, const void *fingerprint, size_t fingerprint_size,
    int64_t timeout, fencepost_grant **claim) {
    fencepost_settings *settings;
    fencepost_result result = claim_settings(idempotency, key, fingerprint, fingerprint_size, &settings);

    return result == FENCEPOST_RESULT_OK ? run(idempotency, key, settings, timeout, claim) : result;
}

fencepost_result fencepost_claim_start(
    fencepost_idempotency *idempotency, const char *key, const void *fingerprint, size_t fingerprint_size,
    int64_t timeout, fencepost_attempt **attempt) {
    fencepost_settings *settings;
    fencepost_result result = claim_settings(idempotency, key, fingerprint, fingerprint_size, &settings);

    return result == FENCEPOST_RESULT_OK ? start(idempotency, key, settings, timeout, attempt) : result;
}

/* ---- with a token ---- */

static fencepost_result consume_settings(
    fencepost_idempotency *of, const char *token, const void *binding, size_t binding_size, const void *fingerprint,
    size_t fingerprint_size, fencepost_settings **settings) {
    fencepost_view name = view_of(token);
    fencepost_result result = require(of, token);

    if (result != FENCEPOST_RESULT_OK)
        return result;
    return fencepost_scope_consume(
        of->scope, name.data, name.size, binding, binding_size, fingerprint, fingerprint_size, settings);
}

fencepost_result fencepost_consume(
    fencepost_idempotency *idempotency, const char *token, const void *binding, size_t binding_size,
    const void *fingerprint, size_t fingerprint_size, int64_t timeout, fencepost_grant **claim) {
    fencepost_settings *settings;
    fencepost_result result =
        consume_settings(idempotency, token, binding, binding_size, fingerprint, fingerprint_size, &settings);

    return result == FENCEPOST_RESULT_OK ? run(idempotency, token, settings, timeout, claim) : result;
}

fencepost_result fencepost_consume_start(
    fencepost_idempotency *idempotency, const char *token, const void *binding, size_t binding_size,
    const void *fingerprint, size_t fingerprint_size, int64_t timeout, fencepost_attempt **attempt) {
    fencepost_settings *settings;
    fencepost_result result =
        consume_settings(idempotency, token, binding, binding_size, fingerprint, fingerprint_size, &settings);

    return result == FENCEPOST_RESULT_OK ? start(idempotency, token, settings, timeout, attempt) : result;
}

/* ---- getters of a claim ---- */

uint64_t fencepost_claim_fence(const fencepost_grant *claim) {
    return fencepost_grant_fence(claim);
}

uint64_t fencepost_claim_takeovers(const fencepost_grant *claim) {
    /* The number never changes, so the mutex is not necessary. */
    return claim == NULL ? 0 : claim->takeovers;
}

fencepost_result fencepost_claim_result(const fencepost_grant *claim, const void **bytes, size_t *size) {
    fencepost_result result = FENCEPOST_RESULT_OK;

    if (claim == NULL || bytes == NULL || size == NULL)
        return fault(FENCEPOST_RESULT_NULL_POINTER, NULL);
    if (!grant_observe(claim))
        return fault(FENCEPOST_RESULT_WRONG_PROCESS, NULL);
    if (claim->record != NULL) {
        *bytes = claim->record->result.data;
        *size = claim->record->result.size;
    } else {
        result = fault(FENCEPOST_RESULT_NOT_HELD, "this claim has no result: it was not completed");
    }
    client_unlock(claim->client);
    return result;
}

const char *fencepost_claim_tag(const fencepost_grant *claim) {
    const char *tag;

    if (!grant_observe(claim))
        return NULL;
    tag = claim->record == NULL ? NULL : (const char *)claim->record->tag.data;
    client_unlock(claim->client);
    return tag;
}

bool fencepost_claim_is_replayed(const fencepost_grant *claim) {
    bool replayed;

    if (!grant_observe(claim))
        return false;
    replayed = claim->stage == OVER && claim->result == FENCEPOST_RESULT_REPLAYED;
    client_unlock(claim->client);
    return replayed;
}

fencepost_result
fencepost_claim_derive(const fencepost_grant *claim, const char *step, char derived[FENCEPOST_DERIVED_SIZE]) {
    fencepost_view key, name;

    if (claim == NULL || step == NULL)
        return fault(FENCEPOST_RESULT_NULL_POINTER, NULL);
    if (claim->claimed == NULL)
        return fault(FENCEPOST_RESULT_NOT_A_CLAIM, NULL);
    key = view_of(claim->claimed->key);
    name = view_of(step);
    return fencepost_scope_derive(claim->claimed->of->scope, key.data, key.size, name.data, name.size, derived);
}

/* ---- complete ---- */

static fencepost_result complete_start(fencepost_grant *claim, const void *content) {
    return claim_end(claim, COMPLETE, content);
}

static fencepost_result complete_finish(fencepost_grant *claim, bool waited) {
    return claim_ended(claim, COMPLETE, waited);
}

static const struct operation complete = {
    complete_start, complete_finish, contender_ended, FENCEPOST_NEVER, FENCEPOST_RESULT_PENDING};

fencepost_result fencepost_complete(fencepost_grant *claim, const void *bytes, size_t size) {
    return fencepost_complete_with(claim, NULL, bytes, size);
}

fencepost_result fencepost_complete_with(fencepost_grant *claim, const char *tag, const void *bytes, size_t size) {
    struct content content = {tag, bytes, size};

    return operation_run(claim, &complete, &content);
}

fencepost_result fencepost_complete_start(fencepost_grant *claim, const char *tag, const void *bytes, size_t size) {
    struct content content = {tag, bytes, size};

    return operation_start(claim, &complete, &content);
}

fencepost_result fencepost_complete_finish(fencepost_grant *claim) {
    return operation_finish(claim, &complete);
}

/* ---- leave ---- */

static fencepost_result leave_start(fencepost_grant *claim, const void *nothing) {
    return claim_end(claim, LEAVE, nothing);
}

static fencepost_result leave_finish(fencepost_grant *claim, bool waited) {
    return claim_ended(claim, LEAVE, waited);
}

static const struct operation leave = {
    leave_start, leave_finish, contender_ended, RELEASE_LIMIT, FENCEPOST_RESULT_RELEASE_UNCONFIRMED};

fencepost_result fencepost_leave(fencepost_grant *claim) {
    return operation_run(claim, &leave, NULL);
}

fencepost_result fencepost_leave_start(fencepost_grant *claim) {
    return operation_start(claim, &leave, NULL);
}

fencepost_result fencepost_leave_finish(fencepost_grant *claim) {
    return operation_finish(claim, &leave);
}
