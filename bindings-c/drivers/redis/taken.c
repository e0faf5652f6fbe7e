/* Two lists: the program's contexts that clients use, so that a context never has two clients at once; and the channels
 * of closed clients on such contexts. */
#include <pthread.h>
#include <stdlib.h>

#include "internal.h"

/* Guards both lists. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct link *links;
static struct channel *left;

FENCEPOST_FORK_SAFE(mutex, )

/* The caller holds the mutex. */
static struct link *find(const redisAsyncContext *context) {
    struct link *link;

    for (link = links; link != NULL && link->taken != context;)
        link = link->next;
    return link;
}

/* Reserves a context for one client. Returns false if it has a client already. */
bool taken_add(struct link *link, redisAsyncContext *context) {
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

/* Ends the reservation: another client may use the context. Or the program has freed it, and may make another context
 * at the same address. */
void taken_remove(struct link *link) {
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

/* The connection that uses this context; NULL if there is none. */
struct link *taken_find(const redisAsyncContext *context) {
    struct link *link;

    pthread_mutex_lock(&mutex);
    link = find(context);
    pthread_mutex_unlock(&mutex);
    return link;
}

/* Keeps a channel whose client is closed until the server has confirmed its end, or the context is freed. hiredis
 * reports both. */
void taken_leave(struct channel *channel, const redisAsyncContext *context) {
    channel->context = context;
    channel->previous = NULL;
    pthread_mutex_lock(&mutex);
    channel->next = left;
    if (left != NULL)
        left->previous = channel;
    left = channel;
    pthread_mutex_unlock(&mutex);
}

/* Whether this context still has such channels. */
bool taken_has_left(const redisAsyncContext *context) {
    const struct channel *channel;

    pthread_mutex_lock(&mutex);
    for (channel = left; channel != NULL && channel->context != context;)
        channel = channel->next;
    pthread_mutex_unlock(&mutex);
    return channel != NULL;
}

/* The channel has ended: frees it. */
void taken_drop(struct channel *channel) {
    pthread_mutex_lock(&mutex);
    if (channel->previous != NULL)
        channel->previous->next = channel->next;
    else
        left = channel->next;
    if (channel->next != NULL)
        channel->next->previous = channel->previous;
    pthread_mutex_unlock(&mutex);
    free(channel);
}
