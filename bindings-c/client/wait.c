/* Waiting. Whoever waits, drives: one thread sleeps on the driver's descriptor, the others wait for it. */
#define _GNU_SOURCE
#include <poll.h>
#include <stdlib.h>
#include <time.h>

#include "internal.h"

/* What a sleeping thread is called with. It stays with the client, for whoever sleeps next: so it may be rung when its
 * thread has gone. */
struct bell {
    pthread_cond_t rung;
    struct bell *next; /* among those that nobody sleeps by */
};

/* A thread that sleeps in a blocking call. Each has a bell of its own: an answer wakes whom it concerns, and not
 * everybody who waits for anything. */
struct waiter {
    client_condition *condition;
    const void *subject;
    struct bell *bell;
    bool awake;     /* it was called, and will look */
    uint64_t until; /* when it will look by itself */
    struct waiter *next;
};

/* A condition variable whose times are of CLOCK_MONOTONIC. */
void client_condition_init(pthread_cond_t *condition) {
    pthread_condattr_t monotonic;

    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

static struct bell *take_bell(fencepost_client *client) {
    struct bell *bell = client->bells;

    if (bell != NULL) {
        client->bells = bell->next;
    } else if ((bell = malloc(sizeof *bell)) != NULL) {
        client_condition_init(&bell->rung);
    }
    return bell;
}

void client_bells_free(fencepost_client *client) {
    struct bell *bell;

    while ((bell = client->bells) != NULL) {
        client->bells = bell->next;
        pthread_cond_destroy(&bell->rung);
        free(bell);
    }
}

/* Rings what is to be rung, if the lock is not about to be given back. */
static void ring(fencepost_client *client) {
    struct bell *bell = client->to_ring;

    client->to_ring = NULL;
    if (bell != NULL)
        pthread_cond_signal(&bell->rung);
}

/* Gives the lock back, and only then wakes whom it has called: he would find it taken, and fall asleep again. */
void client_unlock(fencepost_client *client) {
    struct bell *bell = client->to_ring;

    client->to_ring = NULL;
    pthread_mutex_unlock(&client->mutex);
    if (bell != NULL)
        pthread_cond_signal(&bell->rung);
}

static void call(fencepost_client *client, struct waiter *waiter) {
    waiter->awake = true;
    ring(client); /* one can wait for the unlocking */
    client->to_ring = waiter->bell;
}

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
        if (!waiter->awake && (client->closed || waiter->condition(waiter->subject)))
            call(client, waiter);
        /* Who is called calls the next one when it has done with waiting. */
        if (waiter->awake) {
            seen_to = true;
            continue;
        }
        asleep = waiter;
        if (waiter->until < earliest)
            earliest = waiter->until;
    }
    if (asleep != NULL && !seen_to && is_needed(client, earliest))
        call(client, asleep);
}

/* Sleeps until it is called, with the lock. It may wake early. */
static void wait_for_call(fencepost_client *client, struct waiter *waiter, uint64_t until) {
    struct waiter **place;

    waiter->awake = false;
    waiter->until = until;
    waiter->next = client->waiters;
    client->waiters = waiter;
    client_sleep(client, &waiter->bell->rung, until);
    for (place = &client->waiters; *place != waiter;)
        place = &(*place)->next;
    *place = waiter->next;
}

/* The same, with a bell. */
static void sleep_by_bell(fencepost_client *client, struct waiter *waiter, uint64_t until) {
    struct timespec moment = {0, 1000000};

    if ((waiter->bell = take_bell(client)) == NULL) {
        /* No memory: it looks by itself, again and again. */
        client_unlock(client);
        nanosleep(&moment, NULL);
        pthread_mutex_lock(&client->mutex);
        return;
    }
    wait_for_call(client, waiter, until);
    waiter->bell->next = client->bells;
    client->bells = waiter->bell;
}

/* Waits for a condition variable, with the lock. It may wake early. */
void client_sleep(fencepost_client *client, pthread_cond_t *condition, uint64_t until) {
    uint64_t now = fencepost_now();
    struct timespec end;

    ring(client);
    if (until == FENCEPOST_NEVER) {
        pthread_cond_wait(condition, &client->mutex);
        return;
    }
    if (until <= now)
        return;
    /* Condition variables know CLOCK_MONOTONIC only: it stands still while the computer sleeps, so the wait is cut
     * short. */
    if (until - now > 60u * 1000000u)
        until = now + 60u * 1000000u;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += (time_t)((until - now) / 1000000u);
    end.tv_nsec += (long)((until - now) % 1000000u) * 1000;
    if (end.tv_nsec >= 1000000000) {
        end.tv_nsec -= 1000000000;
        end.tv_sec++;
    }
    pthread_cond_timedwait(condition, &client->mutex, &end);
}

/* Sleeps on the driver's descriptor, without the lock, and takes in what has arrived. */
void client_poll(fencepost_client *client, uint64_t now, uint64_t until) {
    struct pollfd sources[FENCEPOST_SOURCES + 1];
    nfds_t count = 1;
    struct timespec limit = {0, 0};

    if (until > now) {
        uint64_t left = until - now;
        limit.tv_sec = left / 1000000u > 60 ? 60 : (time_t)(left / 1000000u);
        limit.tv_nsec = (long)(left % 1000000u) * 1000;
    }
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
    client_unlock(client);
    if (ppoll(sources, count, &limit, NULL) < 0)
        sources[0].revents = 0; /* a signal; the caller looks at the time and comes back */
    pthread_mutex_lock(&client->mutex);
    if (sources[0].revents != 0)
        client_drain(client->wake);
    client_advance(client);
    /* This thread still drives: nobody is called for that. */
    client_wake(client);
    client->driving = false;
    if (client->looped)
        client_signal(client->news);
}

/* Whether a call may block here at all. */
fencepost_result client_may_block(const fencepost_client *client) {
    if (client->driver->descriptor(client->self) == FENCEPOST_OWNER_DRIVEN)
        return fault(FENCEPOST_RESULT_WOULD_BLOCK, NULL);
    return FENCEPOST_RESULT_OK;
}

/* Waits with the lock until the condition holds, or until the deadline: says whether it holds. */
bool client_wait(fencepost_client *client, client_condition *condition, const void *subject, uint64_t deadline) {
    int descriptor = client->driver->descriptor(client->self);
    struct waiter waiter = {.condition = condition, .subject = subject};
    bool holds;

    client_settle(client);
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
            sleep_by_bell(client, &waiter, until);
    }
    /* Somebody else looks after the client from here on. */
    client_wake(client);
    return holds;
}

/* The end of a timeout in milliseconds. */
uint64_t client_deadline(int64_t timeout) {
    if (timeout == FENCEPOST_FOREVER)
        return FENCEPOST_NEVER;
    return fencepost_now() + (timeout <= 0 ? 0 : (uint64_t)timeout * 1000u);
}
