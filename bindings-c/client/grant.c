/* Grants: fence, validity, loss. */
#include "internal.h"

/* Getters also work on a grant of a closed client. Locks the mutex, or returns false. */
bool grant_observe(const fencepost_grant *grant) {
    if (grant == NULL || !IS_OURS(grant->client))
        return false;
    client_lock(grant->client);
    return true;
}

/* The beginning of every call that returns a result. If the close of the client has ended the grant, the call returns
 * that loss.
 */
fencepost_result grant_enter(const fencepost_grant *grant) {
    fencepost_result result = client_enter(grant == NULL ? NULL : grant->client);

    if (result != FENCEPOST_RESULT_CLIENT_CLOSED || !grant_observe(grant))
        return result;
    if (grant->lost)
        result = contender_fault(grant);
    client_unlock(grant->client);
    return result;
}

uint64_t fencepost_grant_fence(const fencepost_grant *grant) {
    /* The fence never changes, so the mutex is not necessary. */
    return grant != NULL && grant->has_fence ? grant->fence : 0;
}

static bool is_valid(const fencepost_grant *grant, uint64_t now) {
    return contender_is_held(grant) && !grant->suspended && now < grant->valid_until;
}

bool fencepost_grant_is_valid(const fencepost_grant *grant) {
    bool valid;

    if (!grant_observe(grant))
        return false;
    valid = is_valid(grant, fencepost_now());
    client_unlock(grant->client);
    return valid;
}

int64_t fencepost_grant_remaining(const fencepost_grant *grant) {
    int64_t remaining = 0;
    uint64_t now;

    if (!grant_observe(grant))
        return 0;
    now = fencepost_now();
    if (is_valid(grant, now))
        remaining = grant->valid_until == FENCEPOST_NEVER ? -1 : (int64_t)((grant->valid_until - now) / 1000u);
    client_unlock(grant->client);
    return remaining;
}

/* Reads what the server has sent, unless another thread does so. The caller holds the mutex. */
static void take_in(fencepost_grant *grant) {
    if (!grant->client->driving)
        client_advance(grant->client);
}

bool fencepost_grant_is_lost(fencepost_grant *grant) {
    bool lost;

    if (!grant_observe(grant))
        return false;
    take_in(grant);
    lost = grant->lost;
    client_leave(grant->client);
    return lost;
}

fencepost_result fencepost_grant_loss(fencepost_grant *grant) {
    fencepost_result result = grant_enter(grant);

    if (result != FENCEPOST_RESULT_OK)
        return result;
    take_in(grant);
    if (grant->lost)
        result = contender_fault(grant);
    client_leave(grant->client);
    return result;
}

fencepost_result fencepost_grant_wait_lost(fencepost_grant *grant, int64_t timeout) {
    fencepost_result result = grant_enter(grant);

    if (result != FENCEPOST_RESULT_OK)
        return result;
    if ((result = client_may_block(grant->client)) == FENCEPOST_RESULT_OK) {
        bool over = contender_wait(grant, contender_over, client_deadline(timeout));
        if (grant->lost)
            result = contender_fault(grant);
        else
            result = over ? fault(FENCEPOST_RESULT_NOT_HELD, NULL) : FENCEPOST_RESULT_PENDING;
    }
    client_leave(grant->client);
    return result;
}

bool fencepost_grant_revoke_requested(fencepost_grant *grant) {
    bool revoke_requested;

    if (!grant_observe(grant))
        return false;
    take_in(grant);
    revoke_requested = grant->revoke_requested;
    client_leave(grant->client);
    return revoke_requested;
}

fencepost_result fencepost_grant_wait_revoke_requested(fencepost_grant *grant, int64_t timeout) {
    fencepost_result result = grant_enter(grant);

    if (result != FENCEPOST_RESULT_OK)
        return result;
    if ((result = client_may_block(grant->client)) == FENCEPOST_RESULT_OK) {
        contender_wait(grant, contender_revoke_requested, client_deadline(timeout));
        if (grant->lost)
            result = contender_fault(grant);
        else if (!contender_is_held(grant))
            result = fault(FENCEPOST_RESULT_NOT_HELD, NULL);
        else
            result = grant->revoke_requested ? FENCEPOST_RESULT_OK : FENCEPOST_RESULT_PENDING;
    }
    client_leave(grant->client);
    return result;
}

const char *fencepost_grant_mixed_layouts(const fencepost_grant *grant) {
    const char *foreign_node;

    if (!grant_observe(grant))
        return NULL;
    foreign_node = grant->foreign_node;
    client_unlock(grant->client);
    return foreign_node;
}

void fencepost_grant_free(fencepost_grant *grant) {
    if (grant != NULL && IS_OURS(grant->client))
        contender_free(grant);
}
