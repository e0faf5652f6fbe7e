/* Locks the client's mutex. The client calls the driver with the mutex locked. hiredis calls it with the mutex locked
 * or unlocked. */
#include "internal.h"

/* The driver whose client's mutex this thread holds. */
static __thread const struct driver *inside;

/* Begins a callback of hiredis. During the driver's own calls, the mutex is locked; from the program's loop or from
 * `dispatch`, it is not. Returns false if the client is closed. */
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

/* Begins a call of the client, which holds the mutex. Returns the argument of `driver_finish`: whether this is the
 * outermost call. */
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
