/* Resolves host names. glibc's getaddrinfo holds a lock (in __check_pf), and a forked child does not release it: a
 * child that was forked during a resolution hangs in its own next resolution. So a fork waits until the drivers'
 * resolutions have ended. */
#define _GNU_SOURCE
#include <errno.h>
#include <time.h>

#include "internal.h"

/* How long a fork waits, in seconds. If a name server does not reply, a resolution takes half a minute. */
#define FORK_WAITS 1

/* Resolutions hold it shared, a fork exclusively. */
static pthread_rwlock_t looking_up = PTHREAD_RWLOCK_INITIALIZER;
static __thread bool fork_has_it; /* of the thread that forks */

static void before_fork(void) {
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += FORK_WAITS;
    fork_has_it = pthread_rwlock_timedwrlock(&looking_up, &until) == 0;
}

static void after_fork(void) {
    if (fork_has_it)
        pthread_rwlock_unlock(&looking_up);
}

static void in_child(void) {
    pthread_rwlock_init(&looking_up, NULL);
}

static void register_fork(void) {
    pthread_atfork(before_fork, after_fork, in_child);
}

/* The first resolution registers the fork handlers, after the handlers of the drivers' mutexes. So a fork locks this
 * lock first, as a resolution does. */
void fencepost_lookup_begin(void) {
    static pthread_once_t registered = PTHREAD_ONCE_INIT;

    pthread_once(&registered, register_fork);
    pthread_rwlock_rdlock(&looking_up);
}

void fencepost_lookup_end(void) {
    int error = errno;

    pthread_rwlock_unlock(&looking_up);
    errno = error;
}
