/* TLS on the connections that the driver makes. hiredis 0.14 has no TLS. So hiredis gets a descriptor that never
 * receives anything, and the driver passes the bytes between hiredis and the TLS session. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <hiredis/sds.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "internal.h"

/* Loads the library when an address needs it, because most programs use no TLS. */
static const struct tls_functions *load(char *why, size_t size) {
    void *loaded, *found = dlsym(RTLD_DEFAULT, TLS_FUNCTIONS);

    if (found == NULL && (loaded = dlopen(TLS_LIBRARY, RTLD_NOW | RTLD_LOCAL)) != NULL)
        found = dlsym(loaded, TLS_FUNCTIONS);
    if (found == NULL) {
        const char *error = dlerror();
        snprintf(
            why, size, "rediss:// needs " TLS_LIBRARY ", which cannot be loaded: install it, or link with it (%s)",
            error == NULL ? "it has no such functions" : error);
    }
    return found;
}

fencepost_result secure_open(struct driver *driver, const char *ca, char *why, size_t size) {
    driver->tls = load(why, size);
    if (driver->tls == NULL)
        return FENCEPOST_RESULT_DRIVER_MISSING;
    driver->secure = driver->tls->open(driver->host, ca, why, size);
    return driver->secure == NULL ? FENCEPOST_RESULT_INVALID_URL : FENCEPOST_RESULT_OK;
}

void secure_close(struct driver *driver) {
    if (driver->secure != NULL)
        driver->tls->close(driver->secure);
}

int secure_descriptor(const struct link *link) {
    return link->session != NULL ? link->socket : link->context->c.fd;
}

void secure_begin(struct link *link) {
    const struct driver *driver = link->driver;
    int pair[2];

    /* Without a session, `link_shake` ends the connection: hiredis must not lose its context during this call. */
    link->phase = SHAKING;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) != 0)
        return;
    link->session = driver->tls->begin(driver->secure, link->context->c.fd);
    if (link->session == NULL) {
        close(pair[0]);
        close(pair[1]);
        return;
    }
    link->socket = link->context->c.fd;
    link->context->c.fd = pair[0];
    link->silence = pair[1];
}

void secure_end(struct link *link) {
    if (link->session == NULL)
        return;
    link->driver->tls->end(link->session);
    link->session = NULL;
    close(link->socket);
    close(link->silence);
}

enum tls_outcome secure_shake(const struct link *link, char *why, size_t size) {
    return link->driver->tls->shake(link->session, why, size);
}

bool secure_receive(struct link *link) {
    char data[16384];
    size_t size;
    bool any = false;

    for (;;) {
        switch (link->driver->tls->receive(link->session, data, sizeof data, &size)) {
        case TLS_DONE:
            redisReaderFeed(link->context->c.reader, data, size);
            any = true;
            break;
        case TLS_READ:
            return true;
        case TLS_WRITE:
            link->write_wanted = true;
            return true;
        default:
            /* The driver first handles the bytes that came before the end. The next read reports the end again. */
            return any;
        }
    }
}

bool secure_send(struct link *link) {
    redisContext *context = &link->context->c;
    size_t size;

    while (sdslen(context->obuf) > 0) {
        switch (link->driver->tls->send(link->session, context->obuf, sdslen(context->obuf), &size)) {
        case TLS_DONE:
            sdsrange(context->obuf, (int)size, -1);
            break;
        case TLS_WRITE:
            return false;
        default:
            /* The write continues after the next read. If the connection has ended, the next read reports it. */
            return true;
        }
    }
    return true;
}
