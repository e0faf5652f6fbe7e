/* Callbacks of the library come while a thread is in it, with the client's lock. */
#include "connection.h"

/* The client that a callback concerns; NULL: there is none any more, or it has been closed. */
struct record *record_enter(const void *context, fencepost_hub **hub) {
    struct record *record = record_find(context, NULL);

    if (record == NULL || record->driver->connection->hub == NULL)
        return NULL;
    *hub = record->driver->connection->hub;
    return record;
}

void record_leave(fencepost_client *client) {
    (void)client; /* the caller of the library has the lock, and carries out the hub's outputs */
}
