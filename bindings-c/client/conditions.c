/* The conditions for which a call waits, and the error of a contender that has ended. */
#include "internal.h"

static __thread uint64_t last_retry_after = FENCEPOST_NEVER;

int64_t fencepost_retry_after(void) {
    return last_retry_after == FENCEPOST_NEVER ? -1 : (int64_t)((last_retry_after + 999u) / 1000u);
}

/* Stores and returns the reason for the end of a contender, with its text. */
fencepost_result contender_fault(const fencepost_grant *contender) {
    last_retry_after = contender->retry_after;
    if (contender->detail == NULL)
        return fault(contender->result, NULL);
    return fault(contender->result, "%s", contender->detail);
}

/* Stores and returns the reason for the refusal of a downgrade or of the end of a claim, with its text. */
fencepost_result contender_refusal(const fencepost_grant *contender) {
    if (contender->refusal_detail == NULL)
        return fault(contender->refusal, NULL);
    return fault(contender->refusal, "%s", contender->refusal_detail);
}

bool contender_is_held(const fencepost_grant *contender) {
    return contender->stage == HELD || contender->stage == EXTENDING;
}

/* Waits for a condition of the contender, or until the deadline. Returns whether the condition holds. */
bool contender_wait(fencepost_grant *contender, client_condition *condition, uint64_t deadline) {
    return client_wait(contender->client, &contender->waiters, condition, contender, deadline);
}

bool contender_decided(const void *subject) {
    return ((const fencepost_grant *)subject)->stage != ASKING;
}

bool contender_over(const void *subject) {
    const fencepost_grant *contender = subject;

    return contender->lost || contender->stage == OVER;
}

/* Whether the server has replied to the request that ends the grant. */
bool contender_ended(const void *subject) {
    return ((const fencepost_grant *)subject)->stage != RELEASING;
}

/* Whether another client has sent a revocation request, or this grant has ended. */
bool contender_revoke_requested(const void *subject) {
    const fencepost_grant *contender = subject;

    return contender->revoke_requested || contender_over(contender);
}

bool contender_downgraded(const void *subject) {
    const fencepost_grant *contender = subject;

    return contender->downgrade != DOWNGRADING || !contender_is_held(contender);
}

bool contender_extended(const void *subject) {
    return ((const fencepost_grant *)subject)->stage != EXTENDING;
}
