/* The calls on a grant that send a request: extend, release, downgrade. claim.c has the calls that only claims have.
 *
 * Each call has three forms. One form blocks. The other two are for a program with an event loop: `_start` begins it,
 * and `_finish` returns `PENDING` until the server has replied. */
#include "internal.h"

static uint64_t deadline(uint64_t limit) {
    return limit == FENCEPOST_NEVER ? FENCEPOST_NEVER : fencepost_now() + limit;
}

/* A call that waits for the reply to its request. */
struct wait {
    fencepost_grant *grant;
    const struct operation *operation;
    uint64_t ends; /* of the claim, when the call has begun */
};

/* Whether the server has replied; or another call has returned the reply, and has begun another end of the claim. */
static bool is_answered(const void *subject) {
    const struct wait *wait = subject;

    return wait->grant->ends != wait->ends || wait->operation->is_finished(wait->grant);
}

static fencepost_result wait_and_finish(fencepost_grant *grant, const struct operation *operation) {
    struct wait wait = {grant, operation, grant->ends};
    fencepost_result result;

    client_wait(grant->client, &grant->waiters, is_answered, &wait, deadline(operation->limit));
    if (grant->ends != wait.ends)
        return fault(
            FENCEPOST_RESULT_NOT_HELD,
            "the server has refused this end of the claim, and another thread has begun another one");
    result = operation->finish(grant, true);
    if (result == FENCEPOST_RESULT_PENDING && operation->late != FENCEPOST_RESULT_PENDING)
        result = fault(operation->late, NULL);
    return result;
}

fencepost_result operation_run(fencepost_grant *grant, const struct operation *operation, const void *what) {
    fencepost_result result = grant_enter(grant);

    if (result != FENCEPOST_RESULT_OK)
        return result;
    if ((result = client_may_block(grant->client)) == FENCEPOST_RESULT_OK &&
        (result = operation->start(grant, what)) == FENCEPOST_RESULT_OK)
        result = wait_and_finish(grant, operation);
    client_leave(grant->client);
    return result;
}

fencepost_result operation_start(fencepost_grant *grant, const struct operation *operation, const void *what) {
    fencepost_result result = grant_enter(grant);

    if (result != FENCEPOST_RESULT_OK)
        return result;
    result = operation->start(grant, what);
    client_leave(grant->client);
    return result;
}

fencepost_result operation_finish(fencepost_grant *grant, const struct operation *operation) {
    fencepost_result result = grant_enter(grant);

    if (result != FENCEPOST_RESULT_OK)
        return result;
    result = operation->finish(grant, false);
    client_unlock(grant->client);
    return result;
}

static fencepost_result require_held(const fencepost_grant *grant) {
    if (grant->lost)
        return contender_fault(grant);
    return contender_is_held(grant) ? FENCEPOST_RESULT_OK : fault(FENCEPOST_RESULT_NOT_HELD, NULL);
}

/* ---- extend ---- */

static fencepost_result extend_start(fencepost_grant *grant, const void *nothing) {
    fencepost_result result = require_held(grant);

    (void)nothing;
    if (result != FENCEPOST_RESULT_OK)
        return result;
    grant->client->moved = true;
    result = fencepost_hub_extend(grant->client->hub, fencepost_now(), grant->key);
    if (result == FENCEPOST_RESULT_OK) {
        grant->stage = EXTENDING;
        grant->extended = true;
    }
    return result;
}

static fencepost_result extend_finish(fencepost_grant *grant, bool waited) {
    fencepost_result result = require_held(grant);

    (void)waited;
    if (result != FENCEPOST_RESULT_OK)
        return result;
    if (!grant->extended)
        return fault(FENCEPOST_RESULT_NOT_HELD, "no extend of this grant has begun: call fencepost_extend_start");
    return grant->stage == EXTENDING ? FENCEPOST_RESULT_PENDING : FENCEPOST_RESULT_OK;
}

static const struct operation extend = {
    extend_start, extend_finish, contender_extended, FENCEPOST_NEVER, FENCEPOST_RESULT_PENDING};

fencepost_result fencepost_extend(fencepost_grant *grant) {
    return operation_run(grant, &extend, NULL);
}

fencepost_result fencepost_extend_start(fencepost_grant *grant) {
    return operation_start(grant, &extend, NULL);
}

fencepost_result fencepost_extend_finish(fencepost_grant *grant) {
    return operation_finish(grant, &extend);
}

/* ---- release ---- */

/* Begins a release, or continues one that has begun. */
static fencepost_result release_start(fencepost_grant *grant, const void *nothing) {
    fencepost_result result;

    (void)nothing;
    if (grant->claimed != NULL)
        return claim_end(grant, RELEASE, NULL);
    if (grant->lost)
        return contender_fault(grant);
    if (grant->stage == RELEASING || (grant->stage == OVER && !grant->known_released))
        return FENCEPOST_RESULT_OK;
    if (!contender_is_held(grant))
        return fault(FENCEPOST_RESULT_NOT_HELD, NULL);
    grant->client->moved = true;
    result = fencepost_hub_release(grant->client->hub, fencepost_now(), grant->key);
    if (result == FENCEPOST_RESULT_OK) {
        grant->stage = RELEASING;
        client_changed(grant->client, grant->waiters);
    }
    return result;
}

static fencepost_result release_finish(fencepost_grant *grant, bool waited) {
    if (grant->claimed != NULL)
        return claim_ended(grant, RELEASE, waited);
    if (grant->lost)
        return contender_fault(grant);
    if (grant->stage == RELEASING)
        return FENCEPOST_RESULT_PENDING;
    if (grant->stage != OVER || grant->known_released)
        return fault(FENCEPOST_RESULT_NOT_HELD, "no release of this grant has begun: call fencepost_release_start");
    grant->known_released = true;
    return grant->result == FENCEPOST_RESULT_OK ? FENCEPOST_RESULT_OK : contender_fault(grant);
}

static const struct operation release = {
    release_start, release_finish, contender_ended, RELEASE_LIMIT, FENCEPOST_RESULT_RELEASE_UNCONFIRMED};

fencepost_result fencepost_release(fencepost_grant *grant) {
    return operation_run(grant, &release, NULL);
}

fencepost_result fencepost_release_start(fencepost_grant *grant) {
    return operation_start(grant, &release, NULL);
}

fencepost_result fencepost_release_finish(fencepost_grant *grant) {
    return operation_finish(grant, &release);
}

/* ---- downgrade: from a writer to a reader, with no other holder in between ---- */

static fencepost_result downgrade_start(fencepost_grant *grant, const void *nothing) {
    fencepost_result result = require_held(grant);

    (void)nothing;
    if (result != FENCEPOST_RESULT_OK)
        return result;
    grant->client->moved = true;
    result = fencepost_hub_downgrade(grant->client->hub, fencepost_now(), grant->key);
    if (result == FENCEPOST_RESULT_OK)
        grant->downgrade = DOWNGRADING;
    return result;
}

static fencepost_result downgrade_finish(fencepost_grant *grant, bool waited) {
    fencepost_result result = require_held(grant);

    (void)waited;
    if (result != FENCEPOST_RESULT_OK)
        return result;
    switch (grant->downgrade) {
    case DOWNGRADING:
        return FENCEPOST_RESULT_PENDING;
    case DOWNGRADED:
        return FENCEPOST_RESULT_OK;
    case DOWNGRADE_REFUSED:
        grant->downgrade = NO_DOWNGRADE;
        return contender_refusal(grant);
    case NO_DOWNGRADE:
        break;
    }
    return fault(FENCEPOST_RESULT_NOT_A_WRITER, "no downgrade of this grant has begun: call fencepost_downgrade_start");
}

static const struct operation downgrade = {
    downgrade_start, downgrade_finish, contender_downgraded, FENCEPOST_NEVER, FENCEPOST_RESULT_PENDING};

fencepost_result fencepost_downgrade(fencepost_grant *grant) {
    return operation_run(grant, &downgrade, NULL);
}

fencepost_result fencepost_downgrade_start(fencepost_grant *grant) {
    return operation_start(grant, &downgrade, NULL);
}

fencepost_result fencepost_downgrade_finish(fencepost_grant *grant) {
    return operation_finish(grant, &downgrade);
}
