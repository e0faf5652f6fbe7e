/* The library calls callbacks only during a call of the driver, which holds the client's mutex. */
#include "connection.h"

/* The record of a callback; NULL if it no longer exists, or if the client is closed. */
struct record *record_enter(const void *context, fencepost_hub **hub) {
    struct record *record = record_find(context, NULL);

    if (record == NULL || record->driver->connection->hub == NULL)
        return NULL;
    *hub = record->driver->connection->hub;
    return record;
}

void record_leave(fencepost_client *client) {
    (void)client; /* the thread that called the library holds the mutex, and carries out the hub's outputs */
}
