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

/* The result that a completion stores. */
struct result {
    size_t tag_size, size;
    char bytes[]; /* of the tag, then of the result */
};

void claim_forget_result(fencepost_grant *claim) {
    free(claim->claimed->result);
    claim->claimed->result = NULL;
}

/* Keeps the result of a completion. If there is no memory for it, no other call can continue this completion. */
static void keep_result(fencepost_grant *claim, const struct content *content) {
    fencepost_view tag = view_of(content->tag);
    struct result *result = malloc(sizeof *result + tag.size + content->size);

    claim_forget_result(claim);
    if (result == NULL)
        return;
    result->tag_size = tag.size;
    result->size = content->size;
    if (tag.size > 0)
        memcpy(result->bytes, tag.data, tag.size);
    if (content->size > 0)
        memcpy(result->bytes + tag.size, content->bytes, content->size);
    claim->claimed->result = result;
}

/* Whether a completion stores this result. */
static bool is_result(const struct result *result, const struct content *content) {
    fencepost_view tag = view_of(content->tag);

    return result != NULL && result->tag_size == tag.size && result->size == content->size &&
           (tag.size == 0 || memcmp(result->bytes, tag.data, tag.size) == 0) &&
           (content->size == 0 || memcmp(result->bytes + tag.size, content->bytes, content->size) == 0);
}

/* Continues an end that has begun. A completion succeeds only for a call with the same result. */
static fencepost_result continue_end(const fencepost_grant *claim, enum end end, const struct content *content) {
    if (end != COMPLETE || is_result(claim->claimed->result, content))
        return FENCEPOST_RESULT_OK;
    return fault(FENCEPOST_RESULT_NOT_HELD, "a completion of this claim with another result has begun");
}

/* Begins an end, or continues one that has begun. The caller holds the mutex. */
fencepost_result claim_end(fencepost_grant *claim, enum end end, const struct content *content) {
    fencepost_result result;

    if (claim->claimed == NULL)
        return fault(FENCEPOST_RESULT_NOT_A_CLAIM, NULL);
    if (claim->end == end && (claim->stage == RELEASING || claim->stage == OVER))
        return continue_end(claim, end, content);
    if (!contender_is_held(claim) && claim->stage != LAPSED)
        return claim->lost ? contender_fault(claim) : fault(FENCEPOST_RESULT_NOT_HELD, NULL);
    claim->client->moved = true;
    result = ask(claim, end, content);
    if (result == FENCEPOST_RESULT_NOT_HELD && claim->lost)
        return contender_fault(claim);
    if (result == FENCEPOST_RESULT_OK) {
        claim->end = end;
        claim->ends++;
        claim->stage = RELEASING;
        claim->refusal = FENCEPOST_RESULT_OK;
        if (end == COMPLETE)
            keep_result(claim, content);
        client_changed(claim->client, claim->waiters);
    }
    return result;
}

/* Returns the result of an end to one call, and to every call that has waited for it. The caller holds the mutex. */
fencepost_result claim_ended(fencepost_grant *claim, enum end end, bool waited) {
    if (claim->claimed == NULL)
        return fault(FENCEPOST_RESULT_NOT_A_CLAIM, NULL);
    if (claim->end != end && !waited)
        return claim->lost
                   ? contender_fault(claim)
                   : fault(FENCEPOST_RESULT_NOT_HELD, "no such end of this claim has begun: call its _start function");
    if (claim->stage == RELEASING)
        return FENCEPOST_RESULT_PENDING;
    claim->end = NO_END;
    claim_forget_result(claim);
    if (claim->refusal != FENCEPOST_RESULT_OK)
        return contender_refusal(claim);
    if (claim->result == FENCEPOST_RESULT_OK || claim->result == FENCEPOST_RESULT_REPLAYED)
        return claim->result;
    return contender_fault(claim);
}
