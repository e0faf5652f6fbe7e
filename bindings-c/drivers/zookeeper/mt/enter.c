/* How the library's threads enter the client. */
#include "../internal.h"

/* Locks the mutex of the client that a callback concerns. NULL, without the mutex, if there is none any more. */
struct record *record_enter(const void *context, fencepost_hub **hub) {
    fencepost_client *client;
    struct record *record = record_find(context, &client);

    if (record == NULL)
        return NULL;
    *hub = fencepost_client_enter(client);
    if (*hub == NULL) {
        fencepost_client_unref(client);
        return NULL;
    }
    /* The record may be gone after the wait for the mutex. It cannot be freed while the mutex is held. */
    record = record_find(context, NULL);
    if (record == NULL)
        record_leave(client);
    return record;
}

void record_leave(fencepost_client *client) {
    fencepost_client_leave(client);
    fencepost_client_unref(client);
}
