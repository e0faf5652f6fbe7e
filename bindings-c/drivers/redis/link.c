/* One connection: its beginning and its end, and the commands and channels that these concern. */
#include <stdio.h>
#include <string.h>

#include "internal.h"

/* Stores the reason why there was no connection yet. An IPv6 address is shown as in a URL. */
void link_note_absence(const struct link *link, const char *why) {
    struct driver *driver = link->driver;
    bool is_six = link->ours && strchr(driver->host, ':') != NULL;

    if (!driver->reached && link->ours)
        snprintf(
            driver->absence, sizeof driver->absence, "%s%.150s%s:%d (%.120s)", is_six ? "[" : "", driver->host,
            is_six ? "]" : "", driver->port, why);
}

/* Gives up a connection that the driver made. The commands that wait on it fail. */
void link_drop(struct link *link, const char *why) {
    if (link->context == NULL)
        return;
    link_note_absence(link, why);
    if (link->trouble[0] == '\0')
        requests_fail(link, FENCEPOST_FAILURE_NOT_SENT, why);
    redisAsyncFree(link->context);
}

/* Handles the end of a connection. */
void link_ended(struct link *link, const char *why) {
    link->phase = link->ours ? DOWN : OVER;
    link->unwritten = link->write_wanted = false;
    requests_lose(link, why);
    requests_fail(link, link->ours ? FENCEPOST_FAILURE_NOT_SENT : FENCEPOST_FAILURE_CLOSED, why);
    if (link == &link->driver->subscriptions)
        channels_fail(link->driver);
}

/* The connection is ready: sends the commands and channels that waited for it. */
void link_ready(struct link *link) {
    link->phase = READY;
    link->driver->reached = true;
    link->last_received = fencepost_now();
    link->pinged = false;
    if (link == &link->driver->subscriptions)
        channels_send(link->driver);
    else
        requests_send(link);
}

/* The connection cannot be used any more. */
void link_give_up(struct link *link, const char *why) {
    redisContext *context = &link->context->c;

    link_note_absence(link, why);
    context->err = REDIS_ERR_EOF;
    snprintf(context->errstr, sizeof context->errstr, "%s", why);
    redisAsyncFree(link->context);
}
