/* Handles of the program. The driver wraps their session watcher, and restores it when the client closes or the session
 * ends. */
#include "handles.h"

#include <pthread.h>

/* Guards the list. A thread holds it only for a look-up. It may hold a client's mutex then, but does not lock one. */
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

/* The context belongs to the program, so the handle identifies the driver. The driver calls the program's watcher
 * first, except at the end of the session: the program's watcher may then close the handle, so the driver returns the
 * handle to the program before. */
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
        handle_give_back(driver);
    fencepost_client_unref(client);
    if (wrapped != NULL && is_end(type, state))
        wrapped(handle, type, state, path, context);
}

bool handle_take(struct driver *driver) {
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

    /* Removes the watches that are still set: the client no longer needs them. */
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
        zoo_set_watcher(driver->handle, present); /* the program has set another one */
    driver->listed = false;
    pthread_mutex_unlock(&mutex);
}

void handle_give_back(struct driver *driver) {
    pthread_mutex_lock(&driver->using);
    if (driver->listed)
        give_back(driver);
    pthread_mutex_unlock(&driver->using);
}
