/* Acquires, claims and requests that one call begins and another call finishes. */
#include <stdlib.h>

#include "internal.h"

/* Begins without waiting. */
fencepost_result pending_start(fencepost_lock *lock, opening *open, const void *what, struct pending **started) {
    fencepost_result result = client_enter(lock == NULL ? NULL : lock->client);
    struct pending *made;

    if (result != FENCEPOST_RESULT_OK)
        return result;
    if ((made = calloc(1, sizeof *made)) == NULL) {
        result = fault(FENCEPOST_RESULT_OUT_OF_MEMORY, NULL);
    } else if ((result = open(lock, what, &made->contender)) != FENCEPOST_RESULT_OK) {
        free(made);
    } else {
        made->client = lock->client;
        made->contender->untaken = true;
        fencepost_client_ref(made->client);
        *started = made;
    }
    client_leave(lock->client);
    return result;
}

/* Cancels an acquire or a request without a result. Releases a grant that the program has not taken. */
void pending_free(struct pending *pending) {
    fencepost_client *client = pending == NULL ? NULL : pending->client;

    if (client == NULL || !IS_OURS(client))
        return;
    if (pending->contender != NULL)
        contender_free(pending->contender);
    free(pending);
    fencepost_client_unref(client);
}
