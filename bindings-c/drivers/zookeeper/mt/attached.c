/* Clients on handles of the program. */
#include <stdlib.h>

#include "handles.h"

/* The maximum duration of an attempt to connect: after this time, the library tries the next server. */
static uint64_t longest_attempt(zhandle_t *handle) {
    return (uint64_t)zoo_recv_timeout(handle) * 1000u / 3 * 2;
}

/* The earliest time at which the session that the handle makes can have begun. `now` is a time before the handle was
 * read. If no handshake is in progress, the library has not sent its request, or has just sent it: it changes its state
 * after it sends the request. */
static uint64_t earliest_beginning(zhandle_t *handle, uint64_t now, int state) {
    uint64_t before = longest_attempt(handle);

    if (state != ZOO_CONNECTED_STATE && state != ZOO_ASSOCIATING_STATE)
        before /= 10;
    return now > before ? now - before : 0;
}

/* Reads the state of the session, because the watcher reports only later changes. A repeated report does no harm. The
 * caller holds the client's mutex. */
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
        return driver_fault(
            FENCEPOST_RESULT_NULL_POINTER, "a required pointer is NULL: pass the object, or a place for the output");
    if (is_unrecoverable(handle) != ZOK)
        return driver_fault(FENCEPOST_RESULT_BAD_ARGUMENT, "the session of this handle has ended: make a new handle");
    if ((driver = calloc(1, sizeof *driver)) == NULL)
        return driver_fault(FENCEPOST_RESULT_OUT_OF_MEMORY, "out of memory");
    driver->handle = handle;
    driver->acl = acl == NULL ? &ZOO_OPEN_ACL_UNSAFE : acl;
    before = longest_attempt(handle);
    if ((result = client_make(driver, prefix, now > before ? now - before : 0)) != FENCEPOST_RESULT_OK)
        return result;
    /* The mutex delays the reports of the watcher. */
    hub = fencepost_client_enter(driver->client);
    taken = !handle_take(driver);
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
