/* Connections of the caller's. If the caller's loop drives them, their end is learnt from their disconnect callback,
 * which is wrapped, and put back; if nobody does, we do. Used on one thread only, as hiredis asks. */
#include <pthread.h>

#include "internal.h"

/* Guards the list. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct link *links;

static struct link *find(const redisAsyncContext *context) {
    struct link *link;

    pthread_mutex_lock(&mutex);
    for (link = links; link != NULL && link->context != context;)
        link = link->next;
    pthread_mutex_unlock(&mutex);
    return link;
}

static void take(struct link *link) {
    struct link **place;

    pthread_mutex_lock(&mutex);
    for (place = &links; *place != link;)
        place = &(*place)->next;
    *place = link->next;
    pthread_mutex_unlock(&mutex);
}

static void disconnected(const redisAsyncContext *context, int status) {
    struct link *link = find(context);
    redisDisconnectCallback *wrapped = NULL;
    bool entered, inside;

    if (link != NULL) {
        wrapped = link->wrapped;
        take(link);
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
    pthread_mutex_lock(&mutex);
    link->next = links;
    links = link;
    pthread_mutex_unlock(&mutex);
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
    } else {
        take(link);
        if (link->context->onDisconnect == disconnected)
            link->context->onDisconnect = link->wrapped;
    }
    link->context = NULL;
}
