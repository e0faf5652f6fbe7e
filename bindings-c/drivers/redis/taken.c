/* The contexts that clients have: none of the caller's has two clients at once. */
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

/* Another client may have it now; or it has been freed, and another context may lie where it was. */
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

/* The owner of this context; NULL: it has none. */
struct link *taken_find(const redisAsyncContext *context) {
    struct link *link;

    pthread_mutex_lock(&mutex);
    link = find(context);
    pthread_mutex_unlock(&mutex);
    return link;
}
