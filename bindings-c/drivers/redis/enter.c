/* The client's lock, for a driver that is called from three sides: by the client with the lock, and by hiredis with it
 * or without. */
#include "internal.h"

/* The driver whose client's lock this thread has. */
static __thread const struct driver *inside;

/* hiredis calls back in the middle of our calls, with the lock; and from the caller's loop or from `dispatch`, without.
 * False: the client has been closed. */
bool driver_enter(struct driver *driver, bool *entered) {
    fencepost_hub *hub;

    *entered = inside != driver;
    if (!*entered)
        return true;
    if ((hub = fencepost_client_enter(driver->client)) == NULL)
        return false;
    inside = driver;
    driver->hub = hub;
    return true;
}

/* The client calls, with the lock. Says whether this call has come from outside; then it is the one to end it. */
bool driver_begin(struct driver *driver, fencepost_hub *hub) {
    bool outermost = inside != driver;

    driver->hub = hub;
    inside = driver;
    return outermost;
}

void driver_finish(struct driver *driver, bool outermost) {
    if (!outermost)
        return;
    driver->hub = NULL;
    inside = NULL;
}

void driver_leave(struct driver *driver, bool entered) {
    if (!entered)
        return;
    driver_finish(driver, true);
    fencepost_client_leave(driver->client);
}
