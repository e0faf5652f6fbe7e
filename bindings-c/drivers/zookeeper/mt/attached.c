/* Handles of the caller's: their session watcher is wrapped, and put back. */
#include <pthread.h>
#include <stdlib.h>

#include "../internal.h"

/* Guards the list. Held for a look-up only; a client's lock may be held meanwhile, never taken. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct driver *drivers;

FENCEPOST_FORK_SAFE(mutex, )

static struct driver *find(const zhandle_t *handle) {
    struct driver *driver;

    for (driver = drivers; driver != NULL && driver->handle != handle;)
        driver = driver->next;
    return driver;
}

static bool is_end(int type, int state) {
    return type == ZOO_SESSION_EVENT && (state == ZOO_EXPIRED_SESSION_STATE || state == ZOO_AUTH_FAILED_STATE);
}

/* The context belongs to the caller: whose handle it is says who is concerned. The caller's own watcher hears
 * everything first, but for the end of the session: it may close the handle then, so the handle is given back before.
 */
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
    if (wrapped != NULL && !is_end(type, state))
        wrapped(handle, type, state, path, context);
    if (client == NULL)
        return;
    if (type == ZOO_SESSION_EVENT && (hub = fencepost_client_enter(client)) != NULL) {
        session_news(driver, hub, handle, state);
        fencepost_client_leave(client);
    }
    if (is_end(type, state))
        attached_close(driver);
    fencepost_client_unref(client);
    if (wrapped != NULL && is_end(type, state))
        wrapped(handle, type, state, path, context);
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
        driver->listed = true;
    }
    pthread_mutex_unlock(&mutex);
    return !taken;
}

static void give_back(struct driver *driver) {
    struct driver **place;
    struct record *record;
    watcher_fn present;

    /* Watches that are still set would find nothing; the handle need not keep them either. */
    for (record = driver->records; record != NULL && driver->connected; record = record->next) {
        if (record->kind == DATA_WATCH || record->kind == CHILD_WATCH)
            watch_remove(record);
    }
    pthread_mutex_lock(&mutex);
    for (place = &drivers; *place != driver;)
        place = &(*place)->next;
    *place = driver->next;
    present = zoo_set_watcher(driver->handle, driver->wrapped);
    if (present != watcher)
        zoo_set_watcher(driver->handle, present); /* the caller has set another one meanwhile */
    driver->listed = false;
    pthread_mutex_unlock(&mutex);
}

/* Gives a handle back, unless that was done. */
void attached_close(struct driver *driver) {
    pthread_mutex_lock(&driver->using);
    if (driver->listed)
        give_back(driver);
    pthread_mutex_unlock(&driver->using);
}

/* So long before, at most, has the library begun an attempt to connect that goes on: it gives each of them up after
 * that time. */
static uint64_t longest_attempt(zhandle_t *handle) {
    return (uint64_t)zoo_recv_timeout(handle) * 1000u / 3 * 2;
}

/* When the session that the handle is about to make can have begun at the earliest; `now` was before the handle was
 * looked at. Without an attempt whose handshake is under way, its request has not left, but for a moment: the library
 * changes its state behind the sending. */
static uint64_t earliest_beginning(zhandle_t *handle, uint64_t now, int state) {
    uint64_t before = longest_attempt(handle);

    if (state != ZOO_CONNECTED_STATE && state != ZOO_ASSOCIATING_STATE)
        before /= 10;
    return now > before ? now - before : 0;
}

/* From here on the watcher tells; what it told before has to be asked for. Twice does no harm. With the client's lock.
 */
static void look_at_session(struct driver *driver, fencepost_hub *hub, uint64_t now) {
    bool is_new = zoo_client_id(driver->handle)->client_id == 0;
    int state = zoo_state(driver->handle);

    if (is_new)
        fencepost_hub_session(
            hub, earliest_beginning(driver->handle, now, state), FENCEPOST_SESSION_STATE_CONNECTING, 0, 0);
    if (state == ZOO_CONNECTED_STATE)
        session_news(driver, hub, driver->handle, state);
}

fencepost_result fencepost_zookeeper_attach(
    zhandle_t *handle, const char *prefix, const struct ACL_vector *acl, fencepost_client **client) {
    uint64_t now = fencepost_now(), before;
    struct driver *driver;
    fencepost_result result;
    fencepost_hub *hub;
    bool taken;

    if (handle == NULL || client == NULL)
        return driver_fault(FENCEPOST_RESULT_NULL_POINTER, "an argument is NULL that must not be");
    if (is_unrecoverable(handle) != ZOK)
        return driver_fault(FENCEPOST_RESULT_BAD_ARGUMENT, "the session of this handle has ended: make a new handle");
    if ((driver = calloc(1, sizeof *driver)) == NULL)
        return driver_fault(FENCEPOST_RESULT_OUT_OF_MEMORY, "out of memory");
    driver->handle = handle;
    driver->acl = acl == NULL ? &ZOO_OPEN_ACL_UNSAFE : acl;
    before = longest_attempt(handle);
    if ((result = client_make(driver, prefix, now > before ? now - before : 0)) != FENCEPOST_RESULT_OK)
        return result;
    /* Nothing that the watcher tells comes in between. */
    hub = fencepost_client_enter(driver->client);
    taken = !attached_open(driver);
    if (!taken)
        look_at_session(driver, hub, now);
    fencepost_client_leave(driver->client);
    if (taken) {
        fencepost_client_free(driver->client);
        return driver_fault(FENCEPOST_RESULT_BAD_ARGUMENT, "this handle has a client already: share that one");
    }
    *client = driver->client;
    return FENCEPOST_RESULT_OK;
}
