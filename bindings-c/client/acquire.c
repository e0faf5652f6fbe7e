/* Acquires, in one call or step by step. */
#include <inttypes.h>

#include "internal.h"

struct fencepost_attempt {
    struct pending begun;
};

/* Converts a timeout in milliseconds to an acquire timeout of the hub. Zero and negative timeouts stay unchanged,
 * because the error text contains them. */
int64_t acquire_timeout_of(int64_t timeout) {
    if (timeout == FENCEPOST_FOREVER)
        return FENCEPOST_FOREVER;
    if (timeout <= 0)
        return timeout == TRY ? TRY + 1 : timeout;
    return timeout > INT64_MAX / 1000 - 1 ? INT64_MAX - 1 : timeout * 1000;
}

/* Returns the result of an acquire, with its grant. The caller holds the mutex. */
static fencepost_result decided(fencepost_grant *contender, fencepost_grant **grant) {
    if (contender->stage == ASKING)
        return FENCEPOST_RESULT_PENDING;
    if (contender->stage == OVER && contender->result != FENCEPOST_RESULT_REPLAYED)
        return contender_fault(contender);
    contender->taken = true;
    *grant = contender;
    return contender->result;
}

static bool is_handed_over(fencepost_result result) {
    return result == FENCEPOST_RESULT_OK || result == FENCEPOST_RESULT_REPLAYED;
}

/* Begins an acquire, waits, and returns the grant, and locks the mutex only once. So an uncontended acquire wakes no
 * other thread. */
fencepost_result acquire_opened(fencepost_lock *lock, opening *open, const void *what, fencepost_grant **grant) {
    fencepost_client *client = lock->client;
    fencepost_grant *contender;
    fencepost_result result;

    if (grant == NULL)
        return fault(FENCEPOST_RESULT_NULL_POINTER, NULL);
    if ((result = client_may_block(client)) != FENCEPOST_RESULT_OK)
        return result;
    if ((result = open(lock, what, &contender)) != FENCEPOST_RESULT_OK)
        return result;
    contender_wait(contender, contender_decided, FENCEPOST_NEVER);
    result = decided(contender, grant);
    if (!is_handed_over(result))
        contender_forget(contender);
    return result;
}

/* Refuses an acquire timeout that is not positive. `otherwise` names the function that acquires without waiting. */
fencepost_result check_acquire_timeout(int64_t acquire_timeout, const char *otherwise) {
    if (acquire_timeout > 0 || acquire_timeout == TRY)
        return FENCEPOST_RESULT_OK;
    return fault(
        FENCEPOST_RESULT_NOT_POSITIVE, "timeout is %" PRId64 " ms: give a positive duration; %s", acquire_timeout,
        otherwise);
}

static fencepost_result open_contender(fencepost_lock *lock, const void *what, fencepost_grant **contender) {
    int64_t acquire_timeout = *(const int64_t *)what;
    fencepost_result result = check_acquire_timeout(acquire_timeout, "to ask without waiting, use a try");

    return result == FENCEPOST_RESULT_OK ? contender_open(lock, acquire_timeout, contender) : result;
}

static fencepost_result acquire(fencepost_lock *lock, int64_t acquire_timeout, fencepost_grant **grant) {
    return acquire_opened(lock, open_contender, &acquire_timeout, grant);
}

static fencepost_result acquire_lock(fencepost_lock *lock, int64_t acquire_timeout, fencepost_grant **grant) {
    fencepost_result result = client_enter(lock == NULL ? NULL : lock->client);
    fencepost_client *client;

    if (result != FENCEPOST_RESULT_OK)
        return result;
    client = lock->client;
    result = acquire(lock, acquire_timeout, grant);
    client_leave(client);
    return result;
}

fencepost_result fencepost_lock_acquire(fencepost_lock *lock, int64_t timeout, fencepost_grant **grant) {
    return acquire_lock(lock, acquire_timeout_of(timeout), grant);
}

fencepost_result fencepost_lock_try_acquire(fencepost_lock *lock, fencepost_grant **grant) {
    return acquire_lock(lock, TRY, grant);
}

static fencepost_result acquire_name(
    fencepost_client *client, const char *name, const fencepost_options *options, int64_t acquire_timeout,
    fencepost_grant **grant) {
    fencepost_result result = client_enter(client);
    fencepost_lock *lock;

    if (result != FENCEPOST_RESULT_OK)
        return result;
    result = lock_new(client, name, options, &lock);
    if (result == FENCEPOST_RESULT_OK) {
        result = acquire(lock, acquire_timeout, grant);
        fencepost_lock_free(lock);
    }
    client_leave(client);
    return result;
}

fencepost_result
fencepost_acquire(fencepost_client *client, const char *name, int64_t timeout, fencepost_grant **grant) {
    return acquire_name(client, name, NULL, acquire_timeout_of(timeout), grant);
}

fencepost_result fencepost_try_acquire(fencepost_client *client, const char *name, fencepost_grant **grant) {
    return acquire_name(client, name, NULL, TRY, grant);
}

fencepost_result fencepost_acquire_with(
    fencepost_client *client, const char *name, const fencepost_options *options, int64_t timeout,
    fencepost_grant **grant) {
    return acquire_name(client, name, options, acquire_timeout_of(timeout), grant);
}

fencepost_result fencepost_try_acquire_with(
    fencepost_client *client, const char *name, const fencepost_options *options, fencepost_grant **grant) {
    return acquire_name(client, name, options, TRY, grant);
}

static fencepost_result start(fencepost_lock *lock, int64_t acquire_timeout, fencepost_attempt **attempt) {
    struct pending *started;
    fencepost_result result;

    if (attempt == NULL)
        return fault(FENCEPOST_RESULT_NULL_POINTER, NULL);
    if ((result = pending_start(lock, open_contender, &acquire_timeout, &started)) == FENCEPOST_RESULT_OK)
        *attempt = (fencepost_attempt *)started;
    return result;
}

fencepost_result fencepost_lock_acquire_start(fencepost_lock *lock, int64_t timeout, fencepost_attempt **attempt) {
    return start(lock, acquire_timeout_of(timeout), attempt);
}

fencepost_result fencepost_lock_try_acquire_start(fencepost_lock *lock, fencepost_attempt **attempt) {
    return start(lock, TRY, attempt);
}

/* Whether there is a result, or another thread that waited for the same attempt has taken its grant (and may have freed
 * it). */
static bool attempt_decided(const void *subject) {
    const fencepost_grant *contender = ((const fencepost_attempt *)subject)->begun.contender;

    return contender == NULL || contender_decided(contender);
}

/* Returns the grant of an attempt to the first caller. The caller holds the mutex. */
static fencepost_result take(fencepost_attempt *attempt, fencepost_grant **grant) {
    fencepost_result result;

    if (attempt->begun.contender == NULL)
        return fault(FENCEPOST_RESULT_NOT_WAITING, "the grant of this attempt has been taken already");
    result = decided(attempt->begun.contender, grant);
    if (is_handed_over(result)) {
        deadlines_forget(attempt->begun.contender);
        attempt->begun.contender = NULL;
        client_taken((*grant)->client, &(*grant)->waiters);
    }
    return result;
}

/* The caller holds the mutex. */
static void wait_for(fencepost_attempt *attempt) {
    fencepost_grant *contender = attempt->begun.contender;

    if (contender != NULL)
        client_wait(attempt->begun.client, &contender->waiters, attempt_decided, attempt, FENCEPOST_NEVER);
}

static fencepost_result finish(fencepost_attempt *attempt, bool wait, fencepost_grant **grant) {
    fencepost_client *client = attempt == NULL ? NULL : attempt->begun.client;
    fencepost_result result = client_enter(client);

    if (result != FENCEPOST_RESULT_OK)
        return result;
    if (grant == NULL) {
        result = fault(FENCEPOST_RESULT_NULL_POINTER, NULL);
    } else if (!wait || (result = client_may_block(client)) == FENCEPOST_RESULT_OK) {
        if (wait)
            wait_for(attempt);
        result = take(attempt, grant);
    }
    client_leave(client);
    return result;
}

fencepost_result fencepost_attempt_finish(fencepost_attempt *attempt, fencepost_grant **grant) {
    return finish(attempt, false, grant);
}

fencepost_result fencepost_attempt_wait(fencepost_attempt *attempt, fencepost_grant **grant) {
    return finish(attempt, true, grant);
}

int64_t fencepost_attempt_ahead(const fencepost_attempt *attempt) {
    int64_t ahead = -1;

    if (attempt == NULL || !IS_OURS(attempt->begun.client))
        return ahead;
    client_lock(attempt->begun.client);
    if (attempt->begun.contender != NULL)
        ahead = attempt->begun.contender->ahead;
    client_unlock(attempt->begun.client);
    return ahead;
}

fencepost_result fencepost_attempt_cancel(fencepost_attempt *attempt) {
    fencepost_client *client = attempt == NULL ? NULL : attempt->begun.client;
    fencepost_result result = client_enter(client);

    if (result != FENCEPOST_RESULT_OK)
        return result;
    client->moved = true;
    if (attempt->begun.contender == NULL || attempt->begun.contender->stage != ASKING)
        result = fault(FENCEPOST_RESULT_NOT_WAITING, NULL);
    else
        result = fencepost_hub_cancel(client->hub, fencepost_now(), attempt->begun.contender->key);
    client_leave(client);
    return result;
}

void fencepost_attempt_free(fencepost_attempt *attempt) {
    pending_free((struct pending *)attempt);
}
