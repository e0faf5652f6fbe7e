/* The contexts that clients use. No context of the program has two clients at once. */
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

/* Another client may use the context; or the program has freed it, and another one is at the same address. */
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
