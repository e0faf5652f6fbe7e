/* The ends of claims, and their results. */
#include <stdlib.h>

#include "internal.h"

static fencepost_result ask(const fencepost_grant *claim, enum end end, const struct content *content) {
    fencepost_hub *hub = claim->client->hub;
    uint64_t now = fencepost_now();
    fencepost_view tag;

    if (end == RELEASE)
        return fencepost_hub_release(hub, now, claim->key);
    if (end == LEAVE)
        return fencepost_hub_leave(hub, now, claim->key);
    tag = view_of(content->tag);
    return fencepost_hub_complete(hub, now, claim->key, tag.data, tag.size, content->bytes, content->size);
}

/* Begins an end, or continues one that has begun. With the mutex. */
fencepost_result claim_end(fencepost_grant *claim, enum end end, const struct content *content) {
    fencepost_result result;

    if (claim->claimed == NULL)
        return fault(FENCEPOST_RESULT_NOT_A_CLAIM, NULL);
    if (claim->end == end && (claim->stage == RELEASING || claim->stage == OVER))
        return FENCEPOST_RESULT_OK;
    if (!contender_is_held(claim) && claim->stage != LAPSED)
        return claim->lost ? contender_fault(claim) : fault(FENCEPOST_RESULT_NOT_HELD, NULL);
    claim->client->moved = true;
    result = ask(claim, end, content);
    if (result == FENCEPOST_RESULT_NOT_HELD && claim->lost)
        return contender_fault(claim);
    if (result == FENCEPOST_RESULT_OK) {
        claim->end = end;
        claim->stage = RELEASING;
        claim->refusal = FENCEPOST_RESULT_OK;
        client_changed(claim->client, claim->waiters);
    }
    return result;
}

static fencepost_result refused(fencepost_grant *claim) {
    fencepost_result result =
        claim->detail == NULL ? fault(claim->refusal, NULL) : fault(claim->refusal, "%s", claim->detail);

    free(claim->detail);
    claim->detail = NULL;
    return result;
}

/* Returns the result of an end, once. With the mutex. */
fencepost_result claim_ended(fencepost_grant *claim, enum end end) {
    if (claim->claimed == NULL)
        return fault(FENCEPOST_RESULT_NOT_A_CLAIM, NULL);
    if (claim->end != end)
        return claim->lost
                   ? contender_fault(claim)
                   : fault(FENCEPOST_RESULT_NOT_HELD, "no such end of this claim has begun: call its _start function");
    if (claim->stage == RELEASING)
        return FENCEPOST_RESULT_PENDING;
    claim->end = NO_END;
    if (claim->refusal != FENCEPOST_RESULT_OK)
        return refused(claim);
    if (claim->result == FENCEPOST_RESULT_OK || claim->result == FENCEPOST_RESULT_REPLAYED)
        return claim->result;
    return contender_fault(claim);
}
