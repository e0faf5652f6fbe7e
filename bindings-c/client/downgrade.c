/* From a writer to a reader, with nobody in between. */
#include <stdlib.h>

#include "internal.h"

/* Begins. With the lock. */
static fencepost_result downgrade_start(fencepost_grant *grant) {
    fencepost_result result;

    if (grant->lost)
        return contender_fault(grant);
    if (!contender_is_held(grant))
        return fault(FENCEPOST_RESULT_NOT_HELD, NULL);
    grant->client->moved = true;
    result = fencepost_hub_downgrade(grant->client->hub, fencepost_now(), grant->key);
    if (result == FENCEPOST_RESULT_OK)
        grant->turn = TURNS;
    return result;
}

static fencepost_result downgrade_finish(fencepost_grant *grant) {
    fencepost_result result;

    if (grant->lost)
        return contender_fault(grant);
    if (!contender_is_held(grant))
        return fault(FENCEPOST_RESULT_NOT_HELD, NULL);
    switch (grant->turn) {
    case TURNS:
        return FENCEPOST_RESULT_PENDING;
    case TURNED:
        return FENCEPOST_RESULT_OK;
    case REFUSED:
        result = grant->detail == NULL ? fault(grant->refusal, NULL) : fault(grant->refusal, "%s", grant->detail);
        free(grant->detail);
        grant->detail = NULL;
        grant->turn = STAYS;
        return result;
    case STAYS:
        break;
    }
    return fault(FENCEPOST_RESULT_NOT_A_WRITER, "no downgrade of this grant is under way");
}

fencepost_result fencepost_downgrade(fencepost_grant *grant) {
    fencepost_result result = grant_enter(grant);

    if (result != FENCEPOST_RESULT_OK)
        return result;
    if ((result = client_may_block(grant->client)) == FENCEPOST_RESULT_OK &&
        (result = downgrade_start(grant)) == FENCEPOST_RESULT_OK) {
        client_wait(grant->client, grant, contender_turned, grant, FENCEPOST_NEVER);
        result = downgrade_finish(grant);
    }
    client_leave(grant->client);
    return result;
}

fencepost_result fencepost_downgrade_start(fencepost_grant *grant) {
    fencepost_result result = grant_enter(grant);

    if (result != FENCEPOST_RESULT_OK)
        return result;
    result = downgrade_start(grant);
    client_leave(grant->client);
    return result;
}

fencepost_result fencepost_downgrade_finish(fencepost_grant *grant) {
    fencepost_result result = grant_enter(grant);

    if (result != FENCEPOST_RESULT_OK)
        return result;
    result = downgrade_finish(grant);
    client_unlock(grant->client);
    return result;
}
