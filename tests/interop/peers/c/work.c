/* The commands that one thread runs one after the other. */

#define _POSIX_C_SOURCE 200809L

#include "peer.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef struct order {
    struct order *next;
    command what;
} order;

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER;
static order *orders, **end = &orders;
static fencepost_attempt *waiting;
static int acquires;
static volatile bool stopped;
/* The last released hold. */
static hold *released;

static void describe(const char *command, const char *begin, const hold *one) {
    answer(
        command, "%s\"kind\": \"%s\", \"path\": \"%s\", \"node\": \"%s\", \"czxid\": \"%" PRIu64 "\"", begin, one->kind,
        one->path, one->node, fencepost_grant_fence(one->grant));
}

static void report(const char *command, fencepost_result result, const hold *one) {
    if (result == FENCEPOST_OK) {
        describe(command, "", one);
    } else {
        complain(command, fencepost_detail());
    }
}

/* Waits for the lock; `cancel` can end the wait. */
static fencepost_result wait_for(fencepost_lock *lock, const char *timeout, fencepost_grant **grant) {
    fencepost_attempt *attempt;
    fencepost_result result;
    if (timeout != NULL && strcmp(timeout, "0") == 0)
        return fencepost_lock_try_acquire(lock, grant);
    result =
        fencepost_lock_acquire_start(lock, timeout == NULL ? FENCEPOST_FOREVER : strtol(timeout, NULL, 10), &attempt);
    if (result != FENCEPOST_OK)
        return result;
    pthread_mutex_lock(&guard);
    waiting = attempt;
    pthread_mutex_unlock(&guard);
    result = fencepost_attempt_wait(attempt, grant);
    pthread_mutex_lock(&guard);
    waiting = NULL;
    pthread_mutex_unlock(&guard);
    fencepost_attempt_free(attempt);
    return result;
}

static void acquire(const char *kind, const char *path, const char *timeout) {
    fencepost_lock *lock = NULL;
    fencepost_grant *grant = NULL;
    fencepost_contenders *all = NULL;
    const fencepost_contender *own = NULL;
    fencepost_result result = lock_open(kind, path, &lock);
    if (result == FENCEPOST_RESULT_BAD_ARGUMENT) {
        complain("acquire", "fencepost has no sieve, or whatever that was");
        return;
    }
    if (result == FENCEPOST_OK)
        result = wait_for(lock, timeout, &grant);
    fencepost_lock_free(lock);
    if (result == FENCEPOST_RESULT_TIMEOUT || result == FENCEPOST_RESULT_NOT_AVAILABLE ||
        result == FENCEPOST_RESULT_CANCELLED) {
        const char *cancelled = result == FENCEPOST_RESULT_CANCELLED ? "true" : "false";
        answer("acquire", "\"granted\": false, \"cancelled\": %s", cancelled);
        return;
    }
    /* A grant has only its fence; the list of contenders contains its node. */
    if (result == FENCEPOST_OK) {
        char directory[TEXT];
        bool many = strcmp(kind, "multi") == 0;
        snprintf(directory, sizeof directory, "%s", path);
        directory[strcspn(directory, ",")] = '\0';
        result = find_contender(many ? "mutex" : kind, directory, fencepost_grant_fence(grant), NULL, &all, &own);
    }
    if (result != FENCEPOST_OK || own == NULL) {
        complain("acquire", result != FENCEPOST_OK ? fencepost_detail() : "granted, and its node is gone");
        fencepost_grant_free(grant);
    } else {
        hold *one = calloc(1, sizeof *one);
        one->grant = grant;
        snprintf(one->kind, sizeof one->kind, "%s", kind);
        snprintf(one->path, sizeof one->path, "%s", path);
        snprintf(one->node, sizeof one->node, "%s", own->node);
        describe("acquire", "\"granted\": true, ", one);
        holds_add(one);
    }
    fencepost_contenders_free(all);
}

static void release(const char *what) {
    hold *one = holds_take(what);
    if (one == NULL) {
        complain("release", "nothing is held");
        return;
    }
    if (released != NULL)
        fencepost_grant_free(released->grant);
    free(released);
    released = one;
    report("release", fencepost_release(one->grant), one);
}

static void release_again(void) {
    if (released == NULL) {
        complain("release-again", "nothing was released");
    } else {
        report("release-again", fencepost_release(released->grant), released);
    }
}

static void downgrade(const char *what) {
    hold *one = holds_take(what);
    if (one == NULL) {
        complain("downgrade", "nothing is held");
        return;
    }
    report("downgrade", fencepost_downgrade(one->grant), one);
    holds_add(one);
}

/* Holds until `end`, or until the grant ends. Returns the last time at which the grant was valid, or -1. */
static int64_t believe(fencepost_grant *grant, int64_t end) {
    int64_t seen = -1;
    for (;;) {
        int64_t time = now();
        if (!fencepost_grant_is_valid(grant))
            return seen;
        seen = time;
        if (time >= end)
            return seen;
        pause_ms(5);
    }
}

/* Whether an acquire was granted but lost before it returned. */
static bool is_loss(fencepost_result result) {
    return result >= 400 && result < 500;
}

/* Rounds of acquire, use and release: `limit` rounds, or until `stop` if it is negative. */
static void rounds(const command *order, long limit, long hold_ms) {
    const char *verb = order->words[0], *kind = order->words[1], *path = order->words[2];
    bool shared = strncmp(kind, "read", 4) == 0 || strncmp(kind, "semaphore", 9) == 0;
    long done = 0, stale = 0, lost = 0, unconfirmed = 0;
    FILE *resource = counter(order->words[3]);
    fencepost_lock *lock = NULL;
    if (resource == NULL || lock_open(kind, path, &lock) != FENCEPOST_OK) {
        complain(verb, resource == NULL ? "no counter" : fencepost_detail());
        return;
    }
    while (limit < 0 ? !stopped : done < limit) {
        fencepost_grant *grant = NULL;
        fencepost_result result = fencepost_lock_acquire(lock, FENCEPOST_FOREVER, &grant);
        if (is_loss(result)) {
            lost += 1;
            continue;
        }
        if (result != FENCEPOST_OK) {
            complain(verb, fencepost_detail());
            fencepost_lock_free(lock);
            return;
        }
        int64_t since = now();
        uint64_t fence = fencepost_grant_fence(grant);
        bool taken = limit < 0 && shared ? look(resource, fence) : increment(resource, fence);
        *(taken ? &done : &stale) += 1;
        if (limit < 0) {
            int64_t until = believe(grant, since + hold_ms * 1000);
            if (until >= 0)
                held(resource, fence, since, until);
        }
        result = fencepost_release(grant);
        unconfirmed += result == FENCEPOST_RESULT_RELEASE_UNCONFIRMED;
        lost += is_loss(result);
        if (result != FENCEPOST_OK && result != FENCEPOST_RESULT_RELEASE_UNCONFIRMED && !is_loss(result)) {
            complain(verb, fencepost_detail());
            fencepost_grant_free(grant);
            fencepost_lock_free(lock);
            return;
        }
        fencepost_grant_free(grant);
    }
    fencepost_lock_free(lock);
    answer(verb, "\"done\": %ld, \"stale\": %ld, \"lost\": %ld, \"unconfirmed\": %ld", done, stale, lost, unconfirmed);
}

static void obey(const command *order) {
    const char *verb = order->words[0];
    if (strcmp(verb, "acquire") == 0 && (order->count == 3 || order->count == 4)) {
        acquire(order->words[1], order->words[2], order->count == 4 ? order->words[3] : NULL);
    } else if (strcmp(verb, "release") == 0 && order->count <= 2) {
        release(order->count == 2 ? order->words[1] : NULL);
    } else if (strcmp(verb, "release-again") == 0 && order->count == 1) {
        release_again();
    } else if (strcmp(verb, "downgrade") == 0 && order->count <= 2) {
        downgrade(order->count == 2 ? order->words[1] : NULL);
    } else if (strcmp(verb, "increment") == 0 && order->count == 2) {
        FILE *resource = counter(order->words[1]);
        bool accepted = resource != NULL && increment(resource, holds_fence());
        answer(verb, "\"accepted\": %s", accepted ? "true" : "false");
    } else if (strcmp(verb, "work") == 0 && order->count == 5) {
        rounds(order, strtol(order->words[4], NULL, 10), 0);
    } else if (strcmp(verb, "workload") == 0 && order->count == 5) {
        rounds(order, -1, strtol(order->words[4], NULL, 10));
    } else {
        complain(verb, "that makes no sense; see tests/interop/README.md");
    }
}

static void *run(void *unused) {
    (void)unused;
    for (;;) {
        pthread_mutex_lock(&guard);
        while (orders == NULL)
            pthread_cond_wait(&more, &guard);
        order *next = orders;
        orders = next->next;
        if (orders == NULL)
            end = &orders;
        pthread_mutex_unlock(&guard);
        obey(&next->what);
        if (strcmp(next->what.words[0], "acquire") == 0) {
            pthread_mutex_lock(&guard);
            acquires -= 1;
            pthread_mutex_unlock(&guard);
        }
        free(next);
    }
    return NULL;
}

void work_begin(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, run, NULL);
    pthread_detach(thread);
}

void work_add(const command *what) {
    order *fresh = calloc(1, sizeof *fresh);
    memcpy(&fresh->what, what, sizeof *what);
    for (int i = 0; i < what->count; i += 1) {
        fresh->what.words[i] = fresh->what.text + (what->words[i] - what->text);
    }
    if (strcmp(what->words[0], "workload") == 0)
        stopped = false;
    pthread_mutex_lock(&guard);
    if (strcmp(what->words[0], "acquire") == 0)
        acquires += 1;
    *end = fresh;
    end = &fresh->next;
    pthread_cond_signal(&more);
    pthread_mutex_unlock(&guard);
}

bool work_cancel(void) {
    pthread_mutex_lock(&guard);
    if (waiting != NULL)
        fencepost_attempt_cancel(waiting);
    bool any = acquires > 0;
    pthread_mutex_unlock(&guard);
    return any;
}

void work_stop(void) {
    stopped = true;
}
