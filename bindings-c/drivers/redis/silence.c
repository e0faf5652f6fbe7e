/* Silent servers. The driver ends a connection that it made, and only reports a connection of the program. */
#include <poll.h>

#include "internal.h"

/* When `link_check_time` has something to do. It sends no ping on subscriptions of the program, because hiredis would
 * mix up the reply with the replies of the program; waiters poll their lock every 100 ms anyway. */
uint64_t link_until(const struct link *link) {
    if (link->context == NULL || link->busy)
        return FENCEPOST_NEVER;
    if (link->phase != READY)
        return link->deadline;
    if (link == &link->driver->subscriptions)
        return link->driver->first_channel == NULL || !link->ours ? FENCEPOST_NEVER : link->last_received + SILENCE;
    return link->under_way.first != NULL ? link->under_way.first->expires : FENCEPOST_NEVER;
}

/* Sends a PING to a silent server. */
static void ping(struct link *link) {
    static const char command[] = "*1\r\n$4\r\nPING\r\n";

    redisAppendFormattedCommand(&link->context->c, command, sizeof command - 1);
    link->unwritten = link->pinged = true;
    link->last_received = fencepost_now();
}

/* Reports that a connection of the program is silent, and leaves it open. If bytes have arrived that the program's loop
 * has not read yet, it waits for the loop. */
static void report_silence(struct link *link) {
    struct pollfd source = {link->context->c.fd, POLLIN, 0};

    if (poll(&source, 1, 0) > 0)
        link->under_way.first->expires = fencepost_now() + LOOK_AGAIN;
    else
        requests_in_doubt(
            link,
            "the connection given to fencepost_redis_attach has not answered for 5 s: end it and attach another one");
}

/* Handles a silent connection. */
void link_check_time(struct link *link) {
    uint64_t until = link_until(link);

    /* Usually there is no deadline, so this does not read the clock. */
    if (until == FENCEPOST_NEVER || until > fencepost_now())
        return;
    if (!link->ours)
        report_silence(link);
    else if (link->phase == READY && link == &link->driver->subscriptions && !link->pinged)
        ping(link);
    else
        link_drop(link, "no answer in time");
}
