/* Waiting. Whoever waits, drives: one thread sleeps on the driver's descriptor, the others wait for it. */
#define _GNU_SOURCE
#include <poll.h>
#include <time.h>

#include "internal.h"

/* Waits for a condition variable, with the lock. It may wake early. */
void client_sleep(fencepost_client *client, pthread_cond_t *condition, uint64_t until) {
    uint64_t now = fencepost_now();
    struct timespec end;

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
    client->driving = false;
    if (sources[0].revents != 0)
        client_drain(client->wake);
    client_advance(client);
    if (client->waiting > 0)
        pthread_cond_broadcast(&client->changed);
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
    bool holds;

    client_settle(client);
    while (!(holds = condition(subject)) && !client->closed) {
        uint64_t until = client->driving ? FENCEPOST_NEVER : client_until(client);
        uint64_t now = fencepost_now();

        if (now >= deadline)
            break;
        if (until <= now) {
            client_advance(client);
            continue;
        }
        if (deadline < until)
            until = deadline;
        if (descriptor >= 0 && !client->driving) {
            client_poll(client, now, until);
        } else {
            client->waiting++;
            client_sleep(client, &client->changed, until);
            client->waiting--;
        }
    }
    /* Somebody else drives from here on. */
    if (client->waiting > 0)
        pthread_cond_broadcast(&client->changed);
    return holds;
}

/* The end of a timeout in milliseconds. */
uint64_t client_deadline(int64_t timeout) {
    if (timeout == FENCEPOST_FOREVER)
        return FENCEPOST_NEVER;
    return fencepost_now() + (timeout <= 0 ? 0 : (uint64_t)timeout * 1000u);
}
