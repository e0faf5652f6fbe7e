/* libzookeeper_mt: its completion thread enters the client, so an answer reaches who waits with one change of threads,
 * and the library keeps the session alive while the program works. */
#include "../zookeeper/internal.h"

bool driving_prepare(struct driver *driver) {
    (void)driver;
    return true;
}

void driving_forget(struct driver *driver) {
    (void)driver;
}

/* Takes the lock of the client that a callback concerns; NULL, without it, if it concerns nobody any more. */
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
    /* It may have gone while this thread waited for the lock; it stays while the lock is held. */
    record = record_find(context, NULL);
    if (record == NULL)
        record_leave(client);
    return record;
}

void record_leave(fencepost_client *client) {
    fencepost_client_leave(client);
    fencepost_client_unref(client);
}

static int descriptor(void *self) {
    (void)self;
    return FENCEPOST_SELF_DRIVEN;
}

static uint64_t until(void *self) {
    return ((struct driver *)self)->again;
}

static void process(void *self, fencepost_hub *hub) {
    struct driver *driver = self;

    if (driver->again <= fencepost_now())
        session_open(driver, hub);
}

static void end(void *self, bool silent) {
    struct driver *driver = self;

    (void)silent;
    if (driver->hosts == NULL)
        attached_close(driver);
    else if (driver->handle != NULL) {
        zookeeper_close(driver->handle);
        writes_abandon(driver, driver->handle);
    }
    while (driver->records != NULL)
        record_close(driver->records);
}

/* How long the library waits for the server's answer to the end of a session. */
#define FAREWELL 1500000u

const fencepost_driver driving = {
    .descriptor = descriptor,
    .command = request_send,
    .process = process,
    .until = until,
    .absent = driver_absent,
    .busy = driver_busy,
    .farewell = FAREWELL,
    .close = end,
    .free = driver_free,
};
