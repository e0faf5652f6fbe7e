/* Connections of the caller's. If the caller's loop drives them, their end is learnt from their disconnect callback,
 * which is wrapped, and put back; if nobody does, we do. Used by one thread at a time, as hiredis asks. */
#include <pthread.h>

#include "internal.h"

/* Guards the list. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct link *links;

FENCEPOST_FORK_SAFE(mutex, )

/* With the mutex. */
static struct link *find(const redisAsyncContext *context) {
    struct link *link;

    for (link = links; link != NULL && link->taken != context;)
        link = link->next;
    return link;
}

/* Keeps other clients off a context. False: it has one already. */
bool attached_take(struct link *link, redisAsyncContext *context) {
    bool is_free;

    pthread_mutex_lock(&mutex);
    is_free = find(context) == NULL;
    if (is_free) {
        link->taken = context;
        link->next = links;
        links = link;
    }
    pthread_mutex_unlock(&mutex);
    return is_free;
}

/* Another client may have it now; or it has been freed, and another context may lie where it was. */
void attached_give_back(struct link *link) {
    struct link **place;

    pthread_mutex_lock(&mutex);
    if (link->taken != NULL) {
        for (place = &links; *place != link;)
            place = &(*place)->next;
        *place = link->next;
        link->taken = NULL;
    }
    pthread_mutex_unlock(&mutex);
}

static void disconnected(const redisAsyncContext *context, int status) {
    redisDisconnectCallback *wrapped = NULL;
    struct link *link;
    bool entered, inside;

    pthread_mutex_lock(&mutex);
    link = find(context);
    pthread_mutex_unlock(&mutex);
    if (link != NULL) {
        wrapped = link->wrapped;
        attached_give_back(link);
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
