/* How the library's threads enter the client. */
#include "../internal.h"

/* Returns the record of a callback, and locks the mutex of its client. If the record no longer exists, it returns NULL,
 * and locks nothing. */
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
    /* Another thread may have freed the record during the wait for the mutex. While this thread holds the mutex, no
     * thread can free it. */
    record = record_find(context, NULL);
    if (record == NULL)
        record_leave(client);
    return record;
}

void record_leave(fencepost_client *client) {
    fencepost_client_leave(client);
    fencepost_client_unref(client);
}
