/* The holds, and the thread that reports their events. */

#define _POSIX_C_SOURCE 200809L

#include "peer.h"

#include <inttypes.h>
#include <pthread.h>
#include <string.h>

enum { OFTEN_MS = 20 };

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static hold *first;

static void report(hold *one) {
    int64_t remaining = fencepost_grant_remaining(one->grant), time = now();
    bool valid = remaining != 0;
    if (valid != one->valid) {
        /* This thread sees the end a moment late, but the grant ended no later than it had reported. */
        int64_t at = !valid && one->until < time ? one->until : time;
        say("\"event\": \"valid\", \"path\": \"%s\", \"valid\": %s, \"at\": %" PRId64, one->path,
            valid ? "true" : "false", at);
    }
    one->valid = valid;
    /* `remaining` is rounded to whole milliseconds. */
    if (valid)
        one->until = time + (remaining + 1) * 1000;
    if (!one->revoked && fencepost_grant_revoke_requested(one->grant)) {
        one->revoked = true;
        say("\"event\": \"revoke\", \"path\": \"%s\"", one->path);
    }
    if (!one->lost && fencepost_grant_is_lost(one->grant)) {
        fencepost_result loss = fencepost_grant_loss(one->grant);
        one->lost = true;
        /* After the end of a session, the client may report the loss of the node first. */
        say("\"event\": \"state\", \"state\": \"lost\"");
        say("\"event\": \"lost\", \"path\": \"%s\", \"reason\": \"%s\"", one->path, fencepost_result_name(loss));
    }
}

static void *watch(void *unused) {
    (void)unused;
    for (;;) {
        pthread_mutex_lock(&guard);
        for (hold *one = first; one != NULL; one = one->next)
            report(one);
        pthread_mutex_unlock(&guard);
        pause_ms(OFTEN_MS);
    }
    return NULL;
}

void holds_watch(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, watch, NULL);
    pthread_detach(thread);
}

void holds_add(hold *fresh) {
    pthread_mutex_lock(&guard);
    fresh->next = first;
    first = fresh;
    pthread_mutex_unlock(&guard);
}

hold *holds_take(const char *what) {
    hold *taken = NULL;
    pthread_mutex_lock(&guard);
    for (hold **one = &first; *one != NULL && taken == NULL; one = &(*one)->next) {
        if (what == NULL || strcmp((*one)->path, what) == 0 || strcmp((*one)->node, what) == 0) {
            taken = *one;
            *one = taken->next;
            break;
        }
    }
    pthread_mutex_unlock(&guard);
    return taken;
}

uint64_t holds_fence(void) {
    pthread_mutex_lock(&guard);
    uint64_t fence = first == NULL ? 0 : fencepost_grant_fence(first->grant);
    pthread_mutex_unlock(&guard);
    return fence;
}
