/* The objects by name, and when they may be freed. */

#define _POSIX_C_SOURCE 200809L

#include "peer.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef struct named {
    struct named *next;
    type of;
    void *object;
    char name[];
} named;

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ended = PTHREAD_COND_INITIALIZER;
static named *newest;
static int under_way;

void name_give(type of, const char *name, void *object) {
    named *fresh = malloc(sizeof *fresh + strlen(name) + 1);
    if (fresh == NULL)
        abort();
    fresh->of = of;
    fresh->object = object;
    memcpy(fresh->name, name, strlen(name) + 1);
    pthread_mutex_lock(&guard);
    fresh->next = newest;
    newest = fresh;
    pthread_mutex_unlock(&guard);
}

void *name_find(type of, const char *name) {
    void *object = NULL;
    pthread_mutex_lock(&guard);
    for (const named *one = newest; one != NULL && object == NULL; one = one->next) {
        if (one->of == of && strcmp(one->name, name) == 0)
            object = one->object;
    }
    pthread_mutex_unlock(&guard);
    return object;
}

void *name_take(type of, const char *name) {
    void *object = NULL;
    pthread_mutex_lock(&guard);
    for (named **link = &newest; *link != NULL; link = &(*link)->next) {
        named *one = *link;
        if (one->of == of && strcmp(one->name, name) == 0) {
            object = one->object;
            *link = one->next;
            free(one);
            break;
        }
    }
    pthread_mutex_unlock(&guard);
    return object;
}

void command_begins(void) {
    pthread_mutex_lock(&guard);
    under_way += 1;
    pthread_mutex_unlock(&guard);
}

void command_ends(void) {
    pthread_mutex_lock(&guard);
    under_way -= 1;
    pthread_cond_broadcast(&ended);
    pthread_mutex_unlock(&guard);
}

static void free_one(const named *one) {
    switch (one->of) {
    case CLIENT:
        fencepost_client_free(one->object);
        break;
    case LOCK:
        fencepost_lock_free(one->object);
        break;
    case ATTEMPT:
        fencepost_attempt_free(one->object);
        break;
    case GRANT:
        fencepost_grant_free(one->object);
        break;
    case FOUND:
        fencepost_contenders_free(one->object);
        break;
    case SCOPE:
        fencepost_idempotency_free(one->object);
        break;
    case RECORD:
        fencepost_record_free(one->object);
        break;
    case TAG:
        free(one->object);
        break;
    case TYPES:
        break;
    }
}

fencepost_result names_reset(void) {
    fencepost_result result = FENCEPOST_OK;
    pthread_mutex_lock(&guard);
    named *all = newest;
    newest = NULL;
    pthread_mutex_unlock(&guard);
    for (const named *one = all; one != NULL; one = one->next) {
        if (one->of != CLIENT)
            continue;
        fencepost_result closed = fencepost_close(one->object);
        if (closed != FENCEPOST_OK)
            result = closed;
    }
    pthread_mutex_lock(&guard);
    /* The reset itself is one of the running commands. */
    while (under_way > 1)
        pthread_cond_wait(&ended, &guard);
    pthread_mutex_unlock(&guard);
    /* Frees the clients last. */
    for (int clients = 0; clients <= 1; clients += 1) {
        for (const named *one = all; one != NULL; one = one->next) {
            if ((one->of == CLIENT) == clients)
                free_one(one);
        }
    }
    while (all != NULL) {
        named *next = all->next;
        free(all);
        all = next;
    }
    return result;
}
