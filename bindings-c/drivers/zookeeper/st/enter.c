/* The library makes its callbacks only while a thread is in it, with the client's mutex. */
#include "connection.h"

/* The record that a callback concerns; NULL if there is none any more, or if the client is closed. */
struct record *record_enter(const void *context, fencepost_hub **hub) {
    struct record *record = record_find(context, NULL);

    if (record == NULL || record->driver->connection->hub == NULL)
        return NULL;
    *hub = record->driver->connection->hub;
    return record;
}

void record_leave(fencepost_client *client) {
    (void)client; /* the thread that called the library has the mutex, and carries out the hub's outputs */
}
