/* The thread that renews grants while no thread of the program is inside a call. With an event loop in the program, the
 * client has no such thread.
 */
#define _GNU_SOURCE
#include <signal.h>

#include "internal.h"

/* A program that has made a call often makes another one soon. That call is faster if it can drive the client itself.
 */
#define QUIET_AFTER 10000u

static bool listens(fencepost_client *client) {
    return client->driver->listens != NULL && client->driver->listens(client->self);
}

/* Whether commands wait for replies, and a thread has to read the driver's descriptor for them. */
static bool has_to_drive(fencepost_client *client) {
    bool readable = client->driver->descriptor(client->self) >= 0;

    return readable && (client->asking > 0 || client->driver->busy(client->self) > 0);
}

/* Whether no call was made for a while, and the server may send a message without a request. */
static bool has_to_listen(fencepost_client *client, uint64_t now) {
    return client->quiet_from <= now && listens(client);
}

/* When this thread has something to do. */
static uint64_t due(fencepost_client *client) {
    uint64_t until = client_until(client);

    return client->quiet_from < until && listens(client) ? client->quiet_from : until;
}

static void *run(void *argument) {
    fencepost_client *client = argument;

    client_lock(client);
    while (!client->closed && !client->looped) {
        uint64_t until = client_until(client), now = fencepost_now();

        if (client->driving) {
            /* The thread that drives also handles the timers, and wakes this thread when it stops. A program that
             * acquires one lock after the other would wake this thread for each grant, so it keeps the time for which
             * it was last woken.
             */
            client->background_due = client->background_called > now ? client->background_called : FENCEPOST_NEVER;
            client_sleep(client, &client->background_sleeper, client->background_due);
        } else if (until <= now) {
            client_advance(client);
            client_wake(client);
            client_unlock(client);
            if (client->driver->left != NULL)
                client->driver->left(client->self);
            client_lock(client);
        } else if (client->waiters == NULL && (has_to_drive(client) || has_to_listen(client, now))) {
            client_poll(client, NULL, now, until);
            client_wake(client); /* a thread that began to wait meanwhile drives from now on */
        } else {
            client->background_due = client->waiters == NULL ? due(client) : until;
            client_sleep(client, &client->background_sleeper, client->background_due);
        }
        client->background_due = 0;
    }
    client->background_due = FENCEPOST_NEVER;
    client_unlock(client);
    return NULL;
}

static void start(fencepost_client *client) {
    sigset_t all, before;

    /* Signals belong to the program: this thread receives none. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    /* If the thread cannot start, a grant lasts only as long as its lease. The client then reports the loss and its
     * cause. */
    client->background_runs = pthread_create(&client->background, NULL, run, client) == 0;
    client->background_missing = !client->background_runs;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* Wakes the background thread if it has something to do before it would wake up. An uncontended acquire and release
 * wake no thread. */
void background_look(fencepost_client *client) {
    uint64_t until;

    if (client->looped || client->closed || client->driving || client->waiters != NULL ||
        client->driver->descriptor(client->self) == FENCEPOST_OWNER_DRIVEN)
        return;
    if (listens(client))
        client->quiet_from = fencepost_now() + QUIET_AFTER;
    until = due(client);
    if (until >= client->background_due && !(client->background_due > 0 && has_to_drive(client)))
        return;
    client->background_called = until;
    if (!client->background_runs)
        start(client);
    else if (client->background_due > 0)
        client_call(client, &client->background_sleeper);
}

/* Ends the thread. Called once, without the lock, when the client is closed or looped. */
void background_stop(fencepost_client *client) {
    int before = cancel_hold();
    bool runs;

    client_lock(client);
    runs = client->background_runs;
    client->background_runs = false;
    client_call(client, &client->background_sleeper);
    client_signal(client->wake);
    client_unlock(client);
    if (runs)
        pthread_join(client->background, NULL);
    cancel_allow(before);
}
