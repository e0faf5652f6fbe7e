/* Clients in the program's own event loop. */
#define _GNU_SOURCE
#include <limits.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "internal.h"

static void forget(int *descriptor) {
    if (*descriptor >= 0)
        close(*descriptor);
    *descriptor = -1;
}

/* Makes the descriptor that the program's loop polls. It stays the same even when connections change. */
static int open_loop(fencepost_client *client) {
    int driver = client->driver->descriptor(client->self);
    struct epoll_event readable = {EPOLLIN, {0}};

    client->news = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (client->news < 0 || driver < 0)
        return client->news;
    client->loop = epoll_create1(EPOLL_CLOEXEC);
    if (client->loop >= 0 && epoll_ctl(client->loop, EPOLL_CTL_ADD, driver, &readable) == 0 &&
        epoll_ctl(client->loop, EPOLL_CTL_ADD, client->news, &readable) == 0)
        return client->loop;
    /* The program may call again when there are descriptors. */
    forget(&client->loop);
    forget(&client->news);
    return -1;
}

int fencepost_client_fd(fencepost_client *client) {
    int descriptor;

    if (client_enter(client) != FENCEPOST_RESULT_OK)
        return -1;
    if (client->looped) {
        descriptor = client->loop >= 0 ? client->loop : client->news;
        client_unlock(client);
        return descriptor;
    }
    descriptor = open_loop(client);
    if (descriptor < 0)
        fault(FENCEPOST_RESULT_SYSTEM_ERROR, NULL);
    client->looped = descriptor >= 0;
    client->looped_until = FENCEPOST_NEVER;
    client_leave(client);
    if (descriptor >= 0)
        background_stop(client);
    return descriptor;
}

int fencepost_client_timeout(fencepost_client *client) {
    uint64_t until, now;

    if (client_enter_late(client) != FENCEPOST_RESULT_OK)
        return -1;
    until = client->looped_until = client_until(client);
    client_unlock(client);
    now = fencepost_now();
    if (until == FENCEPOST_NEVER)
        return -1;
    if (until <= now)
        return 0;
    return (until - now) / 1000u < INT_MAX ? (int)((until - now + 999u) / 1000u) : INT_MAX;
}

fencepost_result fencepost_client_process(fencepost_client *client) {
    fencepost_result result = client_enter_late(client);

    if (result != FENCEPOST_RESULT_OK)
        return result;
    if (client->news >= 0)
        client_drain(client->news);
    client->turns++;
    if (!client->driving)
        client_advance(client);
    /* Each read may read only a part. An edge-triggered loop would get no event for the rest. */
    if (client->looped && !client->closed && client_has_more(client))
        client_signal(client->news);
    if (client->late == client->until)
        client_notify_loop(client);
    client->stirred = false;
    client->looped_until = client_until(client);
    client_wake(client);
    client_unlock_and_notify(client);
    return FENCEPOST_RESULT_OK;
}
