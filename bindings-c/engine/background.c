/* The thread that renews what is held while the program does something else. There is none for a program with an event
 * loop. */
#define _GNU_SOURCE
#include <signal.h>

#include "../client/internal.h"

/* A program that has made a call will often make another one at once, and is faster if it finds nobody driving. */
#define QUIET_AFTER 10000u

static bool listens(fencepost_client *client) {
    return client->driver->listens != NULL && client->driver->listens(client->self);
}

/* Answers are under way that only reading will bring in: a driver with a descriptor has to be driven. */
static bool has_to_drive(fencepost_client *client) {
    bool readable = client->driver->descriptor(client->self) >= 0;

    return readable && (client->asking > 0 || client->driver->busy(client->self) > 0);
}

/* Nobody has called for a while, and something may come unasked. */
static bool has_to_listen(fencepost_client *client, uint64_t now) {
    return client->quiet_from <= now && listens(client);
}

/* When there is something to do for the keeper. */
static uint64_t due(fencepost_client *client) {
    uint64_t until = client_until(client);

    return client->quiet_from < until && listens(client) ? client->quiet_from : until;
}

static void *keep(void *argument) {
    fencepost_client *client = argument;

    client_lock(client);
    while (!client->closed && !client->looped) {
        uint64_t until = client_until(client), now = fencepost_now();

        if (client->driving) {
            /* Who drives looks at the timers too, and calls us when it stops. That costs a call for each grant of a
             * program that takes one after the other, so the moment that we were called for is kept. */
            client->keeper_due = client->keeper_called > now ? client->keeper_called : FENCEPOST_NEVER;
            client_sleep(client, &client->keeper_bell, client->keeper_due);
        } else if (until <= now) {
            client_advance(client);
            client_wake(client);
            client_unlock(client);
            if (client->driver->left != NULL)
                client->driver->left(client->self);
            client_lock(client);
        } else if (client->waiters == NULL && (has_to_drive(client) || has_to_listen(client, now))) {
            client_poll(client, now, until);
            client_wake(client); /* whoever has begun to wait meanwhile drives from here on */
        } else {
            client->keeper_due = client->waiters == NULL ? due(client) : until;
            client_sleep(client, &client->keeper_bell, client->keeper_due);
        }
        client->keeper_due = 0;
    }
    client->keeper_due = FENCEPOST_NEVER;
    client_unlock(client);
    return NULL;
}

static void start(fencepost_client *client) {
    sigset_t all, before;

    /* Signals are the program's: none is delivered to this thread. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    /* Without a thread, what is held lasts as long as its lease, and the program is told of the loss, and why. */
    client->keeper_runs = pthread_create(&client->keeper, NULL, keep, client) == 0;
    client->unkept = !client->keeper_runs;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* Calls the keeper if there is something for it to do before it would look by itself. Costs nothing otherwise: an
 * uncontended acquire and release wake no thread. */
void keeper_look(fencepost_client *client) {
    uint64_t until;

    if (client->looped || client->closed || client->driving || client->waiters != NULL ||
        client->driver->descriptor(client->self) == FENCEPOST_OWNER_DRIVEN)
        return;
    if (listens(client))
        client->quiet_from = fencepost_now() + QUIET_AFTER;
    until = due(client);
    if (until >= client->keeper_due && !(client->keeper_due > 0 && has_to_drive(client)))
        return;
    client->keeper_called = until;
    if (!client->keeper_runs)
        start(client);
    else if (client->keeper_due > 0)
        client_call(client, &client->keeper_bell);
}

/* Ends the thread. Called once, without the lock, when the client is closed or looped. */
void keeper_stop(fencepost_client *client) {
    int before = cancel_hold();
    bool runs;

    client_lock(client);
    runs = client->keeper_runs;
    client->keeper_runs = false;
    client_call(client, &client->keeper_bell);
    client_signal(client->wake);
    client_unlock(client);
    if (runs)
        pthread_join(client->keeper, NULL);
    cancel_allow(before);
}
