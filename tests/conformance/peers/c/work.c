/* Work under claims: effects in a file, and many keys that the peer claims as fast as it can. */

#define _POSIX_C_SOURCE 200809L

#include "peer.h"

#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LINE = 512, TASKS = 64 };

typedef struct job {
    fencepost_idempotency *scope;
    const char *path, *tag;
    pthread_mutex_t lock;
    struct timespec takes;
    unsigned long next, step, end, ran, replayed;
    fencepost_result failed;
} job;

/* Appends a line in one write, so that lines of other processes do not mix with it. */
static void append(const char *path, const char *format, ...) {
    char line[LINE];
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    int file = open(path, O_WRONLY | O_APPEND | O_CREAT, 0644);
    if (file < 0 || size < 0 || size >= LINE || write(file, line, (size_t)size) != size) {
        perror(path);
        abort();
    }
    close(file);
}

void effect(const char *path, const char *key, const fencepost_grant *claim) {
    append(
        path, "effect %s %" PRIu64 " %" PRIu64 "\n", key, fencepost_claim_fence(claim),
        fencepost_claim_takeovers(claim));
}

/* Claims a key, runs its operation unless another worker has, and appends the result to the file. */
static fencepost_result once(job *all, const char *key, bool *ran) {
    char own[LINE];
    const void *bytes = NULL;
    size_t size = 0;
    fencepost_grant *claim = NULL;
    fencepost_result result = fencepost_claim(all->scope, key, "", 0, FENCEPOST_FOREVER, &claim);
    *ran = result == FENCEPOST_OK;
    if (*ran) {
        effect(all->path, key, claim);
        nanosleep(&all->takes, NULL);
        /* No other execution has the same result. */
        int length = snprintf(own, sizeof own, "%ld-%" PRIu64, (long)getpid(), fencepost_claim_fence(claim));
        result = fencepost_complete_with(claim, all->tag, own, (size_t)length);
    }
    if (result == FENCEPOST_OK || result == FENCEPOST_REPLAYED)
        result = fencepost_claim_result(claim, &bytes, &size);
    if (result == FENCEPOST_OK)
        append(all->path, "answer %s %.*s\n", key, (int)size, (const char *)bytes);
    fencepost_grant_free(claim);
    return result;
}

static void *some(void *given) {
    job *all = given;
    pthread_mutex_lock(&all->lock);
    while (all->next < all->end && all->failed == FENCEPOST_OK) {
        char key[LINE];
        bool ran = false;
        snprintf(key, sizeof key, "key-%lu", all->next);
        all->next += all->step;
        pthread_mutex_unlock(&all->lock);
        fencepost_result result;
        /* 4xx: another attempt has taken over. */
        do
            result = once(all, key, &ran);
        while (result >= 400 && result < 500);
        pthread_mutex_lock(&all->lock);
        if (result != FENCEPOST_OK)
            all->failed = result;
        if (ran)
            all->ran += 1;
        else
            all->replayed += 1;
    }
    pthread_mutex_unlock(&all->lock);
    return NULL;
}

void work(const command *order) {
    unsigned long numbers[5] = {0};
    pthread_t threads[TASKS];
    for (int i = 0; i < 5 && i + 2 < order->count; i += 1)
        numbers[i] = strtoul(order->words[i + 2], NULL, 10);
    job all = {
        .scope = name_find(SCOPE, order->words[0]),
        .path = unquote(order->words[1]),
        .tag = name_find(TAG, order->words[0]),
        .lock = PTHREAD_MUTEX_INITIALIZER,
        .next = numbers[0],
        .step = numbers[1],
        .takes = {.tv_nsec = (long)(numbers[4] % 1000 * 1000000)},
        .end = numbers[2]};
    unsigned long tasks = numbers[3] < TASKS ? numbers[3] : TASKS;
    for (unsigned long i = 0; i < tasks; i += 1) {
        if (pthread_create(&threads[i], NULL, some, &all) != 0)
            abort();
    }
    for (unsigned long i = 0; i < tasks; i += 1)
        pthread_join(threads[i], NULL);
    if (all.failed == FENCEPOST_OK)
        say(order->number, "ok", ", \"ran\": %lu, \"replayed\": %lu", all.ran, all.replayed);
    else
        say_result(order, all.failed);
}
