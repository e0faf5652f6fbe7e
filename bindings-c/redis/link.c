/* One connection: made when it is needed, given up when it does not answer. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <time.h>

#include "internal.h"

/* hiredis writes to a closed socket as any program would, and the signal would end ours: it is held back meanwhile. */
struct quiet {
    sigset_t before;
    bool pending;
};

static sigset_t sigpipe(void) {
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    return set;
}

static void hush(struct quiet *quiet) {
    sigset_t set = sigpipe();

    pthread_sigmask(SIG_BLOCK, &set, &quiet->before);
}

static void unhush(const struct quiet *quiet, bool failed) {
    struct timespec at_once = {0, 0};
    sigset_t set = sigpipe();

    if (failed && !sigismember(&quiet->before, SIGPIPE))
        sigtimedwait(&set, NULL, &at_once);
    pthread_sigmask(SIG_SETMASK, &quiet->before, NULL);
}

static void connected(const redisAsyncContext *context, int status) {
    struct link *link = context->ev.data;

    if (status == REDIS_OK)
        greet(link);
}

static bool open(struct link *link) {
    struct driver *driver = link->driver;
    redisAsyncContext *context = redisAsyncConnect(driver->host, driver->port);

    link->trouble[0] = '\0';
    if (context == NULL || context->err != 0) {
        snprintf(link->trouble, sizeof link->trouble, "%s", context == NULL ? "out of memory" : context->errstr);
        if (context != NULL)
            redisAsyncFree(context);
        return false;
    }
    redisEnableKeepAlive(&context->c);
    link->context = context;
    link->phase = CONNECTING;
    link->deadline = fencepost_now() + CONNECT_WITHIN;
    hooks_attach(link);
    redisAsyncSetConnectCallback(context, connected);
    return true;
}

/* Says whether there is a connection, or soon may be. */
bool link_need(struct link *link) {
    return link->phase == DOWN ? open(link) : link->phase != OVER;
}

/* Gives a connection of ours up. Whoever waits on it is told. */
void link_drop(struct link *link, const char *why) {
    if (link->context == NULL)
        return;
    if (link->trouble[0] == '\0')
        requests_fail(link, FENCEPOST_FAILURE_NOT_SENT, why);
    redisAsyncFree(link->context);
}

/* There is no connection any more. */
void link_ended(struct link *link, const char *why) {
    link->phase = link->ours ? DOWN : OVER;
    link->unwritten = link->write_wanted = false;
    requests_fail(link, link->ours ? FENCEPOST_FAILURE_NOT_SENT : FENCEPOST_FAILURE_CLOSED, why);
    if (link == &link->driver->subscriptions)
        channels_fail(link->driver);
}

/* What waited for the connection goes out. */
void link_ready(struct link *link) {
    link->phase = READY;
    if (link == &link->driver->subscriptions)
        channels_send(link->driver);
    else
        requests_send(link);
}

/* Writes at once what was handed to hiredis, instead of asking first whether that is possible. */
void link_flush(struct link *link) {
    struct quiet quiet;

    if (link->unwritten && link->context != NULL && link->driven && link->phase != CONNECTING) {
        link->unwritten = false;
        hush(&quiet);
        redisAsyncHandleWrite(link->context);
        unhush(&quiet, link->context == NULL);
    }
    hooks_poll(link);
}

void link_process(struct link *link, uint32_t events) {
    struct quiet quiet;

    if (events & (EPOLLOUT | EPOLLERR | EPOLLHUP) && link->context != NULL &&
        (link->write_wanted || link->phase == CONNECTING)) {
        hush(&quiet);
        redisAsyncHandleWrite(link->context);
        unhush(&quiet, link->context == NULL);
    }
    if (events & (EPOLLIN | EPOLLERR | EPOLLHUP) && link->context != NULL && link->phase != CONNECTING)
        redisAsyncHandleRead(link->context);
}

/* When `link_check_time` has something to do. */
uint64_t link_until(const struct link *link) {
    if (!link->ours || link->context == NULL)
        return FENCEPOST_NEVER;
    if (link->phase != READY)
        return link->deadline;
    return link->under_way.first != NULL ? link->under_way.first->expires : FENCEPOST_NEVER;
}

/* A connection that says nothing is given up. */
void link_check_time(struct link *link) {
    if (link_until(link) <= fencepost_now())
        link_drop(link, "no answer in time");
}
