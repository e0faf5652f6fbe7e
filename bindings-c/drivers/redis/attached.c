/* Connections of the program. If the program's event loop drives them, the disconnect callback reports their end: the
 * driver wraps this callback, and restores it when the client closes. Otherwise the driver reads and writes them
 * itself. Only one thread at a time uses them, as hiredis requires. */
#include "internal.h"

static void disconnected(const redisAsyncContext *context, int status) {
    redisDisconnectCallback *wrapped = NULL;
    struct link *link = taken_find(context);
    bool entered, inside;

    if (link != NULL) {
        wrapped = link->wrapped;
        taken_remove(link);
        inside = driver_enter(link->driver, &entered);
        link->context = NULL;
        link_ended(link, context->err != 0 ? context->errstr : "the connection was closed");
        if (inside)
            driver_leave(link->driver, entered);
    }
    if (wrapped != NULL)
        wrapped(context, status);
}

void attached_open(struct link *link, redisAsyncContext *context) {
    link->context = context;
    link->phase = READY;
    link->driven = context->ev.addRead == NULL;
    if (link->driven) {
        hooks_attach(link);
        hooks_poll(link);
        return;
    }
    link->wrapped = context->onDisconnect;
    context->onDisconnect = disconnected;
}

void attached_close(struct link *link) {
    if (link->context == NULL)
        return;
    if (link->driven) {
        link->unwritten = true;
        link_flush(link);
    }
    if (link->context == NULL)
        return;
    if (link->driven) {
        hooks_detach(link);
    } else if (link->context->onDisconnect == disconnected) {
        link->context->onDisconnect = link->wrapped;
    }
    link->context = NULL;
}
