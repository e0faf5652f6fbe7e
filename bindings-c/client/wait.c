/* Waiting. Whoever waits, drives: one thread sleeps on the driver's descriptor, the others wait for it. */
#define _GNU_SOURCE
#include <poll.h>

#include "internal.h"

/* The time of poll stands still while the computer sleeps, so it is cut short (microseconds). */
#define LONGEST_SLEEP 60000000u

/* A thread that sleeps in a blocking call. Each has a bell of its own: an answer wakes whom it concerns, and not
 * everybody who waits for anything. */
struct waiter {
    client_condition *condition;
    const void *subject;
    unsigned bell;  /* not 0: it was called, and will look */
    uint64_t until; /* when it will look by itself */
    struct waiter *next;
};

/* Whether one of those who sleep has to get up and drive, or look at the timers. */
static bool is_needed(fencepost_client *client, uint64_t earliest) {
    if (client->driver->descriptor(client->self) >= 0)
        return !client->driving;
    return client_until(client) < earliest;
}

/* Calls those who have what they wait for; and, if nobody else sees to it, one who looks after the client. With the
 * lock. */
void client_wake(fencepost_client *client) {
    struct waiter *waiter, *asleep = NULL;
    uint64_t earliest = FENCEPOST_NEVER;
    bool seen_to = false;

    for (waiter = client->waiters; waiter != NULL; waiter = waiter->next) {
        if (!waiter->bell && (client->closed || waiter->condition(waiter->subject)))
            client_call(client, &waiter->bell);
        /* Who is called calls the next one when it has done with waiting. */
        if (waiter->bell) {
            seen_to = true;
            continue;
        }
        asleep = waiter;
        if (waiter->until < earliest)
            earliest = waiter->until;
    }
    if (asleep != NULL && !seen_to && is_needed(client, earliest))
        client_call(client, &asleep->bell);
}

/* Sleeps until it is called, among those who can be. */
static void wait_for_call(fencepost_client *client, struct waiter *waiter, uint64_t until) {
    struct waiter **place;

    waiter->until = until;
    waiter->next = client->waiters;
    client->waiters = waiter;
    client_sleep(client, &waiter->bell, until);
    for (place = &client->waiters; *place != waiter;)
        place = &(*place)->next;
    *place = waiter->next;
}

/* Sleeps on the driver's descriptor, without the lock, and takes in what has arrived. */
void client_poll(fencepost_client *client, uint64_t now, uint64_t until) {
    struct pollfd sources[FENCEPOST_SOURCES + 1];
    nfds_t count = 1;
    uint64_t left = until > now ? until - now : 0;
    int before;

    sources[0].fd = client->wake;
    sources[0].events = POLLIN;
    if (client->driver->sources != NULL) {
        count += (nfds_t)client->driver->sources(client->self, &sources[1]);
    } else {
        sources[1].fd = client->driver->descriptor(client->self);
        sources[1].events = POLLIN;
        count = 2;
    }
    client->driving = true;
    client->driven_until = until;
    before = client_pause(client);
    /* Not ppoll: where the process is stopped for a while, that goes on with what was left of the time, and is late. */
    if (poll(sources, count, left < LONGEST_SLEEP ? (int)((left + 999u) / 1000u) : (int)(LONGEST_SLEEP / 1000u)) < 0)
        sources[0].revents = 0; /* a signal; the caller looks at the time and comes back */
    client_resume(client, before);
    if (sources[0].revents != 0)
        client_drain(client->wake);
    client_advance(client);
    /* This thread still drives: nobody is called for that. */
    client_wake(client);
    client->driving = false;
    client_tell_loop(client);
}

/* Whether a call may block here at all. */
fencepost_result client_may_block(const fencepost_client *client) {
    if (client->driver->descriptor(client->self) == FENCEPOST_OWNER_DRIVEN)
        return fault(FENCEPOST_RESULT_WOULD_BLOCK, NULL);
    if (client_is_dispatcher(client))
        return fault(
            FENCEPOST_RESULT_WOULD_BLOCK, "this is a callback of the connection, on the thread that reads its answers");
    return FENCEPOST_RESULT_OK;
}

/* Waits with the lock until the condition holds, or until the deadline: says whether it holds. */
bool client_wait(fencepost_client *client, client_condition *condition, const void *subject, uint64_t deadline) {
    int descriptor = client->driver->descriptor(client->self);
    struct waiter waiter = {.condition = condition, .subject = subject};
    bool holds;

    client_settle(client);
    /* Who drives does not know yet what this thread has begun. */
    if (client->driving && client_until(client) < client->driven_until)
        client_signal(client->wake);
    while (!(holds = condition(subject)) && !client->closed) {
        uint64_t until = client->driving ? FENCEPOST_NEVER : client_until(client);
        uint64_t now = fencepost_now();

        if (now >= deadline)
            break;
        if (until <= now) {
            client_advance(client);
            client_wake(client);
            continue;
        }
        if (deadline < until)
            until = deadline;
        if (descriptor >= 0 && !client->driving)
            client_poll(client, now, until);
        else
            wait_for_call(client, &waiter, until);
    }
    /* Somebody else looks after the client from here on. */
    client_wake(client);
    return holds;
}

/* The end of a timeout in milliseconds. */
uint64_t client_deadline(int64_t timeout) {
    uint64_t now = fencepost_now();

    if (timeout == FENCEPOST_FOREVER || (timeout > 0 && (uint64_t)timeout > (FENCEPOST_NEVER - now) / 1000u))
        return FENCEPOST_NEVER;
    return now + (timeout <= 0 ? 0 : (uint64_t)timeout * 1000u);
}
