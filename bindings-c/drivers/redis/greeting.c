/* The first requests on a connection that the driver makes: password and database. The driver sends nothing else before
 * the server has accepted them, so it never acquires a lock in a wrong database. Without password and database, the
 * driver first sends a PING: a server that is not a Redis server gets no command that could change its data.
 */
#include <stdio.h>

#include "internal.h"

/* Ends the greeting. */
static void decide(struct link *link) {
    if (link->trouble[0] == '\0') {
        link_ready(link);
        return;
    }
    requests_refuse(link);
    link_drop(link, link->trouble);
}

static void come(struct link *link) {
    if (--link->greetings == 0)
        decide(link);
}

/* Any reply is enough: a user without the right to PING gets an error. */
static void echoed(redisAsyncContext *context, void *data, void *argument) {
    struct link *link = argument;
    bool entered;

    (void)context;
    if (data == NULL || !driver_enter(link->driver, &entered))
        return;
    come(link);
    driver_leave(link->driver, entered);
}

static void greeted(redisAsyncContext *context, void *data, void *argument) {
    struct link *link = argument;
    const redisReply *reply = data;
    bool entered;

    (void)context;
    if (reply == NULL || !driver_enter(link->driver, &entered))
        return; /* another callback reports the end of the connection */
    if (reply->type == REDIS_REPLY_ERROR && link->trouble[0] == '\0')
        snprintf(link->trouble, sizeof link->trouble, "%s", reply->str);
    come(link);
    driver_leave(link->driver, entered);
}

void greet(struct link *link) {
    struct driver *driver = link->driver;

    link->phase = GREETING;
    link->greetings = 0;
    if (driver->user[0] != '\0') {
        redisAsyncCommand(link->context, greeted, link, "AUTH %s %s", driver->user, driver->password);
        link->greetings++;
    } else if (driver->password[0] != '\0') {
        redisAsyncCommand(link->context, greeted, link, "AUTH %s", driver->password);
        link->greetings++;
    }
    if (driver->database != 0) {
        redisAsyncCommand(link->context, greeted, link, "SELECT %u", driver->database);
        link->greetings++;
    }
    if (link->greetings == 0 && !driver->reached) {
        redisAsyncCommand(link->context, echoed, link, "PING");
        link->greetings++;
    }
    if (link->greetings == 0)
        decide(link);
}
