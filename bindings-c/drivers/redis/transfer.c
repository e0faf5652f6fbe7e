/* Reads and writes on a connection, with hiredis and TLS. */
#define _GNU_SOURCE
#include <hiredis/sds.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "internal.h"

/* hiredis writes without MSG_NOSIGNAL. On a closed socket, SIGPIPE would end the program, so the driver blocks this
 * signal during the call. */
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

/* Sends hiredis's buffer without SIGPIPE. Returns false if some bytes are left: hiredis then sends them, and detects
 * the errors. */
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

/* Writes on a connection of the program with hiredis's own function. That function encrypts if the program's context
 * has TLS, and calls no callback. `link_work` sends the remaining bytes, and handles errors. */
static void write_attached(struct link *link) {
    struct quiet quiet;
    int done = 0;

    hush(&quiet);
    if (redisBufferWrite(&link->context->c, &done) != REDIS_OK)
        done = 0;
    unhush(&quiet, !done);
    link->unwritten = !done;
}

/* Writes hiredis's buffer at once, without a check that the socket is writable. */
void link_flush(struct link *link) {
    struct quiet quiet;

    if (!link->unwritten || link->context == NULL || !link->driven) {
        hooks_poll(link);
        return;
    }
    if (!link->ours) {
        if (!link->busy)
            write_attached(link);
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

/* The events to poll for. */
static short wanted(const struct link *link) {
    if (link->phase == CONNECTING)
        return POLLOUT;
    return link->write_wanted || link->unwritten ? POLLIN | POLLOUT : POLLIN;
}

/* The descriptor for a blocking call to poll. Without a connection, the descriptor is -1, which poll ignores. Returns
 * the number of descriptors. */
int link_source(const struct link *link, struct pollfd *source) {
    source->fd = link->context == NULL ? -1 : secure_descriptor(link);
    source->events = wanted(link);
    source->revents = 0;
    return 1;
}

/* Whether the server is a replica, so that the driver has to resolve the address again. */
static bool is_from_replica(const redisReply *reply) {
    return reply->type == REDIS_REPLY_ERROR && fencepost_is_from_replica((const uint8_t *)reply->str, reply->len);
}

/* Handles a reply on the driver's own connection. Returns false if no command waits for it. */
static bool answer(struct link *link, const redisReply *reply) {
    if (link == &link->driver->commands)
        return requests_answer(link, reply);
    channels_answer(link->driver, reply);
    return true;
}

/* Reads replies on the driver's own connections without hiredis's callbacks for each command: when a connection ends,
 * the order of these callbacks depends on the version of hiredis. */
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

/* Whether a connect has failed. The socket returns its error only once, and hiredis since 1.1 reads it and ignores it.
 */
static bool has_failed(struct link *link) {
    int error = 0;
    socklen_t size = sizeof error;

    if (getsockopt(link->context->c.fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0 || error == 0)
        return false;
    link_drop(link, strerror(error));
    return true;
}

/* Reads what has arrived. It reads without a poll, because that costs less. It polls only to write and to connect. */
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
        link_shake(link);
        return;
    }
    if (link->session != NULL) {
        link->unwritten |= link->write_wanted;
        if (!secure_receive(link)) {
            link_give_up(link, "the server has closed the connection");
            return;
        }
    }
    if (link->phase == READY)
        read_replies(link);
    else
        redisAsyncHandleRead(link->context);
}

/* Whether hiredis's buffer has bytes to send, from the program's callbacks. The caller holds the mutex. */
bool link_has_rest(const struct link *link) {
    return link->context != NULL && sdslen(link->context->c.obuf) > 0;
}

/* Lets hiredis work on a connection of the program: it reads, writes the remaining bytes, and calls the callbacks. The
 * caller does not hold the mutex: `busy` keeps other threads away from the context. The callbacks may free the context.
 * They lock the mutex themselves. */
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
