/* The client's mutex. Three sides call the driver: the client, with the mutex; and hiredis, with it or without it. */
#include "internal.h"

/* The driver whose client's mutex this thread holds. */
static __thread const struct driver *inside;

/* hiredis calls back during the driver's own calls, with the mutex; and from the program's loop or from `dispatch`,
 * without it. Returns false if the client is closed. */
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

/* The client calls, with the mutex. Returns whether this is the outermost call, which has to end it. */
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
