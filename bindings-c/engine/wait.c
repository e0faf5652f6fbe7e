/* Waiting. A waiting thread drives the client: one thread sleeps on the driver's descriptor, and the others wait for
 * it. */
#define _GNU_SOURCE
#include <string.h>

#include "internal.h"

/* The clock of poll stops while the computer is suspended, so sleeps are short (microseconds). */
#define LONGEST_SLEEP 60000000u

/* A thread that sleeps in a blocking call; the structure is on its stack. It is in two lists: the waiters of its
 * subject, whose change wakes it; and all waiters of the client, one of which has to handle the connection and the
 * timers. */
struct waiter {
    client_condition *condition;
    const void *subject;
    struct sleeper sleeper;
    uint64_t until;               /* when it wakes up by itself */
    struct waiter *newer, *older; /* in the list of the client */
    struct waiter *next, **place; /* in the list of its subject; without a place, it is in no such list */
};

/* Wakes one waiter. The caller holds the mutex. */
static void wake(fencepost_client *client, struct waiter *waiter) {
    if (waiter->sleeper.wake_word)
        return;
    client->woken++;
    client_call(client, &waiter->sleeper);
}

/* Wakes the waiters of a changed subject whose condition holds. The caller holds the mutex. */
void client_changed(fencepost_client *client, struct waiter *list) {
    struct waiter *waiter;

    for (waiter = list; waiter != NULL; waiter = waiter->next) {
        if (!waiter->sleeper.wake_word && waiter->condition(waiter->subject))
            wake(client, waiter);
    }
}

/* The calling thread takes the subject, and may free it. Wakes its other waiters, which no longer use it. The caller
 * holds the mutex. */
void client_taken(fencepost_client *client, struct waiter **list) {
    struct waiter *waiter;

    while ((waiter = *list) != NULL) {
        *list = waiter->next;
        waiter->place = NULL;
        wake(client, waiter);
    }
}

static bool has_descriptor(fencepost_client *client) {
    return client->driver->descriptor(client->self) >= 0;
}

/* Whether a thread handles the connection and the timers in time. If the driver has a descriptor, this is the thread
 * that polls it; otherwise it is one of the waiters. */
static bool is_looked_after(fencepost_client *client) {
    if (has_descriptor(client))
        return client->driving;
    return client->watcher != NULL && client->watcher->until <= client_until(client);
}

/* Wakes the waiters for the end of a close. If no thread handles the connection and the timers, it also wakes a waiter
 * that does. A waiter that was woken calls this function again when it stops waiting. The caller holds the mutex. */
void client_wake(fencepost_client *client) {
    if (client->closed)
        return;
    client_changed(client, client->closers);
    if (client->oldest != NULL && client->woken == 0 && !is_looked_after(client))
        wake(client, client->watcher != NULL ? client->watcher : client->oldest);
}

/* Wakes all waiters of a closed client. The caller holds the mutex. */
void client_wake_all(fencepost_client *client) {
    struct waiter *waiter;

    for (waiter = client->oldest; waiter != NULL; waiter = waiter->newer)
        wake(client, waiter);
}

static void link_waiter(fencepost_client *client, struct waiter *waiter, struct waiter **list) {
    waiter->newer = NULL;
    waiter->older = client->waiters;
    *(client->waiters == NULL ? &client->oldest : &client->waiters->newer) = waiter;
    client->waiters = waiter;
    waiter->next = *list;
    waiter->place = list;
    if (*list != NULL)
        (*list)->place = &waiter->next;
    *list = waiter;
}

static void unlink_waiter(fencepost_client *client, struct waiter *waiter) {
    *(waiter->newer == NULL ? &client->waiters : &waiter->newer->older) = waiter->older;
    *(waiter->older == NULL ? &client->oldest : &waiter->older->newer) = waiter->newer;
    if (waiter->place != NULL) {
        *waiter->place = waiter->next;
        if (waiter->next != NULL)
            waiter->next->place = waiter->place;
    }
}

/* Sleeps until another thread wakes this one. If no other thread handles the timers, this thread does. */
static void sleep_in(fencepost_client *client, struct waiter *waiter, struct waiter **list, uint64_t deadline) {
    waiter->sleeper.wake_word = 0;
    waiter->until = deadline;
    if (!is_looked_after(client)) {
        client->watcher = waiter;
        if (client_until(client) < deadline)
            waiter->until = client_until(client);
    }
    link_waiter(client, waiter, list);
    client_sleep(client, &waiter->sleeper, waiter->until);
    unlink_waiter(client, waiter);
    if (waiter->sleeper.wake_word)
        client->woken--;
    if (client->watcher == waiter)
        client->watcher = NULL;
}

/* Writes the descriptors and events for which the driver waits now. Returns the number of descriptors. */
static nfds_t wanted_sources(const fencepost_client *client, struct pollfd *sources) {
    if (client->driver->sources != NULL)
        return (nfds_t)client->driver->sources(client->self, sources);
    sources[0].fd = client->driver->descriptor(client->self);
    sources[0].events = POLLIN;
    return 1;
}

/* Whether the driver waits for other descriptors or events than those that the driving thread polls. */
static bool has_other_sources(const fencepost_client *client) {
    struct pollfd sources[FENCEPOST_SOURCES];
    nfds_t count = wanted_sources(client, sources), i;

    if (count != client->polled_count)
        return true;
    for (i = 0; i < count; i++) {
        if (sources[i].fd != client->polled[i].fd || sources[i].events != client->polled[i].events)
            return true;
    }
    return false;
}

/* Whether the thread that drives has to wake up for a change that this thread has made. The caller holds the mutex. */
static bool concerns_driver(const fencepost_client *client) {
    const struct waiter *waiter = client->driven_for;

    return client->closing || client_until(client) < client->driven_until ||
           (waiter != NULL && waiter->condition(waiter->subject)) || has_other_sources(client);
}

/* Wakes the thread that drives, at the end of a call. This costs two system calls and a thread switch. So it happens
 * only if the change concerns that thread, or if it is the background thread: the next call of the program then drives
 * itself. The caller holds the mutex. */
void client_wake_driver(fencepost_client *client) {
    if (client->driving && (client->driven_for == NULL || concerns_driver(client)))
        client_signal(client->wake);
}

/* Sleeps on the driver's descriptor, without the mutex, and reads what the server has sent. `waiter` is that of this
 * thread, or NULL. */
void client_poll(fencepost_client *client, const struct waiter *waiter, uint64_t now, uint64_t until) {
    struct pollfd sources[FENCEPOST_SOURCES + 1];
    nfds_t count = client->polled_count = wanted_sources(client, client->polled);
    uint64_t left = until > now ? until - now : 0;
    int before;

    sources[0].fd = client->wake;
    sources[0].events = POLLIN;
    memcpy(&sources[1], client->polled, count++ * sizeof *sources);
    client->driving = true;
    client->driven_for = waiter;
    client->driven_until = until;
    before = client_pause(client);
    /* Not ppoll: after the process was stopped, ppoll would wait for the rest of the time and return late. */
    if (poll(sources, count, left < LONGEST_SLEEP ? (int)((left + 999u) / 1000u) : (int)(LONGEST_SLEEP / 1000u)) < 0)
        sources[0].revents = 0; /* a signal; the caller looks at the time and calls again */
    client_resume(client, before);
    if (sources[0].revents != 0)
        client_drain(client->wake);
    client_advance(client);
    /* This thread still drives, so no other thread is woken for that. */
    client_wake(client);
    client->driving = false;
    client->driven_for = NULL;
    client_notify_loop(client);
}

/* Whether a call may block. */
fencepost_result client_may_block(const fencepost_client *client) {
    if (client->driver->descriptor(client->self) == FENCEPOST_OWNER_DRIVEN)
        return fault(FENCEPOST_RESULT_WOULD_BLOCK, NULL);
    if (client_is_dispatcher(client))
        return fault(
            FENCEPOST_RESULT_WOULD_BLOCK, "this is a callback of the connection, on the thread that reads its answers: "
                                          "use the _start and _finish functions");
    return FENCEPOST_RESULT_OK;
}

/* Waits with the mutex until the condition holds, or until the deadline. Returns whether it holds. `list` has the
 * waiters for the subject; NULL means that this thread waits for the end of a close. */
bool client_wait(
    fencepost_client *client, struct waiter **list, client_condition *condition, const void *subject,
    uint64_t deadline) {
    struct waiter waiter = {.condition = condition, .subject = subject};
    bool holds;

    client_settle(client);
    /* The thread that drives does not know yet about the request of this thread. */
    if (client->driving && concerns_driver(client))
        client_signal(client->wake);
    while (!(holds = condition(subject)) && !client->closed) {
        uint64_t until = client_until(client), now = fencepost_now();

        if (now >= deadline)
            break;
        if (until <= now && !client->driving) {
            client_advance(client);
            client_wake(client);
            continue;
        }
        if (has_descriptor(client) && !client->driving)
            client_poll(client, &waiter, now, until < deadline ? until : deadline);
        else
            sleep_in(client, &waiter, list == NULL ? &client->closers : list, deadline);
    }
    /* From now on, another thread handles the connection and the timers. */
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
