/* Callbacks of the library come while a thread is in it, with the client's lock. */
#include "connection.h"

/* What a callback concerns; NULL: nobody any more, or the client has been closed. */
struct record *record_enter(const void *context, fencepost_hub **hub) {
    struct record *record = record_find(context, NULL);

    if (record == NULL || record->driver->connection->hub == NULL)
        return NULL;
    *hub = record->driver->connection->hub;
    return record;
}

void record_leave(fencepost_client *client) {
    (void)client; /* who has called the library has the lock, and does what the hub says */
}
