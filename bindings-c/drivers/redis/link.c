/* One connection: made when it is needed, given up when it does not answer. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <hiredis/sds.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
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

    if (status != REDIS_OK)
        return;
    if (link->driver->secure == NULL)
        greet(link);
    else
        secure_begin(link);
}

/* Remembers why there has never been a connection. An IPv6 address is shown as a URL has it. */
void link_note_absence(const struct link *link, const char *why) {
    struct driver *driver = link->driver;
    bool is_six = link->ours && strchr(driver->host, ':') != NULL;

    if (!driver->reached && link->ours)
        snprintf(
            driver->absence, sizeof driver->absence, "%s%.150s%s:%d (%.120s)", is_six ? "[" : "", driver->host,
            is_six ? "]" : "", driver->port, why);
}

static bool make(struct link *link) {
    struct driver *driver = link->driver;
    redisAsyncContext *context;

    fencepost_lookup_begin();
    context = redisAsyncConnect(driver->host, driver->port);
    fencepost_lookup_end();
    link->trouble[0] = '\0';
    if (context == NULL || context->err != 0) {
        snprintf(link->trouble, sizeof link->trouble, "%s", context == NULL ? "out of memory" : context->errstr);
        if (context != NULL)
            redisAsyncFree(context);
        link_note_absence(link, link->trouble);
        return false;
    }
    redisEnableKeepAlive(&context->c);
    fcntl(context->c.fd, F_SETFD, FD_CLOEXEC); /* hiredis leaves it to programs that this one starts */
    link->context = context;
    link->phase = CONNECTING;
    link->deadline = fencepost_now() + CONNECT_WITHIN;
    hooks_attach(link);
    redisAsyncSetConnectCallback(context, connected);
    return true;
}

/* Says whether there is a connection, or soon may be. */
bool link_need(struct link *link) {
    return link->phase == DOWN ? make(link) : link->phase != OVER;
}

/* Gives a connection of ours up. Whoever waits on it is told. */
void link_drop(struct link *link, const char *why) {
    if (link->context == NULL)
        return;
    link_note_absence(link, why);
    if (link->trouble[0] == '\0')
        requests_fail(link, FENCEPOST_FAILURE_NOT_SENT, why);
    redisAsyncFree(link->context);
}

/* There is no connection any more. */
void link_ended(struct link *link, const char *why) {
    link->phase = link->ours ? DOWN : OVER;
    link->unwritten = link->write_wanted = false;
    requests_lose(link, why);
    requests_fail(link, link->ours ? FENCEPOST_FAILURE_NOT_SENT : FENCEPOST_FAILURE_CLOSED, why);
    if (link == &link->driver->subscriptions)
        channels_fail(link->driver);
}

/* What waited for the connection goes out. */
void link_ready(struct link *link) {
    link->phase = READY;
    link->driver->reached = true;
    link->heard = fencepost_now();
    link->pinged = false;
    if (link == &link->driver->subscriptions)
        channels_send(link->driver);
    else
        requests_send(link);
}

/* Sends what hiredis has collected. What it would do itself, but for the signal that a closed socket gives; it does the
 * rest, and finds the errors. False: there is a rest. */
static bool send_out(redisContext *context) {
    size_t size = sdslen(context->obuf);
    ssize_t sent = size == 0 ? 0 : send(context->fd, context->obuf, size, MSG_NOSIGNAL);

    if (sent < 0 || (size_t)sent < size) {
        if (sent > 0)
            sdsrange(context->obuf, (int)sent, -1);
        return false;
    }
    sdsclear(context->obuf);
    return true;
}

/* Writes on a connection of the caller's by hiredis's own function, which encrypts where the caller's context has TLS,
 * and calls nobody. What is left, and errors, `link_work` sees to. */
static void write_lent(struct link *link) {
    struct quiet quiet;
    int done = 0;

    hush(&quiet);
    if (redisBufferWrite(&link->context->c, &done) != REDIS_OK)
        done = 0;
    unhush(&quiet, !done);
    link->unwritten = !done;
}

/* Writes at once what was handed to hiredis, instead of asking first whether that is possible. */
void link_flush(struct link *link) {
    struct quiet quiet;

    if (!link->unwritten || link->context == NULL || !link->driven) {
        hooks_poll(link);
        return;
    }
    if (!link->ours) {
        if (!link->busy)
            write_lent(link);
    } else if (link->phase != CONNECTING && link->phase != SHAKING) {
        link->unwritten = false;
        if (link->session != NULL) {
            link->write_wanted = !secure_send(link);
        } else if (send_out(&link->context->c)) {
            link->write_wanted = false;
        } else {
            hush(&quiet);
            redisAsyncHandleWrite(link->context);
            unhush(&quiet, link->context == NULL);
        }
    }
    hooks_poll(link);
}

/* What to poll for. */
static short wanted(const struct link *link) {
    if (link->phase == CONNECTING)
        return POLLOUT;
    return link->write_wanted || link->unwritten ? POLLIN | POLLOUT : POLLIN;
}

/* What a blocking call polls; without a connection nothing, which poll allows. Says how many. */
int link_source(const struct link *link, struct pollfd *source) {
    source->fd = link->context == NULL ? -1 : secure_descriptor(link);
    source->events = wanted(link);
    source->revents = 0;
    return 1;
}

/* Whether the server is no primary any more, so that the address has to be resolved again. */
static bool is_from_replica(const redisReply *reply) {
    return reply->type == REDIS_REPLY_ERROR && fencepost_is_from_replica((const uint8_t *)reply->str, reply->len);
}

/* Whether a reply on our own connection was expected. */
static bool answer(struct link *link, const redisReply *reply) {
    if (link == &link->driver->commands)
        return requests_answer(link, reply);
    channels_answer(link->driver, reply);
    return true;
}

/* Replies on our own connections: without the callbacks that hiredis keeps for each command, and which its versions
 * call in different orders when a connection ends. */
static void read_replies(struct link *link) {
    redisContext *context = &link->context->c;
    void *reply = NULL;
    bool sound = link->session != NULL || redisBufferRead(context) == REDIS_OK, demoted = false;

    while (sound && (sound = redisGetReplyFromReader(context, &reply) == REDIS_OK) && reply != NULL) {
        sound = answer(link, reply);
        demoted = demoted || is_from_replica(reply);
        freeReplyObject(reply);
    }
    if (!sound || demoted)
        redisAsyncFree(link->context);
    if (demoted)
        link_drop(&link->driver->subscriptions, "its server is a replica");
}

/* Whether a connection has not come about. The socket says why, once: hiredis since 1.1 asks it and forgets. */
static bool has_failed(struct link *link) {
    int error = 0;
    socklen_t size = sizeof error;

    if (getsockopt(link->context->c.fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0 || error == 0)
        return false;
    link_drop(link, strerror(error));
    return true;
}

/* Takes in what has arrived. Reading without asking first costs less than asking; writing and connecting have to ask.
 */
void link_process(struct link *link) {
    struct pollfd source;
    struct quiet quiet;

    if (link->context != NULL && ((link->write_wanted && link->session == NULL) || link->phase == CONNECTING)) {
        link_source(link, &source);
        if (poll(&source, 1, 0) <= 0)
            return;
        if (link->phase == CONNECTING && has_failed(link))
            return;
        hush(&quiet);
        if (source.revents & (POLLOUT | POLLERR | POLLHUP))
            redisAsyncHandleWrite(link->context);
        unhush(&quiet, link->context == NULL);
    }
    if (link->context == NULL || link->phase == CONNECTING)
        return;
    if (link->phase == SHAKING) {
        secure_shake(link);
        return;
    }
    if (link->session != NULL) {
        link->unwritten |= link->write_wanted;
        if (!secure_receive(link))
            return;
    }
    if (link->phase == READY)
        read_replies(link);
    else
        redisAsyncHandleRead(link->context);
}

/* Whether the caller's callbacks have left something to be sent. With the lock. */
bool link_has_rest(const struct link *link) {
    return link->context != NULL && sdslen(link->context->c.obuf) > 0;
}

/* Lets hiredis work on a connection of the caller's: reads, writes the rest, and calls whom it concerns. Without the
 * lock: `busy` keeps everybody else off the context, and callbacks, which may free it, enter the client by themselves.
 */
void link_work(struct link *link) {
    struct pollfd source;
    struct quiet quiet;

    if (link->context == NULL)
        return;
    source.fd = link->context->c.fd;
    source.events = POLLIN | POLLOUT;
    source.revents = 0;
    if (poll(&source, 1, 0) <= 0)
        return;
    hush(&quiet);
    if (source.revents & (POLLOUT | POLLERR | POLLHUP))
        redisAsyncHandleWrite(link->context);
    if (link->context != NULL && source.revents & (POLLIN | POLLERR | POLLHUP))
        redisAsyncHandleRead(link->context);
    unhush(&quiet, link->context == NULL);
}

/* When `link_check_time` has something to do. Subscriptions of the caller's are not asked: hiredis mixes a PING up with
 * the caller's own answers there, and a waiter looks at its lock from time to time anyway. */
uint64_t link_until(const struct link *link) {
    if (link->context == NULL || link->busy)
        return FENCEPOST_NEVER;
    if (link->phase != READY)
        return link->deadline;
    if (link == &link->driver->subscriptions)
        return link->driver->first_channel == NULL || !link->ours ? FENCEPOST_NEVER : link->heard + SILENCE;
    return link->under_way.first != NULL ? link->under_way.first->expires : FENCEPOST_NEVER;
}

/* Asks a server that has nothing to say to say something. */
static void ping(struct link *link) {
    static const char command[] = "*1\r\n$4\r\nPING\r\n";

    redisAppendFormattedCommand(&link->context->c, command, sizeof command - 1);
    link->unwritten = link->pinged = true;
    link->heard = fencepost_now();
}

/* A connection of the caller's that says nothing is reported, and stays. Where the caller's loop reads it, the loop may
 * be late: then what has come is read first. */
static void report_silence(struct link *link) {
    struct pollfd source = {link->context->c.fd, POLLIN, 0};

    if (poll(&source, 1, 0) > 0)
        link->under_way.first->expires = fencepost_now() + LOOK_AGAIN;
    else
        requests_doubt(
            link,
            "the connection given to fencepost_redis_attach has not answered for 5 s: end it and give another one");
}

/* A connection of ours that says nothing is given up. */
void link_check_time(struct link *link) {
    uint64_t until = link_until(link);

    /* Mostly there is nothing to wait for: then the time does not matter. */
    if (until == FENCEPOST_NEVER || until > fencepost_now())
        return;
    if (!link->ours)
        report_silence(link);
    else if (link->phase == READY && link == &link->driver->subscriptions && !link->pinged)
        ping(link);
    else
        link_drop(link, "no answer in time");
}
