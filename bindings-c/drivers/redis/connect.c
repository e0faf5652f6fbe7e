/* Makes a connection: the socket, the TLS handshake, and the greeting. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>

#include "internal.h"

static void connected(const redisAsyncContext *context, int status) {
    struct link *link = context->ev.data;

    if (status != REDIS_OK)
        return;
    if (link->driver->secure == NULL)
        greet(link);
    else
        secure_begin(link);
}

static void make(struct link *link) {
    struct driver *driver = link->driver;
    redisAsyncContext *context;

    fencepost_lookup_begin();
    context = redisAsyncConnect(driver->host, driver->port);
    fencepost_lookup_end();
    link->trouble[0] = '\0';
    if (context == NULL || context->err != 0) {
        const char *why = context == NULL ? "out of memory" : context->errstr;

        /* An unknown name, for example. The text of hiredis does not contain the name. */
        snprintf(link->trouble, sizeof link->trouble, "%.60s: %.90s", driver->host, why);
        link_note_absence(link, why);
        if (context != NULL)
            redisAsyncFree(context);
        return;
    }
    redisEnableKeepAlive(&context->c);
    fcntl(context->c.fd, F_SETFD, FD_CLOEXEC); /* hiredis would let child programs inherit it */
    link->context = context;
    link->phase = CONNECTING;
    link->deadline = fencepost_now() + CONNECT_WITHIN;
    hooks_attach(link);
    redisAsyncSetConnectCallback(context, connected);
}

/* Makes a connection if there is none. Afterwards, `link_is_down` returns whether that has failed.
 */
void link_need(struct link *link) {
    if (link->phase == DOWN)
        make(link);
}

/* A step of the TLS handshake. */
void link_shake(struct link *link) {
    char why[128] = "";

    if (link->session == NULL) {
        link_give_up(link, "out of memory");
        return;
    }
    switch (secure_shake(link, why, sizeof why)) {
    case TLS_DONE:
        link->write_wanted = false;
        link->unwritten = true;
        greet(link);
        break;
    case TLS_READ:
        link->write_wanted = false;
        break;
    case TLS_WRITE:
        link->write_wanted = true;
        break;
    case TLS_ENDED:
        link_give_up(link, "the server has closed the connection in the TLS handshake: perhaps it speaks no TLS");
        break;
    case TLS_DISTRUSTED:
        snprintf(link->trouble, sizeof link->trouble, "ERR TLS: %s", why);
        requests_refuse(link);
        link_drop(link, link->trouble);
        break;
    }
}
