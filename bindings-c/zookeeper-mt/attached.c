/* Handles of the caller's: their session watcher is wrapped, and put back. */
#include <pthread.h>
#include <stdlib.h>

#include "../zookeeper/internal.h"

/* Guards the list. Held for a look-up only; a client's lock may be held meanwhile, never taken. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct driver *drivers;

static struct driver *find(const zhandle_t *handle) {
    struct driver *driver;

    for (driver = drivers; driver != NULL && driver->handle != handle;)
        driver = driver->next;
    return driver;
}

/* The context belongs to the caller: whose handle it is says who is concerned. The caller's own watcher hears
 * everything first. */
static void watcher(zhandle_t *handle, int type, int state, const char *path, void *context) {
    fencepost_client *client = NULL;
    watcher_fn wrapped = NULL;
    struct driver *driver;
    fencepost_hub *hub;

    pthread_mutex_lock(&mutex);
    driver = find(handle);
    if (driver != NULL) {
        client = driver->client;
        wrapped = driver->wrapped;
        fencepost_client_ref(client);
    }
    pthread_mutex_unlock(&mutex);
    if (wrapped != NULL)
        wrapped(handle, type, state, path, context);
    if (client == NULL)
        return;
    if (type == ZOO_SESSION_EVENT && (hub = fencepost_client_enter(client)) != NULL) {
        session_news(driver, hub, handle, state);
        fencepost_client_leave(client);
    }
    fencepost_client_unref(client);
}

/* False: the handle has a client already. */
static bool attached_open(struct driver *driver) {
    bool taken;

    pthread_mutex_lock(&mutex);
    taken = find(driver->handle) != NULL;
    if (!taken) {
        driver->next = drivers;
        drivers = driver;
        driver->wrapped = zoo_set_watcher(driver->handle, watcher);
    }
    pthread_mutex_unlock(&mutex);
    return !taken;
}

void attached_close(struct driver *driver) {
    struct driver **place;
    struct record *record;
    watcher_fn present;

    if (driver->handle == NULL)
        return; /* it was never opened */
    /* Watches that are still set would find nothing; the handle need not keep them either. */
    for (record = driver->records; record != NULL && driver->connected; record = record->next) {
        if (record->kind == DATA_WATCH || record->kind == CHILD_WATCH)
            zoo_remove_watches(
                driver->handle, record->path, record->kind == DATA_WATCH ? ZWATCHTYPE_DATA : ZWATCHTYPE_CHILD,
                watch_fired, record_context(record), 1);
    }
    pthread_mutex_lock(&mutex);
    for (place = &drivers; *place != driver;)
        place = &(*place)->next;
    *place = driver->next;
    present = zoo_set_watcher(driver->handle, driver->wrapped);
    if (present != watcher)
        zoo_set_watcher(driver->handle, present); /* the caller has set another one meanwhile */
    pthread_mutex_unlock(&mutex);
}

fencepost_result fencepost_zookeeper_attach(
    zhandle_t *handle, const char *prefix, const struct ACL_vector *acl, fencepost_client **client) {
    struct driver *driver;
    fencepost_result result;
    fencepost_hub *hub;
    int state;

    if (handle == NULL || client == NULL)
        return driver_fault(FENCEPOST_RESULT_NULL_POINTER, "an argument is NULL that must not be");
    if (is_unrecoverable(handle) != ZOK)
        return driver_fault(FENCEPOST_RESULT_BAD_ARGUMENT, "the session of this handle has ended: make a new handle");
    if ((driver = calloc(1, sizeof *driver)) == NULL)
        return driver_fault(FENCEPOST_RESULT_OUT_OF_MEMORY, "out of memory");
    driver->handle = handle;
    driver->acl = acl == NULL ? &ZOO_OPEN_ACL_UNSAFE : acl;
    if ((result = client_make(driver, prefix)) != FENCEPOST_RESULT_OK)
        return result;
    if (!attached_open(driver)) {
        driver->handle = NULL;
        fencepost_client_free(driver->client);
        return driver_fault(FENCEPOST_RESULT_BAD_ARGUMENT, "this handle has a client already: share that one");
    }
    /* From here on the watcher tells; what it told before has to be asked for. Twice does no harm. */
    if ((hub = fencepost_client_enter(driver->client)) != NULL) {
        state = zoo_state(handle);
        if (state == ZOO_CONNECTED_STATE)
            session_news(driver, hub, handle, state);
        fencepost_client_leave(driver->client);
    }
    *client = driver->client;
    return FENCEPOST_RESULT_OK;
}
